/** The view Time. */
export function TimePanel() {
  return <p class="empty">Time</p>
}

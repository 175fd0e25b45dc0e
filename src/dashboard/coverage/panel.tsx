/** The view Coverage. */
export function CoveragePanel() {
  return <p class="empty">Coverage</p>
}

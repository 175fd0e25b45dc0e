/** The view Overview. */
export function OverviewPanel() {
  return <p class="empty">Overview</p>
}

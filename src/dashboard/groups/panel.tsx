/** The view Groups. */
export function GroupsPanel() {
  return <p class="empty">Groups</p>
}

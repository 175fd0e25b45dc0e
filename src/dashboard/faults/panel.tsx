/** The view Faults. */
export function FaultsPanel() {
  return <p class="empty">Faults</p>
}

/** The view Account. */
export function AccountPanel() {
  return <p class="empty">Account</p>
}

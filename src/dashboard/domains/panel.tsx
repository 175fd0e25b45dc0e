/** The view Domains. */
export function DomainsPanel() {
  return <p class="empty">Domains</p>
}

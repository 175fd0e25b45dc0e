import type { ServerUrls } from '../coverage/curl.ts'

/** The account whose list has the requests of no account. */
const DEFAULT = 'default'

/** The address of a request in the dashboard; `undefined` if there is no dashboard. */
export function pageAddress(
  id: string,
  account: string | null | undefined,
  { adminUrl, hasPage }: ServerUrls,
): string | undefined {
  if (!hasPage) return undefined
  const whose = account == null ? '?whose=none' : ''
  return `${adminUrl}/page/${encodeURIComponent(account ?? DEFAULT)}/requests/${id}${whose}`
}

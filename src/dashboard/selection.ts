export const TABS = ['requests', 'faults', 'domains', 'snapshots', 'keys', 'coverage'] as const
export type Tab = (typeof TABS)[number]

/** The account that always exists. */
export const DEFAULT_ACCOUNT = 'default'

/** What the page shows; the fragment of its address contains the same. */
export const selection: { account: string; tab: Tab } = { account: DEFAULT_ACCOUNT, tab: 'requests' }

/** Writes the selection into the address, so that the address can be kept and shared. */
export function rememberSelection(): void {
  history.replaceState(null, '', `#${encodeURIComponent(selection.account)}/${selection.tab}`)
}

export function readAddress(): void {
  const [account = '', tab] = location.hash.slice(1).split('/')
  try {
    selection.account = decodeURIComponent(account) || DEFAULT_ACCOUNT
  } catch {
    selection.account = DEFAULT_ACCOUNT
  }
  selection.tab = TABS.find((each) => each === tab) ?? 'requests'
}

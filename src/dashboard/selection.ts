import { effect, signal } from '@preact/signals'
import { PLAYS_SERVICE } from './facts.ts'

/** The views of an account, in the order of their tabs. */
const TABS = ['overview', 'domains', 'groups', 'requests', 'time', 'scenes', 'faults', 'account', 'coverage'] as const
export type Tab = (typeof TABS)[number]
/** The views that the server has something to show in. A proxy knows nothing but requests. */
export const OFFERED_TABS: readonly Tab[] = PLAYS_SERVICE ? TABS : ['requests', 'coverage']

/** The account that always exists. */
export const DEFAULT_ACCOUNT = 'default'

/** How many characters the id of an account can have: that of a sandbox, which is its key. */
const LONGEST_ID = 128

/** The account that the page shows. */
export const chosenAccount = signal(DEFAULT_ACCOUNT)
/** The open tab; `undefined` until it is known whether the account has figures to show. */
export const openTab = signal<Tab | undefined>(undefined)

/** Reads the selection from the fragment of the address, such as `#default/requests`. */
export function readAddress(): void {
  const [account = '', tab] = location.hash.slice(1).split('/')
  chosenAccount.value = decode(account) || DEFAULT_ACCOUNT
  if (tab !== undefined) openTab.value = OFFERED_TABS.find((each) => each === tab) ?? OFFERED_TABS[0]
}

/** Keeps the selection in the address, so that the address can be kept and shared. */
export function followSelection(): void {
  effect(() => {
    const tab = openTab.value
    if (tab !== undefined) history.replaceState(null, '', `#${encodeURIComponent(chosenAccount.value)}/${tab}`)
  })
}

/** The account that a part of the address names; an empty text where no account can have that name. */
function decode(text: string): string {
  try {
    const id = decodeURIComponent(text)
    // In the path of a call, dots would name another operation, and a long text would be no HTTP.
    return /^\.{1,2}$/.test(id) || id.length > LONGEST_ID ? '' : id
  } catch {
    return ''
  }
}

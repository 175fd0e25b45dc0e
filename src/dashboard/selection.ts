import { effect, signal } from '@preact/signals'
import { PLAYS_SERVICE } from './facts.ts'

/** The views of an account, in the order of their tabs. */
const TABS = ['overview', 'domains', 'groups', 'requests', 'time', 'scenes', 'faults', 'account', 'coverage'] as const
export type Tab = (typeof TABS)[number]
/** The views that the server has something to show in. A proxy knows nothing but requests. */
export const OFFERED_TABS: readonly Tab[] = PLAYS_SERVICE ? TABS : ['requests', 'coverage']

/** The account that always exists. */
export const DEFAULT_ACCOUNT = 'default'

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

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

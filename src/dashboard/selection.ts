import { effect, signal } from '@preact/signals'

/** The views of an account, in the order of their tabs. */
export const TABS = [
  'overview',
  'domains',
  'groups',
  'requests',
  'time',
  'scenes',
  'faults',
  'account',
  'coverage',
] as const
export type Tab = (typeof TABS)[number]

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
  const named = TABS.find((each) => each === tab)
  if (named !== undefined || tab !== undefined) openTab.value = named ?? 'overview'
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

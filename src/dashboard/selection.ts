import { batch, effect, signal, useSignalEffect } from '@preact/signals'
import { PLAYS_SERVICE } from './facts.ts'

/** The views of an account, in the order of their tabs. */
const TABS = ['overview', 'domains', 'groups', 'requests', 'time', 'scenes', 'faults', 'account', 'coverage'] as const
export type Tab = (typeof TABS)[number]
/** The views for which the server has data. A proxy knows only requests. */
export const OFFERED_TABS: readonly Tab[] = PLAYS_SERVICE ? TABS : ['requests', 'coverage']

/** The account that always exists. */
export const DEFAULT_ACCOUNT = 'default'

/** The most characters in the id of an account. It is the length of the id of a sandbox, which is its key. */
const LONGEST_ID = 128

export const chosenAccount = signal(DEFAULT_ACCOUNT)
/** The open tab; `undefined` until it is known whether the account has figures. */
export const openTab = signal<Tab | undefined>(undefined)

/** Reads the selection from the fragment of the URL, such as `#default/requests`. */
export function readAddress(): void {
  const [account = '', tab] = location.hash.slice(1).split('/')
  chosenAccount.value = decode(account) || DEFAULT_ACCOUNT
  if (tab !== undefined) openTab.value = OFFERED_TABS.find((each) => each === tab) ?? OFFERED_TABS[0]
}

/** Keeps the selection in the URL, so that the user can save and share it. */
export function followSelection(): void {
  effect(() => {
    const tab = openTab.value
    if (tab !== undefined) history.replaceState(null, '', `#${encodeURIComponent(chosenAccount.value)}/${tab}`)
  })
}

/** The account in a part of the URL; empty if no account can have that id. */
function decode(text: string): string {
  try {
    const id = decodeURIComponent(text)
    // In the path of a call, dots would lead to another operation. A longer id would make the request invalid.
    return /^\.{1,2}$/.test(id) || id.length > LONGEST_ID ? '' : id
  } catch {
    return ''
  }
}

/** The subject to show in a view. */
export interface LookedAt {
  /** A monitored domain in canonical form. */
  domain?: string | undefined
  group?: string | undefined
  search?: string | undefined
  /** The X-Request-Id of a request. */
  request?: string | undefined
}

/** The request to the open view to show a subject. If no view takes it, it stays until the next request. */
const lookedAt = signal<LookedAt | undefined>(undefined)

/**
 * Opens a tab, or stays on the open one, and asks its view to show a subject. Without a domain, a group or a request,
 * the view closes its open sheet. Without a search, it clears its search.
 */
export function show({ tab, ...what }: LookedAt & { tab?: Tab | undefined }): void {
  batch(() => {
    if (tab !== undefined) openTab.value = tab
    lookedAt.value = what
  })
}

/** Takes each request to show a subject, as soon as the view is ready for it. */
export function useLook(take: (look: LookedAt) => void, isReady: (look: LookedAt) => boolean = () => true): void {
  useSignalEffect(() => {
    const look = lookedAt.value
    if (look === undefined || !isReady(look)) return
    lookedAt.value = undefined
    take(look)
  })
}

import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import { LocationProvider, useLocation } from 'preact-iso/router'
import { PLAYS_SERVICE } from './facts.ts'

const VIEWS = [
  ...(['overview', 'domains', 'groups', 'requests', 'time', 'scenes', 'faults', 'account', 'coverage'] as const),
  'verdict',
] as const
export type View = (typeof VIEWS)[number]

/** The views with a tab. The verdict is that of all accounts, so it has none; a proxy knows only requests. */
export const TABS = VIEWS.filter((view) => (PLAYS_SERVICE ? view !== 'verdict' : /requests|coverage/.test(view)))

/** The account that always exists. */
export const DEFAULT_ACCOUNT = 'default'

/** The address of the control plane. The addresses of the views are below its `/page`. */
export const ROOT = location.pathname.replace(/\/page\/.*$|\/+$/, '')
const PAGE = `${ROOT}/page`

/** A place on the page, which has an address. */
export interface Place {
  /** By default the chosen account. */
  account?: string
  /** By default the open view with its parameters. */
  view?: View | undefined
  /** What the view shows in detail: the id of a request or of a group, or a domain. By default nothing. */
  subject?: string | undefined
  /** The filters. An empty text is none. */
  query?: Readonly<Record<string, string | undefined>>
}

const address = signal(location.pathname + location.search)
let route: (address: string, replace?: boolean) => void = () => undefined

const parts = computed(() => {
  const { pathname, searchParams } = new URL(address.value, location.origin)
  const [account = '', view = '', subject = ''] = pathname.slice(PAGE.length).split('/').slice(1).map(decode)
  return { account, view, subject, query: searchParams }
})

export const chosenAccount: ReadonlySignal<string> = computed(() => parts.value.account || DEFAULT_ACCOUNT)
/** The open view; `undefined` until it is known whether the account has figures. */
export const openView: ReadonlySignal<View | undefined> = computed(() => {
  const { view } = parts.value
  return view === '' ? undefined : ([...TABS, 'verdict' as const].find((each) => each === view) ?? TABS[0])
})
export const subject: ReadonlySignal<string | undefined> = computed(() => parts.value.subject || undefined)

/** A filter of the open view, which stands in the query of the address; empty if it is not there. */
export function parameter(name: string): ReadonlySignal<string> {
  return computed(() => parts.value.query.get(name) ?? '')
}

export function hrefOf({ account = chosenAccount.value, view, subject: about, query }: Place): string {
  const shown = view ?? openView.value
  const values = { ...(view === undefined && Object.fromEntries(parts.value.query)), ...query }
  const search = new URLSearchParams(Object.entries(values).flatMap(([name, text]) => (text ? [[name, text]] : [])))
  const steps = [account, ...(shown === undefined ? [] : [shown, ...(about === undefined ? [] : [about])])]
  return `${PAGE}/${steps.map(encodeURIComponent).join('/')}${search.size > 0 ? `?${search}` : ''}`
}

/** Opens a place. `replace` leaves no way back to the former place, such as to an account that is gone. */
export function go(place: Place, how: 'push' | 'replace' = 'push'): void {
  const next = hrefOf(place)
  if (next === address.peek()) return
  route(next, how === 'replace')
  address.value = next
}

/** Changes filters of the open view. What changes with each key is no step of its own for Back. */
export function setFilters(query: Place['query'] & object, how: 'push' | 'replace' = 'replace'): void {
  go({ subject: subject.peek(), query }, how)
}

export function Places({ children }: { children: ComponentChildren }) {
  return (
    <LocationProvider scope={PAGE}>
      <Follow />
      {children}
    </LocationProvider>
  )
}

function Follow() {
  const { url, route: goTo } = useLocation()
  route = goTo
  useLayoutEffect(() => {
    address.value = url
  }, [url])
  return null
}

interface LinkProps extends Place {
  class?: string
  label?: string
  current?: boolean | 'page'
  children: ComponentChildren
}

export function Link({ class: look, label, current = false, children, ...place }: LinkProps) {
  return (
    <a href={hrefOf(place)} class={look} aria-label={label} aria-current={current || undefined}>
      {children}
    </a>
  )
}

/** A part of the path; empty if it cannot be the id of anything. */
function decode(text: string): string {
  try {
    const id = decodeURIComponent(text)
    // In the path of a call, dots would lead to another operation.
    return /^\.{1,2}$/.test(id) ? '' : id
  } catch {
    return ''
  }
}

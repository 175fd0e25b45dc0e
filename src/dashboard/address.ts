import { batch, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { FACTS, PLAYS_SERVICE } from './facts.ts'
import type { PageView } from './responses.ts'

export type Tab = PageView
/** The views for which the server has data. A proxy knows only requests. */
export const OFFERED_TABS: readonly Tab[] = PLAYS_SERVICE ? FACTS.views : ['requests', 'coverage']

/** The account that always exists. */
export const DEFAULT_ACCOUNT = 'default'

/** The most characters in the id of an account. It is the length of the id of a sandbox, which is its key. */
const LONGEST_ID = 128

/** The address of the control plane. The addresses of the views are below it. */
export const ROOT = location.pathname.replace(/\/page\/.*$|\/+$/, '')

const account = signal(DEFAULT_ACCOUNT)
const tab = signal<Tab | undefined>(undefined)
const shownSubject = signal<string | undefined>(undefined)

export const chosenAccount: ReadonlySignal<string> = account
/** The open tab; `undefined` until it is known whether the account has figures. */
export const openTab: ReadonlySignal<Tab | undefined> = tab
/** What the open view shows in detail: the id of a request or of a group, or a domain; `undefined` for nothing. */
export const subject: ReadonlySignal<string | undefined> = shownSubject

/** A place on the page, which has an address. */
export interface Place {
  /** By default the chosen account. */
  account?: string
  /** By default the open view with its parameters. */
  tab?: Tab | undefined
  /** By default none. */
  subject?: string | undefined
  /** The others of the view get their initial values. */
  parameters?: Readonly<Record<string, string>>
}

interface ParameterSettings<Text extends string> {
  /** The view whose addresses have the parameter; by default all views. */
  tab?: Tab
  name: string
  /** The value without the parameter. */
  initial?: Text
  /** Whether Back returns to the former value. It is `replace` for what changes with each key. */
  history?: 'push' | 'replace'
  /** Whether it keeps its value when another place is opened that does not name it. */
  lasting?: boolean
  /** Whether a text of an address is a value. The initial value takes the place of any other text. */
  accepts?(text: string): text is Text
}

interface Parameter {
  tab: Tab | undefined
  name: string
  initial: string
  isStep: boolean
  isLasting: boolean
  value: Signal<string>
  accepts(text: string): boolean
}

const parameters: Parameter[] = []

/** A value that stands in the query of the address. Who sets it navigates. */
export function createParameter<Text extends string = string>({
  tab,
  name,
  initial = '' as Text,
  history = 'push',
  lasting = false,
  accepts = (_): _ is Text => true,
}: ParameterSettings<Text>): Signal<Text> {
  const value = signal(initial)
  const isStep = history === 'push'
  const own = { isStep, isLasting: lasting, value: value as unknown as Signal<string>, accepts }
  parameters.push({ tab, name, initial, ...own })
  return value
}

function parametersOf(view: Tab | undefined): readonly Parameter[] {
  return parameters.filter((each) => each.tab === undefined || each.tab === view)
}

/** The present values of the parameters of a view that are not initial. A view is opened again with them. */
export function keptParameters(view: Tab): Record<string, string> {
  const kept = parameters.filter((each) => each.tab === view && each.value.peek() !== each.initial)
  return Object.fromEntries(kept.map(({ name, value }) => [name, value.peek()]))
}

/** The address of a place, for a link. */
export function hrefOf(place: Place): string {
  const view = place.tab ?? tab.peek()
  const given = place.parameters ?? (place.tab === undefined && view !== undefined ? keptParameters(view) : {})
  return writeAddress(place.account ?? account.peek(), view, place.subject, given)
}

/** Opens a place. `replace` leaves no way back to the former place, such as to an account that is gone. */
export function go(place: Place, how: 'push' | 'replace' = 'push'): void {
  const view = place.tab ?? tab.peek()
  const given = place.parameters ?? (place.tab === undefined ? undefined : {})
  write(how, () => {
    if (place.account !== undefined) account.value = place.account
    tab.value = view
    shownSubject.value = place.subject
    if (given !== undefined) setParameters(view, (name) => given[name])
  })
}

function setParameters(view: Tab | undefined, textOf: (name: string) => string | null | undefined): void {
  for (const { name, value, initial, isLasting, accepts } of parametersOf(view)) {
    const given = textOf(name)
    // An address that is read has no value (null) where it does not name a parameter. A place says nothing about it.
    if (given === undefined && isLasting) continue
    value.value = given != null && accepts(given) ? given : initial
  }
}

/** Reads the place from the address, at the start and after Back or Forward. */
export function readAddress(): void {
  const steps = location.pathname.slice(ROOT.length).split('/').slice(2).map(decode)
  const [id = '', view = '', about = ''] = steps
  const query = new URLSearchParams(location.search)
  const known = OFFERED_TABS.find((each) => each === view)
  write('replace', () => {
    // A longer id would make each request invalid.
    account.value = id.length > LONGEST_ID ? DEFAULT_ACCOUNT : id || DEFAULT_ACCOUNT
    if (view !== '') tab.value = known ?? OFFERED_TABS[0]
    shownSubject.value = known === undefined ? undefined : about || undefined
    if (known !== undefined) setParameters(known, (name) => query.get(name))
  })
}

let how: 'push' | 'replace' = 'push'

/** Changes the place in one step. */
function write(wanted: typeof how, change: () => void): void {
  how = wanted
  try {
    batch(change)
  } finally {
    how = 'push'
  }
}

/** Keeps the place in the address, so that it can be shared, reloaded, and reached with Back and Forward. */
export function followPlace(): void {
  let last: string | undefined
  effect(() => {
    const view = tab.value
    if (view === undefined) return
    const own = parametersOf(view).filter(({ value, initial }) => value.value !== initial)
    const valuesOf = (some: readonly Parameter[]) =>
      Object.fromEntries(some.map(({ name, value }) => [name, value.value]))
    const addressWith = (some: readonly Parameter[]) =>
      writeAddress(account.value, view, shownSubject.value, valuesOf(some))
    const address = addressWith(own)
    const step = addressWith(own.filter(({ isStep }) => isStep))
    const isNew = last !== undefined && last !== step && how === 'push'
    last = step
    if (address === location.pathname + location.search) return
    if (isNew) history.pushState(null, '', address)
    else history.replaceState(null, '', address)
  })
  addEventListener('popstate', readAddress)
}

function writeAddress(
  id: string,
  view: Tab | undefined,
  about: string | undefined,
  query: Record<string, string>,
): string {
  const steps = ['page', id, ...(view === undefined ? [] : [view, ...(about === undefined ? [] : [about])])]
  const search = new URLSearchParams(query)
  return `${ROOT}/${steps.map(encodeURIComponent).join('/')}${search.size > 0 ? `?${search}` : ''}`
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

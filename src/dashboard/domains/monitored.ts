import { computed, signal } from '@preact/signals'
import { groups, groupsByDomain, readAll, summary } from '../account-data.ts'
import { chosenAccount, createParameter, go } from '../address.ts'
import { call, type Query } from '../client.ts'
import { FACTS } from '../facts.ts'
import { createResource } from '../resource.ts'
import type { DmarcRecord, MonitoredDomain } from '../responses.ts'
import { COLUMN_NAMES, type Column, filterDomains, type Order, sortDomains } from './selection.ts'

/** How many domains the first page has, so that the first rows of a long list come as soon as those of a short one. */
const FIRST_ROWS = 100
/**
 * The time per domain, in milliseconds, for which a loaded list is not loaded again. `changed` applies if the number of
 * domains or the day has changed, and `unchanged` if not. 1,000 domains are half a megabyte.
 */
const YOUTH = { changed: 0.2, unchanged: 2 }
const SHORTEST_YOUTH = 1_000

/** How much of the list is loaded, if the shown list is not yet the whole one. */
export const progress = signal<{ done: number; total: number } | undefined>(undefined)

let loaded: ReturnType<typeof readMark>
/** The phase after a load. During `changed` no load starts; during `unchanged` only after a change. */
let youth: keyof typeof YOUTH | undefined
let growing: ReturnType<typeof setTimeout> | undefined

/** The monitored domains of the chosen account, in the order in which they were added. */
export const monitored = createResource({
  load: loadDomains,
  tabs: ['domains'],
  afterRequests: 700,
  changesOnly: true,
  polled: true,
  isStale,
})

async function loadDomains(account: string): Promise<readonly MonitoredDomain[]> {
  const mark = readMark()
  if (monitored.data.peek() === undefined) progress.value = undefined
  try {
    const all = await loadPages(account)
    if (account === chosenAccount.peek()) progress.value = undefined
    return all
  } finally {
    loaded = mark
    grow()
  }
}

function grow(): void {
  clearTimeout(growing)
  const domains = monitored.data.peek()?.length ?? 0
  const { changed, unchanged } = YOUTH
  youth = 'changed'
  const later = (milliseconds: number, act: () => void) => {
    growing = setTimeout(act, milliseconds)
  }
  later(Math.max(SHORTEST_YOUTH, domains * changed), () => {
    youth = 'unchanged'
    later(domains * (unchanged - changed), () => {
      youth = undefined
    })
  })
}

function loadPages(account: string): Promise<readonly MonitoredDomain[]> {
  const isFirst = monitored.data.peek() === undefined || progress.peek() !== undefined
  const load = (query: Query) => {
    const isBeginning = isFirst && query['after'] === undefined
    const limited = isBeginning ? { limit: Math.min(FIRST_ROWS, FACTS.pageLimit) } : query
    return call('listMonitoredDomains', { parameters: { account }, query: limited })
  }
  return readAll('domains', load, (done, total, domains) => {
    // The result is discarded if the user has selected another account.
    if (account !== chosenAccount.peek()) return false
    if (isFirst) {
      // The first rows are shown at once. A list that is whole stays until it is whole again.
      progress.value = { done, total }
      monitored.set(domains)
    }
    return true
  })
}

/** Whether the list may be loaded again, by its phase and by the state of the account. */
function isStale(): boolean {
  const now = readMark()
  const isChanged = loaded?.domains !== now?.domains || loaded?.day !== now?.day
  return youth === undefined || (isChanged && youth === 'unchanged')
}

/** The state of the account that shows whether the domains or their figures have changed. */
function readMark() {
  const account = summary.data.peek()?.account
  return account && { domains: account.domains, day: refreshDate(account.now) }
}

export async function reloadDomain(name: string): Promise<void> {
  const account = chosenAccount.peek()
  const index = monitored.data.peek()?.findIndex(({ domain }) => domain === name) ?? -1
  const before = monitored.data.peek()?.[index - 1]
  try {
    const query = { limit: 1, ...(before && { after: before.domain }) }
    const [domain] = (await call('listMonitoredDomains', { parameters: { account }, query })).domains
    const domains = monitored.data.peek()
    const isSame = domain?.domain === name && domains?.[index]?.domain === name && account === chosenAccount.peek()
    if (isSame) return monitored.set(domains.with(index, domain))
  } catch {
    // The previous domain, after which the page begins, may be gone.
  }
  await monitored.refresh()
}

const sort = createParameter({ tab: 'domains', name: 'sort', initial: 'added', history: 'replace', accepts: isOrder })

function isOrder(text: string): text is string {
  return COLUMN_NAMES.some((name) => name === text.replace(/^-/, ''))
}

/** The order of the table. In the address, a minus means descending: `-count`. */
export const order = computed((): Order => {
  const descending = sort.value.startsWith('-')
  return { by: sort.value.slice(descending ? 1 : 0) as Column, descending }
})

export function sortBy({ by, descending }: Order): void {
  sort.value = `${descending ? '-' : ''}${by}`
}

/** The filter of the table. An empty policy or profile means all. */
export const filter = {
  search: createParameter({ tab: 'domains', name: 'search', history: 'replace' }),
  policy: createParameter({ tab: 'domains', name: 'policy' }),
  profile: createParameter({ tab: 'domains', name: 'profile' }),
}

const sorted = computed(() => {
  const { by } = order.value
  // Only the order by groups must follow changes of the groups.
  const membership = by === 'groups' ? groupsByDomain.value : groupsByDomain.peek()
  return sortDomains(monitored.data.value ?? [], order.value, membership)
})

/** The rows of the table. A search does not sort again. */
export const shown = computed(() => {
  const { search, policy, profile } = filter
  return filterDomains(sorted.value, { search: search.value, policy: policy.value, profile: profile.value })
})

/** The day of the refresh that GET /dmarc shows at an instant, such as 2026-01-15. */
export function refreshDate(now: string): string {
  const [hours = 0, minutes = 0] = FACTS.refresh.split(':').map(Number)
  return new Date(Date.parse(now) - (hours * 60 + minutes) * 60_000).toISOString().slice(0, 10)
}

export function dayBefore(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) - days * 86_400_000).toISOString().slice(0, 10)
}

/** The share of a record; null without mail. */
export function shareOf({ dmarc, count }: DmarcRecord): number | null {
  return count === 0 ? null : dmarc
}

export function openDomain(domain: string): void {
  go({ subject: domain })
}

export function closeDomain(): void {
  go({})
}

/** Loads all data that depends on the list of domains. */
export async function refreshAfterChange(): Promise<void> {
  await Promise.allSettled([summary.refresh(), monitored.refresh(), groups.refresh()])
}

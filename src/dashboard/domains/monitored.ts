import { computed, signal } from '@preact/signals'
import { groups, groupsByDomain } from '../account/groups.ts'
import { summary } from '../account/summary.ts'
import { call } from '../client.ts'
import { FACTS } from '../facts.ts'
import { Refused } from '../refusals.ts'
import { createResource } from '../resource.ts'
import type { MonitoredDomain } from '../responses.ts'
import { chosenAccount } from '../selection.ts'
import { filterDomains, type Order, sortDomains, type Wanted } from './selection.ts'

/** How often the pages are begun again, because another client removed the domain after which a page begins. */
const ATTEMPTS = 4
/**
 * For how many milliseconds, for each domain, a list is young: too young to be loaded again because domains were added or
 * removed, and because somebody may have changed one. 1,000 domains are half a megabyte.
 */
const YOUTH = { changed: 0.2, unchanged: 2 }
const SHORTEST_YOUTH = 1_000

/** What tells of an account that the domains, or their figures, have changed. */
interface Mark {
  domains: number
  day: string
}

/** How much of the list has arrived; `undefined` while nothing is loaded. */
export const progress = signal<{ done: number; total: number } | undefined>(undefined)

/** What the account was like when the list was loaded last. */
let loaded: Mark | undefined
/** Until when the list is too young to be loaded again, if it is. */
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
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        return await loadPages(account)
      } catch (error) {
        if (!(error instanceof Refused && error.code === 'invalid_value') || attempt === ATTEMPTS) throw error
      }
    }
  } finally {
    progress.value = undefined
    loaded = mark
    grow()
  }
}

/** The list is young from now on. */
function grow(): void {
  clearTimeout(growing)
  const domains = monitored.data.peek()?.length ?? 0
  const { changed, unchanged } = YOUTH
  youth = 'changed'
  growing = setTimeout(
    () => {
      youth = 'unchanged'
      growing = setTimeout(
        () => {
          youth = undefined
        },
        domains * (unchanged - changed),
      )
    },
    Math.max(SHORTEST_YOUTH, domains * changed),
  )
}

async function loadPages(account: string): Promise<readonly MonitoredDomain[]> {
  const domains: MonitoredDomain[] = []
  for (let after: string | undefined; ; ) {
    const query = { limit: FACTS.pageLimit, ...(after !== undefined && { after }) }
    const page = await call('listMonitoredDomains', { parameters: { account }, query })
    domains.push(...page.domains)
    // What arrives for an account that is not shown any more is dropped.
    if (page.next === null || account !== chosenAccount.peek()) return domains
    after = page.next
    progress.value = { done: domains.length, total: page.count }
  }
}

/** Whether the list is old enough to be loaded again, for what is known of the account. */
function isStale(): boolean {
  const now = readMark()
  const isChanged = loaded?.domains !== now?.domains || loaded?.day !== now?.day
  return youth === undefined || (isChanged && youth === 'unchanged')
}

function readMark(): Mark | undefined {
  const account = summary.data.peek()?.account
  return account && { domains: account.domains, day: refreshDate(account.now) }
}

/** Loads one domain again after a change of it, in place of all. */
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
    // The domain before it may be gone.
  }
  await monitored.refresh()
}

export const order = signal<Order>({ by: 'added', descending: false })
export const wanted = signal<Wanted>({ search: '', policy: '', profile: '' })

const sorted = computed(() => {
  const { by } = order.value
  // The groups of other orders may change without a new sorting.
  const membership = by === 'groups' ? groupsByDomain.value : groupsByDomain.peek()
  return sortDomains(monitored.data.value ?? [], order.value, membership)
})

/** What the table shows. The search does not sort again. */
export const shown = computed(() => filterDomains(sorted.value, wanted.value))

/** The day of the refresh that GET /dmarc shows at an instant, such as 2026-01-15. */
export function refreshDate(now: string): string {
  const [hours = 0, minutes = 0] = FACTS.refresh.split(':').map(Number)
  return new Date(Date.parse(now) - (hours * 60 + minutes) * 60_000).toISOString().slice(0, 10)
}

/** The day so many days before another. */
export function dayBefore(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) - days * 86_400_000).toISOString().slice(0, 10)
}

/** Loads everything that changes when domains come or go. */
export async function refreshAfterChange(): Promise<void> {
  await Promise.allSettled([summary.refresh(), monitored.refresh(), groups.refresh()])
}

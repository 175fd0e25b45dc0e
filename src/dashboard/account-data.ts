import { computed } from '@preact/signals'
import { openTab } from './address.ts'
import { call, type Query } from './client.ts'
import { FACTS, isOffered } from './facts.ts'
import { createResource } from './resource.ts'
import type { Group, Snapshot } from './responses.ts'

interface Known {
  ids: readonly string[]
  count: number
}

export const accounts = createResource<Known>({ load: loadAccounts, polled: true, shared: true })

async function loadAccounts(): Promise<Known> {
  const listPage = (query: Query) => call('listAccounts', { query })
  const first = await listPage({ limit: FACTS.pageLimit })
  const ids = first.accounts.map(({ id }) => id)
  const known = accounts.data.peek()
  // There may be thousands of accounts, and the page asks every few seconds.
  const isKnown = known?.count === first.count && ids.every((id, index) => id === known.ids[index])
  if (isKnown) return known
  if (first.next === null) return { ids, count: first.count }
  const all = await readAll('accounts', listPage)
  return { ids: all.map(({ id }) => id), count: all.length }
}

/** The chosen account: its plan, clock and sizes, and its key if the key is not secret. */
export const summary = createResource({
  load: (account) => call('getAccount', { parameters: { account } }),
  afterRequests: 400,
  changesOnly: true,
  polled: true,
})

export const groups = createResource({
  load: (account) => readAll('groups', (query) => call('listGroups', { parameters: { account }, query })),
  tabs: ['domains', 'groups'],
  afterRequests: 1_000,
  changesOnly: true,
  polled: true,
})

/** Domain → its groups. */
export const groupsByDomain = computed((): ReadonlyMap<string, readonly Group[]> => {
  const found = new Map<string, Group[]>()
  for (const group of groups.data.value ?? []) {
    for (const domain of group.domains) {
      const known = found.get(domain)
      if (known === undefined) found.set(domain, [group])
      else known.push(group)
    }
  }
  return found
})

export const keys = createResource({
  load: (account) => readAll('keys', (query) => call('listKeys', { parameters: { account }, query })),
  tabs: ['account', 'faults'],
  polled: true,
})

/**
 * The snapshots of the chosen account. Every tab shows unfinished stories, so every tab needs the list. It is loaded
 * again if the tab Time is open or the number of snapshots has changed. It is also loaded again while it contains the
 * snapshot of a story.
 */
export const snapshots = createResource({
  load: async (account): Promise<readonly Snapshot[]> =>
    isOffered('listSnapshots')
      ? readAll('snapshots', (query) => call('listSnapshots', { parameters: { account }, query }))
      : [],
  polled: true,
  isStale(): boolean {
    const known = snapshots.data.peek()
    const count = summary.data.peek()?.account.snapshots ?? 0
    return openTab.peek() === 'time' || known?.length !== count || known.some(isOfStory)
  },
})

const OF_STORY = /^before-the-story-[0-9a-f]{8}$/

/** A name for the snapshot of a story. Two pages do not choose the same one. */
export function nameForStory(): string {
  const bytes = [...crypto.getRandomValues(new Uint8Array(4))]
  return `before-the-story-${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** Whether a story has taken the snapshot, on this page, on another page or on a closed page. */
export function isOfStory({ name }: Snapshot): boolean {
  return OF_STORY.test(name)
}

const TABS = ['faults'] as const

/** The fault rules of the account with their results. They are loaded soon after each request. */
export const faults = createResource({
  load: (account) => readAll('faults', (query) => call('listFaults', { parameters: { account }, query })),
  tabs: TABS,
  afterRequests: 150,
  // A rule also ends by the time alone.
  polled: true,
})

export const faultSets = createResource({
  load: async () => (await call('listFaultSets')).sets,
  tabs: TABS,
  shared: true,
})

const DAYS = 90
/**
 * The least time between two loads after changes, in milliseconds. The server computes the figures again after each
 * change. For 10,000 domains that takes most of a second.
 */
const REST = 5_000

/** The figures of the chosen account. The server computes them again only after a change. */
export const overview = createResource({
  load: (account) => call('getOverview', { parameters: { account }, query: { days: DAYS } }),
  tabs: ['overview', 'time'],
  afterRequests: 1_500,
  changesOnly: true,
  restOf: ({ domains }) => Math.max(REST, domains),
  polled: true,
})

/**
 * All items of a paginated list, which are in the field `name` of each page. `load` loads one page. `goesOn` is asked
 * before each further page.
 */
export async function readAll<Name extends string, Item>(
  name: Name,
  load: (query: Query) => Promise<{ count: number; next: string | null } & Record<Name, readonly Item[]>>,
  goesOn: (done: number, total: number, items: readonly Item[]) => boolean = () => true,
): Promise<Item[]> {
  const items: Item[] = []
  for (let query: Query = { limit: FACTS.pageLimit }; ; ) {
    const page = await load(query)
    items.push(...page[name])
    if (page.next === null || !goesOn(items.length, page.count, [...items])) return items
    query = { ...query, after: page.next }
  }
}

import { call, type Query } from './client.ts'
import { createSource, readTimer } from './data.ts'
import { FACTS } from './facts.ts'
import type { Group } from './responses.ts'

// What several views show of the chosen account. The others are beside their views.

/** The ids of the accounts of the server. */
export const accounts = createSource({ after: 'others', isShared: true }, async () =>
  (await readAll('accounts', (query) => call('listAccounts', { query }))).map(({ id }) => id),
)

/** The chosen account: its plan, clock and sizes, and its key if the key is not secret. */
export const summary = createSource({ after: 'changes' }, async (account) => {
  const answer = await call('getAccount', { parameters: { account } })
  return { ...answer, at: readTimer() }
})

export const groups = createSource({ after: 'changes' }, (account) =>
  readAll('groups', (query) => call('listGroups', { parameters: { account }, query })),
)

/** The domains with the sources of their figures, in the order in which they were added. */
export const domains = createSource({ after: 'changes' }, (account) =>
  readAll('domains', (query) => call('listMonitoredDomains', { parameters: { account }, query })),
)

export const keys = createSource({ after: 'changes' }, (account) =>
  readAll('keys', (query) => call('listKeys', { parameters: { account }, query })),
)

export const quotas = createSource({ after: 'requests' }, (account) => call('getQuotas', { parameters: { account } }))

export const snapshots = createSource({ after: 'changes' }, (account) =>
  readAll('snapshots', (query) => call('listSnapshots', { parameters: { account }, query })),
)

export const scenes = createSource({ after: 'nothing' }, (account) => call('listScenes', { parameters: { account } }))

const OVERVIEW_DAYS = 90

export const overview = createSource({ after: 'changes' }, (account) =>
  call('getOverview', { parameters: { account }, query: { days: OVERVIEW_DAYS } }),
)

/** Domain → its groups. */
export function groupByDomain(all: readonly Group[]): ReadonlyMap<string, readonly Group[]> {
  const found = new Map<string, Group[]>()
  for (const group of all) {
    for (const domain of group.domains) found.set(domain, [...(found.get(domain) ?? []), group])
  }
  return found
}

/** The day of the refresh that GET /dmarc shows at an instant, such as 2026-01-15. */
export function refreshDate(now: string): string {
  const [hours = 0, minutes = 0] = FACTS.refresh.split(':').map(Number)
  return new Date(Date.parse(now) - (hours * 60 + minutes) * 60_000).toISOString().slice(0, 10)
}

/** All items of a paginated list, which are in the field `name` of each page. `load` loads one page. */
export async function readAll<Name extends string, Item>(
  name: Name,
  load: (query: Query) => Promise<{ next: string | null } & Record<Name, readonly Item[]>>,
): Promise<Item[]> {
  const items: Item[] = []
  for (let query: Query = { limit: FACTS.pageLimit }; ; ) {
    const page = await load(query)
    items.push(...page[name])
    if (page.next === null) return items
    query = { ...query, after: page.next }
  }
}

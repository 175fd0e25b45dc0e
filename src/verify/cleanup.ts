import { shorten } from '../ground/show.ts'
import { ConnectionError } from './client.ts'
import { type Conversation, isDone, isOverQuota, type ProbeAnswer, SETTLING } from './conversation.ts'
import { compareOthers, type Holdings, readDomains, readGroups } from './holdings.ts'
import type { Inventory } from './ledger.ts'
import { type ProbeRequest, quotaPathOf } from './probe.ts'
import { MOST_DOMAINS } from './probe-rows.ts'

/** What the cleanup found in the account, and what it did. */
export interface Cleanup {
  /** Whether two lists of the account show that nothing of the run is left. */
  restored: boolean
  removed: { domains: number; groups: number }
  /** The remaining items of the run. */
  left: { domains: readonly string[]; groups: readonly string[] }
  /** What was there before and is gone or different, one sentence each. The service, or another client, has done it. */
  lost: readonly string[]
  /** What others have added meanwhile, one sentence each. */
  gained: readonly string[]
  /** Why the state is unknown, or the cleanup incomplete. */
  reason?: string
}

export const NOTHING_REMOVED: Omit<Cleanup, 'restored'> = {
  removed: { domains: 0, groups: 0 },
  left: { domains: [], groups: [] },
  lost: [],
  gained: [],
}

/** In milliseconds: how long the cleanup waits for a quota, even if the user did not ask for it. */
const SHORT_WAIT = 60_000
/** A service that does not remove what its lists show will not do so the next time. */
const PASSES = 2

/** How many requests `restore` sends to each path if nothing unexpected happens. */
export function costOfRestoring(groups: number, domains: number): Record<string, number> {
  return { '/domaingroups': 2 + groups, '/domains': 2 + Math.max(1, Math.ceil(domains / MOST_DOMAINS)) }
}

/**
 * Removes what the answers and the lists show of the run, and nothing else. Then it reads the lists, again after a pause
 * if they are not as they were, and removes what they still show. The reserve does not bind it.
 */
export async function restore(conversation: Conversation): Promise<Cleanup> {
  const { holdings } = conversation
  const removed = { domains: 0, groups: 0 }
  try {
    if (holdings.unknown > 0) await conversation.pause(SETTLING)
    for (let pass = 1; ; pass++) {
      const reasons = [
        ...(await removeGroups([...holdings.groups.keys()], conversation, removed)),
        ...(await removeDomains([...holdings.domains], conversation, removed)),
      ]
      if (reasons.length > 0) return incomplete(holdings, removed, [...new Set(reasons)].join('; '))
      let after = await readAccount(conversation)
      if (typeof after !== 'string' && !isAsBefore(conclude(holdings, removed, after))) {
        // The list may be older than the removals.
        await conversation.pause(SETTLING)
        after = await readAccount(conversation)
      }
      if (typeof after === 'string') return incomplete(holdings, removed, after)
      const own = holdings.ownIn(after)
      if (pass === PASSES || own.groups.length + own.domains.length === 0) return conclude(holdings, removed, after)
      for (const group of own.groups) holdings.adopt(group)
      for (const name of own.domains) holdings.domains.add(name)
    }
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error
    return incomplete(holdings, removed, `the connection was lost: ${error.message}`)
  }
}

/** Resolves to why something was not tried. */
async function removeGroups(
  ids: readonly string[],
  conversation: Conversation,
  removed: Cleanup['removed'],
): Promise<string[]> {
  for (const id of ids) {
    const answer = await ask({ method: 'DELETE', path: `/domaingroups?id=${encodeURIComponent(id)}` }, conversation)
    if (typeof answer === 'string') return [answer]
    if (isDone(answer)) removed.groups++
    if (isDone(answer) || answer.code === 'not_found') conversation.holdings.groups.delete(id)
  }
  return []
}

/** If one domain cannot be removed, it blocks the others in the same request, so these are tried in halves. */
async function removeDomains(
  names: readonly string[],
  conversation: Conversation,
  removed: Cleanup['removed'],
): Promise<string[]> {
  if (names.length === 0) return []
  // The contract has no limit for a removal, but a service may apply that of an addition.
  const size = names.length > MOST_DOMAINS ? MOST_DOMAINS : Math.ceil(names.length / 2)
  const parts = async () => [
    ...(await removeDomains(names.slice(0, size), conversation, removed)),
    ...(await removeDomains(names.slice(size), conversation, removed)),
  ]
  if (names.length > MOST_DOMAINS) return parts()
  const answer = await ask({ method: 'DELETE', path: '/domains', body: { domains: names } }, conversation)
  if (typeof answer === 'string') return [answer]
  if (!isDone(answer)) return answer.isLost || names.length === 1 ? [] : parts()
  removed.domains += names.length
  for (const name of names) conversation.holdings.domains.delete(name)
  return []
}

/** Sends a request, within the whole quota. Resolves to why it could not be sent. */
async function ask(request: ProbeRequest, conversation: Conversation): Promise<ProbeAnswer | string> {
  const { budget, waits, signal } = conversation
  const path = quotaPathOf(request)
  for (const isLast of [false, true]) {
    if (budget.leftForCleanup(path) < 1) {
      if (signal.aborted || !(waits || budget.untilReset(path) <= SHORT_WAIT)) break
      await conversation.waitFor(path)
    }
    const answer = await conversation.ask(request)
    if (!isOverQuota(answer)) return answer
    if (isLast) break
    // A refusal for the quota can be that of a moment.
    await conversation.pause(SETTLING)
    budget.renewAfter(budget.untilReset(path))()
  }
  return `the quota of ${path} is used up for ${Math.ceil(budget.untilReset(path) / 60_000)} more minutes`
}

/** The content of the account, or why it is unknown. */
async function readAccount(conversation: Conversation): Promise<Inventory | string> {
  const groups = readList(readGroups, await ask({ method: 'GET', path: '/domaingroups' }, conversation))
  if (typeof groups === 'string') return groups
  const domains = readList(readDomains, await ask({ method: 'GET', path: '/domains' }, conversation))
  return typeof domains === 'string' ? domains : { groups, domains }
}

/** The items of a list, or why they are unknown. Only a list with a success status counts. */
export function readList<Item>(
  read: (data: unknown) => readonly Item[] | undefined,
  answer: ProbeAnswer | string,
): readonly Item[] | string {
  if (typeof answer === 'string') return answer
  const list = isDone(answer) ? read(answer.data) : undefined
  if (list !== undefined) return list
  const { status } = answer.response
  const said = answer.code === undefined ? `${status}` : `${status} ${answer.code}`
  return `a list was answered with ${said}${isDone(answer) ? ' and no list that can be read' : ''}`
}

/** Everything that the run has by the answers is left. */
function incomplete({ domains, groups, unknown }: Holdings, removed: Cleanup['removed'], why: string): Cleanup {
  const more = unknown === 0 ? '' : `; what ${unknown} requests may have created is not known`
  const left = { domains: [...domains], groups: [...groups.keys()] }
  return { restored: false, removed, left, lost: [], gained: [], reason: why + more }
}

function conclude(holdings: Holdings, removed: Cleanup['removed'], after: Inventory): Cleanup {
  const { domains, groups } = holdings.ownIn(after)
  const left = { domains, groups: groups.map(({ id }) => id) }
  if (holdings.before === undefined) {
    return { ...incomplete(holdings, removed, 'it is not known what was there before'), left }
  }
  const restored = domains.length === 0 && groups.length === 0
  return {
    ...{ restored, removed, left, ...compareOthers(holdings.before, after, holdings) },
    ...(!restored && { reason: 'the service did not remove everything' }),
  }
}

/** Whether the account is shown to be as before, but for what others have added. */
export function isAsBefore({ restored, lost }: Pick<Cleanup, 'restored' | 'lost'>): boolean {
  return restored && lost.length === 0
}

/** Why it is not shown that the account is as before, and what is left or different. */
export function describeRest({ reason, left, lost, gained }: Cleanup): string {
  const remains = [...left.domains.map((name) => `the domain ${name}`), ...left.groups.map((id) => `the group ${id}`)]
  const still = remains.length === 0 ? [] : [`still there: ${shorten(remains.join(', '), 1_000)}`]
  return [...(reason === undefined ? [] : [reason]), ...still, ...lost, ...gained].join('; ')
}

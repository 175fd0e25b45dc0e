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

/** A run that has recorded no creation has changed nothing. */
export const NOTHING_DONE: Cleanup = {
  ...{ restored: true, removed: { domains: 0, groups: 0 }, left: { domains: [], groups: [] } },
  ...{ lost: [], gained: [] },
}

/** In milliseconds: how long the cleanup waits for a quota, even if the user did not ask for it. */
const SHORT_WAIT = 60_000
/** A service that does not remove what its lists show will not do so the next time. */
const PASSES = 2

/** Why something could not be sent or read. The cleanup ends with it. */
class Hindrance extends Error {
  override name = 'Hindrance'
}

/** How many requests `restore` may send to each path. It needs two less, but other clients may spend, too. */
export function costOfRestoring(groups: number, domains: number): Record<string, number> {
  return { '/domaingroups': 4 + groups, '/domains': 4 + Math.max(1, Math.ceil(domains / MOST_DOMAINS)) }
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
      // What cannot be done to one kind of item keeps nobody from the other.
      const hindrances: Hindrance[] = []
      const keep = (error: unknown) => {
        if (!(error instanceof Hindrance)) throw error
        hindrances.push(error)
      }
      await removeGroups([...holdings.groups.keys()], conversation, removed).catch(keep)
      await removeDomains([...holdings.domains], conversation, removed).catch(keep)
      if (hindrances[0] !== undefined) throw hindrances[0]
      let after = await readAccount(conversation)
      if (!isAsBefore(conclude(holdings, removed, after))) {
        // The list may be older than the removals.
        await conversation.pause(SETTLING)
        after = await readAccount(conversation)
      }
      const own = holdings.ownIn(after)
      if (pass === PASSES || own.groups.length + own.domains.length === 0) return conclude(holdings, removed, after)
      for (const group of own.groups) holdings.adopt(group)
      for (const name of own.domains) holdings.domains.add(name)
    }
  } catch (error) {
    if (error instanceof Hindrance) return incomplete(holdings, removed, error.message)
    if (!(error instanceof ConnectionError)) throw error
    return incomplete(holdings, removed, `the connection was lost: ${error.message}`)
  }
}

async function removeGroups(ids: readonly string[], conversation: Conversation, removed: Cleanup['removed']) {
  for (const id of ids) {
    const answer = await ask({ method: 'DELETE', path: `/domaingroups?id=${encodeURIComponent(id)}` }, conversation)
    if (isDone(answer)) removed.groups++
    if (isDone(answer) || answer.code === 'not_found') conversation.holdings.groups.delete(id)
  }
}

/** If one domain cannot be removed, it blocks the others in the same request, so these are tried in halves. */
async function removeDomains(
  names: readonly string[],
  conversation: Conversation,
  removed: Cleanup['removed'],
): Promise<void> {
  if (names.length === 0) return
  // The contract has no limit for a removal, but a service may apply that of an addition.
  const isMany = names.length > MOST_DOMAINS
  if (!isMany) {
    const answer = await ask({ method: 'DELETE', path: '/domains', body: { domains: names } }, conversation)
    if (isDone(answer)) {
      removed.domains += names.length
      for (const name of names) conversation.holdings.domains.delete(name)
    }
    if (isDone(answer) || answer.isLost || names.length === 1) return
  }
  const size = isMany ? MOST_DOMAINS : Math.ceil(names.length / 2)
  await removeDomains(names.slice(0, size), conversation, removed)
  await removeDomains(names.slice(size), conversation, removed)
}

/** Sends a request, within the whole quota. @throws Hindrance */
async function ask(request: ProbeRequest, conversation: Conversation): Promise<ProbeAnswer> {
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
    budget.renew(path)
  }
  const minutes = Math.ceil(budget.untilReset(path) / 60_000)
  throw new Hindrance(`the quota of ${path} is used up for ${minutes} more minutes`)
}

async function readAccount(conversation: Conversation): Promise<Inventory> {
  const groups = readList(readGroups, await ask({ method: 'GET', path: '/domaingroups' }, conversation))
  const domains = readList(readDomains, await ask({ method: 'GET', path: '/domains' }, conversation))
  if (typeof groups === 'string') throw new Hindrance(groups)
  if (typeof domains === 'string') throw new Hindrance(domains)
  return { groups, domains }
}

/** The items of a list, or why they are unknown. Only a list with a success status counts. */
export function readList<Item>(
  read: (data: unknown) => readonly Item[] | undefined,
  answer: ProbeAnswer,
): readonly Item[] | string {
  const list = isDone(answer) ? read(answer.data) : undefined
  if (list !== undefined) return list
  const said = [answer.response.status, answer.code].filter(Boolean).join(' ')
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

/** What the cleanup has shown, in a sentence: what was removed, what is left, and what others have done. */
export function describeCleanup(cleanup: Cleanup): string {
  const { removed, restored, reason, left, lost, gained } = cleanup
  const remains = [...left.domains.map((name) => `the domain ${name}`), ...left.groups.map((id) => `the group ${id}`)]
  const still = remains.length === 0 ? [] : [`still there: ${remains.join(', ')}`]
  const rest = [...(reason === undefined ? [] : [reason]), ...still, ...lost, ...gained]
  const count = removed.domains + removed.groups
  const did =
    count === 0 ? 'nothing was removed' : `${removed.domains} domains and ${removed.groups} groups were removed`
  const shown = isAsBefore(cleanup)
    ? 'the account is as before'
    : restored
      ? 'nothing of the run is left, and another client or the service has changed the rest'
      : 'it is not shown that the account is as before'
  return `${did}; ${shown}${rest.length === 0 ? '' : `: ${shorten(rest.join('; '), 2_000)}`}`
}

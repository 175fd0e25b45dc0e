import { shorten } from '../ground/show.ts'
import { MOST_ADDED } from '../judge/refusals.ts'
import { ConnectionError } from './client.ts'
import { type Conversation, isDone, isOverQuota, type ProbeAnswer, SETTLING } from './conversation.ts'
import { compareOthers, type Holdings, readDomains, readGroups } from './holdings.ts'
import type { Inventory } from './ledger.ts'
import { type ProbeRequest, quotaPathOf } from './probe.ts'

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
/** A gateway may lose the removal of what the first pass has found. A service that removes nothing then never does. */
const PASSES = 3

/** Why something could not be sent or read. The cleanup ends with it. */
class Hindrance extends Error {
  override name = 'Hindrance'
}

/** How many requests `restore` may send to each path. It needs two less, but other clients may spend, too. */
export function costOfRestoring(groups: number, domains: number): Record<string, number> {
  return { '/domaingroups': 4 + groups, '/domains': 4 + Math.max(1, Math.ceil(domains / MOST_ADDED)) }
}

/**
 * Removes what the answers and the lists show of the run, and nothing else. Then it reads the lists, again after a pause
 * if they are not as they were, and removes what they still show. The reserve does not bind it.
 */
export async function restore(conversation: Conversation): Promise<Cleanup> {
  const { holdings } = conversation.options
  const removed = { domains: 0, groups: 0 }
  try {
    if (holdings.isUncertain) await conversation.pause(SETTLING)
    for (let pass = 1; ; pass++) {
      // What cannot be done to one kind of item keeps nobody from the other.
      const ofGroups = await hindranceOf(removeGroups([...holdings.groups.keys()], conversation, removed))
      const hindrance = (await hindranceOf(removeDomains([...holdings.domains], conversation, removed))) ?? ofGroups
      if (hindrance !== undefined) throw hindrance
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

async function hindranceOf(work: Promise<void>): Promise<Hindrance | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    if (error instanceof Hindrance) return error
    throw error
  }
}

async function removeGroups(ids: readonly string[], conversation: Conversation, removed: Cleanup['removed']) {
  for (const id of ids) {
    const answer = await ask({ method: 'DELETE', path: `/domaingroups?id=${encodeURIComponent(id)}` }, conversation)
    if (isDone(answer)) removed.groups++
    if (isDone(answer) || answer.code === 'not_found') conversation.options.holdings.groups.delete(id)
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
  const isMany = names.length > MOST_ADDED
  if (!isMany) {
    const answer = await ask({ method: 'DELETE', path: '/domains', body: { domains: names } }, conversation)
    if (isDone(answer)) {
      removed.domains += names.length
      for (const name of names) conversation.options.holdings.domains.delete(name)
    }
    if (isDone(answer) || answer.isLost || names.length === 1) return
  }
  const size = isMany ? MOST_ADDED : Math.ceil(names.length / 2)
  await removeDomains(names.slice(0, size), conversation, removed)
  await removeDomains(names.slice(size), conversation, removed)
}

/** Sends a request, within the whole quota. @throws Hindrance */
async function ask(request: ProbeRequest, conversation: Conversation): Promise<ProbeAnswer> {
  const { budget } = conversation
  const { waits, signal } = conversation.options
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
  const groups = await ask({ method: 'GET', path: '/domaingroups' }, conversation)
  const account = readInventory(groups, await ask({ method: 'GET', path: '/domains' }, conversation))
  if (typeof account === 'string') throw new Hindrance(account)
  return account
}

/** The account by its two lists, or why it is unknown. Only a list with a success status counts. */
export function readInventory(ofGroups: ProbeAnswer, ofDomains: ProbeAnswer): Inventory | string {
  const groups = isDone(ofGroups) ? readGroups(ofGroups.data) : undefined
  const domains = isDone(ofDomains) ? readDomains(ofDomains.data) : undefined
  if (groups !== undefined && domains !== undefined) return { groups, domains }
  const bad = groups === undefined ? ofGroups : ofDomains
  const said = [bad.response.status, bad.code].filter(Boolean).join(' ')
  return `a list was answered with ${said}${isDone(bad) ? ' and no list that can be read' : ''}`
}

/** Everything that the run has by the answers is left. */
function incomplete({ domains, groups, isUncertain }: Holdings, removed: Cleanup['removed'], why: string): Cleanup {
  const more = isUncertain ? '; some requests may have created what no answer has named' : ''
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
export function describeCleanup({ removed, restored, reason, left, lost, gained }: Cleanup): string {
  const remains = [...left.domains.map((name) => `the domain ${name}`), ...left.groups.map((id) => `the group ${id}`)]
  const still = remains.length === 0 ? [] : [`still there: ${remains.join(', ')}`]
  const rest = [...(reason === undefined ? [] : [reason]), ...still, ...lost, ...gained]
  const { domains, groups } = removed
  const did = domains + groups === 0 ? 'nothing was removed' : `${domains} domains and ${groups} groups were removed`
  let shown = 'it is not shown that the account is as before'
  if (restored) shown = 'nothing of the run is left, and another client or the service has changed the rest'
  if (isAsBefore({ restored, lost })) shown = 'the account is as before'
  return `${did}; ${shown}${rest.length === 0 ? '' : `: ${shorten(rest.join('; '), 2_000)}`}`
}

import type { DomainGroup } from '../domain/account.ts'
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
/**
 * In milliseconds: the pauses before what is still there is removed again. A service may keep a new domain until its
 * background processing is over, and a gateway may lose a removal.
 */
const PAUSES = [5 * SETTLING, 5 * SETTLING]
/** How often a request is sent that the quota refuses. */
const ATTEMPTS = 3
/** How often a list is asked for that cannot be read: a gateway may answer in place of the service. */
const READINGS = 3

/** Why something could not be sent or read. The cleanup ends with it. */
class Hindrance extends Error {
  override name = 'Hindrance'
}

/** How many requests `restore` may send to each path: enough to remove all domains a second time. */
export function costOfRestoring(groups: number, domains: number): Record<string, number> {
  return { '/domaingroups': 6 + groups, '/domains': 3 + 2 * Math.max(1, Math.ceil(domains / MOST_ADDED)) }
}

/** One kind of items: its list, and how to remove what the run has in it. */
interface Kind<Item> {
  read: { path: string; listIn(answer: ProbeAnswer): readonly Item[] | string }
  /** The names or ids of the own items in a list. */
  ownIn(listed: readonly Item[], holdings: Holdings): readonly string[]
  /** Learns from the list what the run still has. Returns all of that. */
  hold(own: readonly string[], holdings: Holdings): readonly string[]
  /** Whether all of them are removed. `isLast`: nothing is tried after this. */
  remove(own: readonly string[], isLast: boolean, conversation: Conversation): Promise<boolean>
}

const GROUPS: Kind<DomainGroup> = {
  read: { path: '/domaingroups', listIn: (answer) => listIn(answer, readGroups) },
  ownIn: (groups, holdings) => holdings.ownIn({ domains: [], groups }).groups.map(({ id }) => id),
  // A group that an answer has named may be younger than the list.
  hold(ids, holdings) {
    for (const id of ids) holdings.adopt({ id, name: '', domains: [] })
    return [...holdings.groups.keys()]
  },
  async remove(ids, _, conversation) {
    let isComplete = true
    for (const id of ids) {
      const answer = await ask({ method: 'DELETE', path: `/domaingroups?id=${encodeURIComponent(id)}` }, conversation)
      const isGone = isDone(answer) || answer.code === 'not_found'
      if (isGone) conversation.options.holdings.groups.delete(id)
      isComplete &&= isGone
    }
    return isComplete
  },
}

const DOMAINS: Kind<string> = {
  read: { path: '/domains', listIn: (answer) => listIn(answer, readDomains) },
  ownIn: (domains, holdings) => holdings.ownIn({ domains, groups: [] }).domains,
  // A list spells a name as it is stored; an answer may spell it as it was sent.
  hold(names, { domains }) {
    domains.clear()
    for (const name of names) domains.add(name)
    return names
  },
  /** If one domain cannot be removed, it blocks the others in the same request. At last, these are tried in halves. */
  async remove(names, isLast, conversation) {
    // The contract has no limit for a removal, but a service may apply that of an addition.
    const isMany = names.length > MOST_ADDED
    if (!isMany) {
      const answer = await ask({ method: 'DELETE', path: '/domains', body: { domains: names } }, conversation)
      if (isDone(answer)) for (const name of names) conversation.options.holdings.domains.delete(name)
      if (isDone(answer)) return true
      if (answer.isLost || names.length === 1 || !isLast) return false
    }
    const size = isMany ? MOST_ADDED : Math.ceil(names.length / 2)
    const isFirstDone = await DOMAINS.remove(names.slice(0, size), isLast, conversation)
    return (await DOMAINS.remove(names.slice(size), isLast, conversation)) && isFirstDone
  },
}

/**
 * Removes what the lists show of the run, and nothing else, until they show nothing of it. Groups come first: a service
 * may refuse to remove a domain that a group has. The reserve does not bind it.
 */
export async function restore(conversation: Conversation): Promise<Cleanup> {
  const { holdings } = conversation.options
  const found: Found = { domains: new Set(), groups: new Set() }
  try {
    if (holdings.isUncertain) await conversation.pause(SETTLING)
    // What cannot be done to one kind of item keeps nobody from the other.
    const groups = await orHindrance(clear(GROUPS, found.groups, conversation))
    const domains = await orHindrance(clear(DOMAINS, found.domains, conversation))
    if (groups instanceof Hindrance) throw groups
    if (domains instanceof Hindrance) throw domains
    const cleanup = conclude(holdings, found, { groups, domains })
    if (isAsBefore(cleanup)) return cleanup
    // A list may be older than the changes.
    await conversation.pause(SETTLING)
    const again = { groups: await readList(GROUPS, conversation), domains: await readList(DOMAINS, conversation) }
    return conclude(holdings, found, again)
  } catch (error) {
    if (error instanceof Hindrance) return incomplete(holdings, found, error.message)
    if (!(error instanceof ConnectionError)) throw error
    return incomplete(holdings, found, `the connection was lost: ${error.message}`)
  }
}

async function orHindrance<Result>(work: Promise<Result>): Promise<Result | Hindrance> {
  return work.catch((error: unknown) => {
    if (error instanceof Hindrance) return error
    throw error
  })
}

/** Removes the own items of one kind, and notes what it found. Resolves to the last list. @throws Hindrance */
async function clear<Item>(kind: Kind<Item>, found: Set<string>, conversation: Conversation): Promise<readonly Item[]> {
  for (let round = 0; ; round++) {
    const { holdings } = conversation.options
    const listed = await readList(kind, conversation)
    const own = kind.ownIn(listed, holdings)
    for (const item of own) found.add(item)
    const held = kind.hold(own, holdings)
    if (held.length === 0 || round > PAUSES.length) return listed
    const isComplete = await kind.remove(held, round === PAUSES.length, conversation)
    if (!isComplete) await conversation.pause(PAUSES[round] ?? SETTLING)
  }
}

/** @throws Hindrance if there is no list that can be read */
async function readList<Item>({ read }: Kind<Item>, conversation: Conversation): Promise<readonly Item[]> {
  for (let reading = 1; ; reading++) {
    const listed = read.listIn(await ask({ method: 'GET', path: read.path }, conversation))
    if (typeof listed !== 'string') return listed
    if (reading === READINGS) throw new Hindrance(listed)
    await conversation.pause(SETTLING)
  }
}

/** Sends a request, within the whole quota. @throws Hindrance */
async function ask(request: ProbeRequest, conversation: Conversation): Promise<ProbeAnswer> {
  const { budget } = conversation
  const { waits, signal } = conversation.options
  const path = quotaPathOf(request)
  for (let attempt = 1; ; attempt++) {
    if (budget.leftForCleanup(path) < 1) {
      if (signal.aborted || !(waits || budget.untilReset(path) <= SHORT_WAIT)) break
      await conversation.waitFor(path)
    }
    const answer = await conversation.ask(request)
    if (!isOverQuota(answer)) return answer
    if (attempt === ATTEMPTS) break
    // The first refusal for the quota can be that of a moment. After the second one, the window must end.
    if (attempt > 1) continue
    await conversation.pause(SETTLING)
    budget.renew(path)
  }
  const minutes = Math.ceil(budget.untilReset(path) / 60_000)
  throw new Hindrance(`the quota of ${path} is used up for ${minutes} more minutes`)
}

/** The account by its two lists, or why it is unknown. */
export function readInventory(ofGroups: ProbeAnswer, ofDomains: ProbeAnswer): Inventory | string {
  const groups = listIn(ofGroups, readGroups)
  const domains = listIn(ofDomains, readDomains)
  if (typeof groups === 'string') return groups
  return typeof domains === 'string' ? domains : { groups, domains }
}

/** The list in an answer, or why there is none. Only a list with a success status counts. */
function listIn<Item>(
  answer: ProbeAnswer,
  read: (data: unknown) => readonly Item[] | undefined,
): readonly Item[] | string {
  const listed = isDone(answer) ? read(answer.data) : undefined
  if (listed !== undefined) return listed
  const { status, body } = answer.response
  const said = [status, answer.code].filter(Boolean).join(' ')
  const why = body.isKnown ? '' : ` (${body.reason})`
  return `a list was answered with ${said}${isDone(answer) ? ` and no list that can be read${why}` : ''}`
}

/** What lists have shown of the run: names of domains, and ids of groups. */
type Found = Record<'domains' | 'groups', Set<string>>

/** Everything that the run has by the answers is left. */
function incomplete({ domains, groups, isUncertain }: Holdings, found: Found, why: string): Cleanup {
  const more = isUncertain ? '; some requests may have created what no answer has named' : ''
  const left = { domains: [...domains], groups: [...groups.keys()] }
  return { restored: false, removed: countRemoved(found, left), left, lost: [], gained: [], reason: why + more }
}

function conclude(holdings: Holdings, found: Found, after: Inventory): Cleanup {
  const { domains, groups } = holdings.ownIn(after)
  const left = { domains, groups: groups.map(({ id }) => id) }
  const removed = countRemoved(found, left)
  if (holdings.before === undefined) {
    return { ...incomplete(holdings, found, 'it is not known what was there before'), removed, left }
  }
  const restored = domains.length === 0 && groups.length === 0
  return {
    ...{ restored, removed, left, ...compareOthers(holdings.before, after, holdings) },
    ...(!restored && { reason: 'the service did not remove everything' }),
  }
}

function countRemoved(found: Found, left: Cleanup['left']): Cleanup['removed'] {
  const count = (kind: 'domains' | 'groups') => [...found[kind]].filter((item) => !left[kind].includes(item)).length
  return { domains: count('domains'), groups: count('groups') }
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

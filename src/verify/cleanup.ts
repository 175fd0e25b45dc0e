import { shorten } from '../ground/show.ts'
import type { RequestBudget } from './budget.ts'
import { ConnectionError } from './client.ts'
import { isDone, isOverQuota, type ProbeAnswer, SETTLING, type Way } from './conversation.ts'
import { compareOthers, type Holdings, readDomains, readGroups } from './holdings.ts'
import type { Inventory } from './ledger.ts'
import { type ProbeRequest, quotaPathOf } from './probe.ts'
import { MOST_DOMAINS } from './probe-rows.ts'

/** What the cleanup found in the account, and what it did. */
export interface Cleanup {
  /** Whether two lists of the account show that nothing of the run is left and everything else is unchanged. */
  restored: boolean
  removed: { domains: number; groups: number }
  /** The remaining items of the run. */
  left: { domains: readonly string[]; groups: readonly string[] }
  /** Changes by other clients or by the service, one sentence each. They concern no name of the run. */
  changes: readonly string[]
  /** Why the state is unknown, or the cleanup incomplete. */
  reason?: string
}

export const NOTHING_REMOVED: Omit<Cleanup, 'restored'> = {
  removed: { domains: 0, groups: 0 },
  left: { domains: [], groups: [] },
  changes: [],
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
export async function restore(way: Way): Promise<Cleanup> {
  const removed = { domains: 0, groups: 0 }
  try {
    return await new AccountCleanup(way, removed).run()
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error
    return incomplete(way.holdings, removed, `the connection was lost: ${error.message}`)
  }
}

class AccountCleanup {
  readonly #way: Way
  readonly #removed: Cleanup['removed']

  constructor(way: Way, removed: Cleanup['removed']) {
    this.#way = way
    this.#removed = removed
  }

  async run(): Promise<Cleanup> {
    const { holdings, pause } = this.#way
    if (holdings.unknown > 0) await pause(SETTLING)
    for (let pass = 1; ; pass++) {
      const refused = await this.#remove([...holdings.groups.keys()], [...holdings.domains])
      if (refused !== undefined) return incomplete(holdings, this.#removed, refused)
      let after = await this.#read()
      if (typeof after !== 'string' && !conclude(holdings, this.#removed, after).restored) {
        // The list may be older than the removals.
        await pause(SETTLING)
        after = await this.#read()
      }
      if (typeof after === 'string') return incomplete(holdings, this.#removed, after)
      const own = holdings.ownIn(after)
      if (pass === PASSES || own.groups.length + own.domains.length === 0) {
        return conclude(holdings, this.#removed, after)
      }
      for (const group of own.groups) holdings.adopt(group)
      for (const name of own.domains) holdings.domains.add(name)
    }
  }

  /** Returns why something was not tried. A path without quota does not stop the other one. */
  async #remove(groups: readonly string[], domains: readonly string[]): Promise<string | undefined> {
    const reasons = new Set<string>()
    for (const id of groups) {
      const answer = await this.#ask({ method: 'DELETE', path: `/domaingroups?id=${encodeURIComponent(id)}` })
      if (typeof answer === 'string') {
        reasons.add(answer)
        break
      }
      if (isDone(answer)) this.#removed.groups++
      if (isDone(answer) || answer.code === 'not_found') this.#way.holdings.groups.delete(id)
    }
    // The contract has no limit for a removal, but a service may apply that of an addition.
    for (let start = 0; start < domains.length; start += MOST_DOMAINS) {
      const reason = await this.#removeDomains(domains.slice(start, start + MOST_DOMAINS))
      if (reason !== undefined) reasons.add(reason)
    }
    return reasons.size === 0 ? undefined : [...reasons].join('; ')
  }

  async #removeDomains(names: readonly string[]): Promise<string | undefined> {
    const answer = await this.#ask({ method: 'DELETE', path: '/domains', body: { domains: names } })
    if (typeof answer === 'string') return answer
    if (isDone(answer)) {
      this.#removed.domains += names.length
      for (const name of names) this.#way.holdings.domains.delete(name)
      return undefined
    }
    if (answer.isLost || names.length === 1) return undefined
    // If one domain cannot be removed, it blocks the others in the same request.
    const middle = Math.ceil(names.length / 2)
    return (await this.#removeDomains(names.slice(0, middle))) ?? this.#removeDomains(names.slice(middle))
  }

  /** Sends a request, within the whole quota. Resolves to why it could not be sent. */
  async #ask(request: ProbeRequest): Promise<ProbeAnswer | string> {
    const { conversation, budget, waits, signal, pause, waitFor } = this.#way
    const path = quotaPathOf(request)
    for (let attempt = 1; ; attempt++) {
      if (budget.leftForCleanup(path) < 1) {
        const isWorthIt = waits || budget.untilReset(path) <= SHORT_WAIT
        if (signal.aborted || !isWorthIt) return describeQuota(path, budget)
        await waitFor(path)
      }
      const answer = await conversation.ask(request)
      if (!isOverQuota(answer)) return answer
      if (attempt > 1) return describeQuota(path, budget)
      // A refusal for the quota can be that of a moment.
      await pause(SETTLING)
      budget.renewAfter(budget.untilReset(path))()
    }
  }

  /** The content of the account, or why it is unknown. */
  async #read(): Promise<Inventory | string> {
    const groups = await readList(readGroups, () => this.#ask({ method: 'GET', path: '/domaingroups' }))
    if (typeof groups === 'string') return groups
    const domains = await readList(readDomains, () => this.#ask({ method: 'GET', path: '/domains' }))
    return typeof domains === 'string' ? domains : { groups, domains }
  }
}

/** The items of a list, or why they are unknown. Only a list with a success status counts. */
export async function readList<Item>(
  read: (data: unknown) => readonly Item[] | undefined,
  ask: () => Promise<ProbeAnswer | string>,
): Promise<readonly Item[] | string> {
  const answer = await ask()
  if (typeof answer === 'string') return answer
  const list = isDone(answer) ? read(answer.data) : undefined
  if (list !== undefined) return list
  const { status } = answer.response
  const said = answer.code === undefined ? `${status}` : `${status} ${answer.code}`
  return `a list was answered with ${said}${isDone(answer) ? ' and no list that can be read' : ''}`
}

function describeQuota(path: string, budget: RequestBudget): string {
  return `the quota of ${path} is used up for ${Math.ceil(budget.untilReset(path) / 60_000)} more minutes`
}

/** Everything that the run has by the answers is left. */
function incomplete({ domains, groups, unknown }: Holdings, removed: Cleanup['removed'], reason: string): Cleanup {
  const more = unknown === 0 ? '' : `; what ${unknown} requests may have created is not known`
  const left = { domains: [...domains], groups: [...groups.keys()] }
  return { restored: false, removed, left, changes: [], reason: reason + more }
}

function conclude(holdings: Holdings, removed: Cleanup['removed'], after: Inventory): Cleanup {
  const { domains, groups } = holdings.ownIn(after)
  const left = { domains, groups: groups.map(({ id }) => id) }
  if (holdings.before === undefined) {
    return { ...incomplete(holdings, removed, 'it is not known what was there before'), left }
  }
  const { lost, gained } = compareOthers(holdings.before, after, holdings)
  const isClean = domains.length === 0 && groups.length === 0
  return {
    restored: isClean && lost.length === 0,
    removed,
    left,
    changes: [...lost, ...gained],
    ...(!isClean && { reason: 'the service did not remove everything' }),
    ...(isClean && lost.length > 0 && { reason: 'something that was there before is gone or different' }),
  }
}

/** Why it is not shown that the account is as before, and what is left or different. */
export function describeRest({ reason = 'the reason is not known', left, changes }: Cleanup): string {
  const remains = [...left.domains.map((name) => `the domain ${name}`), ...left.groups.map((id) => `the group ${id}`)]
  const still = remains.length === 0 ? [] : [`still there: ${shorten(remains.join(', '), 1_000)}`]
  return [reason, ...still, ...changes].join('; ')
}

import type { RequestBudget } from './budget.ts'
import { ConnectionError } from './client.ts'
import { type Conversation, SETTLING } from './conversation.ts'
import type { Holdings } from './holdings.ts'
import {
  DOMAINS,
  GROUPS,
  type Inventory,
  isDone,
  readDomains,
  readGroups,
  readList,
  takeInventory,
} from './inventory.ts'
import { isOverQuota, MOST_DOMAINS, type ProbeAnswer, type ProbeRequest, quotaPathOf } from './probe.ts'

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

/** How often a removal is sent whose answer is lost, if a list shows that it was not done. */
const TRIES = 3
/** In milliseconds: how long the cleanup waits for a quota, even if the user did not ask for it. */
const SHORT_WAIT = 60_000

/** How many requests `restore` sends to each path if nothing unexpected happens, and one more list to look again. */
export function costOfRestoring(groups: number, domains: number): Record<string, number> {
  return { '/domaingroups': 2 + groups, '/domains': 2 + Math.max(1, Math.ceil(domains / MOST_DOMAINS)) }
}

/** How a cleanup may spend and wait. */
export interface CleanupTerms {
  conversation: Conversation
  budget: RequestBudget
  holdings: Holdings
  /** Whether anything may be removed. If not, the lists still show what is left. */
  writes: boolean
  /** Whether to wait for a quota however long it takes. */
  waits: boolean
  /** Resolves after this many milliseconds. */
  pause(milliseconds: number): Promise<void>
  waitFor(path: string): Promise<void>
  signal: AbortSignal
}

/**
 * Removes everything that the run has created by its ledger, if it may write, and nothing else. Then it reads the lists, and again after
 * a pause if they contradict that, and removes what they still show. At last it compares the account with what it was.
 * The reserve does not bind it.
 */
export async function restore(terms: CleanupTerms): Promise<Cleanup> {
  const cleanup = new AccountCleanup(terms)
  try {
    return await cleanup.run()
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error
    return cleanup.incomplete(`the connection was lost: ${error.message}`)
  }
}

class AccountCleanup {
  readonly #terms: CleanupTerms
  readonly #removed = { domains: 0, groups: 0 }

  constructor(terms: CleanupTerms) {
    this.#terms = terms
  }

  async run(): Promise<Cleanup> {
    const { holdings, pause, writes } = this.#terms
    let [groups, domains] = writes ? [[...holdings.groups.keys()], [...holdings.domains]] : [[], []]
    for (let pass = 1; ; pass++) {
      const refused = await this.#remove(groups, domains)
      if (refused !== undefined) return this.incomplete(refused)
      if (holdings.unknown > 0) await pause(SETTLING)
      let after = await this.#read()
      if (typeof after !== 'string' && !this.#conclude(after).restored) {
        await pause(SETTLING)
        after = await this.#read()
      }
      if (typeof after === 'string') return this.incomplete(after)
      const own = holdings.ownIn(after)
      const isDone = own.groups.length === 0 && own.domains.length === 0
      // A service that does not remove what its lists show will not do so the next time.
      if (isDone || pass > 1 || !writes) return this.#conclude(after)
      for (const group of own.groups) holdings.adopt(group)
      for (const name of own.domains) holdings.domains.add(name)
      ;[groups, domains] = [own.groups.map(({ id }) => id), own.domains]
    }
  }

  /** Everything that the ledger has and no answer has shown to be removed is left. */
  incomplete(reason: string): Cleanup {
    const { domains, groups, unknown } = this.#terms.holdings
    const left = { domains: [...domains], groups: [...groups.keys()] }
    const more = unknown === 0 ? '' : `; what ${unknown} requests may have created is not known`
    return { restored: false, removed: this.#removed, left, changes: [], reason: reason + more }
  }

  /** Returns why something was not tried. A path without quota does not stop the other one. */
  async #remove(groups: readonly string[], domains: readonly string[]): Promise<string | undefined> {
    const reasons: string[] = []
    for (const id of groups) {
      const reason = await this.#removeGroup(id)
      if (reason === undefined) continue
      reasons.push(reason)
      break
    }
    // The contract has no limit for a removal, but a service may apply that of an addition.
    for (let start = 0; start < domains.length; start += MOST_DOMAINS) {
      const reason = await this.#removeDomains(domains.slice(start, start + MOST_DOMAINS))
      if (reason !== undefined) return [...reasons, reason].join('; ')
    }
    return reasons[0]
  }

  async #removeGroup(id: string, tries = TRIES): Promise<string | undefined> {
    const answer = await this.#ask({ method: 'DELETE', path: `/domaingroups?id=${encodeURIComponent(id)}` })
    if (typeof answer === 'string') return answer
    const shown = answer.isLost ? await readList(GROUPS, (request) => this.#ask(request), readGroups) : undefined
    if (typeof shown === 'string') return shown
    const isGone = isDone(answer) || shown?.some((group) => group.id === id) === false
    if (isGone) this.#removed.groups++
    if (isGone || answer.code === 'not_found') this.#terms.holdings.groups.delete(id)
    else if (answer.isLost && tries > 1) return this.#removeGroup(id, tries - 1)
    return undefined
  }

  async #removeDomains(names: readonly string[], tries = TRIES): Promise<string | undefined> {
    const answer = await this.#ask({ method: 'DELETE', path: '/domains', body: { domains: names } })
    if (typeof answer === 'string') return answer
    const shown = answer.isLost ? await readList(DOMAINS, (request) => this.#ask(request), readDomains) : undefined
    if (typeof shown === 'string') return shown
    const gone = isDone(answer) ? names : shown === undefined ? [] : names.filter((name) => !shown.includes(name))
    this.#removed.domains += gone.length
    for (const name of gone) this.#terms.holdings.domains.delete(name)
    const rest = names.filter((name) => !gone.includes(name))
    if (rest.length === 0) return undefined
    if (answer.isLost) return tries > 1 ? this.#removeDomains(rest, tries - 1) : undefined
    // If one domain cannot be removed, it blocks the others in the same request, so each is removed alone.
    for (const name of rest.length > 1 ? rest : []) {
      const reason = await this.#removeDomains([name])
      if (reason !== undefined) return reason
    }
    return undefined
  }

  /** Sends a request, within the whole quota. A refusal for the quota can be that of a moment. */
  async #ask(request: ProbeRequest): Promise<ProbeAnswer | string> {
    const { conversation, pause } = this.#terms
    const path = quotaPathOf(request)
    for (let attempt = 0; ; attempt++) {
      if (!(await this.#awaitQuota(path))) return this.#describeQuota(path)
      const answer = await conversation.ask(request)
      if (!isOverQuota(answer)) return answer
      if (attempt > 0) return this.#describeQuota(path)
      if (!(await this.#awaitQuota(path))) {
        await pause(SETTLING)
        this.#terms.budget.renew(path)
      }
    }
  }

  /** Resolves to whether a request may be sent now. */
  async #awaitQuota(path: string): Promise<boolean> {
    const { budget, waits, signal, waitFor } = this.#terms
    if (budget.leftForCleanup(path) >= 1) return true
    if (signal.aborted || !(waits || budget.untilReset(path) <= SHORT_WAIT)) return false
    await waitFor(path)
    return budget.leftForCleanup(path) >= 1
  }

  #describeQuota(path: string): string {
    const { budget } = this.#terms
    const minutes = Math.ceil(budget.untilReset(path) / 60_000)
    const why = budget.isShared ? ', because the service counts the requests to all paths together' : ''
    return `the quota of ${path} is used up for ${minutes} more minutes${why}`
  }

  /** The content of the account, or why it is unknown. */
  #read(): Promise<Inventory | string> {
    return takeInventory((request) => this.#ask(request))
  }

  #conclude(after: Inventory): Cleanup {
    const { holdings, writes } = this.#terms
    const { domains, groups } = holdings.ownIn(after)
    const left = { domains, groups: groups.map(({ id }) => id) }
    const { before } = holdings
    if (before === undefined) return { ...this.incomplete('it is not known what was there before'), left }
    const { lost, gained } = holdings.changesOf(before, after)
    const isClean = domains.length === 0 && groups.length === 0
    return {
      restored: isClean && lost.length === 0,
      removed: this.#removed,
      left,
      changes: [...lost, ...gained],
      ...(!isClean && { reason: writes ? 'the service did not remove everything' : 'this run may not write' }),
      ...(isClean && lost.length > 0 && { reason: 'something that was there before is gone or different' }),
    }
  }
}

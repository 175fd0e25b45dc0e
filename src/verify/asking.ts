import type { QuotaView, RequestBudget } from './budget.ts'
import { type Conversation, HarmfulRequest } from './conversation.ts'
import { MOST_SET_UPS } from './foresight.ts'
import type { Holdings } from './holdings.ts'
import { readDomains, readGroups } from './inventory.ts'
import type { Ledger } from './ledger.ts'
import type { PlannedProbe } from './plan.ts'
import { type Probe, type ProbeAnswer, type ProbeRequest, quotaPathOf } from './probe.ts'
import type { ProbeSetup } from './probe-setup.ts'
import { isReadOnly } from './probes.ts'
import { costOfRestoring } from './restoration.ts'

export interface VerifyProgress {
  /** How many probes were asked; `planned` counts all of the plan. */
  asked: number
  planned: number
  doing: string
  quotas: readonly Pick<QuotaView, 'path' | 'left' | 'resetsIn'>[]
  /** Seconds until everything was asked, if no other client spends. It is mostly the time until quotas are reset. */
  toGo: number
}

/** What became of a probe. */
export interface ProbeState {
  probe: PlannedProbe
  state: 'asked' | 'not reached'
  /** Why it was not reached. */
  reason?: string
  /** Of a probe that has used up a quota: how many requests of the window the service has allowed. */
  allowed?: number
}

/** Why the asking ended before everything was asked, and one sentence about it. */
export interface EarlyEnd {
  kind: 'quota' | 'interrupted' | 'connection' | 'ledger'
  reason: string
}

export interface AskingOptions {
  plan: readonly PlannedProbe[]
  conversation: Conversation
  budget: RequestBudget
  holdings: Holdings
  setup: ProbeSetup
  ledger: Pick<Ledger, 'write'>
  /** The ids of the probes that were asked already. */
  done: Iterable<string>
  /** Whether a cleanup follows, which needs requests, too. */
  restores: boolean
  /** Why the run must not write, if so. */
  unreadable: string | undefined
  /** Whether to wait for quotas. If not, the asking ends when they are used up. */
  waits: boolean
  waitFor(path: string): Promise<void>
  signal: AbortSignal
  onProgress(progress: VerifyProgress): void
}

/** Requests of each path that are left for the cleanup beyond its need, because other clients may spend too. */
const SLACK = 2
/** The asking ends after this many consecutive windows in which it could ask nothing. */
const FRUITLESS_WINDOWS = 3
/** How often a probe is asked if the answer to a write of it is lost. */
const TRIES = 3
/** So many requests that succeed although nothing is left are no chance: other clients may have some in flight. */
const BEYOND = 4

/** The path whose quota is too small for now, or the request whose answer was lost; `undefined` if all is done. */
type Hindrance = { short: string } | { lost: ProbeRequest; place: number } | undefined

/** Asks the probes of a plan within the quotas. What a probe needs is set up before it. */
export class Asking {
  ended: EarlyEnd | undefined
  readonly #options: AskingOptions
  readonly #done: Set<string>
  readonly #states = new Map<string, Omit<ProbeState, 'probe' | 'state'>>()

  constructor(options: AskingOptions) {
    this.#options = options
    this.#done = new Set(options.done)
  }

  /** Asks what the quotas allow, waits if this is wanted, and continues until no probe is left that can be asked. */
  async askAll(): Promise<void> {
    const { plan, waits, waitFor, signal } = this.#options
    for (let fruitless = 0; fruitless < FRUITLESS_WINDOWS; fruitless++) {
      const asked = this.#done.size
      const short = new Set<string>()
      for (const probe of plan) {
        if (probe.exhausts || probe.barrier !== undefined || this.#isSettled(probe)) continue
        if (signal.aborted) return this.#interrupt()
        const lacking = await this.#tryProbe(probe)
        if (lacking !== undefined) short.add(lacking)
      }
      if (short.size === 0) return
      if (!waits) return this.end('quota', 'the quotas of this window are used up')
      if (this.#done.size > asked) fruitless = -1
      await waitFor(this.#soonest(short))
      if (signal.aborted) return this.#interrupt()
    }
    this.end('quota', `in ${FRUITLESS_WINDOWS} windows, the quotas left no request to send`)
  }

  /** Uses up quotas on purpose. It comes after the cleanup, which needs the quotas, too. */
  async exhaust(): Promise<void> {
    const { plan, conversation, budget, signal } = this.#options
    for (const probe of plan) {
      const [request] = probe.rehearsed
      if (!probe.exhausts || probe.barrier !== undefined || this.#isSettled(probe) || request === undefined) continue
      if (signal.aborted) return this.#interrupt()
      this.tell(probe.id)
      const path = quotaPathOf(request)
      const viewOf = () => budget.views.find((view) => view.path === path)
      const { limit = 0, remaining = limit } = viewOf() ?? {}
      if (remaining > limit) {
        this.#skip(probe, `the key has more than the ${limit} requests of the contract, as a new key may`)
        continue
      }
      let isRefused = false
      for (let left = remaining + BEYOND; left > 0 && !isRefused && !signal.aborted; left--) {
        const { code } = await conversation.ask(request, { probe: probe.id })
        isRefused = code === 'rate_limited'
      }
      // Without a refusal, the requests until the signal answer nothing.
      if (signal.aborted && !isRefused) return this.#interrupt()
      if (isRefused) this.#states.set(probe.id, { allowed: (viewOf()?.sent ?? 1) - 1 })
      this.#conclude(probe)
    }
  }

  end(kind: EarlyEnd['kind'], reason: string): void {
    // After a used-up quota, the run goes on, and a signal can still end it.
    if (this.ended === undefined || (this.ended.kind === 'quota' && kind === 'interrupted'))
      this.ended = { kind, reason }
  }

  get states(): ProbeState[] {
    const late = this.ended?.reason ?? 'the run ended before'
    return this.#options.plan.map((probe) => {
      const { reason = probe.barrier ?? late, ...more } = this.#states.get(probe.id) ?? {}
      return this.#done.has(probe.id) ? { probe, state: 'asked', ...more } : { probe, state: 'not reached', reason }
    })
  }

  /** Reports the progress. */
  tell(doing: string): void {
    const { plan, budget, onProgress } = this.#options
    const planned = plan.filter(({ barrier }) => barrier === undefined)
    const asked = planned.filter(({ id }) => this.#done.has(id)).length
    onProgress({ asked, planned: planned.length, doing, quotas: budget.views, toGo: this.#timeToGo() })
  }

  #interrupt(): void {
    this.end('interrupted', 'the run was interrupted')
  }

  #isSettled({ id }: Probe): boolean {
    return this.#done.has(id) || this.#states.has(id)
  }

  /** Returns the path whose quota is too small. */
  async #tryProbe(probe: PlannedProbe): Promise<string | undefined> {
    const { unreadable } = this.#options
    this.tell(probe.id)
    if (unreadable !== undefined && !isReadOnly(probe, probe.rehearsed)) return this.#skip(probe, unreadable)
    const whole = this.#tooLargeFor(probe)
    if (whole !== undefined)
      return this.#skip(probe, `it needs more than the quota of ${whole} has beside the reserve and the cleanup`)
    try {
      const lost: number[] = []
      while (lost.length < TRIES) {
        const hindrance = await this.#askOnce(probe, lost)
        if (hindrance === undefined) return undefined
        if ('short' in hindrance) return hindrance.short
        lost.push(hindrance.place)
        await this.#lookAgain(hindrance.lost)
      }
      return this.#skip(probe, `the answer was lost ${TRIES} times`)
    } catch (error) {
      if (!(error instanceof HarmfulRequest)) throw error
      return this.#skip(probe, error.message)
    }
  }

  /**
   * Asks a probe with its set-up, with names that no request had before. `lost` has the places of the requests whose
   * answers were lost. What a gateway answers each time at the same place counts as the answer of the service.
   */
  async #askOnce(probe: PlannedProbe, lost: readonly number[]): Promise<Hindrance> {
    const { setup, conversation } = this.#options
    const isLastTry = (place: number) => lost.length === TRIES - 1 && lost.every((each) => each === place)
    for (let sent = 0; ; sent++) {
      const setUp = setup.nextSetUp(probe)
      if (setUp === undefined) break
      // It is useless to set up a probe that cannot be asked afterwards.
      const lacking = this.#lackingFor([setUp, ...probe.rehearsed], probe)
      if (lacking !== undefined) return { short: lacking }
      if (sent >= MOST_SET_UPS) return this.#skip(probe, 'the service did not accept what the probe needs')
      const place = sent - MOST_SET_UPS
      const answer = await conversation.ask(setUp, { probe: probe.id, setUp: true, isLastTry: isLastTry(place) })
      if (isHindered(answer)) return hindranceOf(answer, setUp, place)
    }
    const requests = probe.requests(setup.sceneFor(probe))
    const lacking = this.#lackingFor(requests, probe)
    if (lacking !== undefined) return { short: lacking }
    const { endangers } = probe
    if (endangers !== undefined && !(await this.#isAlone(endangers)))
      return this.#skip(probe, `the account has ${endangers} of others, which a wrong service might change`)
    for (const [place, request] of requests.entries()) {
      const answer = await conversation.ask(request, { probe: probe.id, isLastTry: isLastTry(place) })
      if (isHindered(answer)) return hindranceOf(answer, request, place)
    }
    this.#conclude(probe)
    return undefined
  }

  #conclude({ id }: Probe): void {
    this.#options.ledger.write({ done: id })
    this.#done.add(id)
  }

  /** A list shows whether a request has been done whose answer was lost. */
  async #lookAgain(lost: ProbeRequest): Promise<void> {
    const path = quotaPathOf(lost)
    if (this.#options.budget.left(path) > 0) await this.#options.conversation.ask({ method: 'GET', path })
  }

  #skip({ id }: Probe, reason: string): undefined {
    this.#states.set(id, { reason })
  }

  /** The path whose quota is too small for the requests and the later cleanup. */
  #lackingFor(requests: readonly ProbeRequest[], { endangers }: Probe): string | undefined {
    const { budget, restores, holdings } = this.#options
    const needed = new Map<string, number>()
    const add = (path: string, count: number) => needed.set(path, (needed.get(path) ?? 0) + count)
    for (const request of requests) add(quotaPathOf(request), 1)
    if (endangers !== undefined) add(endangers === 'groups' ? '/domaingroups' : '/domains', 1)
    const own = [...needed.keys()]
    if (restores) {
      const created = requests.filter(({ method, path }) => method === 'POST' && path === '/domaingroups').length
      const cleanup = costOfRestoring(holdings.groups.size + holdings.unknown + created, holdings.domains.size)
      for (const [path, count] of Object.entries(cleanup)) {
        // Only paths that the probe uses can make the cleanup more expensive, unless all paths share one quota.
        if (needed.has(path) || budget.isShared) add(path, count + this.#slack)
      }
    }
    const all = [...needed.values()].reduce((sum, count) => sum + count, 0)
    return own.find((path) => budget.left(path) < (budget.isShared ? all : (needed.get(path) ?? 0)))
  }

  /** The path for which even a whole window is too small. */
  #tooLargeFor({ cost }: PlannedProbe): string | undefined {
    const { budget } = this.#options
    return Object.entries(cost).find(([path, count]) => budget.whole(path) < count + this.#heldBack(path))?.[0]
  }

  #heldBack(path: string): number {
    const count = this.#options.restores ? costOfRestoring(0, 0)[path] : undefined
    return count === undefined ? 0 : count + this.#slack
  }

  /** Where answers are lost, the cleanup needs more requests, too. */
  get #slack(): number {
    return this.#options.conversation.troubles.length > 0 ? 2 * SLACK : SLACK
  }

  async #isAlone(what: 'groups' | 'domains'): Promise<boolean> {
    const { holdings, conversation } = this.#options
    if (!holdings.hasOnlyOwn(what)) return false
    const { data } = await conversation.ask({ method: 'GET', path: what === 'groups' ? '/domaingroups' : '/domains' })
    if (what === 'domains') return readDomains(data)?.every((name) => holdings.isOwnDomain(name)) ?? false
    return readGroups(data)?.every((group) => holdings.isOwnListedGroup(group)) ?? false
  }

  #soonest(paths: ReadonlySet<string>): string {
    const { budget } = this.#options
    return [...paths].toSorted((one, other) => budget.untilReset(one) - budget.untilReset(other))[0] ?? ''
  }

  /** Only quotas count, because a single request takes almost no time. */
  #timeToGo(): number {
    const { plan, budget } = this.#options
    const cost: Record<string, number> = {}
    for (const probe of plan) {
      if (probe.barrier !== undefined || this.#isSettled(probe)) continue
      for (const [path, count] of Object.entries(probe.cost)) cost[path] = (cost[path] ?? 0) + count
    }
    const waits = Object.entries(cost).map(([path, count]) => {
      const missing = count - budget.left(path)
      if (missing <= 0) return 0
      const whole = Math.max(1, budget.whole(path) - this.#heldBack(path))
      return budget.untilReset(path) / 1000 + (Math.ceil(missing / whole) - 1) * budget.windowOf(path)
    })
    return Math.round(Math.max(0, ...waits))
  }
}

/** A refusal for the quota says nothing about the question: another client has used up the quota. */
function isHindered({ code, isLost }: ProbeAnswer): boolean {
  return code === 'rate_limited' || isLost
}

function hindranceOf({ isLost }: ProbeAnswer, request: ProbeRequest, place: number): Hindrance {
  return isLost ? { lost: request, place } : { short: quotaPathOf(request) }
}

import type { DomainGroup } from '../domain/account.ts'
import { costOfRestoring } from './cleanup.ts'
import { HarmfulRequest, isOverQuota, type Way } from './conversation.ts'
import { intentOf, readDomains, readGroups } from './holdings.ts'
import { needsWrites, type PlannedProbe } from './plan.ts'
import { countByPath, type Needs, type ProbeRequest, type ProbeScene, quotaPathOf } from './probe.ts'
import { READ_DOMAINS, READ_GROUPS } from './probes.ts'

/** What became of a probe. */
export interface ProbeState extends PlannedProbe {
  isAsked: boolean
  /** Why it was not asked. */
  reason?: string
  /** Of a probe that has used up a quota: how many requests of the window the service has allowed. */
  allowed?: number
}

/** Why the asking ended before everything was asked, and one sentence about it. */
export interface EarlyEnd {
  kind: 'quota' | 'interrupted' | 'connection' | 'ledger'
  reason: string
}

export interface QuestioningOptions extends Way {
  plan: readonly PlannedProbe[]
  /** The suffix of the domains of the run, without a dot. */
  suffix: string
  writes: boolean
  /** Why the run must not write, if so. */
  unreadable: string | undefined
  /** Reports what the run does. */
  tell(doing: string): void
}

/** Requests of each path that are left for the cleanup beyond its need, because other clients may spend too. */
const SLACK = 2
/** The asking ends after this many consecutive windows in which it could ask nothing. */
const FRUITLESS_WINDOWS = 3
/** So many requests that succeed although nothing is left are no chance: other clients may have some in flight. */
const BEYOND = 4
/** How many requests may set up one probe. */
const MOST_SET_UPS = 5
/** How many domains are added at once, for later probes too: an hour allows few requests. */
const ADDED_AT_ONCE = 10

/** Asks the probes of a plan within the quotas. What a probe needs is set up before it. */
export class Questioning {
  ended: EarlyEnd | undefined
  readonly #options: QuestioningOptions
  readonly #states = new Map<string, Omit<ProbeState, keyof PlannedProbe>>()
  #names = 0

  constructor(options: QuestioningOptions) {
    this.#options = options
    // The first requests of the run have answered these.
    for (const { id } of [READ_GROUPS, READ_DOMAINS]) this.#states.set(id, { isAsked: true })
  }

  /** How many probes were asked. */
  get asked(): number {
    return [...this.#states.values()].filter(({ isAsked }) => isAsked).length
  }

  get states(): ProbeState[] {
    const reason = this.ended?.reason ?? 'the run ended before'
    return this.#options.plan.map((planned) => ({
      ...planned,
      ...(this.#states.get(planned.probe.id) ?? { isAsked: false, reason: planned.barrier ?? reason }),
    }))
  }

  end(kind: EarlyEnd['kind'], reason: string): void {
    // After a used-up quota, the run goes on, and a signal can still end it.
    if (this.ended === undefined || (this.ended.kind === 'quota' && kind === 'interrupted'))
      this.ended = { kind, reason }
  }

  /** Asks what the quotas allow, waits if this is wanted, and continues until no probe is left that can be asked. */
  async askAll(): Promise<void> {
    const { plan, waits, waitFor, signal, budget } = this.#options
    for (let fruitless = 0; fruitless < FRUITLESS_WINDOWS; fruitless++) {
      const asked = this.asked
      const short = new Set<string>()
      for (const planned of plan) {
        if (planned.probe.exhausts === true || this.#isSettled(planned)) continue
        if (signal.aborted) return this.#interrupt()
        const lacking = await this.#tryProbe(planned)
        if (lacking !== undefined) short.add(lacking)
      }
      if (short.size === 0) return
      if (!waits) return this.end('quota', 'the quotas of this window are used up')
      if (this.asked > asked) fruitless = -1
      const [soonest = ''] = [...short].toSorted((one, other) => budget.untilReset(one) - budget.untilReset(other))
      await waitFor(soonest)
      if (signal.aborted) return this.#interrupt()
    }
    this.end('quota', `in ${FRUITLESS_WINDOWS} windows, the quotas left no request to send`)
  }

  /** Uses up quotas on purpose. */
  async exhaust(): Promise<void> {
    const { plan, conversation, budget, signal, tell } = this.#options
    for (const planned of plan) {
      const { probe, sample } = planned
      const [request] = sample
      if (probe.exhausts !== true || this.#isSettled(planned) || request === undefined) continue
      if (signal.aborted) return this.#interrupt()
      tell(probe.id)
      const path = quotaPathOf(request)
      const { limit = 0, remaining = limit } = budget.viewOf(path) ?? {}
      if (remaining > limit) {
        this.#skip(planned, `the key has more than the ${limit} requests of the contract, as a new key may`)
        continue
      }
      let isRefused = false
      for (let left = remaining + BEYOND; left > 0 && !isRefused && !signal.aborted; left--) {
        isRefused = (await conversation.ask(request, probe.id)).code === 'rate_limited'
      }
      // Without a refusal, the requests until the signal answer nothing.
      if (signal.aborted && !isRefused) return this.#interrupt()
      this.#states.set(probe.id, { isAsked: true, ...(isRefused && { allowed: (budget.viewOf(path)?.sent ?? 1) - 1 }) })
    }
  }

  #interrupt(): void {
    this.end('interrupted', 'the run was interrupted')
  }

  #isSettled({ probe, barrier }: PlannedProbe): boolean {
    return barrier !== undefined || this.#states.has(probe.id)
  }

  #skip({ probe }: PlannedProbe, reason: string): undefined {
    this.#states.set(probe.id, { isAsked: false, reason })
  }

  /** Returns the path whose quota is too small. */
  async #tryProbe(planned: PlannedProbe): Promise<string | undefined> {
    const { probe, sample } = planned
    const { unreadable, tell } = this.#options
    tell(probe.id)
    if (unreadable !== undefined && needsWrites(probe, sample)) return this.#skip(planned, unreadable)
    const whole = this.#tooLargeFor(sample)
    if (whole !== undefined) {
      return this.#skip(planned, `it needs more than the quota of ${whole} has beside the reserve and the cleanup`)
    }
    try {
      return await this.#ask(planned)
    } catch (error) {
      if (!(error instanceof HarmfulRequest)) throw error
      return this.#skip(planned, error.message)
    }
  }

  async #ask(planned: PlannedProbe): Promise<string | undefined> {
    const { probe, sample } = planned
    const { conversation } = this.#options
    const { needs = {} } = probe
    for (let sent = 0; ; sent++) {
      const setUp = this.#nextSetUp(needs)
      // It is useless to set up a probe that cannot be asked afterwards.
      const lacking = this.#lackingFor(setUp === undefined ? sample : [setUp, ...sample])
      if (lacking !== undefined) return lacking
      if (setUp === undefined) break
      if (sent >= MOST_SET_UPS) return this.#skip(planned, 'the service did not accept what the probe needs')
      const answer = await conversation.ask(setUp)
      if (isOverQuota(answer)) return quotaPathOf(setUp)
    }
    if (needs.alone !== undefined && !(await this.#isAlone(needs.alone))) {
      return this.#skip(planned, `the account has ${needs.alone} of others, which a wrong service might change`)
    }
    for (const request of probe.send(this.#sceneFor(needs))) {
      const answer = await conversation.ask(request, probe.id)
      // A refusal for the quota says nothing about the question: another client has used up the quota.
      if (isOverQuota(answer)) return quotaPathOf(request)
      if (answer.isLost) return this.#skip(planned, `the answer to ${request.method} ${request.path} was lost`)
    }
    this.#states.set(probe.id, { isAsked: true })
    return undefined
  }

  /** The path whose quota is too small for the requests and the later cleanup. */
  #lackingFor(requests: readonly ProbeRequest[]): string | undefined {
    const { budget, writes, holdings } = this.#options
    const needed = countByPath(requests)
    const intents = requests.flatMap((request) => intentOf(request) ?? [])
    const created = intents.filter(({ group }) => group !== undefined).length
    const added = intents.reduce((sum, { domains = [] }) => sum + domains.length, 0)
    const cleanup = costOfRestoring(holdings.groups.size + holdings.unknown + created, holdings.domains.size + added)
    return [...needed].find(
      ([path, count]) => budget.left(path) < count + (writes && path in cleanup ? (cleanup[path] ?? 0) + SLACK : 0),
    )?.[0]
  }

  /** The path for which even a whole window is too small. */
  #tooLargeFor(requests: readonly ProbeRequest[]): string | undefined {
    const { budget, writes } = this.#options
    const cleanup = writes ? costOfRestoring(0, 0) : {}
    const needed = [...countByPath(requests)]
    return needed.find(([path, count]) => budget.whole(path) < count + (cleanup[path] ?? 0))?.[0]
  }

  async #isAlone(what: 'groups' | 'domains'): Promise<boolean> {
    const { holdings, conversation } = this.#options
    if (!holdings.hasOnlyOwn(what)) return false
    const { data } = await conversation.ask({ method: 'GET', path: what === 'groups' ? '/domaingroups' : '/domains' })
    if (what === 'domains') return readDomains(data)?.every((name) => holdings.isOwnDomain(name)) ?? false
    return readGroups(data)?.every((group) => holdings.isOwnListedGroup(group)) ?? false
  }

  /** The next request that sets up a probe; `undefined` if everything is there. */
  #nextSetUp(needs: Needs): ProbeRequest | undefined {
    const { holdings } = this.#options
    const { missing } = this.#groupsFor(needs)
    const lacking = (needs.domains ?? 0) + (missing ?? 0) - holdings.free(ADDED_AT_ONCE).length
    if (lacking > 0) {
      const domains = Array.from({ length: Math.max(lacking, ADDED_AT_ONCE) }, this.#freshDomain)
      return { method: 'POST', path: '/domains', body: { domains } }
    }
    if (missing === undefined) return undefined
    const domains = holdings.free(missing)
    const body = { name: this.#freshName(), ...(missing > 0 && { domains }) }
    return { method: 'POST', path: '/domaingroups', body }
  }

  #sceneFor(needs: Needs): ProbeScene {
    const { mark, before } = this.#options.holdings
    return {
      mark,
      groups: this.#groupsFor(needs).found,
      domains: this.#options.holdings.free(needs.domains ?? 0),
      freshDomain: this.#freshDomain,
      freshName: this.#freshName,
      unknownId: mark,
      readableId: before?.groups[0]?.id ?? mark,
    }
  }

  /** The existing groups for a probe, and the number of members of the first missing group. */
  #groupsFor({ groups = [] }: Needs): { found: DomainGroup[]; missing?: number } {
    const found: DomainGroup[] = []
    for (const members of groups) {
      const group = this.#options.holdings.groupWith(members, found)
      if (group === undefined) return { found, missing: members }
      found.push(group)
    }
    return { found }
  }

  readonly #freshDomain = (): string => `${this.#options.holdings.mark}-${++this.#names}.${this.#options.suffix}`
  readonly #freshName = (): string => `${this.#options.holdings.mark} ${++this.#names}`
}

import { type Conclusion, Investigation } from '../conformance/investigation.ts'
import type { Choices } from '../contract/choices.ts'
import { isObject } from '../ground/json.ts'
import { type QuotaView, RequestBudget } from './budget.ts'
import { type Client, ConnectionError } from './client.ts'
import { HarmfulRequest, type ProbeAnswer, ProbeConversation } from './conversation.ts'
import { CreatedItems, readGroupLoosely } from './created-items.ts'
import { foresee, MOST_SET_UPS } from './foresight.ts'
import { type KeptExchange, type Ledger, type LedgerContent, LedgerError } from './ledger.ts'
import type { Ownership } from './ownership.ts'
import { type PlannedProbe, planProbes } from './plan.ts'
import { type Probe, type ProbeRequest, quotaPathOf } from './probe.ts'
import { ProbeSetup } from './probe-setup.ts'
import { isHarmless, PROBES } from './probes.ts'
import {
  type Cleanup,
  costOfRestoring,
  NOTHING_REMOVED,
  readDomains,
  readGroups,
  restore,
  takeInventory,
} from './restoration.ts'
import { refuseSilence, refuseTarget } from './target-check.ts'

export interface VerifyOptions {
  choices: Choices
  client: Pick<Client, 'send'>
  apiKey: string
  ownership: Ownership
  ledger: Pick<Ledger, 'write' | 'keep'>
  /** The records of an earlier run, if this run continues it. */
  earlier?: LedgerContent | undefined
  /** The suffix of the domains of the run. */
  suffix: string
  writes: boolean
  exhaust: boolean
  /** Whether no other client changes the account during the run, so that more can be concluded. */
  soleWriter: boolean
  reserve: number
  /** Whether to wait for quotas. If not, the run ends when they are used up. */
  waits: boolean
  /** Resolves after this many milliseconds, or when the signal is aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>
  signal: AbortSignal
  onProgress(progress: VerifyProgress): void
  /** Reports for how many of all choices the answers to the probes are known. */
  onRehearsal?(done: number, all: number): void
  /** Judges the exchanges in place of a new investigation. */
  judge?: VerificationJudge | undefined
}

/** The judge of the exchanges: an `Investigation`. */
type VerificationJudge = Pick<Investigation, 'take' | 'conclude'>

export interface VerifyProgress {
  /** How many probes were asked; `planned` counts all of the plan. */
  asked: number
  planned: number
  doing: string
  quotas: readonly QuotaView[]
  /** Seconds until everything was asked, if no other client spends. It is mostly the time until quotas are reset. */
  toGo: number
}

/** The state of a probe. */
export interface ProbeState {
  probe: PlannedProbe
  state: 'asked' | 'not reached'
  /** Why it was not reached. */
  reason?: string
}

export interface VerifyResult {
  probes: readonly ProbeState[]
  exchanges: readonly KeptExchange[]
  conclusion: Conclusion
  cleanup: Cleanup
  quotas: readonly (QuotaView & { total: number })[]
  requests: number
  /** Why the run ended early. */
  ended?: 'quota' | 'interrupted' | 'connection' | 'ledger'
  /** One sentence about `ended`. */
  reason?: string
}

/** Requests of each path that are left for the cleanup beyond its need, because other clients may spend too. */
export const SLACK = 2
/** In milliseconds. If the clocks differ, the whole second in which a window ends may not be over. */
const AFTER_RESET = 1_000

/** In milliseconds: how often the run reports that it still waits. */
const TICK = 1_000

/** The probes that the first requests cover, by path. */
const OPENING: Readonly<Record<string, string>> = { '/domaingroups': 'read-groups', '/domains': 'read-domains' }
/** The run stops waiting after this many consecutive windows in which it could ask nothing. */
export const FRUITLESS_WINDOWS = 3

/**
 * Asks everything that the plan has and the quotas allow, restores the account, and judges all answers.
 * @throws TargetError and ConnectionError if the first requests already show that there is nothing to ask
 */
export async function verify(options: VerifyOptions): Promise<VerifyResult> {
  const { choices, ownership } = options
  const verification = new Verification(options)
  // The first requests come before all slow steps, so that the user learns of a wrong key at once.
  await verification.open()
  options.onRehearsal?.(0, choices.alternatives.length)
  const isOwnName = (name: string) => name.toLowerCase().includes(ownership.mark)
  const judge = options.judge ?? (await Investigation.begin({ choices, isOwnName, isSoleWriter: options.soleWriter }))
  // A run that only reads does not need the foresight about the other probes.
  const probes = options.writes ? PROBES : PROBES.filter(isHarmless)
  const foresight = await foresee(choices, { probes, onProgress: options.onRehearsal })
  return verification.run(judge, planProbes(foresight, choices.contract, options))
}

class Verification {
  readonly #options: VerifyOptions
  #judge: VerificationJudge | undefined
  readonly #budget: RequestBudget
  readonly #conversation: ProbeConversation
  readonly #setup: ProbeSetup
  #plan: readonly PlannedProbe[] = []
  readonly #states = new Map<Probe, ProbeState>()
  readonly #exchanges: KeptExchange[] = []
  readonly #done: Set<string>
  #isRestoring = false
  /** How many created groups have an unknown id, because the response did not contain it. */
  #nameless = 0
  /** Why the run must not write, if so. */
  #unreadable: string | undefined
  #ended: VerifyResult['ended']
  #reason: string | undefined

  constructor(options: VerifyOptions) {
    const { choices, client, apiKey, ownership, ledger, earlier, suffix, writes, reserve } = options
    this.#options = options
    this.#budget = new RequestBudget(choices.contract, reserve)
    this.#conversation = new ProbeConversation({
      ...{ client, apiKey, writes, contract: choices.contract, budget: this.#budget },
      record: {
        ledger,
        permission: ownership,
        onIntent: (intent) => ownership.intend(intent),
        onGroup: ({ id }) => ownership.adopt(id),
      },
    })
    const items = new CreatedItems(
      (name) => ownership.isOwnDomain(name),
      ({ id }) => ownership.isOwnGroup(id),
    )
    this.#setup = new ProbeSetup({ mark: ownership.mark, suffix, items, names: earlier?.names ?? 0 })
    this.#done = new Set(earlier?.done)
  }

  async run(judge: VerificationJudge, plan: readonly PlannedProbe[]): Promise<VerifyResult> {
    this.#plan = plan
    this.#judge = judge
    this.#exchanges.unshift(...(this.#options.earlier?.exchanges ?? []))
    for (const { exchange } of this.#exchanges) await judge.take(exchange)
    await this.#askAll().catch((error: unknown) => this.#endWith(error))
    const cleanup = await this.#restore().catch((error: unknown): Cleanup => {
      this.#endWith(error)
      return { restored: false, ...NOTHING_REMOVED, reason: this.#reason ?? 'the cleanup did not come to its end' }
    })
    const isOver = this.#ended === undefined || this.#ended === 'quota'
    if (isOver && cleanup.restored) await this.#exhaust()
    return {
      probes: this.#plan.map((probe) => this.#stateOf(probe)),
      exchanges: this.#exchanges,
      conclusion: judge.conclude(),
      cleanup,
      quotas: this.#budget.views,
      requests: this.#conversation.sent,
      ...(this.#ended !== undefined && { ended: this.#ended }),
      ...(this.#reason !== undefined && { reason: this.#reason }),
    }
  }

  #stateOf(probe: PlannedProbe): ProbeState {
    if (this.#done.has(probe.probe.id)) return { probe, state: 'asked' }
    return (
      this.#states.get(probe.probe) ?? { probe, state: 'not reached', reason: this.#reason ?? 'the run ended before' }
    )
  }

  /** Keeps an error for the report if it only ends the probes. @throws any other error */
  #endWith(error: unknown): void {
    if (error instanceof LedgerError) {
      this.#ended ??= 'ledger'
      this.#reason ??= `the ledger ${error.message}`
      return
    }
    // If no list was read yet, there is nothing to restore or to report.
    if (!(error instanceof ConnectionError) || this.#options.ownership.before === undefined) throw error
    this.#ended ??= 'connection'
    this.#reason ??= `the connection was lost: ${error.message}`
  }

  /** The first requests. They show whether this is the service, and what the account holds. */
  async open(): Promise<void> {
    const { ownership, ledger, waits } = this.#options
    if (ownership.before !== undefined) return
    const answers: ProbeAnswer[] = []
    for (const path of ['/domaingroups', '/domains', '/dmarc']) {
      const request: ProbeRequest = { method: 'GET', path }
      const probe = PROBES.find(({ id }) => id === OPENING[path])
      let answer = await this.#ask(request, probe)
      if (answer.code === 'rate_limited' && waits) {
        await this.#waitFor(path)
        answer = await this.#ask(request, probe)
      }
      refuseTarget(answer)
      answers.push(answer)
      // The records are read here only if no other path answers.
      if (path === '/domains' && answers.some(({ response: { status } }) => status < 400)) break
    }
    refuseSilence(answers)
    const kept = [...answers]
    const before = await takeInventory(async () => kept.shift())
    if (typeof before === 'string') {
      // The answers can be judged, but without the lists the run cannot show that the account is unchanged.
      this.#unreadable = `the lists of the account cannot be read: ${before}`
    } else {
      ownership.remember(before)
      ledger.write({ before })
    }
    for (const id of Object.values(OPENING)) {
      ledger.write({ done: id })
      this.#done.add(id)
    }
  }

  /** Asks what the quotas allow, waits if this is wanted, and continues until no probe is left that can be asked. */
  async #askAll(): Promise<void> {
    for (let fruitless = 0; fruitless < FRUITLESS_WINDOWS; fruitless++) {
      const asked = this.#done.size
      const short = new Set<string>()
      for (const planned of this.#plan) {
        const { probe } = planned
        if (probe.exhausts || this.#done.has(probe.id) || this.#states.has(probe)) continue
        if (this.#options.signal.aborted) return this.#end('interrupted', 'the run was interrupted')
        const lacking = await this.#tryProbe(planned).catch((error: unknown) => {
          if (!(error instanceof HarmfulRequest)) throw error
          return this.#skip(planned, error.message)
        })
        if (lacking !== undefined) short.add(lacking)
      }
      if (short.size === 0) return
      if (!this.#options.waits) return this.#end('quota', 'the quotas of this window are used up')
      if (this.#done.size > asked) fruitless = -1
      await this.#waitFor(this.#soonest(short))
    }
    this.#end('quota', `in ${FRUITLESS_WINDOWS} windows, the quotas left no request to send`)
  }

  /** Asks a probe with its set-up. Returns the path whose quota is too small. */
  async #tryProbe(planned: PlannedProbe): Promise<string | undefined> {
    const { probe } = planned
    this.#tell(`${probe.id}`)
    if (this.#unreadable !== undefined && !isHarmless(probe)) return this.#skip(planned, this.#unreadable)
    const whole = this.#tooLargeFor(planned)
    if (whole !== undefined) return this.#skip(planned, `it needs more than the quota of ${whole}`)
    for (let sent = 0; ; sent++) {
      const setUp = this.#setup.nextSetUp(probe)
      if (setUp === undefined) return this.#askProbe(planned)
      // It is useless to set up a probe that cannot be asked afterwards.
      const lacking = this.#lackingFor([setUp, ...planned.requests], probe)
      if (lacking !== undefined) return lacking
      if (sent >= MOST_SET_UPS) return this.#skip(planned, 'the service did not accept what the probe needs')
      const { code } = await this.#ask(setUp, probe, true)
      if (code === 'rate_limited') return quotaPathOf(setUp)
    }
  }

  /** Asks a probe that is set up. Returns the path whose quota is too small. */
  async #askProbe(planned: PlannedProbe): Promise<string | undefined> {
    const { probe } = planned
    const requests = probe.requests(this.#setup.sceneFor(probe))
    const lacking = this.#lackingFor(requests, probe)
    if (lacking !== undefined) return lacking
    if (probe.endangers !== undefined && !(await this.#isAlone(probe.endangers)))
      return this.#skip(planned, `the account has ${probe.endangers} of others, which a wrong service might change`)
    for (const request of requests) {
      const { code } = await this.#ask(request, probe)
      // Another client has used up the quota; the answer says nothing about the question.
      if (code === 'rate_limited') return quotaPathOf(request)
    }
    this.#options.ledger.write({ done: probe.id })
    this.#options.ledger.write({ names: this.#setup.names })
    this.#done.add(probe.id)
    return undefined
  }

  #skip(planned: PlannedProbe, reason: string): undefined {
    this.#states.set(planned.probe, { probe: planned, state: 'not reached', reason })
  }

  /** The path whose quota is too small for the requests and the later cleanup. */
  #lackingFor(requests: readonly ProbeRequest[], { endangers }: Probe): string | undefined {
    const needed = new Map<string, number>()
    const add = (path: string, count: number) => needed.set(path, (needed.get(path) ?? 0) + count)
    for (const request of requests) add(quotaPathOf(request), 1)
    if (endangers !== undefined) add(endangers === 'groups' ? '/domaingroups' : '/domains', 1)
    const own = new Set(needed.keys())
    if (this.#options.writes) {
      const { groups, domains } = this.#setup.items
      const created = requests.filter(isCreation).length
      for (const [path, count] of Object.entries(
        costOfRestoring(groups.size + this.#nameless + created, domains.size),
      )) {
        // Only paths that the probe uses can make the cleanup more expensive.
        if (own.has(path)) add(path, count + SLACK)
      }
    }
    return [...needed].find(([path, count]) => own.has(path) && this.#budget.left(path) < count)?.[0]
  }

  /** The path for which even a whole window is too small. */
  #tooLargeFor({ cost }: PlannedProbe): string | undefined {
    return Object.entries(cost).find(([path, count]) => this.#budget.whole(path) < count + this.#heldBack(path))?.[0]
  }

  #heldBack(path: string): number {
    if (!this.#options.writes) return 0
    return (costOfRestoring(0, 0)[path] ?? 0) + (path === '/dmarc' ? 0 : SLACK)
  }

  async #isAlone(what: 'groups' | 'domains'): Promise<boolean> {
    const { ownership } = this.#options
    if (!ownership.hasOnlyOwn(what)) return false
    const listed = await this.#ask({ method: 'GET', path: what === 'groups' ? '/domaingroups' : '/domains' }, undefined)
    if (what === 'domains') return readDomains(listed.data)?.every((name) => ownership.isOwnDomain(name)) ?? false
    return readGroups(listed.data)?.every((group) => ownership.isOwnListedGroup(group)) ?? false
  }

  async #ask(request: ProbeRequest, probe: Probe | undefined, setUp = false): Promise<ProbeAnswer> {
    const answer = await this.#conversation.ask(request)
    const { exchange, data } = answer
    if (isCreation(request) && data !== undefined && !this.#isAdopted(data)) this.#nameless++
    if (request.method === 'GET') this.#options.ownership.notice(readGroups(data) ?? [])
    this.#setup.items.learn(request, data)
    const kept = { exchange, sent: request, probe: probe?.id, setUp }
    this.#exchanges.push(kept)
    this.#note(({ ledger }) => ledger.keep(kept))
    await this.#judge?.take(exchange)
    return answer
  }

  #isAdopted(data: unknown): boolean {
    const group = isObject(data) ? readGroupLoosely(data['group']) : undefined
    return group !== undefined && this.#options.ownership.isOwnGroup(group.id)
  }

  /** Writes to the ledger. A full disk does not stop the cleanup, because it creates nothing. */
  #note(write: (options: VerifyOptions) => void): void {
    try {
      write(this.#options)
    } catch (error) {
      if (!this.#isRestoring || !(error instanceof LedgerError)) throw error
    }
  }

  async #restore(): Promise<Cleanup> {
    this.#isRestoring = true
    const { ownership, ledger, signal, waits } = this.#options
    // A run that has recorded no creation has changed nothing.
    if (!this.#options.writes || !ownership.hasIntents) return { restored: true, ...NOTHING_REMOVED }
    if (this.#unreadable !== undefined) return { restored: false, ...NOTHING_REMOVED, reason: this.#unreadable }
    this.#tell('restores the account')
    const cleanup = await restore(ownership, async (request) => {
      const path = quotaPathOf(request)
      if (this.#budget.left(path) < 1) {
        if (!waits || signal.aborted) return undefined
        await this.#waitFor(path)
        if (this.#budget.left(path) < 1) return undefined
      }
      return this.#ask(request, undefined)
    })
    if (cleanup.restored) this.#note(() => ledger.write({ removed: true }))
    return cleanup
  }

  /** Uses up quotas on purpose, after all other probes. */
  async #exhaust(): Promise<void> {
    for (const planned of this.#plan) {
      const { probe } = planned
      if (!probe.exhausts || this.#done.has(probe.id)) continue
      this.#tell(probe.id)
      const [request] = planned.requests
      if (request === undefined) continue
      const most = (this.#budget.views.find(({ path }) => path === quotaPathOf(request))?.limit ?? 0) + 1
      for (let sent = 0; sent < most && !this.#options.signal.aborted; sent++) {
        const { code } = await this.#ask(request, probe)
        if (code === 'rate_limited') break
      }
      this.#done.add(probe.id)
      this.#options.ledger.write({ done: probe.id })
    }
  }

  #end(ended: VerifyResult['ended'], reason: string): void {
    this.#ended = ended
    this.#reason = reason
  }

  #soonest(paths: ReadonlySet<string>): string {
    return [...paths].toSorted((one, other) => this.#budget.untilReset(one) - this.#budget.untilReset(other))[0] ?? ''
  }

  /** Waits for a new window of the path. Paths whose windows end meanwhile get a new one too. */
  async #waitFor(path: string): Promise<void> {
    const { sleep, signal } = this.#options
    const wait = this.#budget.untilReset(path) + AFTER_RESET
    const tell = () => this.#tell(`waits for the quota of ${path}`)
    tell()
    const renewed = this.#budget.paths.filter((each) => this.#budget.untilReset(each) <= wait)
    const timer = setInterval(tell, TICK).unref()
    await sleep(wait, signal)
    clearInterval(timer)
    if (signal.aborted) return
    for (const each of renewed) this.#budget.renew(each)
  }

  #tell(doing: string): void {
    const planned = this.#plan.length
    const asked = this.#plan.filter(({ probe }) => this.#done.has(probe.id)).length
    this.#options.onProgress({ asked, planned, doing, quotas: this.#budget.views, toGo: this.#timeToGo() })
  }

  /** Only quotas count, because a single request takes almost no time. */
  #timeToGo(): number {
    const cost: Record<string, number> = {}
    for (const { probe, cost: own } of this.#plan) {
      if (this.#done.has(probe.id) || this.#states.has(probe)) continue
      for (const [path, count] of Object.entries(own)) cost[path] = (cost[path] ?? 0) + count
    }
    const waits = Object.entries(cost).map(([path, count]) => {
      const missing = count - this.#budget.left(path)
      if (missing <= 0) return 0
      const whole = Math.max(1, this.#budget.whole(path) - this.#heldBack(path))
      return this.#budget.untilReset(path) / 1000 + (Math.ceil(missing / whole) - 1) * 3600
    })
    return Math.round(Math.max(0, ...waits))
  }
}

function isCreation({ method, path }: ProbeRequest): boolean {
  return method === 'POST' && path === '/domaingroups'
}

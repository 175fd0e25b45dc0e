import type { FaultRule } from '../../domain/faults.ts'
import { type Effects, effectsOf } from '../effects.ts'
import { settle } from '../runner.ts'
import { type Exploration, type FailingPlan, identify, placesOf, planAt } from './exploration.ts'
import { canonical, faultsAt, kindOf, type Phase, type PlannedFault, planFaults, TIERS } from './faults.ts'
import { ruleOf, useOf } from './plan.ts'
import { pointsOf, type RunObservation } from './points.ts'
import { type ExploreSession, PER_SECOND, SHORT_WINDOW } from './session.ts'
import { longestWait } from './storm.ts'
import { NO_EFFECT } from './story.ts'
import {
  type Circumstances,
  type Comparison,
  causeOf,
  type ExploreFailure,
  type FaultlessRun,
  isCommon,
  isFailure,
  isForeign,
  judge,
  type RunVerdict,
  reasonsFor,
} from './verdict.ts'

/** What one trial tries. `window` is the length of a quota window in seconds, if it is not the usual one. */
interface Attempt {
  fault: PlannedFault
  window?: number | undefined
}

interface Judged {
  verdict: RunVerdict
  circumstances: Circumstances
  /** The rules that did nothing, and whether each rule met a request. */
  idle: readonly FaultRule[]
  hasMet: boolean
  /** Whether the run tells something of a client beside another one. */
  isTold: boolean
}

interface Tried extends Attempt, Judged {
  plan: readonly FaultRule[]
  observation: RunObservation
  /** Whether its rule changed something, and its run tells something. */
  hasApplied: boolean
  /** How long the client waited at most after a 429, in seconds. */
  wait: number
}

/** A weakness of a client that several plans show. */
interface Weakness {
  verdict: ExploreFailure
  cause: string
  tried: Tried[]
  /** Its repetition, as soon as there is one, and whether that broke the command in the same way. */
  again?: Tried
  confirmed?: boolean | undefined
}

/** How many plans are tried before what broke the command is repeated. It does not depend on the number of jobs. */
const BATCH = 24
/** The longer quota window, in seconds, and how much longer at least than the client has waited in a shorter one. */
const LONGER = { least: 6, most: 66, ahead: 3 }
/** What is assumed of a run beside another client of which nothing can be told. */
const UNKNOWN: Comparison = { isSerial: true, expected: { accounts: [], changes: [] } }

/** Tries one fault at a time, and repeats what breaks the command. */
export class FaultSearch {
  readonly #session: ExploreSession
  readonly #faultless: FaultlessRun
  readonly #limits: ReturnType<ExploreSession['limitsFrom']>
  readonly #tried: Tried[] = []
  readonly #weaknesses = new Map<string, Weakness>()
  /** The kinds of faults that were in a plan, and whether one has met its request, or need not be tried. */
  readonly #kinds = new Map<string, boolean>()
  /** The runs after another client, by what that client does. */
  readonly #after = new Map<string, Promise<RunObservation | undefined>>()
  #left = 0
  #limit: number

  constructor(session: ExploreSession, faultless: FaultlessRun) {
    this.#session = session
    this.#faultless = faultless
    this.#limits = session.limitsFrom(faultless)
    this.#limit = this.#limits.usual
  }

  get #points() {
    return pointsOf(this.#faultless.observation.requests)
  }

  async search(): Promise<Exploration> {
    const { contract, terms } = this.#session
    const points = this.#points
    const phases = planFaults(points.flatMap((point) => faultsAt(point, contract)))
    for (const { tier, isUsual, faults } of phases) {
      for (let from = 0; from < faults.length; from += BATCH) {
        const batch = faults.slice(from, from + BATCH).map((fault) => ({ fault }))
        await this.#tryAll(batch, isUsual)
      }
      const hasShortWindows = tier === TIERS.limits && terms.window !== undefined
      if (hasShortWindows) await this.#tryAll(this.#longerWindows(terms.window), isUsual)
    }
    return this.#report(points.length, phases)
  }

  /**
   * A 429 of each operation again with a longer quota window, if the client survived it. A client that waits for a fixed
   * time is told from one that reads the reset.
   */
  #longerWindows(usual = 0): Attempt[] {
    const longer = new Map<string, Attempt | undefined>()
    for (const { fault, window, verdict, hasApplied, wait } of this.#tried) {
      const { id } = fault.point.operation
      if (window !== undefined) longer.set(id, undefined)
      if (fault.tier !== TIERS.limits || verdict !== 'tolerated' || !hasApplied || longer.has(id)) continue
      const next = Math.max(LONGER.least, Math.ceil(wait) + LONGER.ahead)
      if (next <= LONGER.most && next > usual) longer.set(id, { fault, window: next })
    }
    return [...longer.values()].flatMap((attempt) => attempt ?? [])
  }

  /** Tries faults, and then repeats what broke the command. */
  async #tryAll(attempts: readonly Attempt[], isNeeded: boolean): Promise<void> {
    // If a client waits for ever, all slow responses have the same result.
    const waits = [...this.#weaknesses.values()].some(({ verdict, confirmed }) => verdict === 'hang' && confirmed)
    const open = attempts.filter(({ fault }) => !(fault.slow && waits))
    for (const { fault } of attempts) if (fault.slow && waits) this.#kinds.set(kindOf(fault), true)
    let done = 0
    const results = await settle(
      open.map(async (attempt) => {
        const tried = await this.#try(attempt, isNeeded)
        this.#session.watch(`${++done} of ${open.length} faults of this part`)
        return tried
      }),
    )
    for (const tried of results) {
      if (tried === undefined) this.#left++
      else this.#keep(tried)
    }
    await this.#confirm()
  }

  /** Runs the command with a fault; `undefined` if the budget does not allow it. */
  async #try({ fault, window }: Attempt, isNeeded: boolean, limit = this.#limit): Promise<Tried | undefined> {
    const plan = [ruleOf(fault)]
    const seconds = fault.tier === TIERS.limits ? (window ?? this.#session.terms.window ?? 0) : 0
    // Whoever gives a limit for a run does not know of the longer windows.
    const timeout = limit + seconds * (window === undefined ? this.#limits.perSecond : PER_SECOND)
    const observation = await this.#session.runWith(plan, { timeout, window, isNeeded })
    if (observation === undefined) return undefined
    const judged = await this.#judge(plan, observation, window !== undefined, fault)
    const hasApplied = judged.idle.length === 0 && judged.isTold
    return { fault, window, plan, observation, ...judged, hasApplied, wait: longestWait(observation.requests) }
  }

  async #judge(
    plan: readonly FaultRule[],
    run: RunObservation,
    isLong: boolean,
    fault?: PlannedFault,
  ): Promise<Judged> {
    const hasPassed = run.end.exitCode === 0
    const comparison = fault?.foreign && hasPassed ? await this.#compare(fault, run) : undefined
    const circumstances = { isLong, ...(plan.some(isForeign) && { comparison: comparison ?? UNKNOWN }) }
    const isTold = fault?.foreign === undefined || comparison !== undefined || !hasPassed
    return { ...useOf(plan, run), circumstances, isTold, verdict: judge(run, this.#faultless, circumstances) }
  }

  /**
   * Compares a run that has succeeded although another client came just before one of its requests with the two orders in
   * which both can come one after the other: a client that writes what it wants overwrites a change in each order, and a
   * client that has read before loses one that it would keep. `undefined` if nothing can be told, because the command
   * fails after the other client, or the change cannot come first.
   */
  async #compare({ foreign, point, effect }: PlannedFault, run: RunObservation): Promise<Comparison | undefined> {
    const id = point.entry.account
    if (foreign === undefined || id === undefined) return undefined
    const isLike = ({ accounts }: Effects) => JSON.stringify(accounts) === JSON.stringify(run.effects.accounts)
    const { accounts } = this.#faultless.observation
    const account = accounts.get(id)
    const changed = account && foreign.change(account)
    const afterCommand = changed && effectsOf(new Map([...accounts, [id, changed]]).values(), [])
    if (afterCommand !== undefined && isLike(afterCommand)) return { isSerial: true, expected: afterCommand }
    const name = canonical([id, effect, foreign.words])
    const started = this.#after.get(name) ?? this.#session.runAfter(foreign, id, this.#limits.usual)
    this.#after.set(name, started)
    const after = await started
    return after?.end.exitCode === 0 ? { isSerial: isLike(after.effects), expected: after.effects } : undefined
  }

  #keep(tried: Tried): void {
    const { fault, hasMet, observation, verdict, hasApplied } = tried
    // A fault that met its request is decided, also if there was nothing that it could change.
    this.#kinds.set(kindOf(fault), this.#kinds.get(kindOf(fault)) || hasMet)
    // The requests of thousands of runs are many, and only the repetition of a failure is reported.
    const brief = { ...tried, observation: { ...observation, requests: [] } }
    this.#tried.push(brief)
    if (isFailure(verdict) && hasApplied) this.#note(brief, verdict)
  }

  /** Adds a plan that broke the command to its weakness. A weakness that could not be repeated gets another chance. */
  #note(tried: Tried, verdict: ExploreFailure): void {
    const { operation } = tried.fault.point
    const cause = causeOf(verdict, tried.fault.effect, operation)
    const id = `${verdict} / ${cause}${isCommon(verdict) ? '' : ` / ${operation.id}`}`
    const weakness = this.#weaknesses.get(id) ?? { verdict, cause, tried: [] }
    weakness.tried.push(tried)
    if (weakness.confirmed === false) weakness.confirmed = undefined
    this.#weaknesses.set(id, weakness)
  }

  /** Repeats the first plan of each weakness that was not repeated; the latest one if others were. */
  async #confirm(): Promise<void> {
    const open = [...this.#weaknesses.values()].filter(({ confirmed }) => confirmed === undefined)
    if (open.length === 0) return
    this.#session.watch(`repeating ${open.length} of what broke the command`)
    const results = await settle(
      open.map(async (weakness) => {
        const { verdict, tried, again } = weakness
        const shown = (again === undefined ? tried[0] : tried.at(-1)) as Tried
        return { weakness, again: await this.#try(shown, true, verdict === 'hang' ? this.#limits.longer : this.#limit) }
      }),
    )
    for (const { weakness, again } of results) {
      if (again === undefined) continue
      weakness.again = again
      weakness.confirmed = again.verdict === weakness.verdict
      if (weakness.confirmed || weakness.verdict !== 'hang') continue
      // The client did end, so later slow responses need this limit, too. How it ended is the result of the plan.
      this.#limit = this.#limits.longer
      this.#keep(again)
    }
    // That may be another weakness.
    if (results.every(({ again }) => again !== undefined)) await this.#confirm()
  }

  /** A finding for each cause: its first plan, and all places where the command has the weakness. */
  #findAll(): FailingPlan[] {
    const causes = new Map<string, Weakness[]>()
    for (const weakness of this.#weaknesses.values()) {
      const id = `${weakness.verdict} ${weakness.cause}`
      if (weakness.confirmed) causes.set(id, [...(causes.get(id) ?? []), weakness])
    }
    return [...causes.values()].flatMap((weaknesses) => {
      const [{ again: shown, verdict } = {}] = weaknesses
      if (shown === undefined || verdict === undefined) return []
      const met = weaknesses.flatMap(({ tried }) =>
        tried.map(({ fault: { point, words } }) => ({ operation: point.operation.id, about: point.about, words })),
      )
      return [this.#describe(verdict, shown, met)]
    })
  }

  /** The finding that a run shows. `met`: where the command has this weakness. */
  #describe(
    verdict: ExploreFailure,
    { plan, window, observation, circumstances }: Pick<Tried, 'plan' | 'window' | 'observation' | 'circumstances'>,
    met: Parameters<typeof placesOf>[0],
  ): FailingPlan {
    const [rule = {}] = plan
    const operation = this.#session.contract.operations.find(({ id }) => id === rule.match?.operation)
    const places = placesOf(met)
    return {
      id: identify(verdict, causeOf(verdict, rule, operation), places),
      ...{ verdict, ...planAt(plan), observation, places },
      ...(window !== undefined && { window }),
      reasons: reasonsFor(verdict, observation, this.#faultless, circumstances),
    }
  }

  #report(points: number, phases: readonly Phase[]): Exploration {
    const applied = this.#tried.filter(({ hasApplied }) => hasApplied)
    // A hang that was none has needed more time.
    const brokenOnce = (isConfirmed: false | undefined) =>
      [...this.#weaknesses.values()]
        .filter(({ confirmed, verdict }) => confirmed === isConfirmed && !(verdict === 'hang' && confirmed === false))
        .map(({ verdict, tried: [first] }) => ({ ...planAt(first?.plan ?? []), verdict }))
    const kindsIn = (some: readonly Phase[]) => [...new Set(some.flatMap(({ faults }) => faults.map(kindOf)))]
    const needed = kindsIn(phases.filter(({ isNeeded }) => isNeeded))
    return {
      points,
      elusive: needed.filter((kind) => this.#kinds.get(kind) === false).length,
      tiers: Object.values(TIERS).map((tier) => {
        const kinds = kindsIn(phases.filter((phase) => phase.tier === tier))
        return { tier, of: kinds.length, tried: kinds.filter((kind) => this.#kinds.get(kind)).length }
      }),
      tolerated: applied.filter(({ verdict }) => verdict === 'tolerated').length,
      unmet: this.#tried.length - applied.length,
      gaveUp: applied.filter(({ verdict }) => verdict === 'gave up').map(({ plan }) => planAt(plan)),
      findings: this.#findAll(),
      flaky: brokenOnce(false),
      unconfirmed: brokenOnce(undefined),
      idle: [],
      left: this.#left,
    }
  }

  async replay(given: readonly FaultRule[]): Promise<Exploration> {
    const { contract, terms } = this.#session
    const points = this.#points
    const window = terms.window ?? 0
    this.#session.watch('running the command with the plan')
    const timeout = this.#limits.longer + window * this.#limits.perSecond
    const observation = await this.#session.runWith(given, { timeout })
    const nothing: Exploration = {
      ...{ points: points.length, tiers: [], elusive: 0, tolerated: 0, unmet: 0, left: observation ? 0 : 1 },
      ...{ gaveUp: [], findings: [], flaky: [], unconfirmed: [], idle: [] },
    }
    if (observation === undefined) return nothing
    // The orders beside another client are known if it is one that a search would try, and the only fault.
    const fault = points
      .flatMap((point) => faultsAt(point, contract))
      .find((each) => canonical([ruleOf(each)]) === canonical(given))
    const plan = fault === undefined ? given : [ruleOf(fault)]
    const isLong = window > SHORT_WINDOW
    const { verdict, idle, circumstances } = await this.#judge(plan, observation, isLong, fault)
    const hasApplied = idle.length < plan.length
    const met = pointsOf(observation.requests).flatMap(({ operation: { id }, about, entry: { injection } }) =>
      injection === undefined ? [] : [{ operation: id, about, words: injection.effect ?? NO_EFFECT }],
    )
    const shown = { plan, observation, circumstances, window: isLong ? window : undefined }
    return {
      ...{ ...nothing, idle, unmet: idle.length > 0 ? 1 : 0, replayed: { verdict, observation, hasApplied } },
      tolerated: verdict === 'tolerated' && hasApplied ? 1 : 0,
      gaveUp: verdict === 'gave up' ? [planAt(plan)] : [],
      findings: isFailure(verdict) ? [this.#describe(verdict, shown, met)] : [],
    }
  }
}

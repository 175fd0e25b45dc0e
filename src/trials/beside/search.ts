import { nextTurn } from '../../ground/timers.ts'
import { PAST } from '../../journal/entry.ts'
import type { Pool } from '../pool.ts'
import { PairKnowledge, type PredictedStep } from './knowledge.ts'
import type { PairRun } from './pair-run.ts'
import { otherSide, type Schedule, type Strand } from './schedule.ts'
import {
  hasSucceeded,
  isPairFailure,
  judgePair,
  type PairFailure,
  type PairJudgement,
  type PairNames,
  type SerialOrders,
} from './verdict.ts'

export interface SearchDeps {
  /** Runs the commands; `undefined` if the budget does not allow it. `isLonger`: with more time than usual. */
  run(schedule: Schedule, isLonger: boolean): Promise<PairRun | undefined>
  /** The runs in both serial orders. */
  serial: readonly [PairRun, PairRun]
  orders: SerialOrders
  names: PairNames
  /** How often the turn may go to another command, or to another thread, before it has to. */
  switches: number
  pool: Pool
  /** Aborted when no more orders are wanted. */
  signal: AbortSignal
  watch(words: string): void
}

/** An order of requests that breaks the commands. */
export interface BrokenOrder extends PairJudgement {
  verdict: PairFailure
  schedule: Schedule
  run: PairRun
  /** How many other orders broke the commands in the same way. */
  others: number
}

/** The orders with so many switches. */
interface Level {
  switches: number
  /** How many were considered, and how many of them were run, or cannot differ from one that was. */
  of: number
  tried: number
}

export interface OrderSearch {
  /** All orders of the requests of both. */
  possible: number
  /** How many orders were run. */
  tried: number
  /** How many orders were not run, because they cannot differ from one that was. */
  equivalent: number
  levels: readonly Level[]
  findings: readonly BrokenOrder[]
  /** Orders in which a command failed and said so. */
  gaveUp: readonly Schedule[]
  /** Orders that broke the commands once and not again, or were not repeated because the budget was used up. */
  flaky: readonly { schedule: Schedule; verdict: PairFailure }[]
  unconfirmed: readonly { schedule: Schedule; verdict: PairFailure }[]
  /** How many orders could not be judged, because a command gave up a request while it was held. */
  unjudged: number
  /** How many orders were not tried, because the budget was used up; more if there are too many to consider. */
  left: number
  /** Whether the commands send the same requests after the same answers. */
  isReliable: boolean
}

/** How many orders are run before the next ones are chosen. It does not depend on the jobs, so that the result does not. */
const WAVE = 4
/** The most orders that are considered. */
const CONSIDERED = 20_000
/** How often the search lets other work go on, in orders. */
const PAUSE = 50

interface Candidate {
  schedule: Schedule
  /** Its requests, if it was run. */
  steps?: readonly PredictedStep[]
}

/** Looks for orders that break the commands, those with the fewest switches first. */
export class OrderSearcher {
  readonly #deps: SearchDeps
  readonly #knowledge: PairKnowledge
  /** The ends of the runs. */
  readonly #ends = new Set<string>()
  readonly #levels: Level[] = []
  /** By number of switches. */
  readonly #candidates: Candidate[][]
  readonly #causes = new Map<string, BrokenOrder & { state: 'new' | 'confirmed' | 'flaky' | 'unconfirmed' }>()
  readonly #gaveUp: Schedule[] = []
  /** The most requests of each thread. */
  readonly #lengths = new Map<string, number>()
  /** The orders that were not run, because they cannot differ from one that was. */
  readonly #skipped: { candidate: Candidate; level: Level }[] = []
  #considered = 0
  #tried = 0
  #equivalent = 0
  #unjudged = 0
  #left = 0
  /** Whether the budget does not allow another run. */
  #isOver = false

  constructor(deps: SearchDeps) {
    this.#deps = deps
    this.#knowledge = new PairKnowledge(deps.serial[0].contract)
    this.#candidates = Array.from({ length: deps.switches + 1 }, () => [])
  }

  async search(): Promise<OrderSearch> {
    const { serial, switches } = this.#deps
    for (const [index, run] of serial.entries()) {
      const candidate: Candidate = { schedule: [{ side: index === 0 ? 0 : 1 }] }
      this.#learn(candidate, run)
      this.#candidates[0]?.push(candidate)
      this.#tried++
    }
    this.#levels.push({ switches: 0, of: serial.length, tried: serial.length })
    for (let level = 1; level <= switches; level++) await this.#tryLevel(level)
    const all = [...this.#causes.values()]
    const inState = (wanted: string) => all.filter(({ state }) => state === wanted)
    return {
      possible: countOrders(this.#lengths.values()),
      ...{ tried: this.#tried, equivalent: this.#equivalent, levels: this.#levels, gaveUp: this.#gaveUp },
      ...{ unjudged: this.#unjudged, left: this.#left, isReliable: this.#knowledge.isReliable },
      findings: inState('confirmed'),
      ...{ flaky: inState('flaky'), unconfirmed: [...inState('unconfirmed'), ...inState('new')] },
    }
  }

  async #tryLevel(switches: number): Promise<void> {
    const { signal, watch } = this.#deps
    const level: Level = { switches, of: 0, tried: 0 }
    this.#levels.push(level)
    let wave: Candidate[] = []
    const unknown = new Set<string>()
    const runWave = async () => {
      level.tried += await this.#runAll(wave)
      await this.#runSkipped()
      watch(`${this.#tried} orders tried, up to ${switches} switches`)
      wave = []
      unknown.clear()
    }
    for (const candidate of this.#ordersWith(switches)) {
      level.of++
      this.#considered++
      if (this.#considered % PAUSE === 0) await nextTurn()
      if (this.#considered > CONSIDERED || this.#isOver || signal.aborted) {
        this.#left++
        if (this.#considered > CONSIDERED) break
        continue
      }
      this.#candidates[switches]?.push(candidate)
      const prediction = this.#knowledge.predict(candidate.schedule)
      const isKnown = prediction.end !== undefined && this.#ends.has(prediction.end)
      // A run of this wave is going to show what is unknown here.
      if (isKnown || (prediction.end === undefined && unknown.has(prediction.unknown))) {
        this.#equivalent++
        level.tried++
        this.#skipped.push({ candidate, level })
        continue
      }
      if (prediction.end === undefined) unknown.add(prediction.unknown)
      else this.#ends.add(prediction.end)
      wave.push(candidate)
      if (wave.length === WAVE) await runWave()
    }
    await runWave()
    await this.#confirm()
  }

  /** The orders with so many switches: those with fewer, and one more switch at a later place. */
  *#ordersWith(switches: number): Generator<Candidate> {
    for (const cost of [1, 2]) {
      for (const candidate of this.#candidates[switches - cost] ?? []) {
        const steps = candidate.steps ?? this.#knowledge.predict(candidate.schedule).steps
        const { length } = candidate.schedule
        for (let index = switches === cost && length === 1 ? 0 : length; index < steps.length; index++) {
          const former = steps.slice(0, index).map(({ strand, threads }): Strand => {
            return threads.length === 1 ? { side: strand.side } : strand
          })
          for (const strand of turnsAt(steps, index, cost)) yield { schedule: [...former, strand] }
        }
      }
    }
  }

  /** Runs the orders that were left out for a reason that turned out to be wrong. */
  async #runSkipped(): Promise<void> {
    while (!this.#knowledge.isReliable && this.#skipped.length > 0) {
      const wave = this.#skipped.splice(0, WAVE)
      this.#equivalent -= wave.length
      for (const { level } of wave) level.tried--
      await this.#runAll(wave.map(({ candidate }) => candidate))
      for (const { candidate, level } of wave) if (candidate.steps !== undefined) level.tried++
    }
  }

  /** Runs orders, and resolves to how many of them were run. */
  async #runAll(candidates: readonly Candidate[]): Promise<number> {
    const { pool, run } = this.#deps
    const runs = await pool.runAll(
      candidates.map(
        ({ schedule }) =>
          () =>
            run(schedule, false),
      ),
    )
    let done = 0
    for (const [index, candidate] of candidates.entries()) {
      const result = runs[index]
      if (result === undefined) {
        this.#left++
        this.#isOver = true
        continue
      }
      done++
      this.#tried++
      this.#learn(candidate, result)
      this.#judge(candidate, result)
    }
    return done
  }

  #learn(candidate: Candidate, run: PairRun): void {
    const { impatient, halt, ends } = run.end
    const isHopeless = halt?.reason === 'repeats'
    const lastChange = run.end.steps.findLastIndex(({ entry }) => entry[PAST]?.after !== undefined)
    // After it, the requests of a run without hope are the same in every order.
    const steps = isHopeless ? run.end.steps.slice(0, lastChange + 1) : run.end.steps
    candidate.steps = steps
    const lengths = new Map<string, number>()
    for (const { strand } of steps) {
      const thread = `${strand.side}/${strand.thread}`
      const length = (lengths.get(thread) ?? 0) + 1
      lengths.set(thread, length)
      this.#lengths.set(thread, Math.max(length, this.#lengths.get(thread) ?? 0))
    }
    // A run that was ended does not show what the commands do next.
    if (impatient.length > 0 || ends.some(({ timedOut }) => timedOut) || (halt !== undefined && !isHopeless)) return
    const successes = isHopeless ? undefined : ([hasSucceeded(run, 0), hasSucceeded(run, 1)] as const)
    this.#ends.add(this.#knowledge.learn(steps, successes))
  }

  #judge({ schedule }: Candidate, run: PairRun): void {
    if (run.end.impatient.length > 0 && run.end.halt === undefined) {
      this.#unjudged++
      return
    }
    const { verdict, reasons } = judgePair(run, this.#deps.orders, this.#deps.names)
    if (verdict === 'gave up') this.#gaveUp.push(schedule)
    if (!isPairFailure(verdict)) return
    const cause = JSON.stringify([verdict, reasons])
    const known = this.#causes.get(cause)
    if (known === undefined) this.#causes.set(cause, { verdict, reasons, schedule, run, others: 0, state: 'new' })
    else known.others++
  }

  /** Repeats the first order of each new cause. It has the fewest switches, because all orders with fewer were tried. */
  async #confirm(): Promise<void> {
    const { pool, run, orders, names } = this.#deps
    const open = [...this.#causes.values()].filter(({ state }) => state === 'new')
    const runs = await pool.runAll(
      open.map(
        ({ schedule, verdict }) =>
          () =>
            run(schedule, verdict === 'hang'),
      ),
    )
    for (const [index, cause] of open.entries()) {
      const again = runs[index]
      if (again === undefined) cause.state = 'unconfirmed'
      else cause.state = judgePair(again, orders, names).verdict === cause.verdict ? 'confirmed' : 'flaky'
    }
  }
}

/** The other turns at a step of a run that cost so many switches. */
function turnsAt(steps: readonly PredictedStep[], index: number, cost: number): Strand[] {
  const step = steps[index]
  if (step === undefined) return []
  const { side, thread } = step.strand
  const other = otherSide(side)
  // The first turn of all is no switch: it makes the other serial order. After its last request, a command is over.
  const later = index === 0 ? undefined : steps.slice(index).find(({ strand }) => strand.side === other)
  if (cost === 1) {
    const own = step.threads.filter((each) => each !== thread).map((each): Strand => ({ side, thread: each }))
    return later === undefined ? own : [{ side: other }, ...own]
  }
  const threads = later?.threads.filter((each) => each !== later.strand.thread) ?? []
  return threads.map((each) => ({ side: other, thread: each }))
}

/** The number of orders of so many requests in each thread. */
function countOrders(lengths: Iterable<number>): number {
  let [orders, placed] = [1, 0]
  for (const length of lengths) {
    for (let each = 1; each <= length; each++) orders = (orders * ++placed) / each
  }
  return Math.min(Number.MAX_SAFE_INTEGER, Math.round(orders))
}

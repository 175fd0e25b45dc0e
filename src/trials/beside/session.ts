import type { Contract } from '../../contract/contract.ts'
import { elapsed, systemClock } from '../../ground/clock.ts'
import { wordEnd } from '../command.ts'
import { type RunBounds, RunBudget } from '../explore/budget.ts'
import { haveSameEffects } from '../explore/effects.ts'
import { FACTOR, lastLine, SPARE } from '../explore/session.ts'
import { Pool } from '../pool.ts'
import type { Trial } from '../trial.ts'
import { SILENCE } from './conductor.ts'
import { type PairRun, runPair } from './pair-run.ts'
import { otherSide, type Schedule, SIDES } from './schedule.ts'
import { type OrderSearch, OrderSearcher } from './search.ts'
import {
  judgePair,
  leftBy,
  nameCommands,
  type PairJudgement,
  type PairNames,
  promisesOf,
  type SerialOrders,
} from './verdict.ts'

/** The facts that are known before the commands start. */
export interface PairTerms
  extends Pick<Trial, 'environment' | 'variables' | 'options' | 'onSignal' | 'carryOut'>,
    RunBounds {
  command: readonly string[]
  /** The other command, as a line for a shell. */
  beside: string
  contract: Contract
  /** How many runs of both commands there are at the same time; by default one. */
  jobs: number | undefined
  /** See `SearchDeps`. */
  switches: number
  /** The time limit of a run in milliseconds. By default it follows from the duration of the serial orders. */
  timeout: number | undefined
  /** See `SILENCE`, which it replaces. */
  silence?: number
  stop: AbortSignal
  watch(words: string): void
}

/** The runs in both serial orders, and what follows from them. */
export interface SerialRuns {
  runs: readonly [PairRun, PairRun]
  orders: SerialOrders
}

/** A run in an order that the user has given. */
export interface ReplayedOrder extends PairJudgement {
  schedule: Schedule
  run: PairRun
}

/** The factor for the repetition of a run that took too long, and for a silence that nothing is known of. */
const LONGER = 3
/** The factor for the longest silence of the serial orders. */
const SILENT_AGAIN = 2

/** Runs two commands against one account, in serial orders first, until the budget is used up. */
export class PairSession {
  readonly #terms: PairTerms
  readonly #budget: RunBudget
  readonly names: PairNames
  /** The initial time on the clocks of all servers, so that the time of day does not matter. */
  readonly #instant = systemClock()
  /** How often a thread repeats one request in the serial orders. */
  #repeats = 0
  /** How long a command may be silent, in milliseconds. */
  #silence: number
  /** See `ConductorDeps`. Only the serial orders decide it, so that the search is the same every time. */
  #restless: readonly [boolean, boolean] = [false, false]

  constructor(terms: PairTerms) {
    this.#terms = terms
    this.#budget = new RunBudget(terms, terms.stop)
    // A command that is alone may sleep for long before it sends its next request.
    this.#silence = LONGER * (terms.silence ?? SILENCE)
    this.names = nameCommands([terms.command, terms.beside])
  }

  /** How often both commands were started. */
  get runs(): number {
    return this.#budget.taken
  }

  /** The runs in both serial orders, or a sentence that says why there are none. */
  async establish(): Promise<SerialRuns | string> {
    const { watch, timeout, stop, silence = SILENCE } = this.#terms
    watch('running both commands, one after the other')
    const limit = timeout ?? Number.POSITIVE_INFINITY
    const runs: PairRun[] = []
    for (const first of SIDES) {
      const run = await this.#run([{ side: first }], limit, { name: `explore-serial-${first + 1}`, isSerial: true })
      if (run === undefined) break
      const order = `in the order ${this.names[first]}, then ${this.names[otherSide(first)]}`
      const problem = problemOf(run, order, this.names)
      if (problem !== undefined) return runs.length === 0 ? problem : `${problem}; the other order passed`
      runs.push(run)
      this.#restless = run.end.restless
    }
    const [one, other] = runs
    this.#repeats = Math.max(...runs.map(({ end }) => end.repeats))
    this.#silence = Math.max(silence, ...runs.map(({ end }) => SILENT_AGAIN * end.quiet))
    // The commands must also pass if they start at the same time, as they do from now on.
    const again = other && (await this.#run([{ side: 0 }], limit, { name: 'explore-serial-3' }))
    if (stop.aborted) return 'explore was told to stop before it knew what the commands do one after the other'
    if (one === undefined || other === undefined || again === undefined) {
      return 'the budget was over before the commands had ended in both orders'
    }
    const problem = problemOf(
      again,
      'when both start at the same time, one after the other with their requests',
      this.names,
    )
    if (problem !== undefined) return problem
    const allowed = [leftBy(one), leftBy(other)]
    const isStable = one.lost === 0 && allowed.some((each) => haveSameEffects(each, leftBy(again)))
    return { runs: [one, other], orders: { allowed, isStable, promised: promisesOf([one, other]) } }
  }

  /** Looks for orders of the requests that break the commands. */
  search({ runs, orders }: SerialRuns): Promise<OrderSearch> {
    const { jobs = 1, switches, watch } = this.#terms
    const limit = this.#limitFor(runs)
    return new OrderSearcher({
      run: (schedule, isLonger) => this.#run(schedule, isLonger ? LONGER * limit : limit),
      ...{ serial: runs, orders, names: this.names, switches, watch },
      ...{ pool: new Pool(jobs), signal: this.#budget.signal },
    }).search()
  }

  /** Runs the commands once in an order; `undefined` if the budget does not allow it. */
  async replay(schedule: Schedule, { runs, orders }: SerialRuns): Promise<ReplayedOrder | undefined> {
    this.#terms.watch('running both commands in the order of the plan')
    const run = await this.#run(schedule, LONGER * this.#limitFor(runs), { name: 'explore-replay' })
    return run && { schedule, run, ...judgePair(run, orders, this.names) }
  }

  end(): void {
    this.#budget.end()
  }

  #limitFor(runs: readonly PairRun[]): number {
    const { timeout } = this.#terms
    const seconds = Math.max(...runs.flatMap(({ end }) => end.ends.map((each) => each.seconds)))
    // A command may have to be silent before the other one gets the turn, and so may the other one.
    return timeout ?? SPARE + FACTOR * seconds * 1000 + 2 * this.#silence
  }

  /** Runs both commands once. `undefined` if the budget does not allow it, or is over before their end. */
  async #run(
    schedule: Schedule,
    timeout: number,
    { name = `explore-${this.runs + 1}`, isSerial = false } = {},
  ): Promise<PairRun | undefined> {
    const { signal } = this.#budget
    if (!this.#budget.take()) return undefined
    const { command, beside, environment, variables, onSignal, contract, carryOut } = this.#terms
    const began = elapsed()
    try {
      const run = await runPair({
        ...{ environment, variables, onSignal, contract, schedule, isSerial, signal, carryOut },
        ...{ name, repeats: this.#repeats, silence: this.#silence, restless: this.#restless },
        commands: [command, ['sh', '-c', beside]],
        options: { ...this.#terms.options, clock: () => this.#instant + Math.floor(elapsed() - began) },
        timeout: timeout === Number.POSITIVE_INFINITY ? undefined : timeout,
      })
      return signal.aborted ? undefined : run
    } catch (error) {
      if (signal.aborted) return undefined
      throw error
    }
  }
}

/** The reason why a run in a serial order cannot be compared with. `order` says which one. */
function problemOf({ end }: PairRun, order: string, names: PairNames): string | undefined {
  const { ends, halt, steps, impatient } = end
  if (halt !== undefined) {
    if (halt.reason === 'unfinished') {
      return `${order}, ${names[halt.side]} did not end the body of a request, and did nothing for ${halt.seconds} s`
    }
    const sign =
      halt.reason === 'silent' ? `sent nothing for ${halt.seconds} s` : 'repeated a request that changes nothing'
    return `${order}, ${names[halt.side]} ${sign}: it waits for what only the other command can do, so there is nothing to compare with`
  }
  for (const side of SIDES) {
    const name = names[side]
    if (impatient.includes(side)) {
      return `${order}, ${name} gave up a request that was held until the other command had ended; let it wait longer for a response`
    }
    const { exitCode, timedOut, seconds, output } = ends[side]
    if (timedOut) return `${order}, ${name} did not end within ${seconds.toFixed(1)} s (--timeout)`
    if (exitCode !== 0) {
      const said = lastLine(output)
      const hint = /EADDRINUSE|address already in use/i.test(output)
        ? '; both commands run at the same time, so each needs a port of its own'
        : ''
      return `${order}, ${name} ${wordEnd(ends[side])}${said === '' ? '' : `, and said: ${said}`}${hint}`
    }
  }
  const idle = SIDES.find((side) => !steps.some(({ strand }) => strand.side === side))
  if (idle === undefined) return undefined
  return `${names[idle]} sent no request with its key, so there is no order to try; the address is in UNDERSTUDY_BASE_URL, and the key in UNDERSTUDY_API_KEY (or in variables of --set-env)`
}

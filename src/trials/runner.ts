import { setMaxListeners } from 'node:events'
import { Semaphore } from '../ground/semaphore.ts'
import { elapsed } from '../ground/timers.ts'
import { runTrial, type Trial, type TrialResult } from './trial.ts'

/** The longest delay of a timer, in milliseconds: 24 days. */
const LONGEST = 2 ** 31 - 1

/** How many runs there may be, and the time for them in milliseconds; all are unlimited by default. */
export interface RunBounds {
  runs?: number | undefined
  /** When it is over, the current runs are ended. */
  milliseconds?: number | undefined
  /** The time in which runs that are not needed may begin. */
  optional?: number | undefined
}

export interface RunnerOptions
  extends Pick<Trial, 'command' | 'environment' | 'variables' | 'options' | 'onSignal' | 'carryOut'>,
    RunBounds {
  /** How many trials run at the same time. */
  jobs: number
  /** Ends everything when it is aborted. */
  stop: AbortSignal
}

/** What is other in each trial. */
export type TrialTerms = Pick<Trial, 'name' | 'contract' | 'plan' | 'timeout'> &
  Partial<Pick<Trial, 'options' | 'before' | 'refusalDelay'>>

/** Runs the command of the user in trials, until its bounds are reached. */
export class TrialRunner {
  readonly #options: RunnerOptions
  readonly #room: Semaphore
  readonly #began = elapsed()
  readonly #failing = new AbortController()
  /** What ends the trials. A combined signal alone would let go of that of the time. */
  readonly #endings: readonly AbortSignal[]
  /** Aborted when the time is over, when a trial has thrown, or by the caller. */
  readonly signal: AbortSignal
  #runs = 0

  constructor(options: RunnerOptions) {
    const { jobs, stop, milliseconds = LONGEST } = options
    this.#options = options
    this.#room = new Semaphore(jobs)
    this.#endings = [stop, this.#failing.signal, AbortSignal.timeout(Math.min(Math.ceil(milliseconds), LONGEST))]
    this.signal = AbortSignal.any([...this.#endings])
    // Each of the trials adds a listener, and there may be many.
    setMaxListeners(0, this.signal)
  }

  get runs(): number {
    return this.#runs
  }

  /** How long a run has taken on average, with the others at the same time, in seconds. */
  get pace(): number {
    return (elapsed() - this.#began) / 1000 / Math.max(1, this.#runs)
  }

  /**
   * Runs the command as soon as there is room for it. `undefined` if the bounds do not allow it, or if they are reached
   * before its end. `isAlone`: no other trial runs at the same time. `isNeeded`: it may also begin after the time for
   * optional runs.
   * @throws CommandError, errors of the start; then no more trials run
   */
  run(find: () => Promise<TrialTerms>, { isAlone = false, isNeeded = true } = {}): Promise<TrialResult | undefined> {
    const task = async () => {
      if (!this.#takes(isNeeded)) return undefined
      const { command, environment, variables, options, onSignal, carryOut } = this.#options
      try {
        const result = await runTrial({
          ...{ command, environment, variables, options, onSignal, carryOut, ...(await find()) },
          ...{ inherits: false, signal: this.signal },
        })
        // A run that was ended from outside has no result.
        return this.signal.aborted ? undefined : result
      } catch (error) {
        this.#runs--
        if (this.signal.aborted) return undefined
        if (!isUnfit(error)) this.#failing.abort(error)
        throw error
      }
    }
    return isAlone ? this.#room.runAlone(task) : this.#room.run(task)
  }

  #takes(isNeeded: boolean): boolean {
    const { runs = Number.POSITIVE_INFINITY, optional = Number.POSITIVE_INFINITY } = this.#options
    const isLate = !isNeeded && elapsed() - this.#began >= optional
    const isOver = this.#endings.some(({ aborted }) => aborted)
    if (isOver || isLate || this.#runs >= runs) return false
    this.#runs++
    return true
  }
}

const UNFIT = new Set(['ContractError', 'FixtureError', 'OptionError', 'FaultSetError'])

/** Whether it is the error of a start with a contract that does not fit the options, which says nothing about others. */
function isUnfit(error: unknown): error is Error {
  return error instanceof Error && UNFIT.has(error.name)
}

/** Why one contract does not fit. @throws any other error */
export function wordMisfit(error: unknown): string {
  if (!isUnfit(error)) throw error
  return `It does not fit what the server was given: ${error.message}`
}

/** The results in this order. @throws the first error when all have ended */
export async function settle<Result>(running: Iterable<Promise<Result>>): Promise<Result[]> {
  const results = await Promise.allSettled(running)
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}

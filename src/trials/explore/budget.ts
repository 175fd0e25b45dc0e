import { elapsed } from '../../ground/clock.ts'
import { clearTimeout, setTimeout } from '../../ground/timers.ts'

/** How many runs there may be, and the time for new runs in milliseconds; all are unlimited by default. */
export interface RunBounds {
  runs?: number | undefined
  milliseconds?: number | undefined
  /** The time for runs beyond the usual ones. */
  optional?: number | undefined
}

/** The budget of an exploration. When its time is over, the current runs are ended. */
export class RunBudget {
  readonly #runs: number
  readonly #deadline: number
  readonly #optional: number
  readonly #over = new AbortController()
  readonly #timer: NodeJS.Timeout | undefined
  /** Aborted when the time is over, or when the caller stops the exploration. */
  readonly signal: AbortSignal
  #taken = 0

  constructor({ runs = Number.POSITIVE_INFINITY, milliseconds, optional }: RunBounds, stop: AbortSignal) {
    this.#runs = runs
    this.#deadline = elapsed() + (milliseconds ?? Number.POSITIVE_INFINITY)
    this.#optional = elapsed() + (optional ?? Number.POSITIVE_INFINITY)
    this.#timer = milliseconds === undefined ? undefined : setTimeout(() => this.#over.abort(), milliseconds)
    this.signal = AbortSignal.any([stop, this.#over.signal])
  }

  /** Takes one run from the budget. Returns `false` if no run or no time is left. */
  take(isUsual = true): boolean {
    const deadline = isUsual ? this.#deadline : Math.min(this.#deadline, this.#optional)
    if (this.#taken >= this.#runs || elapsed() >= deadline || this.signal.aborted) return false
    this.#taken++
    return true
  }

  get taken(): number {
    return this.#taken
  }

  end(): void {
    clearTimeout(this.#timer)
  }
}

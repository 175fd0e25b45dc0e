import { elapsed } from '../../ground/clock.ts'
import type { ExplorationBudget } from './exploration.ts'

/** A number of runs, or a time in milliseconds for new runs. When the time is over, the current runs are ended. */
export class RunBudget implements ExplorationBudget {
  readonly #runs: number
  readonly #deadline: number
  readonly #over = new AbortController()
  readonly #timer: NodeJS.Timeout | undefined
  readonly signal: AbortSignal
  #taken = 0

  constructor(
    { runs, milliseconds }: { runs?: number | undefined; milliseconds?: number | undefined },
    stop: AbortSignal,
  ) {
    this.#runs = runs ?? Number.POSITIVE_INFINITY
    this.#deadline = milliseconds === undefined ? Number.POSITIVE_INFINITY : elapsed() + milliseconds
    this.#timer = milliseconds === undefined ? undefined : setTimeout(() => this.#over.abort(), milliseconds)
    this.signal = AbortSignal.any([stop, this.#over.signal])
  }

  take(): boolean {
    if (this.#taken >= this.#runs || elapsed() >= this.#deadline || this.signal.aborted) return false
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

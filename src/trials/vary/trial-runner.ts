import type { Contract } from '../../contract/contract.ts'
import { elapsed, systemClock } from '../../ground/clock.ts'
import type { ServerOptions } from '../../start/options.ts'
import { Pool, type Task } from '../pool.ts'
import type { CommandEnd } from '../running-command.ts'
import { runTrial, type Trial, type TrialResult } from '../trial.ts'

export interface TrialRunnerOptions
  extends Pick<Trial, 'command' | 'environment' | 'variables' | 'signal' | 'onSignal'> {
  server: ServerOptions
  /** How many trials may run at the same time. */
  jobs: number
  /** The time limit for all trials, in milliseconds. */
  maxTime?: number | undefined
}

/** The reason why a trial did not run, or did not run to its end. */
export interface Untried {
  untried: string
  /** Whether no more trials will run. */
  isOver: boolean
}

/** The errors for a contract that cannot be served. */
const UNFIT = new Set(['ContractError', 'FixtureError', 'OptionError', 'FaultSetError'])
const OUT_OF_TIME: Untried = { untried: 'The time of --max-time was over.', isOver: true }

/** Runs a command against servers that differ only in their contract. */
export class TrialRunner {
  readonly #options: TrialRunnerOptions
  readonly #pool: Pool
  /** The initial time on the clocks of all servers, so that the time of day does not matter. */
  readonly #instant = systemClock()
  readonly #began = elapsed()
  #runs = 0
  #milliseconds = 0
  #over: Untried | undefined

  constructor(options: TrialRunnerOptions) {
    this.#options = options
    this.#pool = new Pool(options.jobs, options.signal)
  }

  /** How often the command was started. */
  get runs(): number {
    return this.#runs
  }

  /** The total duration of these runs. */
  get seconds(): number {
    return this.#milliseconds / 1000
  }

  /** Starts no more trials from now on. */
  stop(reason: string): void {
    this.#over ??= { untried: reason, isOver: true }
  }

  /**
   * Runs the command once when there is room for it. `load` makes the contract; `limit` is in milliseconds.
   * @throws CommandError, the reason of the signal, and the errors of `load` and of a start
   */
  run(name: string, load: () => Promise<Contract>, limit: number | undefined): Promise<TrialResult | Untried> {
    return this.#whenThereIsRoom(async (signal) => this.#run(name, await load(), limit, signal))
  }

  /** Like `run`, but the contract may not fit the options. @throws CommandError, the reason of the signal */
  try(name: string, load: () => Promise<Contract>, limit: number): Promise<TrialResult | Untried> {
    return this.#whenThereIsRoom(async (signal) => {
      try {
        return await this.#run(name, await load(), limit, signal)
      } catch (error) {
        const { name: kind, message } = error as Error
        if (!UNFIT.has(kind)) throw error
        return { untried: `It does not fit what the server was given: ${message}`, isOver: false }
      }
    })
  }

  #whenThereIsRoom(run: Task<TrialResult | Untried>): Promise<TrialResult | Untried> {
    return this.#pool.run(async (signal) => {
      if (this.#over !== undefined) return this.#over
      return this.#left <= 0 ? OUT_OF_TIME : run(signal)
    })
  }

  async #run(
    name: string,
    contract: Contract,
    limit: number | undefined,
    signal: AbortSignal,
  ): Promise<TrialResult | Untried> {
    const { command, environment, variables, server, onSignal } = this.#options
    const left = this.#left
    const began = elapsed()
    const options = { ...server, clock: () => this.#instant + Math.floor(elapsed() - began) }
    const timeout = limit === undefined && left === Number.POSITIVE_INFINITY ? undefined : Math.min(limit ?? left, left)
    try {
      const result = await runTrial({
        ...{ name, command, environment, variables, options, contract, timeout, signal, onSignal },
        inherits: false,
        serving: () => void this.#runs++,
      })
      signal.throwIfAborted()
      return result.end.timedOut && left < (limit ?? Number.POSITIVE_INFINITY) ? OUT_OF_TIME : result
    } finally {
      this.#milliseconds += elapsed() - began
    }
  }

  /** The rest of the time limit, in milliseconds. */
  get #left(): number {
    const { maxTime = Number.POSITIVE_INFINITY } = this.#options
    return maxTime - (elapsed() - this.#began)
  }
}

export function hasPassed({ exitCode, timedOut }: CommandEnd): boolean {
  return exitCode === 0 && !timedOut
}

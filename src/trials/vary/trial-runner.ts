import type { Contract } from '../../contract/contract.ts'
import { elapsed, systemClock } from '../../ground/clock.ts'
import type { ServerOptions } from '../../server/options.ts'
import { Pool, type Task } from '../pool.ts'
import { runTrial, type Trial, type TrialResult } from '../trial.ts'

export interface TrialRunnerOptions
  extends Pick<Trial, 'command' | 'environment' | 'variables' | 'signal' | 'onSignal' | 'carryOut'> {
  server: ServerOptions
  /** How many trials run at the same time. */
  jobs: number
  /** The time limit for all trials, in milliseconds. */
  maxTime?: number | undefined
}

/** The reason why a trial did not run, or did not run to its end. */
export interface Untried {
  untried: string
}

/** The errors for a contract that cannot be served. */
const UNFIT = new Set(['ContractError', 'FixtureError', 'OptionError', 'FaultSetError'])
const OUT_OF_TIME = 'The time of --max-time was over.'

/** Runs a command against servers that differ only in their contract. */
export class TrialRunner {
  readonly #options: TrialRunnerOptions
  readonly #pool: Pool
  /** The initial time on the clocks of all servers, so that the time of day does not matter. */
  readonly #instant = systemClock()
  readonly #began = elapsed()
  #runs = 0

  constructor(options: TrialRunnerOptions) {
    this.#options = options
    this.#pool = new Pool(options.jobs, options.signal)
  }

  /** How often the command was started. */
  get runs(): number {
    return this.#runs
  }

  /** The reason why no more trials run; `undefined` as long as they do. */
  get over(): string | undefined {
    const { signal } = this.#options
    if (signal?.aborted) return `vary was ${(signal.reason as Error).message}.`
    return this.#left <= 0 ? OUT_OF_TIME : undefined
  }

  /** Runs the command once without an alternative. @throws CommandError, and the errors of a start */
  run(name: string, contract: Contract, limit: number | undefined): Promise<TrialResult | Untried> {
    return this.#inTurn((signal) => this.#run(name, contract, limit, signal))
  }

  /**
   * The same under the contract that `load` makes, which may not fit the options. `isAlone`: whether no other trial runs
   * at the same time. @throws CommandError
   */
  try(name: string, load: () => Promise<Contract>, limit: number, isAlone: boolean): Promise<TrialResult | Untried> {
    return this.#inTurn(async (signal) => {
      try {
        return await this.#run(name, await load(), limit, signal)
      } catch (error) {
        const { name: kind, message } = error as Error
        if (!UNFIT.has(kind)) throw error
        return { untried: `It does not fit what the server was given: ${message}` }
      }
    }, isAlone)
  }

  async #inTurn(run: Task<TrialResult | Untried>, isAlone = false): Promise<TrialResult | Untried> {
    const task: typeof run = async (signal) => (this.over === undefined ? run(signal) : { untried: this.over })
    try {
      return await (isAlone ? this.#pool.runAlone(task) : this.#pool.run(task))
    } catch (error) {
      if (this.over === undefined || error !== this.#options.signal?.reason) throw error
      return { untried: this.over }
    }
  }

  async #run(
    name: string,
    contract: Contract,
    limit = Number.POSITIVE_INFINITY,
    signal: AbortSignal,
  ): Promise<TrialResult | Untried> {
    const { command, environment, variables, server, onSignal, carryOut } = this.#options
    const left = this.#left
    const began = elapsed()
    const options = { ...server, clock: () => this.#instant + Math.floor(elapsed() - began) }
    const shorter = Math.min(limit, left)
    const result = await runTrial({
      ...{ name, command, environment, variables, options, contract, signal, onSignal, carryOut },
      timeout: shorter === Number.POSITIVE_INFINITY ? undefined : shorter,
      inherits: false,
      serving: () => void this.#runs++,
    })
    signal.throwIfAborted()
    return result.end.timedOut && left < limit ? { untried: OUT_OF_TIME } : result
  }

  /** The rest of the time limit, in milliseconds. */
  get #left(): number {
    const { maxTime = Number.POSITIVE_INFINITY } = this.#options
    return maxTime - (elapsed() - this.#began)
  }
}

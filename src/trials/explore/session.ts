import { bindBehaviours, type ServiceContract } from '../../behaviour/operation.ts'
import { OPERATIONS } from '../../behaviour/operations/operations.ts'
import type { Contract } from '../../contract/contract.ts'
import { accept } from '../../domain/errors.ts'
import type { FaultRule } from '../../domain/faults.ts'
import type { ForeignClient } from '../../faults/foreign-change.ts'
import type { Redact } from '../../journal/redaction/redaction.ts'
import { haveSameEffects } from '../effects.ts'
import { describeFailure } from '../output.ts'
import { type RunnerOptions, TrialRunner, type TrialTerms } from '../runner.ts'
import { observe, type RunObservation } from './points.ts'
import { findStorm } from './storm.ts'
import type { FaultlessRun } from './verdict.ts'

export interface SessionTerms extends RunnerOptions {
  contract: Contract
  /** The contract with quota windows of at most so many seconds. */
  contractWith(window: number): Promise<Contract>
  /** The time limit of the command in milliseconds. By default it follows from its duration without faults. */
  timeout: number | undefined
  /** The length of shortened quota windows in seconds; `undefined` if they are those of the contract. */
  window: number | undefined
  redact: Redact
  watch(words: string): void
}

/** Time limits of a run, in milliseconds. */
interface RunLimits {
  usual: number
  /** Additional time for each second of a quota that is used up, because a client waits for its reset. */
  perSecond: number
  /** The limit for the repetition of a run that took too long. */
  longer: number
}

/** How the command runs with a plan. `window` is the length of quota windows in seconds, if it is not the usual one. */
interface PlannedRun {
  timeout: number
  window?: number | undefined
  /** Whether it runs also if the search takes longer then. */
  isNeeded?: boolean
}

/** The length of a shortened quota window, in seconds. */
export const SHORT_WINDOW = 2
/** Additional time for a start on a busy machine, in milliseconds. */
const SPARE = 2_000
/** How much longer a run may take than the run without faults. */
const FACTOR = 3
/** A reset is rounded up to a multiple of a second, so a client may wait for half as long again. */
export const PER_SECOND = 1_500
/** How long a 429 is held back, in milliseconds, so that what was sent at the same time is no storm. */
const REFUSAL_DELAY = 200
/** The factor for the repetition of a run that took too long, and its lower limit in milliseconds. */
const LONGER = 3
const PATIENCE = 10_000

/** Runs the command of the user, first without faults and then with them, until its budget is used up. */
export class ExploreSession {
  readonly terms: SessionTerms
  readonly contract: ServiceContract
  readonly #runner: TrialRunner

  constructor(terms: SessionTerms) {
    this.terms = terms
    this.#runner = new TrialRunner(terms)
    const simulator = terms.options.simulator ?? true
    this.contract = bindBehaviours(terms.contract, { behaviours: OPERATIONS, simulator })
  }

  get runs(): number {
    return this.#runner.runs
  }

  /** How long a run has taken on average, with the others at the same time, in seconds. */
  get pace(): number {
    return this.#runner.pace
  }

  watch(words: string): void {
    this.terms.watch(`${words}, ${this.runs} runs so far`)
  }

  /** The run without a fault, or a sentence that says why there is none. */
  async establish(): Promise<FaultlessRun | string> {
    const { watch, timeout, redact, stop } = this.terms
    watch('running the command twice without faults')
    const first = await this.#run({ timeout, name: 'explore-baseline-1' })
    if (stop.aborted) return STOPPED
    if (first === undefined) return 'the budget was over before the command had ended without any fault'
    if (hasFailed(first)) return `the command fails without any fault: ${describeFailure(first.end, redact)}`
    if (first.requests.length === 0) return NO_REQUEST
    const again = await this.#run({ timeout, name: 'explore-baseline-2' })
    if (stop.aborted) return STOPPED
    if (again !== undefined && hasFailed(again)) {
      return `the command passed once and then failed, without any fault: ${describeFailure(again.end, redact)}`
    }
    return {
      observation: first,
      isStable: first.lost === 0 && (again === undefined || haveSameEffects(first.effects, again.effects)),
      changes: first.effects.changes.length > 0,
      storms: findStorm(first.requests) !== undefined,
      seconds: Math.max(first.end.seconds, again?.end.seconds ?? 0),
    }
  }

  limitsFrom({ seconds }: FaultlessRun): RunLimits {
    const { timeout, window } = this.terms
    const usual = timeout ?? SPARE + FACTOR * seconds * 1000
    const perSecond = timeout === undefined && window !== undefined ? PER_SECOND : 0
    return { usual, perSecond, longer: timeout ?? Math.max(PATIENCE, LONGER * usual) }
  }

  /** Runs the command with the faults of a plan; `undefined` if the budget does not allow it. */
  async runWith(plan: readonly FaultRule[], { timeout, window, isNeeded }: PlannedRun) {
    const contract = window === undefined ? this.terms.contract : await this.terms.contractWith(window)
    return this.#run({ plan, timeout, contract }, isNeeded)
  }

  /** Runs the command after another client has changed an account; `undefined` if that is not possible. */
  async runAfter(client: ForeignClient, accountId: string, timeout: number): Promise<RunObservation | undefined> {
    let hasChanged = false
    const run = await this.#run({
      timeout,
      async before({ store }) {
        // The account may be one that the command itself creates.
        if ((await store.find('id', accountId)) === undefined) return false
        const decision = await store.update(accountId, (state) => {
          const changed = client.change(state)
          return accept(changed ?? state, changed !== undefined)
        })
        // Requests at the same time come here more than once.
        hasChanged ||= decision.ok && decision.value
        return true
      },
    })
    return hasChanged ? run : undefined
  }

  async #run(terms: Partial<TrialTerms>, isNeeded = true): Promise<RunObservation | undefined> {
    const { contract } = this.terms
    const find = async () => ({ name: `explore-${this.runs}`, contract, refusalDelay: REFUSAL_DELAY, ...terms })
    const result = await this.#runner.run(find, { isNeeded })
    return result && observe(result, REFUSAL_DELAY)
  }
}

const STOPPED = 'explore was told to stop before it knew what the command does without faults'
const NO_REQUEST =
  'the command sent no request to the service, so no fault can meet it; the address is in UNDERSTUDY_BASE_URL (or in a variable of --set-env)'

function hasFailed({ end }: RunObservation): boolean {
  return end.exitCode !== 0 || end.timedOut
}

import { isDeepStrictEqual } from 'node:util'
import { bindBehaviours } from '../../behaviour/operation.ts'
import { OPERATIONS } from '../../behaviour/operations/operations.ts'
import { type Alternative, type Choices, nameOf } from '../../contract/choices.ts'
import type { Contract } from '../../contract/contract.ts'
import { Semaphore } from '../../ground/semaphore.ts'
import { elapsed, systemClock } from '../../ground/timers.ts'
import type { Entry } from '../../journal/entry.ts'
import type { Redact } from '../../journal/redaction/redaction.ts'
import type { ServerOptions } from '../../server/options.ts'
import { hasPassed } from '../command.ts'
import { without } from '../effects.ts'
import { describeFailure } from '../output.ts'
import { type RunnerOptions, settle, TrialRunner } from '../runner.ts'
import type { TrialResult } from '../trial.ts'
import { findFirstDifference, requestIn, usualResponses } from './first-difference.ts'
import { findReached } from './reached.ts'
import { type AlternativeReport, describe, type JudgementTerms, judgeAlternative, round } from './verdict.ts'

export interface VaryOptions
  extends Pick<RunnerOptions, 'command' | 'environment' | 'variables' | 'onSignal' | 'carryOut' | 'jobs'> {
  choices: Choices
  server: ServerOptions
  /** How often each trial runs if the command does not do the same each time. */
  repeats: number
  /** The time limit of the command in milliseconds; by default a multiple of its duration without alternatives. */
  timeout?: number | undefined
  maxTime?: number | undefined
  accepts(alternative: Pick<Alternative, 'id' | 'number'>): boolean
  redact: Redact
  signal?: AbortSignal | undefined
  onProgress?(text: string): void
}

/** The dependencies file, which `--report json=FILE` writes. */
export interface Dependencies {
  command: readonly string[]
  /** The command without an alternative. `steady`: whether two runs sent the same requests. */
  baseline: { exit_code: number; seconds: number; requests: number; steady: boolean }
  /** How often the command was started, including the baselines. */
  runs: number
  alternatives: readonly AlternativeReport[]
}

export interface VaryResult {
  dependencies: Dependencies
  /** Additional information for the reader, in sentences. */
  notes: readonly string[]
  /** Why there is no result for some alternatives: no more time, a signal, or a command that now fails by itself. */
  cutBy: string | undefined
}

/** A command that cannot be examined. The message is one sentence. */
export class BaselineError extends Error {
  override name = 'BaselineError'
}

/** The time limit of the command as a multiple of its usual duration, and the least limit in milliseconds. */
const PATIENCE = { factor: 10, least: 10_000 }
const OUT_OF_TIME = 'The time of --max-time was over.'

/**
 * Finds the alternatives on which a command depends. A signal or the end of the time leaves the rest undecided.
 * @throws BaselineError if the command fails without alternatives; CommandError if it cannot start; the errors of a
 * server start; the reason of the signal if it comes before the command has run without alternatives
 */
export async function vary(options: VaryOptions): Promise<VaryResult> {
  const { choices, server, command, jobs, repeats, timeout, redact, accepts, signal, onProgress } = options
  const stop = signal ?? new AbortController().signal
  const runner = new TrialRunner({ ...options, options: server, stop, milliseconds: options.maxTime })
  const whyOver = () =>
    stop.aborted ? `vary was ${(stop.reason as Error).message}.` : runner.signal.aborted ? OUT_OF_TIME : undefined
  // All servers begin at the same time of day, so that it does not matter.
  const instant = systemClock()
  function runUnder(alternatives: readonly Alternative[], name: string, timeout?: number, isAlone = false) {
    return runner.run(
      async () => {
        const contract = alternatives.length === 0 ? choices.contract : await choices.compile(alternatives)
        const began = elapsed()
        const clock = () => instant + Math.floor(elapsed() - began)
        return { name, contract, timeout, options: { ...server, clock } }
      },
      { isAlone },
    )
  }
  async function runAsIs(name: string): Promise<TrialResult> {
    const result = await runUnder([], name, timeout)
    stop.throwIfAborted()
    if (result === undefined) throw new BaselineError(`The command has not run twice: ${whyOver()}`)
    return result
  }

  onProgress?.('running the command twice as it is')
  const runs = [await runAsIs('baseline 1'), await runAsIs('baseline 2')] as const
  const [first, second] = runs
  const failed = runs.find(({ end }) => !hasPassed(end))
  if (failed !== undefined) {
    const fails = runs.some(({ end }) => hasPassed(end)) ? 'passed once and failed once,' : 'fails'
    throw new BaselineError(`The command ${fails} although nothing is varied: ${describeFailure(failed.end, redact)}`)
  }
  if (first.exchanges.length + second.exchanges.length === 0) throw new BaselineError(NO_REQUEST)
  const unsteadiness = compareRuns(...runs)
  const isInOrder = unsteadiness === undefined && areInSameOrder(...runs)
  const limit = timeout ?? Math.max(PATIENCE.least, 1000 * PATIENCE.factor * Math.max(...runs.map(secondsOf)))
  const bind = (contract: Contract) =>
    bindBehaviours(contract, { behaviours: OPERATIONS, simulator: server.simulator ?? true })
  const comparison = { usual: usualResponses(runs), own: bind(choices.contract), redact }

  const terms: JudgementTerms = {
    run: (alternative, timeout, isAlone) => runUnder([alternative], nameOf(alternative), timeout, isAlone),
    ...{ whyOver, redact, repeats, limit, isCertain: isInOrder },
    isAsUsual: (result) => compareRuns(first, result) === undefined,
    findDifference: (result) => findFirstDifference(result, comparison),
  }
  const found = await findReached({
    // Requests in a different order find different states.
    ...{ choices, bind, runs: isInOrder ? [first] : runs, whyOver },
    onProgress: (done, all) => onProgress?.(`looking at request ${done + 1} of ${all}`),
  })
  const reports = new Map<Alternative, AlternativeReport>()
  for (const { alternative, reason } of found.undecided) {
    reports.set(alternative, { ...describe(alternative, 'inconclusive'), reason })
  }
  let decided = 0
  // Limits the work in progress, so that an alternative is decided before another one begins.
  const room = new Semaphore(jobs)
  await settle(
    found.reached.map((alternative) =>
      room.run(async () => {
        const report = await judgeAlternative(alternative, terms)
        reports.set(alternative, report)
        const of = `${found.reached.length} alternatives that the command can notice`
        onProgress?.(`decided ${++decided} of ${of}: ${nameOf(alternative)} ${report.verdict}`)
      }),
    ),
  )
  // The runs may have left something behind with which the command now fails by itself.
  let spoilt: string | undefined
  if ([...reports.values()].some(({ verdict }) => verdict === 'depends')) {
    onProgress?.('running the command once more as it is')
    const control = await runUnder([], 'baseline again', limit)
    if (control !== undefined && !hasPassed(control.end)) {
      spoilt = `The command fails, but by now also without an alternative: ${describeFailure(control.end, redact)}`
    }
  }
  const alternatives = choices.alternatives.map((alternative): AlternativeReport => {
    const report = reports.get(alternative) ?? describe(alternative, 'not reached')
    if (report.verdict !== 'depends') return report
    if (spoilt !== undefined) return { ...describe(alternative, 'inconclusive'), reason: spoilt }
    return accepts(alternative) ? { ...report, accepted: true } : report
  })
  return {
    dependencies: {
      command,
      baseline: {
        exit_code: first.end.exitCode ?? 1,
        seconds: round(secondsOf(first)),
        requests: first.exchanges.length + first.lost,
        steady: unsteadiness === undefined,
      },
      runs: runner.runs,
      alternatives,
    },
    notes: [
      ...(isInOrder
        ? []
        : [`${unsteadiness ?? OTHER_ORDER} Each alternative is judged by ${repeats} runs (--repeats).`]),
      ...(found.unanswerable > 0 || runs.some(({ lost }) => lost > 0) ? [UNANSWERABLE] : []),
    ],
    cutBy: spoilt ?? alternatives.find(({ reason }) => reason !== undefined && reason === whyOver())?.reason,
  }
}

const NO_REQUEST =
  'The command passes, but has sent no request to the service: does it use UNDERSTUDY_BASE_URL, or a variable that --set-env sets?'
const UNANSWERABLE =
  'Some requests could not be answered again as recorded. Any alternative may have changed them, so all are tried.'
const OTHER_ORDER =
  'The command sends its requests to an account in another order each time. An alternative that none of the two recorded orders reaches is not tried.'

type ComparedRun = Pick<TrialResult, 'exchanges' | 'lost'>

/**
 * The difference between two runs of the same command, in a sentence; `undefined` if there is none. The order of
 * requests does not count, because commands may send requests concurrently.
 */
function compareRuns(one: ComparedRun, other: ComparedRun): string | undefined {
  const [fewer, more] = [one, other].map(({ exchanges, lost }) => exchanges.length + lost)
  if (fewer !== more) {
    return `The command is unsteady: its first run sent ${fewer} requests, and its second ${more}.`
  }
  const [different] = without(other.exchanges.map(requestIn), one.exchanges.map(requestIn))
  if (different === undefined) return undefined
  const [method, target = ''] = different.split(' ')
  return `The command is unsteady: only one of two runs sent ${method} ${target.replace(/\?.*/, '')} as it did.`
}

/**
 * Whether each account got the same requests in the same order in both runs. Accounts do not affect each other, so tests
 * that have one account each may run concurrently. The accounts have no order, and their ids may differ.
 */
function areInSameOrder(...runs: readonly ComparedRun[]): boolean {
  const [one, other] = runs.map(({ exchanges }) => {
    const accounts = new Map<Entry['account'], string>()
    for (const entry of exchanges) {
      accounts.set(entry.account, `${accounts.get(entry.account) ?? ''}${requestIn(entry)}\n`)
    }
    return [...accounts.values()].toSorted()
  })
  return isDeepStrictEqual(one, other)
}

function secondsOf({ end }: Pick<TrialResult, 'end'>): number {
  return end.seconds
}

import { OPERATIONS } from '../../behaviour/operations/operations.ts'
import { bindBehaviours } from '../../behaviour/service-contract.ts'
import { operationOf } from '../../contract/api.ts'
import { type Alternative, type Choices, nameOf } from '../../contract/choices.ts'
import type { Contract } from '../../contract/contract.ts'
import { Semaphore } from '../../ground/semaphore.ts'
import type { Redact } from '../../journal/redaction/redaction.ts'
import { hasPassed } from '../command.ts'
import { describeFailure } from '../failed-tests.ts'
import type { TrialResult } from '../trial.ts'
import { type Baselines, compareRuns, runBaselines } from './baselines.ts'
import type { AlternativeReport, Dependencies } from './dependencies.ts'
import { findFirstDifference, usualResponses } from './first-difference.ts'
import { DependencyJudge, describe, round } from './judge.ts'
import { findReached, type Reached } from './reached.ts'
import { TrialRunner, type TrialRunnerOptions } from './trial-runner.ts'

export interface VaryOptions extends TrialRunnerOptions {
  choices: Choices
  /** How often each trial runs if the command does not do the same each time. */
  repeats: number
  /** The time limit of the command in milliseconds; by default a multiple of its duration without alternatives. */
  timeout?: number | undefined
  accepts(alternative: Pick<Alternative, 'id' | 'number'>): boolean
  redact: Redact
  /** Called with the current step. */
  onProgress?(text: string): void
}

export interface VaryResult {
  dependencies: Dependencies
  /** Additional information for the reader, in sentences. */
  notes: readonly string[]
  /** The lengths of the quota windows that the command has used up, in seconds. */
  windows: readonly number[]
  /** Why there is no result for some alternatives: no more time, a signal, or a command that now fails by itself. */
  cutBy: string | undefined
}

/** The time limit of the command as a multiple of its usual duration, and the least limit in milliseconds. */
const PATIENCE = { factor: 10, least: 10_000 }

/**
 * Finds the alternatives on which a command depends. A signal or the end of the time leaves the rest undecided.
 * @throws BaselineError if the command fails without alternatives; CommandError if it cannot start; the errors of a
 * server start; the reason of the signal if it comes before the command has run without alternatives
 */
export async function vary(options: VaryOptions): Promise<VaryResult> {
  const { choices, server, command, signal, onProgress } = options
  const runner = new TrialRunner(options)
  onProgress?.('running the command twice as it is')
  const baselines = await runBaselines(runner, choices.contract, options.timeout, options.redact, signal)
  const { first, runs, isInOrder } = baselines
  const bind = (contract: Contract) =>
    bindBehaviours(contract, { behaviours: OPERATIONS, simulator: server.simulator ?? true })
  const found = await findReached({
    // Requests in a different order find different states.
    ...{ choices, bind, runs: isInOrder ? [first] : runs },
    onProgress: (done, all) => onProgress?.(`looking at request ${done + 1} of ${all}`),
    whyOver: () => runner.over,
  })
  const reports = new Map<Alternative, AlternativeReport>()
  for (const { alternative, reason } of found.undecided) {
    reports.set(alternative, { ...describe(alternative, 'inconclusive'), reason })
  }
  const study: Study = { runner, options, baselines, bind, limit: limitOf(baselines, options) }
  const judged = await judgeAll(found.reached, study)
  const spoilt = await runControl(judged, study)
  for (const [alternative, report] of judged) {
    const isUnsure = spoilt !== undefined && report.verdict === 'depends'
    reports.set(alternative, isUnsure ? { ...describe(alternative, 'inconclusive'), reason: spoilt } : report)
  }
  const alternatives = choices.alternatives.map((alternative) => {
    const report = reports.get(alternative) ?? describe(alternative, 'not reached')
    return report.verdict === 'depends' && options.accepts(alternative)
      ? { ...report, accepted: true as const }
      : report
  })
  return {
    dependencies: {
      command,
      baseline: {
        exit_code: first.end.exitCode ?? 1,
        seconds: round(first.end.seconds),
        requests: first.exchanges.length + first.lost,
        steady: baselines.difference === undefined,
      },
      runs: runner.runs,
      alternatives,
    },
    notes: notesOn(baselines, found, options.repeats),
    windows: windowsMet(first),
    cutBy: spoilt ?? alternatives.find(({ reason }) => reason !== undefined && reason === runner.over)?.reason,
  }
}

interface Study {
  runner: TrialRunner
  options: VaryOptions
  baselines: Baselines
  bind(contract: Contract): TrialResult['contract']
  /** The time limit of a trial, in milliseconds. */
  limit: number
}

function limitOf({ runs }: Baselines, { timeout }: VaryOptions): number {
  const longest = Math.max(...runs.map(({ end }) => end.seconds))
  return timeout ?? Math.max(PATIENCE.least, 1000 * PATIENCE.factor * longest)
}

type JudgedAlternatives = ReadonlyMap<Alternative, AlternativeReport>

async function judgeAll(tried: readonly Alternative[], study: Study): Promise<JudgedAlternatives> {
  const { runner, options, baselines, bind, limit } = study
  const { choices, repeats, redact, jobs, onProgress } = options
  const { first, runs, isInOrder } = baselines
  const comparison = { usual: usualResponses(runs), own: bind(choices.contract), redact }
  const judge = new DependencyJudge({
    ...{ runner, choices, redact, repeats, limit },
    isCertain: isInOrder,
    failsAnyway: runs.some(({ end }) => !hasPassed(end)),
    isAsUsual: (result) => compareRuns(first, result) === undefined,
    findDifference: (result) => findFirstDifference(result, comparison),
  })
  let decided = 0
  // Limits the work in progress, so that an alternative is decided before another one begins.
  const room = new Semaphore(jobs)
  async function judgeOne(alternative: Alternative): Promise<readonly [Alternative, AlternativeReport]> {
    const report = await judge.judge(alternative)
    onProgress?.(`decided ${++decided} of ${tried.length}: ${nameOf(alternative)} ${report.verdict}`)
    return [alternative, report]
  }
  return new Map(await Promise.all(tried.map((each) => room.run(() => judgeOne(each)))))
}

/**
 * Runs the command once more without an alternative if it seems to depend on one. Resolves to the reason why the
 * dependencies are not sure, if it now fails in that run, too: its runs may have left something behind.
 */
async function runControl(judged: JudgedAlternatives, { runner, options, limit }: Study): Promise<string | undefined> {
  if (![...judged.values()].some(({ verdict }) => verdict === 'depends')) return undefined
  options.onProgress?.('running the command once more as it is')
  const control = await runner.run('baseline again', options.choices.contract, limit)
  if ('untried' in control || hasPassed(control.end)) return undefined
  const how = describeFailure(control.end, options.redact)
  return `The command fails, but by now also without an alternative: ${how}`
}

const CUT = 'The command sends more requests than are recorded, so every alternative counts as reached.'
const OTHER_ORDER =
  'The command sends its requests to an account in another order each time. An alternative that none of the two recorded orders reaches is not tried.'

function notesOn({ difference, isInOrder, runs }: Baselines, { unanswerable }: Reached, repeats: number): string[] {
  const unsteady = isInOrder
    ? []
    : [`${difference ?? OTHER_ORDER} Each alternative is judged by ${repeats} runs (--repeats).`]
  return [
    ...unsteady,
    ...(unanswerable > 0 ? [describeUnanswerable(unanswerable)] : []),
    ...(runs.some(({ lost }) => lost > 0) ? [CUT] : []),
  ]
}

function describeUnanswerable(count: number): string {
  const [requests, which] = count === 1 ? ['One request', 'it'] : [`${count} requests`, 'them']
  return `${requests} could not be answered again as recorded. Any alternative may have changed ${which}, so all are tried.`
}

/** The windows, in seconds, of the quotas that a run has used up. */
function windowsMet({ exchanges, contract }: Pick<TrialResult, 'exchanges' | 'contract'>): number[] {
  const met = exchanges.flatMap(({ allowance, operation }) =>
    allowance?.allowed === false ? (operationOf(contract, operation)?.quota?.window ?? []) : [],
  )
  return [...new Set(met)]
}

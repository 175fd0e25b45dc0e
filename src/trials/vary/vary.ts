import { availableParallelism } from 'node:os'
import { operationOf } from '../../contract/api.ts'
import { type Alternative, type Choices, nameOf } from '../../contract/choices.ts'
import { Semaphore } from '../../ground/semaphore.ts'
import type { Redact } from '../../journal/redaction/redaction.ts'
import { effectsOf } from '../explore/effects.ts'
import { describeDeviation, findParallelism, type Parallelism, wordParallelism } from '../parallelism.ts'
import type { TrialResult } from '../trial.ts'
import { type Baselines, compareRuns, hasPassed, runBaselines } from './baselines.ts'
import { type Counterfactual, findReached, fingerprintOf } from './counterfactual.ts'
import { type AlternativeReport, type Dependencies, findKnown } from './dependencies.ts'
import { describeFailure } from './failure.ts'
import { findFirstDifference, usualExchanges } from './first-difference.ts'
import { DependencyJudge, describe, round } from './judge.ts'
import { recordingOf } from './recording.ts'
import { TrialRunner, type TrialRunnerOptions } from './trial-runner.ts'

export interface VaryOptions extends TrialRunnerOptions {
  choices: Choices
  /** How often each trial runs if the command does not do the same each time. */
  repeats: number
  /** The time limit of the command in milliseconds; by default a multiple of its duration without alternatives. */
  timeout?: number | undefined
  /** Whether to stop at the first dependency that is not accepted. */
  bail: boolean
  /** Whether each alternative is tried, even if it cannot have changed anything. */
  exhaustive: boolean
  accepts(alternative: Pick<Alternative, 'id' | 'number'>): boolean
  /** The result of an earlier run. */
  since?: Dependencies | undefined
  redact: Redact
  /** Called with the current step. */
  onProgress?(text: string): void
}

export interface VaryResult {
  dependencies: Dependencies
  /** Additional information for the reader, in sentences. */
  notes: readonly string[]
  /** How many trials ran at the same time, and why; `undefined` for less than two trials. */
  trials: string | undefined
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
  const { choices, server, command, exhaustive, signal, onProgress } = options
  const runner = new TrialRunner(options)
  onProgress?.('running the command twice as it is')
  const baselines = await runBaselines(runner, choices.contract, options.timeout, options.redact, signal)
  const { first, runs, isInOrder } = baselines
  // Requests in a different order find different states.
  const recordings = (isInOrder ? [first] : runs).map(recordingOf)
  const found = await findReached({
    ...{ server, choices, recordings },
    onProgress: (done, all) => onProgress?.(`looking at alternative ${done + 1} of ${all}`),
    whyOver: () => runner.over,
  })
  const fingerprints = new Map(found.reached.map((reach) => [reach.alternative, fingerprintOf(reach, recordings[0])]))
  const reports = new Map<Alternative, AlternativeReport>()
  for (const { alternative, reason } of found.undecided) {
    reports.set(alternative, { ...describe(alternative, 'inconclusive'), reason })
  }
  const reached = found.reached.map(({ alternative }) => alternative)
  const tried = (exhaustive ? choices.alternatives.filter((each) => !reports.has(each)) : reached).filter((each) => {
    const known = options.since && findKnown(options.since, each, fingerprints.get(each))
    if (known !== undefined) reports.set(each, known)
    return known === undefined
  })
  const study: Study = { runner, options, baselines, limit: limitOf(baselines, options) }
  const parallelism = await findJobs(study, tried.length)
  const judged = await judgeAll(tried, parallelism.jobs, study)
  const spoilt = await runControl(judged, study)
  for (const [alternative, report] of judged) {
    const isUnsure = spoilt !== undefined && report.verdict === 'depends'
    reports.set(alternative, isUnsure ? { ...describe(alternative, 'inconclusive'), reason: spoilt } : report)
  }
  const alternatives = choices.alternatives.map((alternative) => {
    const report = reports.get(alternative) ?? describe(alternative, 'not reached')
    return complete(report, fingerprints.get(alternative), options.accepts(alternative))
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
    trials: tried.length > 1 ? wordParallelism(parallelism) : undefined,
    windows: windowsMet(first),
    cutBy: spoilt ?? alternatives.find(({ reason }) => reason !== undefined && reason === runner.over)?.reason,
  }
}

interface Study {
  runner: TrialRunner
  options: VaryOptions
  baselines: Baselines
  /** The time limit of a trial, in milliseconds. */
  limit: number
}

function limitOf({ runs }: Baselines, { timeout }: VaryOptions): number {
  const longest = Math.max(...runs.map(({ end }) => end.seconds))
  return timeout ?? Math.max(PATIENCE.least, 1000 * PATIENCE.factor * longest)
}

/** Finds out how many of these trials can run at the same time. */
async function findJobs({ runner, options, baselines, limit }: Study, trials: number): Promise<Parallelism> {
  const { jobs, server, choices, onProgress } = options
  const usual = withEffects(baselines.first)
  const oneByOne = (why: string) => ({ jobs: 1, why: `because ${why}` })
  if (jobs !== undefined) return { jobs, why: 'as --jobs says' }
  if ((server.port ?? 0) !== 0) return oneByOne('all have the port of --port')
  if (trials < 2) return oneByOne('there is only one')
  if (baselines.runs.some((run) => describeDeviation(usual, withEffects(run)) !== undefined)) {
    return oneByOne('two runs one after the other have different effects already')
  }
  onProgress?.('running the command several times at the same time as it is')
  let count = baselines.runs.length
  return findParallelism(
    async () => {
      const result = await runner.run(`baseline ${++count}`, choices.contract, limit)
      return describeDeviation(usual, 'untried' in result ? undefined : withEffects(result))
    },
    Math.min(availableParallelism(), trials),
  )
}

function withEffects({ end, accounts, exchanges }: TrialResult) {
  return { end, effects: effectsOf(accounts.values(), exchanges) }
}

type JudgedAlternatives = ReadonlyMap<Alternative, AlternativeReport>

async function judgeAll(tried: readonly Alternative[], jobs: number, study: Study): Promise<JudgedAlternatives> {
  const { runner, options, baselines, limit } = study
  const { choices, server, repeats, bail, redact, onProgress } = options
  const { first, runs, isInOrder } = baselines
  const usual = usualExchanges(runs.map(({ exchanges }) => exchanges))
  const comparison = { server, own: choices.contract, usual, redact }
  const judge = new DependencyJudge({
    ...{ runner, choices, redact, repeats, limit },
    isCertain: isInOrder,
    failsAnyway: runs.some(({ end }) => !hasPassed(end)),
    isAsUsual: (result) => compareRuns(first, result) === undefined,
    findDifference: (result) => findFirstDifference(comparison, recordingOf(result)),
  })
  let decided = 0
  let isOver = false
  // Limits the work in progress, so that an alternative is decided before another one begins.
  const room = new Semaphore(jobs)
  async function judgeOne(alternative: Alternative): Promise<AlternativeReport> {
    if (isOver) return { ...describe(alternative, 'inconclusive'), reason: BAILED }
    const report = await judge.judge(alternative)
    onProgress?.(`decided ${++decided} of ${tried.length}: ${nameOf(alternative)} ${report.verdict}`)
    if (bail && report.verdict === 'depends' && !options.accepts(alternative)) isOver = true
    return report
  }
  const judged = tried.map(async (each) => [each, await room.run(() => judgeOne(each))] as const)
  return new Map(await Promise.all(judged))
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
  return `The command fails, but by now also without an alternative. ${describeFailure(control.end, options.redact)}`
}

const BAILED = 'It was not tried, because of --bail.'
const CUT = 'The command sends more requests than are recorded, so every alternative counts as reached.'
const OTHER_ORDER =
  'The command sends its requests to an account in another order each time. An alternative that none of the two recorded orders reaches is not tried.'

function notesOn(
  { difference, isInOrder, runs }: Baselines,
  { unanswerable }: Counterfactual,
  repeats: number,
): string[] {
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

/** Completes a report, which may come from an earlier run, with the facts that do not come from trials. */
function complete(report: AlternativeReport, fingerprint: string | undefined, isAccepted: boolean): AlternativeReport {
  const { accepted: _, fingerprint: __, ...rest } = report
  return {
    ...rest,
    ...(report.verdict === 'depends' && isAccepted && { accepted: true }),
    ...(fingerprint !== undefined && { fingerprint }),
  }
}

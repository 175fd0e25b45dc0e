import { type Alternative, type Choices, nameOf } from '../../contract/choices.ts'
import { Semaphore } from '../../ground/semaphore.ts'
import { Secrets } from '../../journal/secrets.ts'
import type { TrialResult } from '../trial.ts'
import { compareBaselines, sendTheSame } from './baselines.ts'
import { bundle } from './bundles.ts'
import { type Counterfactual, findReached, type Reach } from './counterfactual.ts'
import type { AlternativeReport, Dependencies } from './dependencies.ts'
import { findKnown } from './dependencies-file.ts'
import { describeFailure } from './failure.ts'
import { fingerprintOf } from './fingerprint.ts'
import { describe, Judge, round } from './judge.ts'
import { recordingOf } from './recording.ts'
import { hasPassed, TrialRunner, type TrialRunnerOptions } from './trial-runner.ts'

export interface VaryOptions extends TrialRunnerOptions {
  choices: Choices
  /** How often each trial is run where the command is unsteady. */
  repeats: number
  /** How long the command may run, in milliseconds; by default, a multiple of what it takes by itself. */
  timeout?: number | undefined
  /** Whether to stop at the first dependency that is not accepted. */
  bail: boolean
  /** Whether one trial may try several alternatives. */
  bundles: boolean
  /** Whether each alternative is tried, alone, also where it cannot have changed anything. */
  exhaustive: boolean
  accepts(alternative: Pick<Alternative, 'id' | 'number'>): boolean
  /** What an earlier run has found out. */
  since?: Dependencies | undefined
  /** Says what is being done. */
  onProgress?(text: string): void
}

export interface VaryResult {
  dependencies: Dependencies
  /** What a reader has to know beside: sentences. */
  notes: readonly string[]
  /** How long all trials took together, in seconds. */
  trialSeconds: number
}

/** A command with which nothing can be found out. The message is one sentence. */
export class BaselineError extends Error {
  override name = 'BaselineError'
}

/** The command gets so many times what it takes by itself, and at least so much, in milliseconds. */
export const PATIENCE = { factor: 10, least: 10_000 }

/**
 * Finds out which alternatives a command depends on.
 * @throws BaselineError where the command fails by itself; CommandError where it cannot start; what a start of the server
 *   throws; the reason of the signal
 */
export async function vary(options: VaryOptions): Promise<VaryResult> {
  const { choices, server, command, bundles, exhaustive, jobs, signal, onProgress } = options
  const runner = new TrialRunner(options)
  const secrets = new Secrets([server.apiKey, server.adminToken].filter((secret) => secret !== undefined))
  const baseline = await runBaselines(runner, options, secrets)
  const { first, second, isSteady, isInOrder } = baseline
  // Requests in another order find other states.
  const recordings = isInOrder ? [recordingOf(first)] : [recordingOf(first), recordingOf(second)]
  const found = await findReached({
    server,
    choices,
    recordings,
    onProgress: (done, all) => onProgress?.(`looking at alternative ${done + 1} of ${all}`),
    signal,
  })
  const fingerprints = new Map(found.reached.map((reach) => [reach.alternative, fingerprintOf(reach, recordings[0])]))
  const reports = new Map<Alternative, AlternativeReport>()
  for (const { alternative, reason } of found.unfit) {
    reports.set(alternative, { ...describe(alternative, 'inconclusive'), reason })
  }
  const tried = (exhaustive ? addUnreached(choices, found) : found.reached).filter(({ alternative }) => {
    const known = options.since && findKnown(options.since, alternative, fingerprints.get(alternative))
    if (known !== undefined) reports.set(alternative, known)
    return known === undefined
  })
  const judge = new Judge({
    runner,
    choices,
    server,
    secrets,
    repeats: isSteady ? 2 : options.repeats,
    isSteady,
    limit: baseline.limit,
    isAsUsual: (result) => (isInOrder ? sendTheSame(first, result) : compareBaselines(first, result) === undefined),
    onVerdict: (report) => noteVerdict(report),
  })
  let decided = 0
  function noteVerdict({ id, alternative: number, verdict }: AlternativeReport): void {
    onProgress?.(`decided ${++decided} of ${tried.length}: ${nameOf({ id, number })} ${verdict}`)
    if (verdict === 'depends' && options.bail && !options.accepts({ id, number })) runner.stop(BAILED)
  }
  const canBundle = bundles && !exhaustive && isSteady && found.unanswerable === 0
  const groups = canBundle ? bundle(tried) : tried.map((reach) => [reach])
  // One after the other, as far as there is room: what was begun is brought to its end before something else begins.
  const room = new Semaphore(jobs)
  await Promise.all(
    groups.map(async (members) => {
      const alternatives = members.map(({ alternative }) => alternative)
      const judged = await room.run(() => judge.judge(alternatives))
      for (const [index, alternative] of alternatives.entries()) {
        const report = judged[index]
        if (report !== undefined) reports.set(alternative, report)
      }
    }),
  )
  signal?.throwIfAborted()
  return {
    dependencies: {
      command,
      baseline: {
        exit_code: first.end.exitCode ?? 1,
        seconds: round(first.end.seconds),
        requests: first.exchanges.length + first.lost,
        steady: isSteady,
      },
      runs: runner.runs,
      alternatives: choices.alternatives.map((alternative) => {
        const report = reports.get(alternative) ?? describe(alternative, 'not reached')
        return complete(report, fingerprints.get(alternative), options.accepts(alternative))
      }),
    },
    notes: [
      ...baseline.notes,
      ...(found.unanswerable > 0 ? [describeUnanswerable(found.unanswerable)] : []),
      ...(recordings.some(({ isCut }) => isCut) ? [CUT] : []),
    ],
    trialSeconds: runner.seconds,
  }
}

/** How the command runs by itself. */
interface Baseline {
  /** A run that has passed. */
  first: TrialResult
  second: TrialResult
  /** Whether both had the same result and sent the same requests, in whatever order. */
  isSteady: boolean
  /** Whether both sent them in the same order. */
  isInOrder: boolean
  /** How long a trial may take, in milliseconds. */
  limit: number
  notes: readonly string[]
}

/** Runs the command twice as it is. @throws BaselineError */
async function runBaselines(
  runner: TrialRunner,
  { choices, timeout, repeats, onProgress }: VaryOptions,
  secrets: Secrets,
): Promise<Baseline> {
  const results: TrialResult[] = []
  for (const name of ['baseline 1', 'baseline 2']) {
    onProgress?.(`running ${name} of 2`)
    const result = await runner.run(name, async () => choices.contract, timeout)
    if ('untried' in result) throw new BaselineError(`The command has not run twice: ${result.untried}`)
    results.push(result)
  }
  const [one, other] = results as [TrialResult, TrialResult]
  const [first, second] = hasPassed(one.end) ? [one, other] : [other, one]
  if (!hasPassed(first.end)) throw new BaselineError(describeFailure(first.end, secrets))
  if (first.exchanges.length === 0 && second.exchanges.length === 0) throw new BaselineError(NO_REQUEST)
  const difference = compareBaselines(one, other)
  return {
    first,
    second,
    isSteady: difference === undefined,
    isInOrder: difference === undefined && sendTheSame(one, other),
    limit: timeout ?? Math.max(PATIENCE.least, 1000 * PATIENCE.factor * Math.max(one.end.seconds, other.end.seconds)),
    notes:
      difference === undefined
        ? []
        : [`${difference} Therefore each alternative is judged by ${repeats} runs (--repeats).`],
  }
}

const NO_REQUEST =
  'The command passes, but has sent no request to the service: does it use UNDERSTUDY_BASE_URL, or a variable that --set-env sets?'
const BAILED = 'It was not tried, because of --bail.'
const CUT = 'The command sends more requests than are recorded, so every alternative counts as reached.'

/** All alternatives that can be tried, also those that have not been reached. */
function addUnreached({ alternatives }: Choices, { reached, unfit }: Counterfactual): Reach[] {
  const known = new Map(reached.map((reach) => [reach.alternative, reach]))
  const isUnfit = new Set(unfit.map(({ alternative }) => alternative))
  return alternatives
    .filter((alternative) => !isUnfit.has(alternative))
    .map((alternative) => known.get(alternative) ?? { alternative, changes: [], changesCreation: false })
}

function describeUnanswerable(count: number): string {
  const [requests, which] = count === 1 ? ['One request', 'it'] : [`${count} requests`, 'them']
  return `${requests} could not be answered again as recorded. Any alternative may have changed ${which}, so all are tried.`
}

/** A report with what does not come from trials, which may be of an earlier run. */
function complete(report: AlternativeReport, fingerprint: string | undefined, isAccepted: boolean): AlternativeReport {
  const { accepted: _, fingerprint: __, ...rest } = report
  return {
    ...rest,
    ...(report.verdict === 'depends' && isAccepted && { accepted: true }),
    ...(fingerprint !== undefined && { fingerprint }),
  }
}

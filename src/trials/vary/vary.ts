import { type Alternative, type Choices, nameOf } from '../../contract/choices.ts'
import { type AlternativeReport, type Dependencies, findKnown } from '../../evidence/dependencies.ts'
import { Semaphore } from '../../ground/semaphore.ts'
import { Secrets } from '../../journal/redaction/secrets.ts'
import type { TrialResult } from '../trial.ts'
import { compareBaselines, sendTheSame } from './baselines.ts'
import { bundle } from './bundles.ts'
import { type Counterfactual, findReached, fingerprintOf, type Reach } from './counterfactual.ts'
import { describeFailure } from './failure.ts'
import { DependencyJudge, describe, round } from './judge.ts'
import { recordingOf } from './recording.ts'
import { hasPassed, TrialRunner, type TrialRunnerOptions } from './trial-runner.ts'

export interface VaryOptions extends TrialRunnerOptions {
  choices: Choices
  /** How often each trial runs if the command is unsteady. */
  repeats: number
  /** The time limit of the command in milliseconds; by default a multiple of its duration without alternatives. */
  timeout?: number | undefined
  /** Whether to stop at the first dependency that is not accepted. */
  bail: boolean
  /** Whether one trial may try several alternatives. */
  bundles: boolean
  /** Whether each alternative is tried alone, even if it cannot have changed anything. */
  exhaustive: boolean
  accepts(alternative: Pick<Alternative, 'id' | 'number'>): boolean
  /** The result of an earlier run. */
  since?: Dependencies | undefined
  /** Called with the current step. */
  onProgress?(text: string): void
}

export interface VaryResult {
  dependencies: Dependencies
  /** Additional information for the reader, in sentences. */
  notes: readonly string[]
  /** The total duration of all trials, in seconds. */
  trialSeconds: number
}

/** A command that cannot be examined. The message is one sentence. */
export class BaselineError extends Error {
  override name = 'BaselineError'
}

/** The time limit of the command as a multiple of its usual duration, and the least limit in milliseconds. */
export const PATIENCE = { factor: 10, least: 10_000 }

/**
 * Finds the alternatives on which a command depends.
 * @throws BaselineError if the command fails without alternatives; CommandError if it cannot start; the errors of a
 * server start; the reason of the signal
 */
export async function vary(options: VaryOptions): Promise<VaryResult> {
  const { choices, server, command, exhaustive, signal, onProgress } = options
  const runner = new TrialRunner(options)
  const secrets = new Secrets([server.apiKey, server.adminToken].filter((secret) => secret !== undefined))
  const baseline = await runBaselines(runner, options, secrets)
  const { first, second, isSteady, isInOrder } = baseline
  // Requests in a different order find different states.
  const recordings = isInOrder ? [recordingOf(first)] : [recordingOf(first), recordingOf(second)]
  const found = await findReached({
    ...{ server, choices, recordings, signal },
    onProgress: (done, all) => onProgress?.(`looking at alternative ${done + 1} of ${all}`),
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
  const canBundle = options.bundles && !exhaustive && isSteady && found.unanswerable === 0
  const groups = canBundle ? bundle(tried) : tried.map((reach) => [reach])
  await judgeAll(groups, { runner, options, secrets, baseline, reports })
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

interface Study {
  runner: TrialRunner
  options: VaryOptions
  secrets: Secrets
  baseline: Awaited<ReturnType<typeof runBaselines>>
  reports: Map<Alternative, AlternativeReport>
}

/** Judges groups of alternatives by trials, and adds their reports. */
async function judgeAll(
  groups: readonly (readonly Reach[])[],
  { runner, options, secrets, baseline, reports }: Study,
): Promise<void> {
  const { choices, server, jobs, bail, signal, onProgress } = options
  const { first, isSteady, isInOrder, limit } = baseline
  let decided = 0
  const judge = new DependencyJudge({
    ...{ runner, choices, server, secrets, isSteady, limit },
    repeats: isSteady ? 2 : options.repeats,
    isAsUsual: (result) => (isInOrder ? sendTheSame(first, result) : compareBaselines(first, result) === undefined),
    onVerdict({ id, alternative: number, verdict }) {
      onProgress?.(`decided ${++decided} of ${groups.flat().length}: ${nameOf({ id, number })} ${verdict}`)
      if (verdict === 'depends' && bail && !options.accepts({ id, number })) runner.stop(BAILED)
    },
  })
  // Limits the work in progress, so that a group is finished before another one begins.
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
}

/** Runs the command twice without alternatives. @throws BaselineError */
async function runBaselines(
  runner: TrialRunner,
  { choices, timeout, repeats, onProgress }: VaryOptions,
  secrets: Secrets,
) {
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
  const isSteady = difference === undefined
  const longest = Math.max(one.end.seconds, other.end.seconds)
  return {
    /** A run that has passed. */
    first,
    second,
    /** Whether both had the same result and sent the same requests in any order. */
    isSteady,
    isInOrder: isSteady && sendTheSame(one, other),
    /** The time limit of a trial, in milliseconds. */
    limit: timeout ?? Math.max(PATIENCE.least, 1000 * PATIENCE.factor * longest),
    notes: isSteady ? [] : [`${difference} Therefore each alternative is judged by ${repeats} runs (--repeats).`],
  }
}

const NO_REQUEST =
  'The command passes, but has sent no request to the service: does it use UNDERSTUDY_BASE_URL, or a variable that --set-env sets?'
const BAILED = 'It was not tried, because of --bail.'
const CUT = 'The command sends more requests than are recorded, so every alternative counts as reached.'

/** All alternatives that can be tried, even if the run did not reach them. */
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

/** Completes a report, which may come from an earlier run, with the facts that do not come from trials. */
function complete(report: AlternativeReport, fingerprint: string | undefined, isAccepted: boolean): AlternativeReport {
  const { accepted: _, fingerprint: __, ...rest } = report
  return {
    ...rest,
    ...(report.verdict === 'depends' && isAccepted && { accepted: true }),
    ...(fingerprint !== undefined && { fingerprint }),
  }
}

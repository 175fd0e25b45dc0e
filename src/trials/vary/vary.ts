import type { Contract } from '../../contract/contract.ts'
import { elapsed, systemClock } from '../../ground/clock.ts'
import { Semaphore } from '../../ground/semaphore.ts'
import { Secrets } from '../../journal/secrets.ts'
import type { ServerOptions } from '../../start/options.ts'
import type { CommandEnd, CommandRun } from '../command.ts'
import type { Variable } from '../environment.ts'
import { Pool } from '../pool.ts'
import { runTrial, type TrialResult } from '../trial.ts'
import { type Alternative, type Choices, nameOf } from './alternatives.ts'
import { compareBaselines, sendTheSame } from './baselines.ts'
import { bundle } from './bundles.ts'
import { type Counterfactual, findReached, type Reach } from './counterfactual.ts'
import type { AlternativeReport, Dependencies, VaryVerdict } from './dependencies.ts'
import { findKnown } from './dependencies-file.ts'
import { describeEnd, describeFailure } from './failure.ts'
import { fingerprintOf } from './fingerprint.ts'
import { findFirstDifference } from './first-difference.ts'
import { type Recording, recordingOf } from './recording.ts'

export interface VaryOptions {
  command: readonly string[]
  environment: NodeJS.ProcessEnv
  variables: readonly Variable[]
  server: ServerOptions
  choices: Choices
  /** How many trials may run at the same time. */
  jobs: number
  /** How often each trial is run where the command is unsteady. */
  repeats: number
  /** How long the command may run, in milliseconds; by default, a multiple of what it takes by itself. */
  timeout?: number | undefined
  /** How long everything may take, in milliseconds. */
  maxTime?: number | undefined
  /** Whether to stop at the first dependency that is not accepted. */
  bail: boolean
  /** Whether one trial may try several alternatives. */
  bundles: boolean
  /** Whether each alternative is tried, alone, also where it cannot have changed anything. */
  exhaustive: boolean
  accepts(alternative: Alternative): boolean
  /** What an earlier run has found out. */
  since?: Dependencies | undefined
  signal?: AbortSignal | undefined
  /** See `CommandRun`. */
  onSignal?: CommandRun['onSignal']
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
/** A trial that took too long is repeated with so many times the limit. */
export const MORE_PATIENCE = 3

/**
 * Finds out which alternatives a command depends on.
 * @throws BaselineError where the command fails by itself; CommandError where it cannot start; ContractError and
 *   FixtureError where the server cannot; the reason of the signal
 */
export async function vary(options: VaryOptions): Promise<VaryResult> {
  const run = new VaryRun(options)
  return run.go()
}

/** Why a trial was not run. */
type Untried = { untried: string }

class VaryRun {
  readonly #options: VaryOptions
  readonly #pool: Pool
  readonly #signal: AbortSignal
  readonly #secrets: Secrets
  /** What the clocks of all trials show at their start. */
  readonly #instant = systemClock()
  readonly #began = elapsed()
  #runs = 0
  #trialMilliseconds = 0
  #isOver = false
  #limit: number | undefined
  #decided = 0

  constructor(options: VaryOptions) {
    this.#options = options
    this.#signal = options.signal ?? new AbortController().signal
    this.#pool = new Pool(options.jobs, this.#signal)
    const { apiKey, adminToken } = options.server
    this.#secrets = new Secrets([apiKey, adminToken].filter((secret) => secret !== undefined))
  }

  async go(): Promise<VaryResult> {
    const { choices, command, onProgress, since } = this.#options
    const baselines = await this.#runBaselines()
    const { first, second, isSteady, notes } = baselines
    const [recording, ...others] = [first, ...(isSteady && sendTheSame(first, second) ? [] : [second])].map(recordingOf)
    const recordings = recording === undefined ? [] : [recording, ...others]
    if (first.exchanges.length === 0 && second.exchanges.length === 0) throw new BaselineError(NO_REQUEST)
    const found = await findReached({
      server: this.#options.server,
      choices,
      recordings,
      onProgress: (done, all) => onProgress?.(`looking at alternative ${done + 1} of ${all}`),
      signal: this.#signal,
    })
    const reports = new Map<Alternative, AlternativeReport>()
    for (const { alternative, reason } of found.unfit) {
      reports.set(alternative, { ...describe(alternative, 'inconclusive'), reason })
    }
    const fingerprints = new Map(found.reached.map((reach) => [reach.alternative, fingerprintOf(reach, recording)]))
    const tried = this.#options.exhaustive ? addUnreached(choices, found) : found.reached
    const open = tried.filter(({ alternative }) => {
      const known = since && findKnown(since, alternative, fingerprints.get(alternative))
      if (known !== undefined) reports.set(alternative, known)
      return known === undefined
    })
    const canBundle = this.#options.bundles && !this.#options.exhaustive && isSteady && found.unanswerable === 0
    const bundles = canBundle ? bundle(open) : open.map((reach) => [reach])
    // One after the other, as far as there is room: what was begun is brought to its end before something else begins.
    const room = new Semaphore(this.#options.jobs)
    const judged = await Promise.all(
      bundles.map((members) => room.run(() => this.#judge(members, first, isSteady, open.length))),
    )
    this.#signal.throwIfAborted()
    for (const report of judged.flat()) {
      const alternative = choices.alternatives.find((each) => nameOf(each) === `${report.id}/${report.alternative}`)
      if (alternative !== undefined) reports.set(alternative, report)
    }
    const alternatives = choices.alternatives.map((alternative): AlternativeReport => {
      const report = reports.get(alternative) ?? describe(alternative, 'not reached')
      const fingerprint = fingerprints.get(alternative)
      const { accepted: _, ...rest } = report
      return {
        ...rest,
        ...(report.verdict === 'depends' && this.#options.accepts(alternative) && { accepted: true }),
        ...(fingerprint !== undefined && { fingerprint }),
      }
    })
    if (found.unanswerable > 0) notes.push(describeUnanswerable(found.unanswerable))
    if (recordings.some(({ isCut }) => isCut)) notes.push(CUT)
    const { end } = first
    const baseline = {
      exit_code: end.exitCode ?? 1,
      seconds: round(end.seconds),
      requests: first.exchanges.length + first.lost,
      steady: isSteady,
    }
    return {
      dependencies: { command, baseline, runs: this.#runs, alternatives },
      notes,
      trialSeconds: this.#trialMilliseconds / 1000,
    }
  }

  /** Runs the command twice as it is. @throws BaselineError */
  async #runBaselines() {
    const { choices, onProgress } = this.#options
    const ends: TrialResult[] = []
    for (const name of ['baseline 1', 'baseline 2']) {
      onProgress?.(`running ${name} of 2`)
      const result = await this.#try(name, choices.contract, this.#options.timeout)
      if ('untried' in result)
        throw new BaselineError(`The time of --max-time was over before the command had run twice.`)
      ends.push(result)
      // Without one run that passes, there is nothing to compare with.
      if (!passed(result.end) && ends.every(({ end }) => !passed(end)) && (ends.length === 2 || result.end.timedOut)) {
        throw new BaselineError(describeFailure(result.end, this.#secrets))
      }
    }
    const [one, other] = ends as [TrialResult, TrialResult]
    const [first, second] = passed(one.end) ? [one, other] : [other, one]
    const longest = 1000 * Math.max(first.end.seconds, second.end.seconds)
    this.#limit = this.#options.timeout ?? Math.max(PATIENCE.least, PATIENCE.factor * longest)
    const difference = compareBaselines(one, other)
    const notes =
      difference === undefined
        ? []
        : [`${difference} Therefore each alternative is judged by ${this.#options.repeats} runs (--repeats).`]
    return { first, second, isSteady: difference === undefined, notes }
  }

  /** Judges alternatives together as far as possible. */
  async #judge(members: Reach[], baseline: TrialResult, isSteady: boolean, all: number): Promise<AlternativeReport[]> {
    const { choices, onProgress } = this.#options
    const alternatives = members.map(({ alternative }) => alternative)
    const [alone, ...others] = alternatives
    if (alone === undefined) return []
    if (others.length === 0) {
      const report = await this.#judgeAlone(alone, isSteady)
      onProgress?.(`decided ${++this.#decided} of ${all}: ${nameOf(alone)} ${report.verdict}`)
      return [report]
    }
    const result = await this.#try(alternatives.map(nameOf).join(' '), () => choices.load(alternatives), this.#limit)
    if ('untried' in result) return alternatives.map((each) => inconclusive(each, result.untried))
    if (passed(result.end) && sendTheSame(baseline, result)) {
      this.#decided += members.length
      onProgress?.(`decided ${this.#decided} of ${all}`)
      const seconds = round(result.end.seconds)
      return alternatives.map((alternative) => ({ ...describe(alternative, 'tolerates'), seconds }))
    }
    const middle = members.length >> 1
    const halves = [members.slice(0, middle), members.slice(middle)]
    return (await Promise.all(halves.map((half) => this.#judge(half, baseline, isSteady, all)))).flat()
  }

  async #judgeAlone(alternative: Alternative, isSteady: boolean): Promise<AlternativeReport> {
    const needed = isSteady ? 2 : this.#options.repeats
    const results: TrialResult[] = []
    while (results.length < needed) {
      const result = await this.#tryPatiently(alternative)
      if ('untried' in result) return inconclusive(alternative, result.untried)
      results.push(result)
      // A steady command that passes once passes always; only a failure must be seen again.
      if (isSteady && passed(result.end)) break
    }
    const failures = results.filter(({ end }) => !passed(end))
    const [failure] = failures
    const seconds = round(results[0]?.end.seconds ?? 0)
    if (failure === undefined) return { ...describe(alternative, 'tolerates'), seconds }
    const verdict = failures.length === results.length ? 'depends' : 'flaky'
    if (verdict === 'depends' && this.#options.bail && !this.#options.accepts(alternative)) this.#isOver = true
    return { ...describe(alternative, verdict), ...(await this.#describeTrial(failure)), seconds }
  }

  /** Runs a trial, and once more with a longer limit where it took too long. */
  async #tryPatiently(alternative: Alternative): Promise<TrialResult | Untried> {
    const load = () => this.#options.choices.load([alternative])
    const result = await this.#try(nameOf(alternative), load, this.#limit)
    if ('untried' in result || !result.end.timedOut || this.#limit === undefined) return result
    return this.#try(nameOf(alternative), load, MORE_PATIENCE * this.#limit)
  }

  /** Runs the command once, under a contract. */
  #try(
    name: string,
    contract: Contract | (() => Promise<Contract>),
    limit: number | undefined,
  ): Promise<TrialResult | Untried> {
    const { command, environment, variables, server, onSignal } = this.#options
    return this.#pool.run(async (signal) => {
      if (this.#isOver) return { untried: 'It was not tried, because of --bail.' }
      if (this.#left <= 0) return { untried: OUT_OF_TIME }
      let loaded: Contract
      try {
        loaded = typeof contract === 'function' ? await contract() : contract
      } catch (error) {
        if ((error as Error).name !== 'ContractError') throw error
        return { untried: `It does not fit the other overlays: ${(error as Error).message}` }
      }
      const timeout = Math.min(limit ?? Number.POSITIVE_INFINITY, this.#left)
      this.#runs++
      const began = elapsed()
      try {
        const result = await runTrial({
          name,
          command,
          environment,
          variables,
          options: { ...server, clock: () => this.#instant + Math.floor(elapsed() - began) },
          contract: loaded,
          timeout: Number.isFinite(timeout) ? timeout : undefined,
          inherits: false,
          signal,
          onSignal,
        })
        signal.throwIfAborted()
        const isCut = result.end.timedOut && (limit === undefined || timeout < limit)
        return isCut ? { untried: OUT_OF_TIME } : result
      } catch (error) {
        // The fixture, the plan or the fault rules that were given are none under this alternative.
        if (this.#limit === undefined || !UNFIT.has((error as Error).name)) throw error
        this.#runs--
        return { untried: `It does not fit what is given to the server: ${(error as Error).message}` }
      } finally {
        this.#trialMilliseconds += elapsed() - began
      }
    })
  }

  /** In milliseconds. */
  get #left(): number {
    const { maxTime = Number.POSITIVE_INFINITY } = this.#options
    return maxTime - (elapsed() - this.#began)
  }

  async #describeTrial(result: TrialResult): Promise<Partial<AlternativeReport>> {
    const { server, choices } = this.#options
    const recording: Recording = recordingOf(result)
    const difference = await findFirstDifference(server, choices.contract, recording, this.#secrets)
    return {
      ...(difference !== undefined && { first_difference: difference }),
      ...describeEnd(result.end, this.#secrets),
    }
  }
}

const NO_REQUEST =
  'The command passes, but has sent no request to the service: does it use UNDERSTUDY_BASE_URL, or a variable that --set-env sets?'
const OUT_OF_TIME = 'The time of --max-time was over.'
const CUT = 'The command sends more requests than are recorded, so every alternative counts as reached.'
const UNFIT = new Set(['FixtureError', 'OptionError', 'FaultSetError', 'ContractError'])

/** All alternatives that can be tried, also those that have not been reached. */
function addUnreached({ alternatives }: Choices, { reached, unfit }: Counterfactual): Reach[] {
  return alternatives
    .filter((alternative) => !unfit.some((each) => each.alternative === alternative))
    .map(
      (alternative) =>
        reached.find((reach) => reach.alternative === alternative) ?? {
          alternative,
          changes: [],
          changesCreation: false,
        },
    )
}

function describeUnanswerable(count: number): string {
  const [requests, which] = count === 1 ? ['One request', 'it'] : [`${count} requests`, 'them']
  return `${requests} could not be answered again as recorded. Any alternative may have changed ${which}, so all are tried.`
}

function passed({ exitCode, timedOut }: CommandEnd): boolean {
  return exitCode === 0 && !timedOut
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}

function describe({ id, number, assumption, value }: Alternative, verdict: VaryVerdict): AlternativeReport {
  return { id, alternative: number, verdict, spec: assumption.spec, chosen: assumption.choice, value }
}

function inconclusive(alternative: Alternative, reason: string): AlternativeReport {
  return { ...describe(alternative, 'inconclusive'), reason }
}

import { availableParallelism } from 'node:os'
import { exitCodeOf, wordEnd } from './command.ts'
import { describeDifference, type Effects, haveSameEffects } from './explore/effects.ts'
import type { CommandEnd } from './running-command.ts'

/** A run of the command without any change of the service. */
export interface UnchangedRun {
  end: CommandEnd
  effects: Effects
}

/** How many trials run at the same time. */
export interface Parallelism {
  jobs: number
  /** The number and the reason, for the summary: `2 at a time, because …`. */
  words: string
}

export interface ParallelismTerms {
  /** The number that the user has chosen. */
  chosen: number | undefined
  /** Whether all trials must have the same port. */
  isPortFixed: boolean
  /** The most trials that may run. */
  trials: number
  /** Runs of the command, one after the other. */
  baselines: readonly [UnchangedRun, ...UnchangedRun[]]
  /** Runs the command so many times at the same time. A run is `undefined` if there was no time for it. */
  repeat(count: number): Promise<readonly (UnchangedRun | undefined)[]>
  cores?: number
}

/**
 * Finds out how many trials of a command can run at the same time, because many commands share files or ports. If the
 * user has not chosen, the command runs as often at the same time as there are cores. If each run passes with the same
 * effects as one run alone, trials run so. If not, they run one after the other.
 */
export async function findParallelism(terms: ParallelismTerms): Promise<Parallelism> {
  const { chosen, isPortFixed, trials, baselines, repeat, cores = availableParallelism() } = terms
  if (chosen !== undefined) return { jobs: chosen, words: `${wordJobs(chosen)}, as --jobs says` }
  if (isPortFixed) return oneByOne('all have the port of --port')
  if (cores === 1) return oneByOne('this machine has one core')
  if (trials < 2) return { jobs: 1, words: trials === 1 ? 'one' : 'none' }
  const [{ effects }] = baselines
  if (baselines.some(hasFailed)) return oneByOne('the command does not always pass')
  if (!baselines.every((each) => haveSameEffects(effects, each.effects))) {
    return oneByOne('its effects differ from run to run, so those of runs at the same time cannot be compared')
  }
  const jobs = Math.min(cores, trials)
  for (const run of await repeat(jobs)) {
    if (run === undefined) return oneByOne(`there was no time for ${jobs} runs at the same time`)
    if (hasFailed(run)) return oneByOne(`one of ${jobs} runs at the same time ${wordEnd(run.end)}`)
    if (!haveSameEffects(effects, run.effects)) {
      const [difference = 'in other accounts'] = describeDifference(effects, run.effects)
      return oneByOne(`${jobs} runs at the same time have other effects: ${difference}`)
    }
  }
  return { jobs, words: `${wordJobs(jobs)}, because ${jobs} runs at the same time pass with the effects of one alone` }
}

function hasFailed({ end }: UnchangedRun): boolean {
  return exitCodeOf(end) !== 0
}

function oneByOne(reason: string): Parallelism {
  return { jobs: 1, words: `${wordJobs(1)}, because ${reason}` }
}

function wordJobs(jobs: number): string {
  return jobs === 1 ? 'one after the other' : `${jobs} at a time`
}

import { availableParallelism } from 'node:os'
import { exitCodeOf, wordEnd } from './command.ts'
import { describeDifference, type Effects, haveSameEffects } from './explore/effects.ts'
import type { CommandEnd } from './running-command.ts'

/** How many trials run at the same time. */
export interface Parallelism {
  jobs: number
  /** The reason, as the end of a sentence that begins with the number. */
  why: string
}

/**
 * Finds out how many trials of a command can run at the same time, because many commands share files or ports. `repeat`
 * runs the command once without any change of the service, as often at the same time as there are processors. It
 * resolves to the difference from one run alone, such as `one failed with exit code 1`, or to `undefined`.
 */
export async function findParallelism(
  repeat: () => Promise<string | undefined>,
  most = availableParallelism(),
): Promise<Parallelism> {
  if (most < 2) return { jobs: 1, why: 'because this machine has one processor' }
  const differences = await Promise.all(Array.from({ length: most }, repeat))
  const difference = differences.find((each) => each !== undefined)
  return difference === undefined
    ? { jobs: most, why: `because ${most} runs at the same time do the same as one alone` }
    : { jobs: 1, why: `because of ${most} runs at the same time, ${difference}` }
}

/** A run of the command without any change of the service. */
interface UnchangedRun {
  end: CommandEnd
  effects: Effects
}

/** How a run beside others differs from the usual one, for `findParallelism`. It was not run if there was no time. */
export function describeDeviation(usual: UnchangedRun, run: UnchangedRun | undefined): string | undefined {
  if (run === undefined) return 'one was not run to its end'
  if (exitCodeOf(run.end) !== 0) return `one ${wordEnd(run.end)}`
  if (haveSameEffects(usual.effects, run.effects)) return undefined
  const [difference = 'in other accounts'] = describeDifference(usual.effects, run.effects)
  return `one had other effects: ${difference}`
}

export function wordParallelism({ jobs, why }: Parallelism): string {
  return `${jobs === 1 ? 'one after the other' : `${jobs} at a time`}, ${why}`
}

import type { FaultRule } from '../../domain/faults.ts'
import { describeDifference } from './effects.ts'
import { type PlannedFault, weightOf } from './faults.ts'
import type { RunObservation } from './observation.ts'
import { findStorm } from './storm.ts'
import type { FaultlessRun, RunVerdict } from './verdict.ts'

/** The mildest of the single faults at the earliest request. All have the same family and operation. */
export function mildest<Single extends { faults: readonly PlannedFault[] }>(tried: readonly Single[]): Single {
  const [smallest] = tried.toSorted((one, other) => {
    const [a, b] = [one.faults[0], other.faults[0]]
    if (a === undefined || b === undefined) return 0
    return a.point.index - b.point.index || weightOf(a) - weightOf(b)
  })
  if (smallest === undefined) throw new Error('A weakness has at least one plan.')
  return smallest
}

/** The operation of the last rule of a plan. */
export function operationOf(plan: readonly FaultRule[]): string {
  const { operation, path } = plan.at(-1)?.match ?? {}
  return operation ?? path ?? 'any'
}

/** The reasons for the verdict of a run, in sentences. */
export function reasonsFor(verdict: RunVerdict, run: RunObservation, { observation }: FaultlessRun): string[] {
  switch (verdict) {
    case 'hang':
      // The duration is left out, so that two explorations give the same text.
      return ['It did not end, although it had more time when it was repeated.']
    case 'crash':
      return [
        `It ended ${run.end.signal === undefined ? 'with an exception that was not caught' : `by ${run.end.signal}`}.`,
      ]
    case 'storm':
      return [findStorm(run.requests) ?? 'It sent a storm of requests.']
    case 'wrong success':
      return ['It said that all is well.', ...describeDifference(observation.effects, run.effects)]
    case 'false failure':
      return [`It ended with ${run.end.exitCode}, and everything was done.`]
    case 'gave up':
      return [`It ended with ${run.end.exitCode}.`]
    case 'tolerated':
      return []
  }
}

import type { CommandEnd } from '../running-command.ts'
import { describeDifference, haveSameEffects } from './effects.ts'
import type { RunObservation } from './observation.ts'
import { findStorm } from './storm.ts'

/** The verdict about a run with a fault. */
export type RunVerdict = 'tolerated' | 'gave up' | ExploreFailure
/** From the worst to the mildest. */
const FAILURES = ['wrong success', 'false failure', 'hang', 'crash', 'storm'] as const
export type ExploreFailure = (typeof FAILURES)[number]

export function isFailure(verdict: RunVerdict): verdict is ExploreFailure {
  return FAILURES.some((failure) => failure === verdict)
}

/** The result of the run without a fault. */
export interface FaultlessRun {
  observation: RunObservation
  /** Whether another run without a fault had the same effects. If not, only exit codes are judged. */
  isStable: boolean
  /** Whether the run changed something. */
  changes: boolean
  /** Whether the run itself is a storm. If so, a storm says nothing about a fault. */
  storms: boolean
}

export function judge(run: RunObservation, { observation, isStable, changes, storms }: FaultlessRun): RunVerdict {
  const { end } = run
  if (end.timedOut) return 'hang'
  if (isCrash(end)) return 'crash'
  if (!storms && findStorm(run.requests) !== undefined) return 'storm'
  const hasSucceeded = end.exitCode === 0
  if (!isStable) return hasSucceeded ? 'tolerated' : 'gave up'
  const isDone = haveSameEffects(run.effects, observation.effects)
  if (hasSucceeded) return isDone ? 'tolerated' : 'wrong success'
  return isDone && changes ? 'false failure' : 'gave up'
}

/** A shell reports a signal that ended a command as 128 plus the number of the signal. */
const OF_SIGNALS = 128

export function isCrash({ exitCode, signal, output }: Pick<CommandEnd, 'exitCode' | 'signal' | 'output'>): boolean {
  if (signal !== undefined) return true
  if (exitCode === undefined || exitCode === 0) return false
  if (exitCode > OF_SIGNALS && exitCode <= OF_SIGNALS + 64) return true
  return TRACES.some((trace) => trace.test(output)) && !SUMMARY.test(output)
}

/** The output of runtimes for an uncaught exception. */
const TRACES: readonly RegExp[] = [
  // Node.js writes its version last.
  /^Node\.js v\d+\.\d+\.\d+\s*$/m,
  // Python.
  /^Traceback \(most recent call last\):\n(?:[ \t].*\n)+(?:\w+\.)*\w+(?::|\s*$)/m,
  // Go.
  /^panic: [\s\S]*^goroutine \d+ \[.+\]:$/m,
  // Java and Kotlin.
  /^Exception in thread "[^"]*" [\w.$]+(?:: .*)?\n\s+at /m,
  // .NET.
  /^Unhandled exception\. [\w.]+(?:: .*)?\n/m,
  // Rust.
  /^thread '[^']*'.* panicked at /m,
  // Ruby.
  /^\S+\.rb:\d+:in .+\((?:\w+::)*\w+\)$/m,
  // PHP.
  /^PHP Fatal error: {2}Uncaught /m,
  // Deno.
  /^error: Uncaught /m,
]
/** A test runner continues after the stack of a failed test, and writes a summary. */
const SUMMARY = /^Ran \d+ tests? in |^=+ .*\b(?:failed|passed|errors?)\b.* =+$/m

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

import type { CommandEnd } from '../command.ts'
import { haveSameEffects } from './effects.ts'
import type { Observation } from './observation.ts'
import { findStorm } from './storm.ts'

/** What became of a run with a fault. */
export type Verdict = 'tolerated' | 'gave up' | Failure
/** From the worst to the mildest. */
const FAILURES = ['wrong success', 'false failure', 'hang', 'crash', 'storm'] as const
export type Failure = (typeof FAILURES)[number]

export function isFailure(verdict: Verdict): verdict is Failure {
  return FAILURES.some((failure) => failure === verdict)
}

/** What a run without a fault did. */
export interface Baseline {
  observation: Observation
  /** Whether another run without a fault had the same effects; if not, only exit codes are judged. */
  isStable: boolean
  /** Whether it had changed something. */
  changes: boolean
  /** Whether it is a storm itself, so that a storm shows nothing of a fault. */
  storms: boolean
}

export function judge(run: Observation, { observation, isStable, changes, storms }: Baseline): Verdict {
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

/** A signal ended the command, as a shell tells it, too: 128 and the number of the signal. */
const OF_SIGNALS = 128

export function isCrash({ exitCode, signal, output }: Pick<CommandEnd, 'exitCode' | 'signal' | 'output'>): boolean {
  if (signal !== undefined) return true
  if (exitCode === undefined || exitCode === 0) return false
  if (exitCode > OF_SIGNALS && exitCode <= OF_SIGNALS + 64) return true
  return TRACES.some((trace) => trace.test(output)) && !SUMMARY.test(output)
}

/** What runtimes write about an exception that nobody has caught. */
const TRACES: readonly RegExp[] = [
  // Node.js writes its version at the end.
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
/** A runner of tests goes on after the stack of a test that failed, and sums up. */
const SUMMARY = /^Ran \d+ tests? in |^=+ .*\b(?:failed|passed|errors?)\b.* =+$/m

import { stripVTControlCharacters } from 'node:util'
import type { Operation } from '../../contract/api.ts'
import { FOREIGN_CHANGES } from '../../faults/foreign-change.ts'
import { readJson, valueAt } from '../../ground/json.ts'
import { type Entry, PAST, textOf } from '../../journal/entry.ts'
import type { CommandEnd } from '../command.ts'
import { describeDifference, type Effects, haveSameEffects } from '../effects.ts'
import type { Effect } from './faults.ts'
import type { ObservedRequest, RunObservation } from './points.ts'
import { findFixedWait, findStorm } from './storm.ts'

export type RunVerdict = 'tolerated' | 'gave up' | ExploreFailure
/** From the worst to the mildest. */
const FAILURES = ['wrong success', 'false failure', 'hang', 'crash', 'storm'] as const
export type ExploreFailure = (typeof FAILURES)[number]

export function isFailure(verdict: RunVerdict): verdict is ExploreFailure {
  return FAILURES.some((failure) => failure === verdict)
}

/** Whether a client handles it in one place: how long it waits, and how often it tries. The rest is of each operation. */
export function isCommon(verdict: ExploreFailure): boolean {
  return verdict === 'hang' || verdict === 'storm'
}

export interface FaultlessRun {
  observation: RunObservation
  /** Whether another run without a fault had the same effects. If not, only exit codes are judged. */
  isStable: boolean
  /** Whether the run changed something. */
  changes: boolean
  /** Whether the run itself is a storm. If so, a storm says nothing about a fault. */
  storms: boolean
  /** The longest duration of a run without a fault. */
  seconds: number
}

/** What is known about a run besides what it did. */
export interface Circumstances {
  /** Whether the quota windows are longer than those in which the client has survived the same fault. */
  isLong?: boolean
  /** How the run compares with those in which the command and another client come one after the other. */
  comparison?: Comparison | undefined
}

export interface Comparison {
  /** Whether the account is as it is after one of these orders; if it cannot be told, it is. */
  isSerial: boolean
  /** What the command does after the other client. */
  expected: Effects
}

export function judge(
  run: RunObservation,
  faultless: FaultlessRun,
  { isLong, comparison }: Circumstances = {},
): RunVerdict {
  const { end } = run
  if (end.timedOut) return 'hang'
  const hasSucceeded = end.exitCode === 0
  const { observation, isStable, changes, storms } = faultless
  // A client that waits for a fixed time may fail in any way where windows are longer. The wait is what is wrong.
  if (isLong && !storms && findFixedWait(run.requests) !== undefined) return 'storm'
  if (isStable) {
    const isDone = comparison?.isSerial ?? haveSameEffects(run.effects, observation.effects)
    if (hasSucceeded && !isDone) return 'wrong success'
    // It does not matter how the command says it. But a failure of a request that changes nothing is no report about a change.
    // Nor is one where another client interferes: the command may refuse to go on.
    const mayFail = comparison !== undefined || metNoChange(run, observation)
    if (!hasSucceeded && isDone && changes && !mayFail) return 'false failure'
  }
  if (isCrash(end) && !reportsRefusal(run)) return 'crash'
  if (!storms && findStorm(run.requests) !== undefined) return 'storm'
  return hasSucceeded ? 'tolerated' : 'gave up'
}

/**
 * Whether all responses that faults changed are those of requests that change nothing: of reads, and of writes that
 * changed nothing without the fault, either. The command may then say truthfully that the request has failed.
 */
function metNoChange({ requests }: RunObservation, usual: RunObservation): boolean {
  const met = [...requests.entries()].filter(([, { entry }]) => entry.injected)
  return met.length > 0 && met.every(([index, request]) => isIdle(request, usual.requests[index]))
}

/** `usual` is the request at the same place of the run without faults. */
function isIdle({ operation, entry }: ObservedRequest, usual: ObservedRequest | undefined): boolean {
  if (operation?.method === 'GET') return true
  const changes = (each: Entry) => each[PAST]?.after !== undefined
  return !changes(entry) && usual !== undefined && usual.operation?.id === operation?.id && !changes(usual.entry)
}

/** Whether the command ended with an exception that names a refusal of the service: its code, message or status. */
function reportsRefusal({ end, requests }: RunObservation): boolean {
  if (end.signal !== undefined) return false
  const said = exceptionIn(end.output)
  return requests.some(({ entry }) => {
    const { status, code, responseBody } = entry
    if (status === undefined || status < 400 || code === undefined) return false
    const answer = responseBody === undefined ? undefined : readJson(textOf(responseBody))
    const message = valueAt(answer, '/error/message')
    return (
      said.includes(code) ||
      (typeof message === 'string' && said.includes(message)) ||
      new RegExp(`(?<![\\w.:-])${status}(?![\\w.-])`).test(said)
    )
  })
}

/** The text of an uncaught exception without its stack and its place in the source. */
function exceptionIn(output: string): string {
  const text = stripVTControlCharacters(output)
  const trace = TRACES.find((each) => each.test(text))
  const from = trace === NODE ? Math.max(0, text.search(CARET)) : Math.max(0, text.search(trace ?? /$/))
  return text
    .slice(from)
    .split('\n')
    .filter((line) => !FRAME.test(line))
    .join('\n')
}

/** The line below a line of source, which Node.js prints before an exception. */
const CARET = /^\s*\^+\s*$/m
/** A line of a stack, or a line of source in it. A property of an error is indented by two spaces. */
const FRAME = /^(?:\s+at |\s+File "| {4,}\S|\t)/

/** A shell reports a signal that ended a command as 128 plus the number of the signal. */
const OF_SIGNALS = 128

export function isCrash({ exitCode, signal, output }: Pick<CommandEnd, 'exitCode' | 'signal' | 'output'>): boolean {
  if (signal !== undefined) return true
  if (exitCode === undefined || exitCode === 0) return false
  if (exitCode > OF_SIGNALS && exitCode <= OF_SIGNALS + 64) return true
  return TRACES.some((trace) => trace.test(output)) && !SUMMARY.test(output)
}

/** Node.js writes its version last. */
const NODE = /^Node\.js v\d+\.\d+\.\d+\s*$/m
/** The output of runtimes for an uncaught exception. */
const TRACES: readonly RegExp[] = [
  NODE,
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

export function reasonsFor(
  verdict: RunVerdict,
  run: RunObservation,
  { observation }: FaultlessRun,
  { isLong, comparison }: Circumstances = {},
): string[] {
  switch (verdict) {
    case 'hang':
      // The duration is left out, so that two explorations give the same text.
      return [
        'It did not end, although it had more time when it was repeated. A client that waits longer for a response needs a longer --timeout.',
      ]
    case 'crash':
      return [
        run.end.signal === undefined ? 'It ended with an exception that was not caught.' : `${wordExit(run.end)}.`,
      ]
    case 'storm':
      return [
        (isLong ? findFixedWait(run.requests) : undefined) ?? findStorm(run.requests) ?? 'It sent a storm of requests.',
      ]
    case 'wrong success':
      return ['It said that all is well.', ...differencesIn(run, observation, comparison)]
    case 'false failure':
      return [`${wordExit(run.end)}, and everything was done.`]
    case 'gave up':
      return [`${wordExit(run.end)}.`]
    case 'tolerated':
      return []
  }
}

/** Beside another client, only what the accounts have at the end counts. */
function differencesIn(
  { effects }: RunObservation,
  usual: RunObservation,
  comparison: Comparison | undefined,
): string[] {
  if (comparison === undefined) return describeDifference(usual.effects, effects)
  return describeDifference({ ...comparison.expected, changes: [] }, { ...effects, changes: [] })
}

function wordExit({ exitCode, signal }: CommandEnd): string {
  return signal === undefined ? `It ended with ${exitCode}` : `It ended by ${signal}`
}

/**
 * The weakness of a client that a rule shows, in a word. The same weakness may be there at several requests.
 * `operation` is that of the request.
 */
export function causeOf(verdict: ExploreFailure, rule: Effect, operation: Operation | undefined): string {
  const { connection, corrupt, event } = rule
  const isLimit = event === 'quota-used-up'
  if (isForeign(rule)) return 'foreign-change'
  if (verdict === 'storm') return isLimit ? 'quota' : 'retries'
  const isUnlearnt = corrupt === 'malformed-json' && (verdict === 'wrong success' || verdict === 'false failure')
  if (connection !== undefined || isUnlearnt) {
    const isWrite = operation !== undefined && operation.method !== 'GET'
    return (rule.phase === 'after' || isUnlearnt) && isWrite && verdict !== 'hang' ? 'lost-response' : 'no-answer'
  }
  if (isLimit || rule.respond !== undefined) return 'refusal'
  return corrupt ?? event ?? 'other'
}

const FOREIGN: readonly string[] = FOREIGN_CHANGES

export function isForeign({ event }: Pick<Effect, 'event'>): boolean {
  return event !== undefined && FOREIGN.includes(event)
}

/**
 * Time, as it is before a test replaces it. `vi.useFakeTimers()`, the `mock.timers` of node:test and their like replace the
 * global functions, and what the modules of Node.js export, in the process of the test, where the stand-in answers, too. It
 * would never answer again. So the program takes all that has to do with time from here, where it is kept at the first load.
 */
import { performance } from 'node:perf_hooks'
import * as timers from 'node:timers'
import * as promises from 'node:timers/promises'

// What a module of Node.js exports outlives some replacements of the global functions, if they came before this module.
export const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate } = timers

// Those of node:test are bound functions, and those of Sinon have a clock. With either, a start would never end.
if ([setTimeout, setInterval, setImmediate].some((timer) => timer.name.startsWith('bound ') || 'clock' in timer)) {
  throw new Error('The timers of Node.js are replaced; import dmarc-understudy before a test replaces them.')
}

/** Resolves after so many milliseconds. */
export const pause = promises.setTimeout

/** Resolves when all other work that waits has had a turn. */
export const nextTurn = promises.setImmediate

/** Calls a function before any other work. */
export const { nextTick } = process

/** The class `Date`. A copy of a date is of the real class even where a test has replaced the global one before. */
export const RealDate = structuredClone(new Date(0)).constructor as DateConstructor

/** Milliseconds since the Unix epoch, by the clock of the machine. */
export const readTime = RealDate.now

/** Milliseconds since an arbitrary moment, for durations. It never goes back. */
export const elapsed = performance.now.bind(performance)

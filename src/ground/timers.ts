import { performance } from 'node:perf_hooks'
import * as timers from 'node:timers'
import * as promises from 'node:timers/promises'

/**
 * Time, as it is before a test replaces it. `vi.useFakeTimers()`, the `mock.timers` of node:test and their like replace the
 * global functions, and what the modules of Node.js export, in the process of the test, where the stand-in answers, too. It
 * would never answer again. So the program takes all that has to do with time from here, where it is kept at the first load.
 */

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

/** Waits the given milliseconds, or without limit, but only until one of the signals is aborted. */
export function waitUntil(
  milliseconds: number | undefined,
  ...signals: readonly (AbortSignal | undefined)[]
): Promise<void> {
  const endings = signals.filter((signal) => signal !== undefined)
  if (milliseconds === 0 || endings.some(({ aborted }) => aborted)) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = milliseconds === undefined ? undefined : setTimeout(finish, milliseconds)
    function finish(): void {
      clearTimeout(timer)
      for (const ending of endings) ending.removeEventListener('abort', finish)
      resolve()
    }
    for (const ending of endings) ending.addEventListener('abort', finish, { once: true })
  })
}

/** Callers that wait for something, each until its own time limit. */
export class Waiters {
  readonly #waiting = new Set<() => void>()

  /** Resolves when `wake` comes, or after so many milliseconds. */
  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        this.#waiting.delete(end)
        resolve()
      }
      const timer = setTimeout(end, milliseconds)
      this.#waiting.add(end)
    })
  }

  wake(): void {
    for (const end of [...this.#waiting]) end()
  }
}

/** Milliseconds since the Unix epoch. */
export type Clock = () => number

let latest = 0

/** The machine's clock. The program reads the time only here. It stands still while the machine's clock is set back. */
export const systemClock: Clock = () => {
  latest = Math.max(latest, readTime())
  return latest
}

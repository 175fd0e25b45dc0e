import { onTestFinished, vi } from 'vitest'
import * as timers from '../../src/ground/timers.ts'

const NAMES = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate'] as const
type Replaced = (typeof NAMES)[number] | 'performance'

/**
 * Replaces timers as `vi.useFakeTimers` does, for the program, too, which else keeps the real ones: until the test ends, or
 * what is returned is called, only `vi.advanceTimersByTime` lets their time go on.
 */
export function replaceTime(toFake: readonly Replaced[] = [...NAMES, 'performance']): () => void {
  // A timer that was set before may be cleared now.
  vi.useFakeTimers({ toFake: [...toFake], shouldClearNativeTimers: true })
  const spies = toFake.map((name) =>
    name === 'performance'
      ? vi.spyOn(timers, 'elapsed').mockImplementation(() => performance.now())
      : vi
          .spyOn(timers, name as 'clearTimeout')
          .mockImplementation((...args) => globalThis[name as 'clearTimeout'](...args)),
  )
  function restore(): void {
    vi.useRealTimers()
    for (const spy of spies) spy.mockRestore()
  }
  onTestFinished(restore)
  return restore
}

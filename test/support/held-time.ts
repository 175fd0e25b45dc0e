import { vi } from 'vitest'
import { replaceTime } from './replaced-time.ts'

/**
 * From now on and until the test ends, whoever waits for a while waits until `vi.advanceTimersByTimeAsync` says that it is
 * over. What ends all the same waits for nothing, however slow the machine is.
 */
export function holdTime(): void {
  replaceTime(['setTimeout', 'clearTimeout'])
}

/** Resolves when somebody waits for a while. (`expect.poll` would let held time go on.) */
export async function someoneWaits(): Promise<void> {
  while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve))
}

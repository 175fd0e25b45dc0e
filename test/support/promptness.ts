import { expect } from 'vitest'

/** In milliseconds, how often it is looked how busy the machine is. */
const LOOK = 10

/** Expects the call to end within `limit` milliseconds. What this process stood still for, on a busy machine, is added. */
export async function promptly<Result>(limit: number, call: () => Promise<Result>): Promise<Result> {
  const before = performance.now()
  let [looked, stood] = [before, 0]
  const timer = setInterval(() => {
    const now = performance.now()
    stood += Math.max(0, now - looked - 2 * LOOK)
    looked = now
  }, LOOK)
  try {
    return await call()
  } finally {
    clearInterval(timer)
    stood += Math.max(0, performance.now() - looked - 2 * LOOK)
    expect(performance.now() - before).toBeLessThan(limit + 2 * stood)
  }
}

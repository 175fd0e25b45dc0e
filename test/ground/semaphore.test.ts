import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Semaphore } from '../../src/ground/semaphore.ts'

it('runs tasks in order, as many at a time as it may, also after some that have failed', async () => {
  const semaphore = new Semaphore(3)
  for (let round = 0; round < 3; round++) {
    const seen: [index: number, running: number][] = []
    let running = 0
    const run = async (index: number) => {
      seen.push([index, ++running])
      await setImmediate()
      running--
      if (index % 2 === 0) throw new Error(`${index}`)
    }
    await Promise.allSettled([0, 1, 2, 3, 4].map((index) => semaphore.run(() => run(index))))
    expect(seen).toEqual([0, 1, 2, 3, 4].map((index) => [index, Math.min(index + 1, 3)]))
  }
})

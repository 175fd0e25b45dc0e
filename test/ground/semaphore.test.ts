import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Semaphore } from '../../src/ground/semaphore.ts'

it('runs tasks in order, never more than the limit at the same time, and goes on after one that fails', async () => {
  const semaphore = new Semaphore(3)
  const begun: number[] = []
  let running = 0
  let most = 0
  const tasks = Array.from({ length: 20 }, (_, index) =>
    semaphore.run(async () => {
      begun.push(index)
      most = Math.max(most, ++running)
      await setImmediate()
      running--
      if (index % 5 === 0) throw new Error(`${index}`)
      return index
    }),
  )
  const outcomes = await Promise.allSettled(tasks)
  expect(most).toBe(3)
  expect(begun).toEqual(Array.from({ length: 20 }, (_, index) => index))
  expect(
    outcomes.map(({ status }) => status === 'rejected').flatMap((failed, index) => (failed ? [index] : [])),
  ).toEqual([0, 5, 10, 15])
})

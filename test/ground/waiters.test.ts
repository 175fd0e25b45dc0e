import { describe, expect, it } from 'vitest'
import { Waiters } from '../../src/ground/waiters.ts'

describe('waiters', () => {
  it('end when they are woken, each if its subject is due', async () => {
    const waiters = new Waiters<number>()
    const ended: number[] = []
    const waits = [1, 2, 3].map((number) =>
      waiters.wait(60_000, number).then((isInTime) => isInTime && ended.push(number)),
    )
    waiters.wake((number) => number < 3)
    await Promise.all(waits.slice(0, 2))
    expect(ended).toEqual([1, 2])
    waiters.wake()
    await Promise.all(waits)
    expect(ended).toEqual([1, 2, 3])
  })

  it('end at their time limit, and are not woken again', async () => {
    const waiters = new Waiters<string>()
    expect(await waiters.wait(1, 'late')).toBe(false)
    const asked: string[] = []
    waiters.wake((subject) => asked.push(subject) > 0)
    expect(asked).toEqual([])
  })

  it('fail together', async () => {
    const waiters = new Waiters()
    const waits = Promise.allSettled([waiters.wait(60_000), waiters.wait(60_000)])
    const reason = new Error('broken')
    waiters.fail(reason)
    expect(await waits).toEqual([1, 2].map(() => ({ status: 'rejected', reason })))
  })
})

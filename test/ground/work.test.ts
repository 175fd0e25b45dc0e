import { setImmediate } from 'node:timers/promises'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { Abandoned, mapInTurns, runAtOnce, runInTurns, type Work } from '../../src/ground/work.ts'
import { replaceTime } from '../support/replaced-time.ts'

beforeEach(() => void replaceTime(['performance']))

/** Work of so many steps, each of a millisecond of a clock that only it moves. */
function* steps(count: number): Work<number> {
  for (let step = 0; step < count; step++) {
    vi.advanceTimersByTime(1)
    yield
  }
  return count
}

describe('work that can pause', () => {
  it('is done at once where it is short', () => {
    expect(runInTurns(steps(0))).toBe(0)
    expect(runAtOnce(steps(30))).toBe(30)
  })

  it('lets others have their turn where it is long, and then has its result', async () => {
    let turns = 0
    let isDone = false
    const work = Promise.resolve(runInTurns(steps(60))).then((count) => {
      isDone = true
      return count
    })
    while (!isDone) {
      await setImmediate()
      turns++
    }
    expect(await work).toBe(60)
    // Twelve turns of five milliseconds; the first is taken at once.
    expect(turns).toBeOneOf([11, 12])
  })

  it('is done by several at the same time, each in its turn', async () => {
    const ended: number[] = []
    await Promise.all(
      [90, 60, 30].map(async (count) => {
        await runInTurns(steps(count))
        ended.push(count)
      }),
    )
    expect(ended).toEqual([30, 60, 90])
  })

  it('shares the first turn with those that begin at the same time, so that together they take no longer', async () => {
    await setImmediate()
    const results = [3, 3, 3, 3].map((count) => runInTurns(steps(count)))
    expect(results.map((result) => result instanceof Promise)).toEqual([false, true, true, true])
    expect(await Promise.all(results)).toEqual([3, 3, 3, 3])
  })

  it('ends between two turns once nobody wants its result', async () => {
    let done = 0
    function* counted(): Work<number> {
      for (; done < 1_000; done++) yield* steps(1)
      return done
    }
    let isUnwanted = false
    const work = runInTurns(counted(), () => isUnwanted)
    isUnwanted = true
    await expect(work).rejects.toThrow(Abandoned)
    expect(done).toBeLessThan(10)
  })

  it('rejects with what it throws, at once or later', async () => {
    function* failing(count: number): Work<number> {
      yield* steps(count)
      throw new Error('the work failed')
    }
    expect(() => runInTurns(failing(0))).toThrow('the work failed')
    await expect(runInTurns(failing(30))).rejects.toThrow('the work failed')
  })

  it('maps each item in its order', () => {
    const items = Array.from({ length: 1_001 }, (_, index) => index)
    expect(runAtOnce(mapInTurns(items, (item, index) => [item, index]))).toEqual(items.map((item) => [item, item]))
    expect(runAtOnce(mapInTurns([], String))).toEqual([])
  })
})

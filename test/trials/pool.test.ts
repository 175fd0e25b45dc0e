import { describe, expect, it } from 'vitest'
import { Pool, type Task } from '../../src/trials/pool.ts'

/** Tasks that end when they are told to, and what has happened to them so far. */
function controlledTasks(count: number) {
  const events: string[] = []
  const ends: ((error?: Error) => void)[] = []
  const tasks = Array.from(
    { length: count },
    (_, index): Task<number> =>
      (signal) => {
        events.push(`begins ${index}`)
        signal.addEventListener('abort', () => events.push(`stops ${index}`))
        return new Promise((resolve, reject) => {
          ends[index] = (error) => (error === undefined ? resolve(index) : reject(error))
        })
      },
  )
  return { tasks, events, end: (index: number, error?: Error) => ends[index]?.(error) }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('a pool', () => {
  it('runs as many tasks at the same time as there are jobs, and the others in their order', async () => {
    const { tasks, events, end } = controlledTasks(4)
    const results = new Pool(2).runAll(tasks)
    await turn()
    expect(events).toEqual(['begins 0', 'begins 1'])
    end(1)
    await turn()
    expect(events).toEqual(['begins 0', 'begins 1', 'begins 2'])
    end(2)
    await turn()
    for (const index of [3, 0]) end(index)
    expect(await results).toEqual([0, 1, 2, 3])
  })

  it('ends with the first error, once all tasks that run have ended', async () => {
    const { tasks, events, end } = controlledTasks(4)
    let isOver = false
    const results = new Pool(2).runAll(tasks).finally(() => {
      isOver = true
    })
    const failure = expect(results).rejects.toThrow('the first')
    await turn()
    end(1, new Error('the first'))
    await turn()
    expect({ events, isOver }).toEqual({ events: ['begins 0', 'begins 1', 'stops 0', 'stops 1'], isOver: false })
    end(0, new Error('the second'))
    await failure
  })

  it('starts nothing any more once its signal is aborted, and ends with its reason', async () => {
    const { tasks, events, end } = controlledTasks(2)
    const outside = new AbortController()
    const pool = new Pool(1, outside.signal)
    const results = pool.runAll(tasks)
    const failure = expect(results).rejects.toThrow('told to stop')
    await turn()
    outside.abort(new Error('told to stop'))
    end(0)
    await failure
    expect(events).toEqual(['begins 0', 'stops 0'])
    await expect(pool.run(async () => 1)).rejects.toThrow('told to stop')
  })
})

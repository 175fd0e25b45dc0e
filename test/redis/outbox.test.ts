import { describe, expect, it } from 'vitest'
import { Outbox } from '../../src/redis/outbox.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { range } from '../support/at-once.ts'

interface Item {
  number: number
  bytes: number
}

/** An outbox, in which so many bytes may wait, and a store that answers as a test decides. */
function storeOf(answer: (count: number) => void, waiting?: number) {
  const all: { number: number; items: readonly Item[] }[] = []
  const lost: Item[] = []
  const outbox = new Outbox<Item>({
    connection: { patience: 1, listen: () => () => {} },
    async send(items, number) {
      all.push({ number, items })
      answer(all.length)
    },
    lost: (items) => void lost.push(...items),
    failed: () => {},
    ...(waiting !== undefined && { waiting }),
  })
  return { all, lost, outbox }
}

const item = (number: number, bytes = 300): Item => ({ number, bytes })

describe('An outbox', () => {
  it('sends everything in order, in few steps', async () => {
    const { all, outbox } = storeOf(() => {})
    for (const number of range(1, 250)) outbox.add(item(number))
    await outbox.flush()
    expect(all.map(({ number, items }) => `${number}: ${items.length}`)).toEqual(['1: 200', '2: 50'])
    expect(all.flatMap(({ items }) => items.map(({ number }) => number))).toEqual(range(1, 250))
  })

  it('sends what nobody waits for a little later, together with what follows at once', async () => {
    const { all, outbox } = storeOf(() => {})
    outbox.add(item(1))
    await Promise.resolve()
    outbox.add(item(2))
    expect([all.length, outbox.size]).toEqual([0, 2])
    await expect.poll(() => all.map(({ items }) => items.length)).toEqual([2])
  })

  it('loses the oldest items when too many wait', async () => {
    let isAway = true
    const { all, lost, outbox } = storeOf(() => {
      if (isAway) throw new StoreError('unavailable', 'Away')
    }, 10_000)
    outbox.add(item(0))
    await expect(outbox.flush()).rejects.toThrow('Away')
    for (const number of range(1, 50)) outbox.add(item(number, 1_000))
    expect(lost[0]).toMatchObject({ number: 1 })
    isAway = false
    await outbox.flush()
    const sent = new Set(all.flatMap(({ items }) => items.map(({ number }) => number)))
    expect([...lost.map(({ number }) => number), ...sent].toSorted((one, other) => one - other)).toEqual(range(0, 50))
    expect(outbox.size).toBe(0)
  })

  it('sends a batch again with its number until it is done', async () => {
    const { all, outbox } = storeOf((count) => {
      if (count === 1) throw new StoreError('unknown', 'The reply was lost')
    })
    outbox.add(item(1))
    await expect(outbox.flush()).rejects.toThrow('lost')
    await outbox.flush()
    expect(all.map(({ number, items }) => [number, items.length])).toEqual([
      [1, 1],
      [1, 1],
    ])
  })

  it.each([
    ['cannot do', () => new Error('WRONGTYPE'), true],
    ['has no memory for', () => new StoreError('full', 'No memory'), false],
  ])('gives up a batch that the store %s, and goes on', async (_, problem, isTold) => {
    const { all, lost, outbox } = storeOf((count) => {
      if (count === 1) throw problem()
    })
    outbox.add(item(1))
    const flushed = outbox.flush()
    if (isTold) await expect(flushed).rejects.toThrow('WRONGTYPE')
    else await flushed
    outbox.add(item(2))
    await outbox.flush()
    expect([lost.length, all.length]).toEqual([1, 2])
  })

  it('sends the rest when it is closed, and takes nothing then', async () => {
    const { all, outbox } = storeOf(() => {})
    outbox.add(item(1))
    await outbox.close()
    expect(all).toHaveLength(1)
    outbox.add(item(2))
    await expect(outbox.flush()).rejects.toThrow('closed')
  })
})

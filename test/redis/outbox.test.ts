import { describe, expect, it } from 'vitest'
import type { RedisReply, StoreConnection } from '../../src/redis/connection.ts'
import { Outbox, type OutboxItem } from '../../src/redis/outbox.ts'
import { readScript, type Script } from '../../src/redis/script.ts'
import { StoreError } from '../../src/store/store-error.ts'

interface Sent {
  script: Script
  number: number
  items: OutboxItem[]
  texts: readonly string[]
  coverages: readonly string[]
}

/** An outbox, in which so many bytes may wait, and a store that answers as a test decides. */
function storeOf(answer: (sent: Sent, count: number) => void, waiting?: number) {
  const all: Sent[] = []
  const connection = {
    patience: 1,
    listen: () => () => {},
    run: async (
      script: Script,
      keys: readonly string[],
      [batch = '', ...texts]: readonly string[],
    ): Promise<RedisReply> => {
      const { number, items } = JSON.parse(batch)
      const sent = { script, number, items, texts, coverages: keys.slice(1) }
      all.push(sent)
      answer(sent, all.length)
      return '1-0'
    },
  } as unknown as StoreConnection
  const lost: OutboxItem[] = []
  const script = readScript('redis/scripts/record.lua')
  const outbox = new Outbox({
    ...{ connection, script, keys: ['k'], terms: { replica: 'r' }, failed: () => {} },
    lost: (item) => void lost.push(item),
    ...(waiting !== undefined && { waiting }),
  })
  return { all, lost, outbox }
}

const exchange = (number: number, text = 'e'): OutboxItem => ({ kind: 'exchange', number, text, coverageKey: 'c' })

describe('An outbox', () => {
  it('sends everything in order, in few steps, with the key of each account once', async () => {
    const { all, outbox } = storeOf(() => {})
    for (let number = 1; number <= 250; number++) outbox.add(exchange(number, `e${number}`))
    outbox.add({ kind: 'clear', account: 'a', coverageKey: 'other' })
    await outbox.flush()
    expect(all.map(({ number, items }) => `${number}: ${items.length}`)).toEqual(['1: 200', '2: 51'])
    expect(all[1]?.items.at(-1)).toEqual({ kind: 'clear', account: 'a', coverage: 2 })
    expect(all[1]?.coverages).toEqual(['c', 'other'])
    expect(all[1]?.items[0]).toMatchObject({ number: 201, text: 1, coverage: 1 })
    expect(all[1]?.texts[0]).toBe('e201')
  })

  it('loses the oldest exchanges when too much waits, and nothing that somebody has asked for', async () => {
    let isAway = true
    const { all, lost, outbox } = storeOf(() => {
      if (isAway) throw new StoreError('unavailable', 'Away')
    }, 10_000)
    outbox.add(exchange(0))
    await expect(outbox.flush()).rejects.toThrow('Away')
    outbox.add({ kind: 'clear', account: 'a' })
    for (let number = 1; number <= 50; number++) outbox.add(exchange(number, 'x'.repeat(700)))
    expect(outbox.lost).toBe(lost.length)
    expect(lost[0]).toMatchObject({ number: 1 })
    isAway = false
    await outbox.flush()
    const sent = all.slice(1).flatMap(({ items }) => items)
    expect(sent.filter(({ kind }) => kind === 'clear')).toHaveLength(1)
    expect(new Set(sent.map((item) => item['number'])).size + lost.length).toBe(52)
    expect(outbox.size).toBe(0)
  })

  it('gives up a batch that the store cannot do, and goes on', async () => {
    const { all, lost, outbox } = storeOf((_, count) => {
      if (count === 1) throw new Error('WRONGTYPE')
    })
    outbox.add(exchange(1))
    await expect(outbox.flush()).rejects.toThrow('WRONGTYPE')
    outbox.add(exchange(2))
    await outbox.flush()
    expect([lost.length, all.length, outbox.lost]).toEqual([1, 2, 1])
  })

  it('sends the rest when it is closed, and takes nothing then', async () => {
    const { all, outbox } = storeOf(() => {})
    outbox.add(exchange(1))
    await outbox.close()
    expect(all).toHaveLength(1)
    outbox.add(exchange(2))
    await expect(outbox.flush()).rejects.toThrow('closed')
  })
})

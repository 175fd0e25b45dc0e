import { describe, expect, it } from 'vitest'
import { BodyBudget, CollectedBody } from '../../src/exchanges/collected-body.ts'
import type { ExchangeJudgement } from '../../src/proxy/judge.ts'
import { targetAt } from '../../src/proxy/target.ts'
import type { PassedExchange } from '../../src/proxy/traffic.ts'
import { Witness, type WitnessOptions } from '../../src/proxy/witness.ts'

/** An exchange whose request has this id. */
function passed(id: string, { method = 'GET', base = '/api/v1' } = {}): PassedExchange {
  const budget = new BodyBudget()
  const message = { httpVersion: 'HTTP/1.1', body: new CollectedBody(budget) }
  return {
    ...{ ordinal: 1, at: 0, started: 0, answered: 0, ended: 0, overlaps: false, broken: undefined },
    request: { ...message, method, target: `${base}/domains?${id}`, fields: [] },
    response: {
      ...message,
      body: new CollectedBody(budget),
      ...{ status: 200, reason: 'OK', fields: [['X-Request-Id', id]] },
    },
  }
}

/** A witness whose judge writes down what it is asked, and finds nothing. */
function open(options: Partial<WitnessOptions> = {}) {
  const told: string[] = []
  const noted: [id: string, judgement: ExchangeJudgement][] = []
  const witness = new Witness({
    target: targetAt('http://service.example', '/api/v1'),
    basePath: '/api/v1',
    judge: {
      async take({ id }) {
        await new Promise((resolve) => setImmediate(resolve))
        told.push(id)
        return { findings: [], isJudged: true }
      },
      forget: async () => void told.push('forget'),
    },
    note: ({ exchange }, _, judgement) => void noted.push([exchange.id, judgement]),
    found: () => {},
    failed: () => {},
    ...options,
  })
  return { witness, told, noted }
}

const never = () => new AbortController().signal

describe('A witness', () => {
  it('skips what comes while too many exchanges wait, and says so to the judge once', async () => {
    // All of them are read before the first one is judged.
    let isOpen = (): void => {}
    const gate = new Promise<void>((resolve) => {
      isOpen = resolve
    })
    const told: string[] = []
    async function take({ id }: { id: string }) {
      await gate
      told.push(id)
      return { findings: [], isJudged: true }
    }
    const { witness, noted } = open({
      limits: { exchanges: 2 },
      judge: { take, forget: async () => void told.push('forget') },
    })
    for (const id of ['0', '1', '2', '3', '4']) witness.exchange(passed(id))
    await expect.poll(() => witness.sightings.skipped).toBe(2)
    isOpen()
    await witness.finish(never())
    expect(told).toEqual(['0', '1', '2', 'forget'])
    expect(noted.map(([id]) => id).toSorted()).toEqual(['0', '1', '2', '3', '4'])
  })

  it('leaves what waits when the time is over, and counts and notes it', async () => {
    const { witness, told, noted } = open()
    for (const id of ['1', '2', '3']) witness.exchange(passed(id))
    await witness.finish(AbortSignal.abort())
    expect(told).toEqual([])
    expect([witness.sightings.left, witness.waiting, noted.length]).toEqual([3, 0, 3])
  })

  it('does not judge other paths, but knows that they may change something', async () => {
    const { witness, told, noted } = open()
    witness.exchange(passed('1', { base: '/other' }))
    witness.exchange(passed('2', { base: '/other', method: 'POST' }))
    await witness.finish(never())
    expect([told, witness.sightings.foreign, noted.map(([, { isJudged }]) => isJudged)]).toEqual([
      ['forget'],
      2,
      [false, false],
    ])
  })
})

import { describe, expect, it } from 'vitest'
import type { JudgedDifference } from '../../src/conformance/finding.ts'
import { BodyBudget, CollectedBody } from '../../src/exchanges/collected-body.ts'
import type { ExchangeJudgement } from '../../src/proxy/judge.ts'
import { targetAt } from '../../src/proxy/target.ts'
import type { PassedExchange } from '../../src/proxy/traffic.ts'
import { Witness, type WitnessOptions } from '../../src/proxy/witness.ts'

const FINDING = { id: 'x', label: 'unexplained', method: 'GET', path: '/', message: '' } satisfies JudgedDifference

/** An exchange whose request has this id, and a body of this size. */
function passed(id: string, { method = 'GET', base = '/api/v1', size = 0 } = {}): PassedExchange {
  const budget = new BodyBudget()
  const message = { httpVersion: 'HTTP/1.1', body: new CollectedBody(budget) }
  message.body.add(Buffer.alloc(size, 'a'))
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

/** A witness whose judge writes down what it is asked, and throws where it is told to. */
function open(options: Partial<WitnessOptions> = {}) {
  const told: string[] = []
  const noted: [id: string, judgement: ExchangeJudgement][] = []
  const errors: unknown[] = []
  const found: JudgedDifference[] = []
  const witness = new Witness({
    target: targetAt('http://service.example', '/api/v1'),
    basePath: '/api/v1',
    judge: {
      async take({ id }) {
        await new Promise((resolve) => setImmediate(resolve))
        told.push(id)
        if (id === 'bad') throw new Error('a bug')
        return { findings: [FINDING], isJudged: true }
      },
      forget: async () => void told.push('forget'),
    },
    note: ({ exchange }, _, judgement) => void noted.push([exchange.id, judgement]),
    found: (finding) => void found.push(finding),
    failed: (error) => void errors.push(error),
    ...options,
  })
  return { witness, told, noted, errors, found }
}

const never = () => new AbortController().signal

describe('A witness', () => {
  it('has exchanges judged one after the other, and notes each with its own findings', async () => {
    const { witness, told, noted, found } = open()
    for (const id of ['1', '2']) witness.exchange(passed(id))
    expect(told).toEqual([])
    await witness.finish(never())
    const judgement = { findings: [FINDING], isJudged: true }
    expect([told, noted, found]).toEqual([
      ['1', '2'],
      [
        ['1', judgement],
        ['2', judgement],
      ],
      [FINDING, FINDING],
    ])
  })

  it.each([
    ['exchanges', { exchanges: 2 }, 0],
    ['bytes', { bytes: 25 }, 10],
  ] as const)('skips what comes while too many %s wait, and says so to the judge once', async (_, limits, size) => {
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
    const { witness, noted } = open({ limits, judge: { take, forget: async () => void told.push('forget') } })
    for (const id of ['0', '1', '2', '3', '4']) witness.exchange(passed(id, { size }))
    await expect.poll(() => witness.sightings.skipped).toBe(2)
    isOpen()
    await witness.finish(never())
    expect(told).toEqual(['0', '1', '2', 'forget'])
    expect(noted.map(([id]) => id).toSorted()).toEqual(['0', '1', '2', '3', '4'])
  })

  it('goes on after the judge has thrown, which forgets everything then', async () => {
    const { witness, told, errors, noted } = open()
    for (const id of ['1', 'bad', '2']) witness.exchange(passed(id))
    await witness.finish(never())
    expect(told).toEqual(['1', 'bad', 'forget', '2'])
    expect(noted.map(([id]) => id)).toEqual(['1', 'bad', '2'])
    expect([errors, witness.sightings.failures]).toEqual([[new Error('a bug')], 1])
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

import { describe, expect, it } from 'vitest'
import { BodyBudget, CollectedBody } from '../../src/exchanges/collected-body.ts'
import { targetAt } from '../../src/proxy/target.ts'
import type { PassedExchange } from '../../src/proxy/traffic.ts'
import { type ExchangeJudgement, type TrafficJudge, WAITING_LIMIT, Witness } from '../../src/proxy/witness.ts'

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

/** A witness whose judge writes down what it is asked, and finds nothing; at some exchanges, it fails. */
function open({ failsAt = [] }: { failsAt?: string[] } = {}) {
  const told: string[] = []
  const recorded: string[] = []
  const noted: [id: string, judgement: ExchangeJudgement][] = []
  const judge: TrafficJudge = {
    judged: 0,
    take({ id }) {
      if (failsAt.includes(id)) throw new Error('a bug')
      told.push(id)
      Object.assign(judge, { judged: judge.judged + 1 })
      return []
    },
    forget: () => void told.push('forget'),
    conclude: () => ({ exchanges: 0, judged: 0, findings: [], counts: {}, observations: [], messages: {} }),
  }
  const witness = new Witness({
    target: targetAt('http://service.example', '/api/v1'),
    basePath: '/api/v1',
    judge,
    record: ({ url }) => void recorded.push(url.replace(/.*\?/, '')),
    note: ({ exchange }, _, judgement) => void noted.push([exchange.id, judgement]),
    found: () => {},
    failed: () => {},
  })
  return { witness, told, recorded, noted }
}

describe('A witness', () => {
  it('leaves out what comes while too many wait, says so to the judge, and releases its memory', async () => {
    const { witness, told, recorded } = open()
    for (let id = 0; id < WAITING_LIMIT; id++) witness.take(passed(`${id}`))
    const late = passed('late')
    late.response?.body.add(Buffer.from('late'))
    witness.take(late)
    expect([late.response?.body.bytes.length, witness.waiting]).toEqual([0, WAITING_LIMIT])
    await witness.idle()
    witness.take(passed('last'))
    await witness.idle()
    expect([told.at(-1), told.filter((each) => each === 'forget').length]).toEqual(['last', 1])
    expect([recorded.length, witness.sightings.skipped]).toEqual([WAITING_LIMIT + 1, 1])
  })

  it('records what waits when the time is over, and counts and notes it', async () => {
    const { witness, told, recorded, noted } = open()
    for (const id of ['1', '2', '3']) witness.take(passed(id))
    witness.hurry()
    await witness.idle()
    expect([told, recorded]).toEqual([[], ['1', '2', '3']])
    expect([witness.sightings.left, witness.waiting, noted.length]).toEqual([3, 0, 3])
  })

  it('goes on when the judge fails, which then knows that something is missing', async () => {
    const { witness, told, recorded, noted } = open({ failsAt: ['2'] })
    for (const id of ['1', '2', '3']) witness.take(passed(id))
    await witness.idle()
    expect([told, recorded]).toEqual([
      ['1', 'forget', '3'],
      ['1', '2', '3'],
    ])
    expect([witness.sightings.failures, noted.map(([, { isJudged }]) => isJudged)]).toEqual([1, [true, false, true]])
  })

  it('does not judge other paths, but knows that they may change something', async () => {
    const { witness, told, noted } = open()
    witness.take(passed('1', { base: '/other' }))
    witness.take(passed('2'))
    witness.take(passed('3', { base: '/other', method: 'POST' }))
    witness.take(passed('4'))
    await witness.idle()
    expect([told, witness.sightings.foreign]).toEqual([['2', 'forget', '4'], 2])
    expect(noted.map(([, { isJudged }]) => isJudged)).toEqual([false, true, false, true])
  })
})

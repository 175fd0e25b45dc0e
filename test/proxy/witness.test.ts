import { describe, expect, it } from 'vitest'
import { BodyBudget, CollectedBody } from '../../src/exchanges/collected-body.ts'
import { targetAt } from '../../src/proxy/target.ts'
import type { PassedExchange } from '../../src/proxy/traffic.ts'
import { type Sighting, Witness, type WitnessOptions } from '../../src/proxy/witness.ts'
import { NO_JUDGE } from '../verify/runs.ts'

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
  const noted: boolean[] = []
  const sightings: Sighting[] = []
  const judge: WitnessOptions['judge'] = {
    judged: 0,
    take({ id }) {
      if (failsAt.includes(id)) throw new Error('a bug')
      told.push(id)
      Object.assign(judge, { judged: judge.judged + 1 })
      return []
    },
    forget: () => void told.push('forget'),
    conclude: NO_JUDGE.conclude,
  }
  const witness = new Witness({
    target: targetAt('http://service.example', '/api/v1'),
    basePath: '/api/v1',
    judge,
    record: ({ url }) => void recorded.push(url.replace(/.*\?/, '')),
    note(sighting) {
      sightings.push(sighting)
      noted.push(sighting.isJudged)
    },
    found: () => {},
    failed: () => {},
  })
  return { witness, told, recorded, noted, sightings }
}

describe('A witness', () => {
  it('goes on when the judge fails, which then knows that something is missing', () => {
    const { witness, told, recorded, noted } = open({ failsAt: ['2'] })
    for (const id of ['1', '2', '3', '4']) witness.take(passed(id))
    expect([told, recorded]).toEqual([
      ['1', 'forget', '3', '4'],
      ['1', '2', '3', '4'],
    ])
    expect([witness.sightings.failures, noted]).toEqual([1, [true, false, true, true]])
  })

  it('hides a key that the service repeats from the judge and the recording', () => {
    const { witness, sightings } = open()
    const secret = 'a-key-of-the-account'
    const exchange = passed('1')
    exchange.request.fields = [['Authorization', `Bearer ${secret}`]]
    exchange.response?.body.add(Buffer.from(`No ${secret} here.`))
    witness.take(exchange)
    const [{ exchange: judged, recorded } = expect.fail()] = sightings
    const shown = judged.response?.body.isKnown && judged.response.body.bytes.toString()
    const text = `${recorded.response?.body.bytes}`
    expect([shown, recorded.redact(text)]).toEqual(Array(2).fill('No [key 1] here.'))
    expect(judged.request.credentials).toMatchObject({ kind: 'sent', key: 'key 1' })
  })

  it('does not judge other paths, but knows that they may change something', () => {
    const { witness, told, noted } = open()
    witness.take(passed('1', { base: '/other' }))
    witness.take(passed('2'))
    witness.take(passed('3', { base: '/other', method: 'POST' }))
    witness.take(passed('4'))
    expect([told, witness.sightings.foreign]).toEqual([['2', 'forget', '4'], 2])
    expect(noted).toEqual([false, true, false, true])
  })
})

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { readChoices } from '../../../src/contract/choices.ts'
import { elapsed } from '../../../src/ground/clock.ts'
import type { ServerOptions } from '../../../src/start/options.ts'
import { findReached } from '../../../src/trials/vary/counterfactual.ts'
import type { Recording } from '../../../src/trials/vary/recording.ts'
import { replay } from '../../../src/trials/vary/replay.ts'
import { askControl } from '../../support/control-plane.ts'
import type { TestService } from '../../support/service.ts'
import { AUTHORIZED, chunked, exchangeAsIs, JSON_BODY } from '../../support/wire.ts'
import { optionsOf, record } from './recorded-service.ts'
import { only } from './varied-client.ts'

type Ask = (service: TestService) => Promise<unknown>

const admin = (service: TestService, method: string, path: string, body?: unknown) =>
  askControl(service, method, `/accounts/default${path}`, body)
const addRule =
  (rule: object): Ask =>
  (service) =>
    admin(service, 'POST', '/faults', rule)
const list: Ask = (service) => service.get('/domains')
const add: Ask = (service) => service.send('POST', '/domains', { domains: ['b.example'] })
const fetchAs = (service: TestService, path: string, init: RequestInit & { key?: string }) =>
  fetch(service.baseUrl + path, {
    ...init,
    headers: { ...(init.key && { authorization: `Bearer ${init.key}` }), ...init.headers },
  }).then(
    (response) => response.text(),
    () => undefined,
  )

const inTurn =
  (...all: Ask[]): Ask =>
  async (service) => {
    for (const ask of all) await ask(service)
  }

const SITUATIONS: [what: string, ask: Ask, options?: ServerOptions][] = [
  ['a delayed response', inTurn(addRule({ delay_ms: 20_000, times: 0 }), list)],
  [
    'a request that asks for a delay',
    (service) => fetchAs(service, '/domains', { key: KEY, headers: { prefer: 'delay=300' } }),
  ],
  [
    'a request that asks for an error',
    (service) => fetchAs(service, '/domains', { key: KEY, headers: { prefer: 'code=not_found' } }),
  ],
  ['a lost response', inTurn(addRule({ phase: 'after', connection: 'reset', times: 1 }), quietly(add), list, list)],
  ['an empty response', inTurn(addRule({ connection: 'empty', times: 1 }), quietly(list), list)],
  ['half a response', inTurn(addRule({ connection: 'truncate', times: 1 }), quietly(list), list)],
  ['a corrupted response', inTurn(addRule({ corrupt: 'malformed-json', times: 1 }), quietly(list), list)],
  [
    'an injected error with a probability',
    inTurn(addRule({ respond: { error: 'rate_limited' }, probability: 0.5 }), ...repeat(quietly(list), 8)),
  ],
  [
    'a domain that asks for an error',
    (service) => service.send('POST', '/domains', { domains: ['fail-duplicate_name.understudy.test'] }),
  ],
  [
    'a chunked body',
    (service) =>
      exchangeAsIs(service, {
        method: 'POST',
        target: '/api/v1/domains',
        headers: [AUTHORIZED, JSON_BODY, ['Transfer-Encoding', 'chunked']],
        body: chunked('{"domains":["c.example"]}'),
      }),
  ],
  [
    'a body that is refused unread',
    (service) =>
      fetchAs(service, '/domains', {
        method: 'POST',
        body: '{"domains":["c.example"]}',
        headers: { 'content-type': 'application/json' },
      }),
  ],
  ['a body that is too large', (service) => service.send('POST', '/domains', `{"domains":["${'x'.repeat(1 << 20)}"]}`)],
  [
    'a body that is not UTF-8',
    (service) => service.send('POST', '/domaingroups', Buffer.from('{"name":"Caf\u00e9"}', 'latin1')),
  ],
  ['HEAD', (service) => fetchAs(service, '/domains', { method: 'HEAD', key: KEY })],
  [
    'a wrong method and an unknown path',
    inTurn(
      (service) => fetchAs(service, '/domains', { method: 'PUT' }),
      (service) => fetchAs(service, '/nowhere', {}),
    ),
  ],
  ['what is not HTTP', inTurn(list, (service) => service.sendRaw('NONSENSE\r\n\r\n'), list)],
  [
    'a header that is too long',
    (service) => service.sendRaw(`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`),
  ],
  ['HTTP/1.0', (service) => service.sendRaw('GET /api/v1/domains HTTP/1.0\r\n\r\n')],
  ['a request without Host', (service) => service.sendRaw('GET /api/v1/domains HTTP/1.1\r\nConnection: close\r\n\r\n')],
  ['a sandbox', (service) => fetchAs(service, '/domains', { key: 'sandbox_replay' })],
  ['requests at the same time', (service) => Promise.all(repeat(add, 5).map((ask) => quietly(ask)(service)))],
  ['an exhausted quota', inTurn(...repeat((service) => service.get('/dmarc'), 12))],
  ['an hour that passes', inTurn(list, async (service) => service.advance(3_600_000), list)],
  ['a clock that is moved', inTurn(list, (service) => admin(service, 'PATCH', '/clock', { advance: 'P1D' }), list)],
  [
    'a frozen clock',
    inTurn(
      (service) => admin(service, 'PATCH', '/clock', { frozen: true }),
      list,
      async (service) => service.advance(5_000),
      list,
    ),
  ],
  [
    'a quota that is set',
    inTurn(list, (service) => admin(service, 'PATCH', '/quotas', { bucket: 'domains', remaining: 0 }), quietly(list)),
  ],
  ['a reset', inTurn(add, (service) => admin(service, 'POST', '/reset', {}), add)],
  [
    'a snapshot that is restored',
    inTurn(
      (service) => admin(service, 'POST', '/snapshots', { name: 'a' }),
      add,
      (service) => admin(service, 'POST', '/snapshots/a/restore'),
      add,
    ),
  ],
  [
    'an account of its own that is deleted',
    async (service) => {
      const { data } = await askControl(service, 'POST', '/accounts', { id: 'own', fixture: 'demo' })
      await fetchAs(service, '/domains', { key: data.api_key })
      await askControl(service, 'DELETE', '/accounts/own')
      await fetchAs(service, '/domains', { key: data.api_key })
    },
  ],
  [
    'a disabled key',
    async (service) => {
      const { data } = await admin(service, 'POST', '/keys', { label: 'old' })
      await admin(service, 'PATCH', `/keys/${data.key.id}`, { disabled: true })
      await fetchAs(service, '/domains', { key: data.api_key })
    },
  ],
  [
    'a page of another origin',
    (service) => fetchAs(service, '/domains', { key: KEY, headers: { origin: 'https://app.example' } }),
    { cors: ['*'] },
  ],
]

const KEY = 'key_TestKey1.000000000000000000000000000000000000000000000000'

function repeat(ask: Ask, times: number): Ask[] {
  return Array.from({ length: times }, () => ask)
}

/** The client is not held to what it gets. */
function quietly(ask: Ask): Ask {
  return (service) => ask(service).catch(() => undefined)
}

async function reachedBy(recording: Recording, options: ServerOptions | undefined, ...names: string[]) {
  return findReached({ server: optionsOf(options), choices: only(...names), recordings: [recording] })
}

describe('a run is answered again as it was, with', () => {
  it.each(SITUATIONS)('%s', async (_, ask, options) => {
    const recording = await record({ fixture: { domains: ['a.example'] }, ...options }, ask)
    expect(recording.requests.length).toBeGreaterThan(0)
    const began = elapsed()
    // None of the situations is about the members of groups.
    const { unanswerable, reached } = await reachedBy(recording, options, 'member-order', 'member-cap')
    expect({ unanswerable, reached: reached.length }).toEqual({ unanswerable: 0, reached: 0 })
    expect(elapsed() - began).toBeLessThan(10_000)
  })
})

describe('when nobody wants to know more', () => {
  it('nothing is sent any more, although requests are left', async () => {
    const { requests } = await record(undefined, inTurn(list, list, list))
    const { contract } = only('member-order')
    const recounted = new Set<(typeof requests)[number]>()
    await replay({ server: optionsOf(), contract, requests, recounted, isOwn: true, onAnswer: () => false })
    let opened = 0
    const count = () => void opened++
    subscribe('net.client.socket', count)
    await pause(100)
    unsubscribe('net.client.socket', count)
    expect(opened).toBe(0)
  })
})

describe('a request that cannot be answered again', () => {
  it('counts as reached by every alternative', async () => {
    const recording = await record(undefined, list)
    const [request] = recording.requests
    if (request === undefined) throw new Error('There is no request.')
    const late = { ...request.entry, headers: [], problems: [{ code: 'invalid_request_body', reason: 'timeout' }] }
    const changed = { ...recording, requests: [{ ...request, entry: late }] }
    const found = await reachedBy(changed, undefined, 'status-timeout', 'member-order')
    expect(found).toMatchObject({ unanswerable: 1, unfit: [] })
    expect(found.reached.map(({ alternative }) => alternative.id)).toEqual(['member-order', 'status-timeout'])
  })

  it('is none of the requests beyond those that are recorded, so all alternatives are tried', async () => {
    const recording = await record(undefined, list)
    const { reached } = await reachedBy({ ...recording, isCut: true }, undefined, 'member-order')
    expect(reached).toHaveLength(1)
  })
})

describe('what is counted', () => {
  const twoKeys: Ask = async (service) => {
    const { data } = await admin(service, 'POST', '/keys', { label: 'second' })
    await list(service)
    await fetchAs(service, '/domains', { key: data.api_key })
  }

  it('is counted anew for each alternative, so that only a client with two keys notices what is counted for the account', async () => {
    const one = await record(undefined, inTurn(list, list))
    expect((await reachedBy(one, undefined, 'quota-scope')).reached).toEqual([])
    const two = await record(undefined, twoKeys)
    expect((await reachedBy(two, undefined, 'quota-scope')).reached).toHaveLength(1)
  })

  it('is taken back again where refused requests cost nothing', async () => {
    const [alternative] = only('charged-requests').alternatives
    const chosen = await readChoices(alternative === undefined ? [] : [alternative.overlay])
    const refused: Ask = (service) => service.send('POST', '/domains', {})
    const recording = await record(undefined, inTurn(list, refused, list, refused, list), chosen.contract)
    const choices = { ...chosen, alternatives: chosen.alternatives.filter(({ id }) => id === 'quota-scope') }
    const found = await findReached({ server: optionsOf(), choices, recordings: [recording] })
    expect(found).toMatchObject({ unanswerable: 0, reached: [] })
  })
})

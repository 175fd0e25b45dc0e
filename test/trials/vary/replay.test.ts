import { describe, expect, it } from 'vitest'
import { readChoices } from '../../../src/contract/choices.ts'
import type { ServerOptions } from '../../../src/server/options.ts'
import { findReached } from '../../../src/trials/vary/counterfactual.ts'
import type { Recording } from '../../../src/trials/vary/recording.ts'
import { askControl } from '../../support/control-plane.ts'
import { API_KEY, type TestService } from '../../support/service.ts'
import { AUTHORIZED, chunked, exchangeAsIs, JSON_BODY } from '../../support/wire.ts'
import { optionsOf, record } from './recorded-service.ts'
import { only } from './varied-client.ts'

type Ask = (service: TestService) => Promise<unknown>

const list: Ask = (service) => service.get('/domains')
const listDmarc: Ask = (service) => service.get('/dmarc')
const add: Ask = (service) => service.send('POST', '/domains', { domains: ['b.example'] })
const control =
  (method: string, path: string, body?: unknown): Ask =>
  (service) =>
    askControl(service, method, `/accounts/default${path}`, body)
const raw =
  (...lines: string[]): Ask =>
  (service) =>
    service.sendRaw([...lines, '', ''].join('\r\n'))
const passes =
  (milliseconds: number): Ask =>
  async (service) =>
    service.advance(milliseconds)
/** Not held to what it gets; without a key unless one is given. */
const fetches =
  (path: string, init: RequestInit = {}, key?: string): Ask =>
  (service) => {
    const headers = { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...init.headers }
    return fetch(service.baseUrl + path, { ...init, headers }).then(
      (response) => response.text(),
      () => undefined,
    )
  }
const posts =
  (path: string, body: unknown): Ask =>
  (service) =>
    service.send('POST', path, body)
const inTurn =
  (...all: Ask[]): Ask =>
  async (service) => {
    for (const ask of all) await ask(service)
  }
/** The client is not held to what it gets. */
const quietly =
  (ask: Ask): Ask =>
  (service) =>
    ask(service).catch(() => undefined)
const struck = (rule: object, ask: Ask, ...more: Ask[]) =>
  inTurn(control('POST', '/faults', { times: 1, ...rule }), quietly(ask), ...more)

const CHUNKED = {
  method: 'POST',
  target: '/api/v1/domains',
  headers: [AUTHORIZED, JSON_BODY, ['Transfer-Encoding', 'chunked']] as const,
  body: chunked('{"domains":["c.example"]}'),
}
const SITUATIONS: [what: string, ask: Ask, options?: ServerOptions][] = [
  ['a delayed response', struck({ delay_ms: 20_000, times: 0 }, list)],
  ['a request that asks for a delay', fetches('/domains', { headers: { prefer: 'delay=300' } }, API_KEY)],
  ['a lost response', struck({ phase: 'after', connection: 'reset' }, add, list, list)],
  ['half a response', struck({ connection: 'truncate' }, list, list)],
  ['a corrupted response', struck({ corrupt: 'malformed-json' }, list, list)],
  [
    'an injected error with a probability',
    struck({ respond: { error: 'rate_limited' }, probability: 0.5, times: 8 }, list, ...repeat(quietly(list), 7)),
  ],
  ['a domain that asks for an error', posts('/domains', { domains: ['fail-duplicate_name.understudy.test'] })],
  ['a chunked body', (service) => exchangeAsIs(service, CHUNKED)],
  ['a body that is too large', posts('/domains', `{"domains":["${'x'.repeat(1 << 20)}"]}`)],
  ['a body that is not UTF-8', posts('/domaingroups', Buffer.from('{"name":"Caf\u00e9"}', 'latin1'))],
  ['HEAD', fetches('/domains', { method: 'HEAD' }, API_KEY)],
  ['a wrong method and an unknown path', inTurn(fetches('/domains', { method: 'PUT' }), fetches('/nowhere'))],
  ['what is not HTTP', inTurn(list, raw('NONSENSE'), list)],
  ['a header that is too long', raw('GET / HTTP/1.1', 'Host: localhost', `X: ${'x'.repeat(100_000)}`)],
  ['a request without Host', raw('GET /api/v1/domains HTTP/1.1', 'Connection: close')],
  ['a sandbox', fetches('/domains', {}, 'sandbox_replay')],
  ['requests at the same time', (service) => Promise.all(repeat(add, 5).map((ask) => quietly(ask)(service)))],
  ['an exhausted quota', inTurn(...repeat(listDmarc, 12))],
  ['a clock that is moved', inTurn(list, control('PATCH', '/clock', { advance: 'P1D' }), list)],
  ['a frozen clock', inTurn(control('PATCH', '/clock', { frozen: true }), list, passes(5_000), list)],
  [
    'a quota that is set',
    inTurn(list, control('PATCH', '/quotas', { bucket: 'domains', remaining: 0 }), quietly(list)),
  ],
  ['a quota that a fault uses up', struck({ event: 'quota-used-up' }, listDmarc, quietly(listDmarc), list)],
  ['a reset', inTurn(add, control('POST', '/reset', {}), add)],
  [
    'a snapshot that is restored',
    inTurn(control('POST', '/snapshots', { name: 'a' }), add, control('POST', '/snapshots/a/restore'), add),
  ],
  [
    'an account of its own that is deleted',
    async (service) => {
      const { data } = await askControl(service, 'POST', '/accounts', { id: 'own', fixture: 'demo' })
      await fetches('/domains', {}, data.api_key)(service)
      await askControl(service, 'DELETE', '/accounts/own')
      await fetches('/domains', {}, data.api_key)(service)
    },
  ],
  [
    'a disabled key',
    async (service) => {
      const { data } = await askControl(service, 'POST', '/accounts/default/keys', { label: 'old' })
      await control('PATCH', `/keys/${data.key.id}`, { disabled: true })(service)
      await fetches('/domains', {}, data.api_key)(service)
    },
  ],
  [
    'a page of another origin',
    fetches('/domains', { headers: { origin: 'https://app.example' } }, API_KEY),
    { cors: ['*'] },
  ],
]

function repeat(ask: Ask, times: number): Ask[] {
  return Array.from({ length: times }, () => ask)
}

async function reachedBy(recording: Recording, options: ServerOptions | undefined, ...names: string[]) {
  return findReached({ server: optionsOf(options), choices: only(...names), recordings: [recording] })
}

describe('a run is answered again as it was, with', () => {
  it.each(SITUATIONS)('%s', async (_, ask, options) => {
    const recording = await record({ fixture: { domains: ['a.example'] }, ...options }, ask)
    expect(recording.requests.length).toBeGreaterThan(0)
    // None of the situations is about the members of groups.
    const { unanswerable, reached } = await reachedBy(recording, options, 'shared-domains', 'deletion-of-members')
    expect({ unanswerable, reached: reached.length }).toEqual({ unanswerable: 0, reached: 0 })
  })
})

describe('a request that cannot be answered again', () => {
  it('counts as reached by every alternative', async () => {
    const recording = await record(undefined, list)
    const [request] = recording.requests
    if (request === undefined) throw new Error('There is no request.')
    const late = { ...request.entry, headers: [], problems: [{ code: 'invalid_request_body', reason: 'timeout' }] }
    const changed = { ...recording, requests: [{ ...request, entry: late }] }
    const found = await reachedBy(changed, undefined, 'quota-scope', 'routing')
    expect(found).toMatchObject({ unanswerable: 1, undecided: [] })
    expect(found.reached.map(({ alternative }) => alternative.id)).toEqual(['routing', 'quota-scope'])
  })
})

describe('what is counted', () => {
  const twoKeys: Ask = async (service) => {
    const { data } = await askControl(service, 'POST', '/accounts/default/keys', { label: 'second' })
    await list(service)
    await fetches('/domains', {}, data.api_key)(service)
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

import { describe, expect } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import type { ServerOptions } from '../../src/server/options.ts'
import { startUnderstudy } from '../../src/server/understudy.ts'
import { ACCOUNT } from '../support/account.ts'
import { contractWith } from '../support/alternatives.ts'
import { it } from '../support/example-service.ts'
import { startObserved } from '../support/observed-service.ts'
import { startService } from '../support/service.ts'
import {
  AUTHORIZED,
  exchange,
  exchangeAsIs,
  type Header,
  headerOf,
  type WireRequest,
  type WireResponse,
} from '../support/wire.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const DOMAINS = '/api/v1/domains'
const APP = 'http://localhost:5173'
const OTHER = 'https://other.example'
const FROM_APP: Header = ['Origin', APP]
const EXPOSED =
  'X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, WWW-Authenticate, Retry-After'

function preflight(target: string, origin: string, asked: string | undefined = 'authorization'): WireRequest {
  const headers: Header[] = [
    ['Origin', origin],
    ['Access-Control-Request-Method', 'POST'],
    ...(asked === '' ? [] : [['Access-Control-Request-Headers', asked] as const]),
  ]
  return { method: 'OPTIONS', target, headers }
}

/** The header fields of a response that concern pages of other origins. */
function corsOf({ headers }: WireResponse): Record<string, string> {
  return Object.fromEntries(headers.filter(([name]) => /^(access-control-|vary$)/i.test(name)))
}

const TO_ALL = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED }
const TO_APP = {
  'Access-Control-Allow-Origin': APP,
  Vary: 'Origin',
  'Access-Control-Expose-Headers': EXPOSED,
}
const TO_NOBODY = { Vary: 'Origin' }

describe('With CORS for any origin', () => {
  const options: ServerOptions = { cors: ['*'], fixture: ACCOUNT }

  it.for<[status: number, what: string, request: WireRequest]>([
    [200, 'GET', { target: DOMAINS, headers: [AUTHORIZED, FROM_APP] }],
    [401, 'no key', { target: DOMAINS, headers: [FROM_APP] }],
    [405, 'OPTIONS without an Origin', { method: 'OPTIONS', target: DOMAINS, headers: [] }],
    [503, 'an injected response', { target: DOMAINS, headers: [AUTHORIZED, FROM_APP, ['Prefer', 'code=503']] }],
  ])('every page may read the response, on %i for %s', async ([status, , request]) => {
    const service = await startService(options)
    const response = await exchangeAsIs(service, request)
    expect([response.status, corsOf(response)]).toEqual([status, TO_ALL])
  })

  it.each<[path: string, methods: string]>([
    ['/dmarc', 'GET, HEAD'],
    ['/domaingroups?id=x', 'GET, HEAD, POST, DELETE, PATCH'],
  ])('a preflight request to %s is answered 204 with its methods', async (path, methods) => {
    const service = await startService(options)
    const response = await exchangeAsIs(service, preflight(`/api/v1${path}`, APP))
    expect([response.status, response.text]).toEqual([204, ''])
    expect(corsOf(response)).toEqual({
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': methods,
      'Access-Control-Allow-Headers': 'authorization',
      'Access-Control-Max-Age': '600',
      Vary: 'Access-Control-Request-Headers',
    })
    expect(headerOf(response, 'X-Request-Id')).toMatch(UUID)
    const others = response.headers.map(([name]) => name).filter((name) => !/^(?:Access-Control-|Vary)/.test(name))
    expect(others).toEqual(['Date', 'X-Request-Id', 'Connection'])
  })

  it('the control plane stays closed to every page', async () => {
    const service = await startService(options)
    expect((await exchangeAsIs(service, { target: '/__admin/accounts', headers: [FROM_APP] })).status).toBe(403)
  })

  it('a preflight request needs no key and costs no quota', async () => {
    const service = await startService(options)
    for (let sent = 0; sent < 40; sent++)
      expect((await exchangeAsIs(service, preflight(DOMAINS, APP))).status).toBe(204)
    const response = await exchange(service, { target: DOMAINS, headers: [AUTHORIZED, FROM_APP] })
    expect([response.status, headerOf(response, 'X-RateLimit-Remaining')]).toEqual([200, '29'])
  })

  it('a preflight request is in the journal, violates nothing, leaves the verdict open, and is explained', async () => {
    const service = await startObserved(options)
    await exchangeAsIs(service, preflight(DOMAINS, APP))
    const entry = await service.latest()
    expect(entry).toMatchObject({ method: 'OPTIONS', status: 204, operation: null, account: null, problems: [] })
    expect(entry.response).toMatchObject({ body: '', headers: { 'access-control-allow-origin': '*' } })
    expect((await service.ask('GET', '/requests?violation=true')).data.count).toBe(0)
    const { data } = await service.ask('GET', '/verdict')
    expect(data).toMatchObject({ passed: false, requests: 1, judged: 0, violations: { count: 0 } })
    expect(await service.explain()).toMatchObject({
      summary: 'A browser asked what pages of another origin may send. That needs no key and costs no quota.',
      documented: false,
      assumptions: [],
      correction: null,
    })
  })
})

describe('With CORS for certain origins', () => {
  const options: ServerOptions = { cors: [APP, 'http://127.0.0.1:8080'] }

  it.each<[origin: string | undefined, fields: object]>([
    [APP, TO_APP],
    [OTHER, TO_NOBODY],
    [`${APP}.evil.example`, TO_NOBODY],
    [undefined, TO_NOBODY],
  ])('a page of %s gets what is meant for it', async (origin, fields) => {
    const service = await startService(options)
    const headers: Header[] = [AUTHORIZED, ...(origin === undefined ? [] : [['Origin', origin] as const])]
    const response = await exchange(service, { target: DOMAINS, headers })
    expect([response.status, corsOf(response)]).toEqual([200, fields])
  })

  const TOKEN = 'x'.repeat(100)
  it.for<[what: string, asked: string, isAllowed: boolean]>([
    ['what a client sends', 'authorization,content-type,prefer,x-request-id', true],
    ['every character of a name', "!#$%&'*+-.^_`|~09az", true],
    ['nothing', '', false],
    ['a list that is too long', Array(50).fill(TOKEN).join(','), false],
    ['no name', 'authorization,,prefer', false],
  ])('a page may send what its preflight asks for, if these are names of fields: %s', async ([, asked, isAllowed]) => {
    const service = await startService(options)
    const allowed = async (origin: string) =>
      headerOf(await exchangeAsIs(service, preflight(DOMAINS, origin, asked)), 'Access-Control-Allow-Headers')
    expect([await allowed(APP), await allowed(OTHER)]).toEqual([isAllowed ? asked : undefined, undefined])
  })
})

it.for(['localhost:5173', 'http://localhost:5173/', 'http://LOCALHOST', '', 'null'])(
  'The option refuses %j, which is no origin',
  async (wrong) => {
    await expect(startUnderstudy({ cors: [wrong] })).rejects.toThrow('must be an origin such as http://localhost:5173')
  },
)

it('A preflight shows no quota, also where every other response does', async () => {
  const contract = await contractWith('quota-headers-2')
  const service = await startService({ cors: [APP] }, OPERATIONS, { contract })
  const response = await exchangeAsIs(service, preflight(DOMAINS, APP))
  expect([response.status, headerOf(response, 'X-RateLimit-Limit')]).toEqual([204, undefined])
})

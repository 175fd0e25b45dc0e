import { describe, expect } from 'vitest'
import { UsageError } from '../../src/cli/errors.ts'
import { readOptions } from '../../src/cli/options.ts'
import { OptionError } from '../../src/start/option-error.ts'
import { COMMAND_LINE_OPTIONS } from '../../src/start/option-table.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { startUnderstudy } from '../../src/start/server.ts'
import { ACCOUNT } from '../support/account.ts'
import { actionsFor } from '../support/alternatives.ts'
import { it } from '../support/example-service.ts'
import { startObserved } from '../support/observed-service.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  AUTHORIZED,
  bodyOf,
  Connection,
  exchange,
  exchangeAsIs,
  type Header,
  headerOf,
  JSON_BODY,
  requestBytes,
  type WireRequest,
  type WireResponse,
} from '../support/wire.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const DOMAINS = '/api/v1/domains'
const APP = 'http://localhost:5173'
const OTHER = 'https://other.example'
const FROM_APP: Header = ['Origin', APP]
const FROM_FORM: Header[] = [AUTHORIZED, JSON_BODY, FROM_APP]
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

describe('Without CORS', () => {
  it('no response says anything about origins, and OPTIONS is a wrong method', async ({ empty }) => {
    const read = await exchange(empty, { target: DOMAINS, headers: [AUTHORIZED, FROM_APP] })
    expect([read.status, corsOf(read)]).toEqual([200, {}])
    const asked = await exchange(empty, preflight(DOMAINS, APP))
    expect([asked.status, corsOf(asked)]).toEqual([405, {}])
  })
})

describe('With CORS for any origin', () => {
  const options: ServerOptions = { cors: ['*'], fixture: ACCOUNT }

  it.for<[status: number, what: string, request: WireRequest]>([
    [200, 'GET', { target: DOMAINS, headers: [AUTHORIZED, FROM_APP] }],
    [200, 'GET without an Origin', { target: DOMAINS }],
    [200, 'HEAD', { method: 'HEAD', target: DOMAINS, headers: [AUTHORIZED, FROM_APP] }],
    [400, 'no id', { method: 'DELETE', target: '/api/v1/domaingroups', headers: [AUTHORIZED, FROM_APP] }],
    [401, 'no key', { target: DOMAINS, headers: [FROM_APP] }],
    [404, 'an unknown path', { target: '/nothing', headers: [FROM_APP] }],
    [405, 'a wrong method', { method: 'PUT', target: DOMAINS, headers: [AUTHORIZED, FROM_APP] }],
    [405, 'OPTIONS without an Origin', { method: 'OPTIONS', target: DOMAINS, headers: [] }],
    [405, 'OPTIONS that asks for nothing', { method: 'OPTIONS', target: DOMAINS, headers: [FROM_APP] }],
    [404, 'a preflight request to an unknown path', preflight('/nothing', APP)],
    [413, 'a large body', { method: 'POST', target: DOMAINS, headers: FROM_FORM, body: ' '.repeat(1_048_577) }],
    [503, 'an injected response', { target: DOMAINS, headers: [AUTHORIZED, FROM_APP, ['Prefer', 'code=503']] }],
  ])('every page may read the response, on %i for %s', async ([status, , request]) => {
    const service = await startService(options)
    const response = await exchangeAsIs(service, request)
    expect([response.status, corsOf(response)]).toEqual([status, TO_ALL])
  })

  it('the header of a response is the same otherwise', async () => {
    const [plain, open] = await Promise.all([startService({ fixture: ACCOUNT }), startService(options)])
    const request = { target: DOMAINS, headers: [AUTHORIZED, FROM_APP] }
    const [before, after] = [await exchange(plain, request), await exchange(open, request)]
    expect(after.headers.filter(([name]) => !name.startsWith('Access-Control-'))).toEqual(before.headers)
    expect(after.text).toBe(before.text)
  })

  it.each<[path: string, methods: string]>([
    ['/dmarc', 'GET, HEAD'],
    ['/domains', 'GET, HEAD, POST, DELETE'],
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

  it('a preflight request needs no key and costs no quota, and the connection goes on', async () => {
    const service = await startService(options)
    const connection = await Connection.open(service)
    for (let sent = 0; sent < 40; sent++) {
      await connection.write(requestBytes(preflight(DOMAINS, APP)))
      expect((await connection.next()).status).toBe(204)
    }
    await connection.write(requestBytes({ target: DOMAINS, headers: [AUTHORIZED, FROM_APP] }))
    const response = await connection.next()
    expect([response.status, headerOf(response, 'X-RateLimit-Remaining')]).toEqual([200, '29'])
    await connection.destroy()
  })

  it('a preflight request meets no fault', async () => {
    const service = await startObserved(options)
    await service.ask('POST', '/accounts/default/faults', { connection: 'reset' })
    expect((await exchangeAsIs(service, preflight(DOMAINS, APP))).status).toBe(204)
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
      assumptions: [{ id: 'cors' }],
      correction: null,
    })
  })

  it('a preflight request needs no key where others need it before their path is looked at', async () => {
    const overlays = [writeOverlay(temporaryFolder(), actionsFor('routing-1'))]
    const service = await startService({ ...options, overlays })
    expect((await exchangeAsIs(service, preflight(DOMAINS, APP))).status).toBe(204)
  })
})

describe('With CORS for certain origins', () => {
  const options: ServerOptions = { cors: [APP, 'http://127.0.0.1:8080'] }

  it.each<[origin: string | undefined, fields: object]>([
    [APP, TO_APP],
    ['http://127.0.0.1:8080', { ...TO_APP, 'Access-Control-Allow-Origin': 'http://127.0.0.1:8080' }],
    [OTHER, TO_NOBODY],
    ['null', TO_NOBODY],
    ['__proto__', TO_NOBODY],
    [`${APP}.evil.example`, TO_NOBODY],
    [undefined, TO_NOBODY],
  ])('a page of %s gets what is meant for it', async (origin, fields) => {
    const service = await startService(options)
    const headers: Header[] = [AUTHORIZED, ...(origin === undefined ? [] : [['Origin', origin] as const])]
    const response = await exchange(service, { target: DOMAINS, headers })
    expect([response.status, corsOf(response)]).toEqual([200, fields])
  })

  it.for([
    [
      APP,
      {
        'Access-Control-Allow-Origin': APP,
        Vary: 'Origin, Access-Control-Request-Headers',
        'Access-Control-Allow-Methods': 'GET, HEAD, POST, DELETE',
        'Access-Control-Allow-Headers': 'authorization',
        'Access-Control-Max-Age': '600',
      },
    ],
    [OTHER, { Vary: 'Origin, Access-Control-Request-Headers' }],
  ] as const)('a preflight request from %s is told what that page may send', async ([origin, fields]) => {
    const service = await startService(options)
    const response = await exchangeAsIs(service, preflight(DOMAINS, origin))
    expect([response.status, corsOf(response)]).toEqual([204, fields])
  })

  const TOKEN = 'x'.repeat(100)
  it.for<[what: string, asked: string, isAllowed: boolean]>([
    ['what a client sends', 'authorization,content-type,prefer,x-request-id', true],
    ['traces', 'authorization,baggage,traceparent,tracestate', true],
    ['what libraries add', 'cache-control, x-requested-with', true],
    ['every character of a name', "!#$%&'*+-.^_`|~09az", true],
    ['a long list', Array(40).fill(TOKEN).join(','), true],
    ['nothing', '', false],
    ['a list that is too long', Array(50).fill(TOKEN).join(','), false],
    ['no name', 'authorization,,prefer', false],
    ['a name with a space', 'x y', false],
    ['a name with a colon', 'x:y', false],
    ['a name in quotes', '"x"', false],
  ])('a page may send what its preflight asks for, if these are names of fields: %s', async ([, asked, isAllowed]) => {
    const service = await startService(options)
    const allowed = async (origin: string) =>
      headerOf(await exchangeAsIs(service, preflight(DOMAINS, origin, asked)), 'Access-Control-Allow-Headers')
    expect([await allowed(APP), await allowed(OTHER)]).toEqual([isAllowed ? asked : undefined, undefined])
  })

  it('the choice of the user comes before that of the contract', async () => {
    const overlays = [writeOverlay(temporaryFolder(), actionsFor('cors-1'))]
    const service = await startService({ ...options, overlays })
    const response = await exchange(service, { target: DOMAINS, headers: [AUTHORIZED, ['Origin', OTHER]] })
    expect(corsOf(response)).toEqual(TO_NOBODY)
  })
})

describe('The control plane', () => {
  it.each([['*'], [OTHER]])('stays closed to pages of other origins with CORS for %s', async (allowed) => {
    const service = await startObserved({ cors: [allowed] })
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
      const headers: Header[] = [['Origin', OTHER], ...(preflight('', OTHER).headers ?? []).slice(1)]
      const response = await exchangeAsIs(service, { method, target: '/__admin/accounts/default', headers })
      expect([response.status, bodyOf(response)?.error?.code, corsOf(response)]).toEqual([403, 'forbidden', {}])
    }
  })

  it('stays closed to a page that made its own name point here', async () => {
    const service = await startObserved({ cors: ['*'] })
    const headers = 'Host: rebound.example\r\nConnection: close\r\n'
    expect(await service.sendRaw(`GET /__admin/accounts HTTP/1.1\r\n${headers}\r\n`)).toMatch(/^HTTP\/1\.1 403 /)
  })
})

describe('The option', () => {
  const REMEDY = 'must be an origin such as http://localhost:5173, or * for any'

  it.for<[args: string, origins: string[]]>([
    ['--cors --port 1', ['*']],
    [`--cors ${APP}`, [APP]],
    [`--cors ${APP} --cors ${OTHER}`, [APP, OTHER]],
    [`--cors=${APP} --cors`, [APP, '*']],
    ['--cors chrome-extension://abcdef', ['chrome-extension://abcdef']],
  ])('as the arguments %j allows %j', ([args, origins]) => {
    expect(readOptions(COMMAND_LINE_OPTIONS, args.split(' ').filter(Boolean), {}).values.cors).toEqual(origins)
  })

  const NO_ORIGINS = ['localhost:5173', 'http://localhost:5173/', 'http://localhost/app', 'http://LOCALHOST', '', 'any']
  it.each([...NO_ORIGINS, 'null'])('refuses %j, which is no origin', async (wrong) => {
    const read = () => readOptions(COMMAND_LINE_OPTIONS, [`--cors=${wrong}`], {})
    expect(read).toThrow(new UsageError(`--cors ${wrong === '' ? JSON.stringify(wrong) : wrong}: ${REMEDY}`))
    await expect(startUnderstudy({ cors: [wrong] })).rejects.toBeInstanceOf(OptionError)
  })
})

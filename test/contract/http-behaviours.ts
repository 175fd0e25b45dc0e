import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { countAnonymousIds } from '../../src/http/anonymous-ids.ts'
import { createMalformedReply } from '../../src/http/engine/malformed.ts'
import { SILENT } from '../../src/http/log.ts'
import { createMalformedRefusal } from '../../src/http/malformed-response.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { LOST, overMemory } from '../support/failing-store.ts'
import { API_KEY, type TestResponse, type TestService } from '../support/service.ts'
import { exchange, type Header, JSON_BODY } from '../support/wire.ts'
import type { Behaviour } from './behaviours.ts'
import {
  add,
  answers,
  ask,
  askAs,
  askUndocumented,
  change,
  create,
  exhaust,
  GROUPS,
  header,
  LIST,
  NONSENSE,
  outcome,
  outcomes,
  remaining,
  responseIn,
  sendBytes,
  shows,
} from './service-requests.ts'

const DISABLED_KEY = 'key_Disabled.111111111111111111111111111111111111111111111111'
const ONE_AND_TWO = { fixture: { groups: [{ name: 'One' }, { name: 'Two' }] } } satisfies ServerOptions
const WITH_DISABLED_KEY: ServerOptions = {
  fixture: { keys: [{ key: DISABLED_KEY, created_at: '2025-01-01T00:00:00Z', disabled: true }] },
}
const LOST_STORE: ServerOptions = {
  // A new one for each service, which closes it.
  get store() {
    return overMemory(() => ({ update: () => Promise.reject(LOST) }))
  },
}
const ORIGIN = { origin: 'http://localhost:5173' }
const ALLOWED = 'GET, HEAD, POST, DELETE'
const NO_BODY = '400 invalid_request_body'
const NO_JSON = '400 invalid_json'
const NO_KEY = '401 unauthorized'
const NOWHERE = '404 not_found'
const NO_METHOD = '405 not_found'
const LARGE_HEADER = sendBytes(`GET /api/v1/domains HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(65_536)}\r\n\r\n`)

/** Creates a group with the text of a body. */
const createWith = (body: string) => ask('POST /domaingroups', body)
const createIn = (charset: string, body: string, encoding: BufferEncoding = 'utf8') =>
  ask('POST /domaingroups', Buffer.from(body, encoding), { 'content-type': `application/json; charset=${charset}` })

/** What a client is answered that Node reports as too slow. Nobody waits for that here. */
async function answerToSlowRequest({ contract }: TestService): Promise<TestResponse> {
  const refuse = createMalformedReply(
    createMalformedRefusal(contract, countAnonymousIds(42, contract.requestIds), SILENT),
  )
  const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
  const server = createServer((socket) => refuse(late, socket, undefined)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const chunks: Buffer[] = []
  for await (const chunk of connect(port, '127.0.0.1')) chunks.push(chunk)
  server.close()
  return responseIn(Buffer.concat(chunks).toString())
}

/** Reads the domains after so many requests that say too little. */
async function listAfterRefusals(service: TestService): Promise<TestResponse> {
  for (let sent = 0; sent < 40; sent++) await service.send('POST', '/domains', {})
  return LIST(service)
}

/** What alternatives about HTTP, headers and quotas show. */
export const HTTP_BEHAVIOURS: readonly Behaviour[] = [
  answers('request-charset', {}, [
    [createIn('latin1', '{"name":"One"}'), NO_BODY, '200 One', '200 One'],
    [createIn('ISO-8859-1', '{"name":"Caf\u00e9"}', 'latin1'), NO_BODY, NO_JSON, '200 Café'],
    [createIn('utf-16le', '{"name":"Two"}', 'utf16le'), NO_BODY, NO_JSON, '200 Two'],
    [createIn('nonsense', '{"name":"Three"}'), NO_BODY, '200 Three', NO_BODY],
    [createIn('utf-8', '{"name":"Caf\u00e9"}', 'latin1'), NO_JSON],
  ]),
  answers('byte-order-mark', {}, [
    [createWith('\ufeff{"name":"One"}'), '400 invalid_json', '200 One'],
    [createWith('{"name":"\ufeffTwo"}'), '200 \ufeffTwo'],
    [createWith('\ufeff'), '400 invalid_json'],
  ]),
  answers('duplicate-fields', {}, [
    [createWith('{"name":"One","name":"Two"}'), '200 Two', '400 invalid_json'],
    [createWith(String.raw`{"name":"One","n\u0061me":"Two"}`), '409 duplicate_name', '400 invalid_json'],
    [createWith('{"name":"\\"name\\":","domains":[]}'), '200 "name":'],
  ]),
  outcomes('ignored-body', ONE_AND_TWO, [
    [ask('GET /dmarc', ''), '200'],
    [ask('GET /dmarc', 'nonsense'), '200', '400 invalid_request_body'],
    [ask('GET /domaingroups', {}), '200', '400 invalid_request_body'],
    [ask('DELETE /domaingroups?id={group}', {}), '200', '400 invalid_request_body'],
  ]),
  answers('empty-parameters', ONE_AND_TWO, [
    [ask('GET /domaingroups?id='), '404 not_found', '200 One, Two'],
    [ask('PATCH /domaingroups?id=', { name: 'X' }), '400 missing_id'],
    [ask('DELETE /domaingroups?id='), '400 missing_id'],
  ]),
  answers('repeated-id', ONE_AND_TWO, [
    [ask('GET /domaingroups?id={group}&id={other}'), '200 One', '200 Two', '400 invalid_field_type'],
    [ask('PATCH /domaingroups?id={group}&id={other}', { name: 'X' }), '200 X', '200 X', '400 invalid_field_type'],
    [ask('DELETE /domaingroups?id={group}&id={other}'), '200', '200', '400 invalid_field_type'],
    [GROUPS, '200 Two', '200 One', '200 One, Two'],
  ]),
  remaining('quota-headers', WITH_DISABLED_KEY, [
    [GROUPS, '200 99'],
    [createWith(''), `${NO_BODY} 98`, `${NO_BODY} 98`, `${NO_BODY} 98`, `${NO_BODY} -`],
    [askAs(null), `${NO_KEY} -`, `${NO_KEY} -`, `${NO_KEY} 30`, `${NO_KEY} -`],
    [askAs(`Bearer ${DISABLED_KEY}`), `${NO_KEY} -`, `${NO_KEY} -`, `${NO_KEY} 30`, `${NO_KEY} -`],
    [ask('GET /domaingroups?id=none'), `${NOWHERE} 97`, `${NOWHERE} 97`, `${NOWHERE} 97`, `${NOWHERE} -`],
    [ask('GET /nowhere'), '404 not_found -'],
    [ask('PUT /domaingroups'), `${NO_METHOD} -`, `${NO_METHOD} 97`, `${NO_METHOD} 97`, `${NO_METHOD} -`],
    [askAs(null, 'PUT /domaingroups'), `${NO_METHOD} -`, `${NO_METHOD} -`, `${NO_METHOD} 100`, `${NO_METHOD} -`],
    [exhaust, '429 rate_limited 0'],
  ]),
  remaining('charged-requests', {}, [
    [ask('GET /domaingroups?id=none'), '404 not_found 99', '404 not_found 100'],
    [createWith(''), '400 invalid_request_body 98', '400 invalid_request_body 100'],
    [create('One'), '200 97', '200 99'],
    [create('One'), '409 duplicate_name 96', '409 duplicate_name 99'],
    [GROUPS, '200 95', '200 98'],
    [listAfterRefusals, '429 rate_limited 0', '200 29'],
  ]),
  outcomes('precedence', ONE_AND_TWO, [
    [ask('POST /domaingroups', { label: 'X' }), '400 unknown_field', '400 missing_field', '400 unknown_field'],
    [change({ name: 5, label: 'X' }), '400 unknown_field'],
    [ask('PATCH /domaingroups', ''), '400 missing_id', '400 missing_id', '400 invalid_request_body'],
    [ask('PATCH /domaingroups', '{'), '400 missing_id', '400 missing_id', '400 invalid_json'],
    [ask('PATCH /domaingroups', { label: 'X' }), '400 missing_id'],
  ]),
  // With the alternative, nothing comes back.
  outcomes('not-http', {}, [
    [NONSENSE, '400 invalid_request_body', '0'],
    [LARGE_HEADER, '431 request_too_large', '0'],
  ]),
  outcomes('status-large-header', {}, [
    [
      LARGE_HEADER,
      ...['431 request_too_large', '400 request_too_large', '413 request_too_large', '431 invalid_request_body'],
    ],
    [ask('POST /domains', ' '.repeat(1_048_577)), '413 request_too_large'],
  ]),
  outcomes('status-timeout', {}, [[answerToSlowRequest, '408 invalid_request_body', '400 invalid_request_body']]),
  shows((response) => [outcome(response), response.headers['allow']])('status-wrong-method', {}, [
    [
      ask('PUT /domains'),
      ['405 not_found', ALLOWED],
      ['404 not_found', undefined],
      ['405 invalid_request_body', ALLOWED],
    ],
    [ask('GET /nowhere'), ['404 not_found', undefined]],
  ]),
  outcomes('internal-error', LOST_STORE, [
    [add('b.example'), '500 internal_error', '503 internal_error', '502 internal_error'],
  ]),
  shows(({ status, headers }) => [status, headers['access-control-allow-origin']])('cors', {}, [
    [
      askUndocumented('OPTIONS /domains', { ...ORIGIN, 'access-control-request-method': 'GET' }),
      [405, undefined],
      [204, '*'],
    ],
    [ask('GET /domains', undefined, ORIGIN), [200, undefined], [200, '*']],
  ]),
  {
    id: 'decimals',
    options: { fixture: 'demo' },
    async observe(service) {
      const { text } = await service.get('/dmarc')
      const written = [...text.matchAll(/"(?:dmarc|dkim|spf)":([\d.]+)/g)].map(([, figure = '']) => figure)
      return {
        whole: written.some((figure) => /^\d+$/.test(figure)),
        broken: written.some((figure) => /\.[1-9]$/.test(figure)),
        zero: written.some((figure) => figure.endsWith('.0')),
      }
    },
    chosen: { whole: false, broken: true, zero: true },
    alternatives: [{ whole: true, broken: true, zero: false }],
  },
  header('content-type')(
    'response-charset',
    {},
    [LIST, askAs(null), ask('GET /nowhere'), NONSENSE].map(
      (step) => [step, 'application/json', 'application/json; charset=utf-8'] as const,
    ),
  ),
  {
    id: 'client-request-ids',
    async observe(service) {
      const ids: boolean[] = []
      for (const id of ['a', 'trace/1.2:3@x=y+z_-', 'x'.repeat(128), 'x'.repeat(129), 'two words', '', 'é', API_KEY]) {
        const headers: Header[] = [['Authorization', `Bearer ${API_KEY}`], ['X-Request-Id', id], JSON_BODY]
        const response = await exchange(service, { target: '/api/v1/domaingroups', headers })
        ids.push(response.headers.some(([name, value]) => name === 'X-Request-Id' && value === id))
      }
      const asked = { 'x-request-id': 'asked' }
      const refused = [
        await service.send('GET', '/domains', undefined, { ...asked, authorization: null }),
        await service.send('GET', '/nowhere', undefined, asked),
        await service.send('PUT', '/domains', undefined, asked),
      ]
      return [ids, refused.map(({ headers }) => headers['x-request-id'] === 'asked')]
    },
    chosen: [Array(8).fill(false), Array(3).fill(false)],
    alternatives: [[[true, true, true, ...Array(5).fill(false)], Array(3).fill(true)]],
  },
]

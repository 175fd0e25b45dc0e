import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { createMalformedReply } from '../../src/http/engine/malformed.ts'
import { SILENT } from '../../src/http/log.ts'
import { countNobodyIds } from '../../src/http/nobody-ids.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { LOST, overMemory } from '../support/failing-store.ts'
import { API_KEY, type TestService } from '../support/service.ts'
import { AUTHORIZED, exchange, exchangeAsIs, type Header, headerOf, JSON_BODY } from '../support/wire.ts'
import type { Behaviour } from './behaviours.ts'
import { outcome } from './outcome.ts'

const DISABLED_KEY = 'key_Disabled.111111111111111111111111111111111111111111111111'
const GROUPS = { fixture: { groups: [{ name: 'One' }, { name: 'Two' }] } } satisfies ServerOptions

/** `-` where a response has no header about the quota; else what is left. */
function remaining({ headers }: { headers: Readonly<Record<string, string>> }): string {
  return headers['x-ratelimit-remaining'] ?? '-'
}

async function idsOf(service: TestService): Promise<[string, string]> {
  const { groups } = (await service.get('/domaingroups')).body.data
  return [groups[0].id, groups[1].id]
}

/** Creates a group with the bytes of a body, and returns the outcome and its name. */
async function createWith(service: TestService, body: Buffer, headers: Record<string, string> = {}) {
  const response = await service.send('POST', '/domaingroups', body, headers)
  return [outcome(response), response.body.data?.group.name]
}

/** The status and the code of the first response in what a connection brought. */
function statusIn(bytes: string): string {
  const [, status = 'nothing'] = /^HTTP\/1\.1 (\d{3})/.exec(bytes) ?? []
  const [, code] = /"code":"(\w+)"/.exec(bytes) ?? []
  return code === undefined ? status : `${status} ${code}`
}

/** What a client is answered that Node reports as too slow. Nobody waits for that here. */
async function answerToSlowRequest({ contract }: TestService): Promise<string> {
  const refuse = createMalformedReply(contract, countNobodyIds(42, contract.requestIds), SILENT)
  const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
  const server = createServer((socket) => refuse(late, socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const chunks: Buffer[] = []
  for await (const chunk of connect(port, '127.0.0.1')) chunks.push(chunk)
  server.close()
  return statusIn(Buffer.concat(chunks).toString())
}

/** What alternatives about HTTP, headers and quotas show. */
export const HTTP_BEHAVIOURS: readonly Behaviour[] = [
  {
    id: 'request-charset',
    async observe(service) {
      const latin = Buffer.from('{"name":"Caf\u00e9"}', 'latin1')
      return [
        await createWith(service, Buffer.from('{"name":"One"}'), {
          'content-type': 'application/json; charset=latin1',
        }),
        await createWith(service, latin, { 'content-type': 'application/json; charset=ISO-8859-1' }),
        await createWith(service, Buffer.from('{"name":"Two"}', 'utf16le'), {
          'content-type': 'application/json; charset=utf-16le',
        }),
        await createWith(service, Buffer.from('{"name":"Three"}'), {
          'content-type': 'application/json; charset=nonsense',
        }),
        await createWith(service, latin, { 'content-type': 'application/json; charset=utf-8' }),
      ]
    },
    chosen: [...Array(4).fill(['400 invalid_request_body', undefined]), ['400 invalid_json', undefined]],
    alternatives: [
      [
        ['200', 'One'],
        ['400 invalid_json', undefined],
        ['400 invalid_json', undefined],
        ['200', 'Three'],
        ['400 invalid_json', undefined],
      ],
      [
        ['200', 'One'],
        ['200', 'Café'],
        ['200', 'Two'],
        ['400 invalid_request_body', undefined],
        ['400 invalid_json', undefined],
      ],
    ],
  },
  {
    id: 'byte-order-mark',
    async observe(service) {
      return [
        await createWith(service, Buffer.from('\ufeff{"name":"One"}')),
        await createWith(service, Buffer.from('{"name":"\ufeffTwo"}')),
        await createWith(service, Buffer.from('\ufeff')),
      ]
    },
    chosen: [
      ['400 invalid_json', undefined],
      ['200', '\ufeffTwo'],
      ['400 invalid_json', undefined],
    ],
    alternatives: [
      [
        ['200', 'One'],
        ['200', '\ufeffTwo'],
        ['400 invalid_json', undefined],
      ],
    ],
  },
  {
    id: 'duplicate-fields',
    async observe(service) {
      const escaped = String.raw`{"name":"One","n\u0061me":"Two"}`
      return [
        await createWith(service, Buffer.from('{"name":"One","name":"Two"}')),
        await createWith(service, Buffer.from(escaped)),
        await createWith(service, Buffer.from('{"name":"\\"name\\":","domains":[]}')),
      ]
    },
    chosen: [
      ['200', 'Two'],
      ['409 duplicate_name', undefined],
      ['200', '"name":'],
    ],
    alternatives: [
      [
        ['400 invalid_json', undefined],
        ['400 invalid_json', undefined],
        ['200', '"name":'],
      ],
    ],
  },
  {
    id: 'ignored-body',
    options: GROUPS,
    async observe(service) {
      const [one] = await idsOf(service)
      return [
        outcome(await service.send('GET', '/dmarc', '')),
        outcome(await service.send('GET', '/dmarc', 'nonsense')),
        outcome(await service.send('GET', '/domaingroups', {})),
        outcome(await service.send('DELETE', `/domaingroups?id=${one}`, {})),
      ]
    },
    chosen: ['200', '200', '200', '200'],
    alternatives: [['200', ...Array(3).fill('400 invalid_request_body')]],
  },
  {
    id: 'empty-parameters',
    options: GROUPS,
    async observe(service) {
      const listed = await service.get('/domaingroups?id=')
      return [
        outcome(listed),
        listed.body.data?.count,
        outcome(await service.send('PATCH', '/domaingroups?id=', { name: 'X' })),
        outcome(await service.send('DELETE', '/domaingroups?id=')),
      ]
    },
    chosen: ['404 not_found', undefined, '400 missing_id', '400 missing_id'],
    alternatives: [['200', 2, '400 missing_id', '400 missing_id']],
  },
  {
    id: 'repeated-id',
    options: GROUPS,
    async observe(service) {
      const [one, two] = await idsOf(service)
      const path = `/domaingroups?id=${one}&id=${two}`
      const read = await service.get(path)
      return [
        outcome(read),
        read.body.data?.group.name,
        outcome(await service.send('PATCH', path, { name: 'Three' })),
        outcome(await service.send('DELETE', path)),
        (await service.get('/domaingroups')).body.data.groups.map(({ name }: { name: string }) => name),
      ]
    },
    chosen: ['200', 'One', '200', '200', ['Two']],
    alternatives: [
      ['200', 'Two', '200', '200', ['One']],
      ['400 invalid_field_type', undefined, '400 invalid_field_type', '400 invalid_field_type', ['One', 'Two']],
    ],
  },
  {
    id: 'quota-headers',
    options: { fixture: { keys: [{ key: DISABLED_KEY, created_at: '2025-01-01T00:00:00Z', disabled: true }] } },
    async observe(service) {
      const shown: Record<string, string> = {}
      const of = async (what: string, sent: ReturnType<TestService['send']>) => {
        shown[what] = remaining(await sent)
      }
      await of('200', service.get('/domaingroups'))
      await of('400', service.send('POST', '/domaingroups', ''))
      await of('401', service.send('GET', '/domaingroups', undefined, { authorization: null }))
      await of(
        '401 disabled',
        service.send('GET', '/domaingroups', undefined, { authorization: `Bearer ${DISABLED_KEY}` }),
      )
      await of('404', service.get('/domaingroups?id=none'))
      await of('404 path', service.get('/nowhere'))
      await of('405', service.send('PUT', '/domaingroups'))
      await of('405 keyless', service.send('PUT', '/domaingroups', undefined, { authorization: null }))
      for (let sent = 0; sent < 10; sent++) await service.get('/dmarc')
      await of('429', service.get('/dmarc'))
      return shown
    },
    chosen: {
      '200': '99',
      '400': '98',
      '401': '-',
      '401 disabled': '-',
      '404': '97',
      '404 path': '-',
      '405': '-',
      '405 keyless': '-',
      '429': '0',
    },
    alternatives: [
      {
        '200': '99',
        '400': '98',
        '401': '-',
        '401 disabled': '-',
        '404': '97',
        '404 path': '-',
        '405': '97',
        '405 keyless': '-',
        '429': '0',
      },
      {
        '200': '99',
        '400': '98',
        '401': '100',
        '401 disabled': '100',
        '404': '97',
        '404 path': '-',
        '405': '97',
        '405 keyless': '100',
        '429': '0',
      },
      {
        '200': '99',
        '400': '-',
        '401': '-',
        '401 disabled': '-',
        '404': '-',
        '404 path': '-',
        '405': '-',
        '405 keyless': '-',
        '429': '0',
      },
    ],
  },
  {
    id: 'charged-requests',
    async observe(service) {
      const left = [
        remaining(await service.get('/domaingroups?id=none')),
        remaining(await service.send('POST', '/domaingroups', '')),
        remaining(await service.send('POST', '/domaingroups', { name: 'One' })),
        remaining(await service.send('POST', '/domaingroups', { name: 'One' })),
        remaining(await service.get('/domaingroups')),
      ]
      for (let sent = 0; sent < 40; sent++) await service.send('POST', '/domains', {})
      return [...left, outcome(await service.get('/domains'))]
    },
    chosen: ['99', '98', '97', '96', '95', '429 rate_limited'],
    alternatives: [['100', '100', '99', '99', '98', '200']],
  },
  {
    id: 'precedence',
    options: GROUPS,
    async observe(service) {
      const [one] = await idsOf(service)
      return [
        outcome(await service.send('POST', '/domaingroups', { label: 'X' })),
        outcome(await service.send('PATCH', `/domaingroups?id=${one}`, { name: 5, label: 'X' })),
        outcome(await service.send('PATCH', '/domaingroups', '')),
        outcome(await service.send('PATCH', '/domaingroups', '{')),
        outcome(await service.send('PATCH', '/domaingroups', { label: 'X' })),
      ]
    },
    chosen: [...Array(2).fill('400 unknown_field'), ...Array(3).fill('400 missing_id')],
    alternatives: [
      ['400 missing_field', '400 unknown_field', ...Array(3).fill('400 missing_id')],
      [...Array(2).fill('400 unknown_field'), '400 invalid_request_body', '400 invalid_json', '400 missing_id'],
    ],
  },
  {
    id: 'not-http',
    async observe(service) {
      const largeHeader = `GET /api/v1/domains HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(65_536)}\r\n\r\n`
      return [statusIn(await service.sendRaw('NONSENSE\r\n\r\n')), statusIn(await service.sendRaw(largeHeader))]
    },
    chosen: ['400 invalid_request_body', '431 request_too_large'],
    alternatives: [['nothing', 'nothing']],
  },
  {
    id: 'status-large-header',
    async observe(service) {
      const large = `GET /api/v1/domains HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(65_536)}\r\n\r\n`
      const body = ' '.repeat(1_048_577)
      return [statusIn(await service.sendRaw(large)), outcome(await service.send('POST', '/domains', body))]
    },
    chosen: ['431 request_too_large', '413 request_too_large'],
    alternatives: [
      ['400 request_too_large', '413 request_too_large'],
      ['413 request_too_large', '413 request_too_large'],
      ['431 invalid_request_body', '413 request_too_large'],
    ],
  },
  {
    id: 'status-timeout',
    observe: answerToSlowRequest,
    chosen: '408 invalid_request_body',
    alternatives: ['400 invalid_request_body'],
  },
  {
    id: 'status-wrong-method',
    async observe(service) {
      const { status, headers, body } = await service.send('PUT', '/domains')
      return [outcome({ status, body }), headers['allow'], outcome(await service.get('/nowhere'))]
    },
    chosen: ['405 not_found', 'GET, HEAD, POST, DELETE', '404 not_found'],
    alternatives: [
      ['404 not_found', undefined, '404 not_found'],
      ['405 invalid_request_body', 'GET, HEAD, POST, DELETE', '404 not_found'],
    ],
  },
  {
    id: 'internal-error',
    // A new one for each service, which closes it.
    options: {
      get store() {
        return overMemory(() => ({ update: () => Promise.reject(LOST) }))
      },
    },
    observe: async (service) => outcome(await service.send('POST', '/domains', { domains: ['b.example'] })),
    chosen: '500 internal_error',
    alternatives: ['503 internal_error', '502 internal_error'],
  },
  {
    id: 'cors',
    async observe(service) {
      const origin: Header = ['Origin', 'http://localhost:5173']
      const asking: Header = ['Access-Control-Request-Method', 'GET']
      const target = '/api/v1/domains'
      const asked = await exchangeAsIs(service, { method: 'OPTIONS', target, headers: [origin, asking] })
      const read = await exchange(service, { target, headers: [AUTHORIZED, origin] })
      return [asked, read].map((response) => [response.status, headerOf(response, 'Access-Control-Allow-Origin')])
    },
    chosen: [
      [405, undefined],
      [200, undefined],
    ],
    alternatives: [
      [
        [204, '*'],
        [200, '*'],
      ],
    ],
  },
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
  {
    id: 'response-charset',
    async observe(service) {
      const types = [
        (await service.get('/domains')).headers,
        (await service.send('GET', '/domains', undefined, { authorization: null })).headers,
        (await service.get('/nowhere')).headers,
      ].map((headers) => headers['content-type'])
      return [...types, /content-type: ([^\r]*)/i.exec(await service.sendRaw('NONSENSE\r\n\r\n'))?.[1]]
    },
    chosen: Array(4).fill('application/json'),
    alternatives: [Array(4).fill('application/json; charset=utf-8')],
  },
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

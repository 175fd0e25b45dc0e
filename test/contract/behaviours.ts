import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { ErrorCode } from '../../src/domain/errors.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { actionsFor } from '../support/alternatives.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { API_KEY, openService, type TestResponse, type TestService } from '../support/service.ts'
import { DOMAIN_BEHAVIOURS } from './domain-behaviours.ts'
import { HTTP_BEHAVIOURS } from './http-behaviours.ts'
import { outcome } from './outcome.ts'
import { firstGroup, monitoring, post, SHOP } from './service-requests.ts'

/** Starts a stand-in that makes an alternative choice; whoever starts it stops it. */
export async function openWithAlternative(
  id: string,
  number: number,
  options: ServerOptions = {},
): Promise<TestService> {
  const folder = mkdtempSync(join(tmpdir(), 'understudy-'))
  try {
    return await openService({ ...options, overlays: [writeOverlay(folder, actionsFor(`${id}-${number}`))] })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** What one or two requests show of a choice. */
export interface Behaviour {
  id: string
  options?: ServerOptions
  observe(service: TestService): Promise<unknown>
  chosen: unknown
  /** What shows with each alternative, in the order of the document. */
  alternatives: unknown[]
}

const NEW_KEY = 'key_NewKey01.111111111111111111111111111111111111111111111111'

/** For requests that no operation documents, which the harness would hold against the server. */
async function sendUndocumented(service: TestService, method: string, path: string): Promise<string> {
  const response = await fetch(service.baseUrl + path, { method, headers: { authorization: `Bearer ${API_KEY}` } })
  const text = await response.text()
  return outcome({ status: response.status, body: text === '' ? undefined : JSON.parse(text) })
}

async function exhaust(service: TestService): Promise<TestResponse> {
  for (let sent = 0; sent < 10; sent++) expect((await service.get('/dmarc')).status).toBe(200)
  return service.get('/dmarc')
}

/** Hours from now on, in UTC, at which GET /dmarc has other figures than an hour before. */
async function hoursOfRefresh(service: TestService): Promise<number[]> {
  const hours: number[] = []
  let former = (await service.get('/dmarc')).text
  service.advance(30 * 60_000)
  for (let hour = 10; hour < 34; hour++) {
    const { text } = await service.get('/dmarc')
    if (text !== former) hours.push(hour % 24)
    former = text
    service.advance(60 * 60_000)
  }
  return hours
}

/** Whether any of the domains whose name starts so has a policy of its own. */
async function hasFigures(service: TestService, prefix: string): Promise<boolean> {
  const records: { domain: string; p: string }[] = (await service.get('/dmarc')).body.data
  return records.some(({ domain, p }) => domain.startsWith(prefix) && p !== 'none')
}

async function policies(service: TestService): Promise<unknown[]> {
  const records: Record<string, unknown>[] = (await service.get('/dmarc')).body.data
  return records.map(({ domain, p, sp, np }) => [domain, p, sp, np])
}

/** On which day from now domains have figures that are added in the morning, and just before midnight. */
async function daysUntilFigures(service: TestService): Promise<Record<string, number>> {
  const named = (prefix: string) => Array.from({ length: 12 }, (_, index) => `${prefix}-${index}.example`)
  const days: Record<string, number> = {}
  await service.send('POST', '/domains', { domains: named('morning') })
  service.advance((14 * 60 + 29) * 60_000 + 30_000)
  await service.send('POST', '/domains', { domains: named('midnight') })
  service.advance(60_000)
  for (let day = 1; day <= 4; day++) {
    for (const prefix of ['morning', 'midnight']) {
      if (days[prefix] === undefined && (await hasFigures(service, prefix))) days[prefix] = day
    }
    service.advance(24 * 60 * 60_000)
  }
  return days
}

async function mailCounted(service: TestService): Promise<number> {
  const records: { count: number }[] = (await service.get('/dmarc')).body.data
  return records.reduce((sum, { count }) => sum + count, 0)
}

function decimals(text: string): number[] {
  const figures = [...text.matchAll(/"(?:dmarc|dkim|spf)":\d+(?:\.(\d+))?[,}]/g)]
  return [...new Set(figures.map(([, fraction = '']) => fraction.length))]
}

/** One way to each error code, without anything else that is wrong. */
const REFUSED: Partial<Record<ErrorCode, (service: TestService) => Promise<TestResponse>>> = {
  unauthorized: (service) => service.send('GET', '/domains', undefined, { authorization: null }),
  rate_limited: exhaust,
  missing_id: (service) => service.send('DELETE', '/domaingroups'),
  invalid_request_body: (service) => service.send('POST', '/domains', ''),
  invalid_json: (service) => service.send('POST', '/domains', '{'),
  unknown_field: (service) => service.send('POST', '/domains', { domains: ['b.example'], more: 1 }),
  missing_field: (service) => service.send('POST', '/domains', {}),
  no_fields_to_update: async (service) => service.send('PATCH', `/domaingroups?id=${await firstGroup(service)}`, {}),
  invalid_field_type: (service) => service.send('POST', '/domains', { domains: 'b.example' }),
  conflicting_fields: async (service) =>
    service.send('PATCH', `/domaingroups?id=${await firstGroup(service)}`, { domains: [], add_domains: [] }),
  request_too_large: (service) =>
    service.send('POST', '/domains', { domains: Array.from({ length: 51 }, (_, index) => `b${index}.example`) }),
  invalid_name: (service) => service.send('POST', '/domaingroups', { name: '' }),
  invalid_domain: (service) => service.send('POST', '/domains', { domains: ['b'] }),
  not_found: (service) => service.send('GET', '/domaingroups?id=none'),
  domain_delete_failed: (service) => service.send('DELETE', '/domains', { domains: ['used.example'] }),
  not_monitored: (service) => service.send('POST', '/domaingroups', { name: 'X', domains: ['b.example'] }),
  duplicate_name: (service) => service.send('POST', '/domaingroups', { name: 'shop' }),
}

/** The status of a code is chosen, each alternative is another. */
function statusOf(code: ErrorCode, chosen: number, ...others: number[]): Behaviour {
  const refused = REFUSED[code]
  if (refused === undefined) throw new Error(`There is no way to ${code}.`)
  return {
    id: `status-${code.replaceAll('_', '-')}`,
    options: {
      fixture: {
        domains: ['a.example', { name: 'used.example', features: ['mta-sts'] }],
        groups: [{ name: 'Shop', domains: ['a.example'] }],
      },
    },
    observe: async (service) => outcome(await refused(service)),
    chosen: `${chosen} ${code}`,
    alternatives: others.map((status) => `${status} ${code}`),
  }
}

export const BEHAVIOURS: readonly Behaviour[] = [
  ...HTTP_BEHAVIOURS,
  ...DOMAIN_BEHAVIOURS,
  {
    id: 'body-limit',
    async observe(service) {
      const statuses: number[] = []
      for (const size of [65_536, 65_537, 102_400, 102_401, 1_048_576, 1_048_577]) {
        const body = JSON.stringify({ name: `${size}` }).padEnd(size)
        statuses.push((await service.send('POST', '/domaingroups', body)).status)
      }
      return statuses
    },
    chosen: [200, 200, 200, 200, 200, 413],
    alternatives: [
      [200, 200, 200, 413, 413, 413],
      [200, 413, 413, 413, 413, 413],
    ],
  },
  {
    id: 'plan-names',
    options: { plan: 'stone' },
    observe: async (service) => outcome(await service.get('/domains')),
    chosen: '200',
    alternatives: ['403 unauthorized'],
  },
  {
    id: 'authorization-scheme',
    async observe(service) {
      const schemes = ['Bearer', 'bearer', 'BEARER']
      const headers = schemes.map((scheme) => ({ authorization: `${scheme} ${API_KEY}` }))
      const responses = await Promise.all(headers.map((each) => service.send('GET', '/domains', undefined, each)))
      return responses.map(({ status }) => status)
    },
    chosen: [200, 401, 401],
    alternatives: [[200, 200, 200]],
  },
  {
    id: 'gate-order',
    options: { plan: 'below-stone' },
    async observe(service) {
      const { status, headers } = await service.get('/domains')
      return [status, headers['x-ratelimit-remaining']]
    },
    chosen: [403, undefined],
    alternatives: [[403, '29']],
  },
  {
    id: 'routing',
    async observe(service) {
      const stranger = { authorization: null }
      return [
        outcome(await service.send('GET', '/nowhere', undefined, stranger)),
        outcome(await service.send('PUT', '/domains', undefined, stranger)),
        outcome(await service.send('GET', '/nowhere')),
      ]
    },
    chosen: ['404 not_found', '405 not_found', '404 not_found'],
    alternatives: [['401 unauthorized', '401 unauthorized', '404 not_found']],
  },
  {
    id: 'path-matching',
    observe: (service) =>
      Promise.all(['/domains', '/Domains', '/domains/'].map((path) => sendUndocumented(service, 'GET', path))),
    chosen: ['200', '404 not_found', '404 not_found'],
    alternatives: [['200', '200', '200']],
  },
  {
    id: 'head',
    observe: (service) => sendUndocumented(service, 'HEAD', '/domains'),
    chosen: '200',
    alternatives: ['405'],
  },
  {
    id: 'content-type',
    async observe(service) {
      const outcomes: string[] = []
      for (const [name, type] of Object.entries({ one: 'text/plain', two: null })) {
        // Bytes have no type of their own that fetch would add.
        const body = new TextEncoder().encode(JSON.stringify({ name }))
        outcomes.push(outcome(await service.send('POST', '/domaingroups', body, { 'content-type': type })))
      }
      return outcomes
    },
    chosen: ['400 invalid_request_body', '400 invalid_request_body'],
    alternatives: [['200', '200']],
  },
  {
    id: 'null-fields',
    async observe(service) {
      return [
        outcome(await service.send('POST', '/domaingroups', { name: 'X', domains: null })),
        outcome(await service.send('POST', '/domaingroups', { name: null })),
      ]
    },
    chosen: ['400 invalid_field_type', '400 invalid_field_type'],
    alternatives: [['200', '400 missing_field']],
  },
  {
    id: 'unknown-query-parameters',
    options: SHOP,
    async observe(service) {
      return [
        outcome(await service.get('/domains?page=2')),
        outcome(await service.get('/dmarc?page=2')),
        outcome(await service.get('/domaingroups?page=2')),
        outcome(await service.send('POST', '/domains?page=2', { domains: ['b.example'] })),
        outcome(await service.send('DELETE', `/domaingroups?page=2&id=${await firstGroup(service)}`)),
      ]
    },
    chosen: ['200', '200', '200', '200', '200'],
    alternatives: [Array(5).fill('400 unknown_field')],
  },
  {
    id: 'quota-scope',
    options: { fixture: { keys: [{ key: NEW_KEY, created_at: '2025-01-01T00:00:00Z' }] } },
    async observe(service) {
      const first = await service.get('/domains')
      const second = await service.send('GET', '/domains', undefined, { authorization: `Bearer ${NEW_KEY}` })
      return [first, second].map(({ headers }) => headers['x-ratelimit-remaining'])
    },
    chosen: ['29', '29'],
    alternatives: [['29', '28']],
  },
  {
    id: 'quota-window',
    observe: async (service) => resetOf(await service.get('/domains')),
    chosen: '2026-01-15T10:00:00.000Z',
    alternatives: ['2026-01-15T10:30:00.000Z'],
  },
  {
    id: 'rate-limit-reset',
    observe: async (service) => (await service.get('/domains')).headers['x-ratelimit-reset'],
    chosen: `${Date.parse('2026-01-15T10:00:00Z') / 1000}`,
    alternatives: ['1800'],
  },
  {
    id: 'refresh-time',
    options: { fixture: 'demo' },
    observe: hoursOfRefresh,
    chosen: [0],
    alternatives: [[4], [22]],
  },
  {
    id: 'processing-time',
    observe: daysUntilFigures,
    chosen: { morning: 1, midnight: 2 },
    alternatives: [
      { morning: 1, midnight: 1 },
      { morning: 2, midnight: 2 },
    ],
  },
  {
    id: 'unprocessed-domains',
    async observe(service) {
      await service.send('POST', '/domains', { domains: ['b.example'] })
      return (await service.get('/dmarc')).body.data.length
    },
    chosen: 1,
    alternatives: [0],
  },
  {
    id: 'policy-before-refresh',
    options: { fixture: { domains: [{ name: 'b.example', added_at: 'PT1M', policy: { p: 'reject' } }] } },
    observe: policies,
    chosen: [['b.example', 'none', 'none', 'none']],
    alternatives: [[['b.example', 'reject', 'reject', 'reject']]],
  },
  {
    id: 'policies-without-record',
    options: { fixture: { domains: [{ name: 'b.example', profile: 'no-record' }] } },
    observe: policies,
    chosen: [['b.example', 'none', 'none', 'none']],
    alternatives: [[['b.example', null, null, null]], [['b.example', '', '', '']]],
  },
  {
    id: 'subdomain-policies',
    options: {
      fixture: {
        domains: [
          { name: 'b.example', profile: 'enforced', policy: { p: 'reject', sp: 'none' } },
          { name: 'c.b.example', profile: 'no-record' },
          { name: 'd.example', profile: 'parked' },
        ],
      },
    },
    observe: policies,
    chosen: [
      ['b.example', 'reject', 'none', 'none'],
      ['c.b.example', 'none', 'none', 'none'],
      ['d.example', 'reject', 'reject', 'reject'],
    ],
    alternatives: [
      [
        ['b.example', 'reject', 'none', undefined],
        ['c.b.example', 'none', undefined, undefined],
        ['d.example', 'reject', undefined, undefined],
      ],
    ],
  },
  {
    id: 'count-period',
    options: { fixture: 'demo' },
    async observe(service) {
      // Days differ, so that the ratio to the mail of a single one only comes near the number of days.
      const ofOneDay = await openWithAlternative('count-period', 1, { fixture: 'demo' })
      const ratio = (await mailCounted(service)) / (await mailCounted(ofOneDay))
      await ofOneDay.stop()
      return [1, 7, 30].find((days) => ratio > days / 2 && ratio < days * 2)
    },
    chosen: 30,
    alternatives: [1, 7],
  },
  ...[
    { path: '/dmarc', limit: 10 },
    { path: '/domains', limit: 30 },
    { path: '/domaingroups', limit: 100 },
  ].map(({ path, limit }) => ({
    id: `grace-${path.slice(1)}`,
    options: { fixture: { keys: [{ key: NEW_KEY, created_at: '2026-01-15T09:00:00Z' }] } },
    async observe(service: TestService) {
      const old = await service.get(path)
      const young = await service.send('GET', path, undefined, { authorization: `Bearer ${NEW_KEY}` })
      return [old, young].map(({ headers }) => Number(headers['x-ratelimit-limit']))
    },
    chosen: [limit, limit * 10],
    alternatives: [
      [limit, limit * 2],
      [limit, limit * 100],
    ],
  })),
  {
    id: 'add-domains-status',
    observe: post('/domains', { domains: ['b.example'] }),
    chosen: '200',
    alternatives: ['202', '201'],
  },
  { id: 'create-group-status', observe: post('/domaingroups', { name: 'X' }), chosen: '200', alternatives: ['201'] },
  {
    id: 'empty-id-on-read',
    async observe(service) {
      const { status, headers, body } = await service.get('/domaingroups?id=')
      return [outcome({ status, body }), headers['x-ratelimit-remaining'], headers['www-authenticate']]
    },
    chosen: ['404 not_found', '99', undefined],
    alternatives: [['400 missing_id', '99', undefined]],
  },
  {
    id: 'empty-id-on-write',
    async observe(service) {
      return [
        outcome(await service.send('PATCH', '/domaingroups?id=', { name: 'X' })),
        outcome(await service.send('DELETE', '/domaingroups?id=')),
        outcome(await service.send('DELETE', '/domaingroups')),
      ]
    },
    chosen: ['400 missing_id', '400 missing_id', '400 missing_id'],
    alternatives: [['404 not_found', '404 not_found', '400 missing_id']],
  },
  {
    id: 'request-id-format',
    async observe(service) {
      const ids = [
        (await service.get('/domains')).headers['x-request-id'],
        (await service.send('GET', '/domains', undefined, { authorization: null })).headers['x-request-id'],
        (await service.get('/nowhere')).headers['x-request-id'],
        /x-request-id: (\S+)/i.exec(await service.sendRaw('NONSENSE\r\n\r\n'))?.[1],
      ]
      return [...new Set(ids.map((id) => (id ?? '').replaceAll(/[0-9a-f]/g, '0')))]
    },
    chosen: ['00000000-0000-0000-0000-000000000000'],
    alternatives: [['0'.repeat(32)]],
  },
  {
    id: 'www-authenticate',
    async observe(service) {
      const { status, headers } = await service.send('GET', '/domains', undefined, { authorization: null })
      return [status, headers['www-authenticate']]
    },
    chosen: [401, 'Bearer'],
    alternatives: [[401, undefined]],
  },
  {
    id: 'retry-after',
    observe: async (service) => (await exhaust(service)).headers['retry-after'],
    chosen: undefined,
    alternatives: ['1800'],
  },
  {
    id: 'add-domains-message',
    observe: async (service) => (await service.send('POST', '/domains', { domains: ['b.example'] })).body.data.message,
    chosen: 'Domains added. Background processing has started.',
    alternatives: ['Domains added successfully.'],
  },
  {
    id: 'delete-domains-message',
    options: monitoring('a.example'),
    observe: async (service) =>
      (await service.send('DELETE', '/domains', { domains: ['a.example'] })).body.data.message,
    chosen: 'Domains removed.',
    alternatives: ['Domains deleted successfully.'],
  },
  {
    id: 'delete-group-message',
    options: SHOP,
    observe: async (service) =>
      (await service.send('DELETE', `/domaingroups?id=${await firstGroup(service)}`)).body.data.message,
    chosen: 'Domain group deleted.',
    alternatives: ['Domain group deleted successfully.'],
  },
  {
    id: 'update-group-response',
    options: SHOP,
    async observe(service) {
      const path = `/domaingroups?id=${await firstGroup(service)}`
      const { group, ...rest } = (await service.send('PATCH', path, { name: 'Shops' })).body.data
      return [group.name, rest]
    },
    chosen: ['Shops', {}],
    alternatives: [['Shops', { message: 'Domain group updated.' }]],
  },
  {
    id: 'group-id-format',
    async observe(service) {
      const ids: string[] = []
      for (let index = 0; index < 30; index++) {
        ids.push((await service.send('POST', '/domaingroups', { name: `${index}` })).body.data.group.id)
      }
      const kinds = { digits: /[0-9]/, 'a to f': /[a-f]/, 'g to z': /[g-z]/, 'A to Z': /[A-Z]/ }
      const used = Object.entries(kinds).filter(([, kind]) => kind.test(ids.join('')))
      return {
        ids: new Set(ids).size,
        lengths: [...new Set(ids.map((id) => id.length))],
        of: used.map(([name]) => name),
      }
    },
    chosen: { ids: 30, lengths: [8], of: ['digits', 'a to f', 'g to z', 'A to Z'] },
    alternatives: [
      { ids: 30, lengths: [10], of: ['digits', 'a to f', 'g to z'] },
      { ids: 30, lengths: [6], of: ['digits', 'a to f'] },
    ],
  },
  {
    id: 'percentages',
    options: { fixture: 'demo' },
    observe: async (service) => decimals((await service.get('/dmarc')).text),
    chosen: [1],
    alternatives: [[2], [0]],
  },
  statusOf('unauthorized', 401, 403),
  {
    id: 'status-plan-too-low',
    options: { plan: 'below-stone' },
    observe: async (service) => outcome(await service.get('/domains')),
    chosen: '403 unauthorized',
    alternatives: ['401 unauthorized', '402 unauthorized'],
  },
  statusOf('rate_limited', 429, 403),
  statusOf('missing_id', 400, 422),
  statusOf('invalid_request_body', 400, 422),
  {
    id: 'status-content-type',
    async observe(service) {
      const typed = await service.send('POST', '/domains', '{}', { 'content-type': 'text/plain' })
      return [outcome(typed), outcome(await service.send('POST', '/domains', ''))]
    },
    chosen: ['400 invalid_request_body', '400 invalid_request_body'],
    alternatives: [['415 invalid_request_body', '400 invalid_request_body']],
  },
  {
    id: 'status-content-encoding',
    async observe(service) {
      const coded = await service.send('POST', '/domains', '{}', { 'content-encoding': 'gzip' })
      return [outcome(coded), outcome(await service.send('POST', '/domains', ''))]
    },
    chosen: ['400 invalid_request_body', '400 invalid_request_body'],
    alternatives: [['415 invalid_request_body', '400 invalid_request_body']],
  },
  statusOf('invalid_json', 400, 422),
  statusOf('unknown_field', 400, 422),
  statusOf('missing_field', 400, 422),
  statusOf('no_fields_to_update', 400, 422),
  statusOf('invalid_field_type', 400, 422),
  statusOf('conflicting_fields', 400, 422),
  statusOf('request_too_large', 413, 400),
  statusOf('invalid_name', 400, 422),
  statusOf('invalid_domain', 400, 422, 409),
  statusOf('not_found', 404, 400),
  {
    id: 'status-unknown-path',
    observe: async (service) => [
      outcome(await service.get('/nowhere')),
      outcome(await service.send('PUT', '/domains')),
    ],
    chosen: ['404 not_found', '405 not_found'],
    alternatives: [['400 not_found', '405 not_found']],
  },
  statusOf('domain_delete_failed', 409, 400, 422),
  statusOf('not_monitored', 400, 404, 409, 422),
  statusOf('duplicate_name', 409, 400, 422),
]

function resetOf({ headers }: TestResponse): string {
  return new Date(Number(headers['x-ratelimit-reset']) * 1000).toISOString()
}

import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import type { ErrorCode } from '../../src/domain/errors.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { contractWith } from '../support/alternatives.ts'
import { API_KEY, openService, type TestResponse, type TestService } from '../support/service.ts'
import { DOMAIN_BEHAVIOURS } from './domain-behaviours.ts'
import { HTTP_BEHAVIOURS } from './http-behaviours.ts'
import {
  add,
  answers,
  ask,
  askAs,
  askUndocumented,
  change,
  create,
  exhaust,
  FIGURES,
  header,
  LIST,
  monitoring,
  NONSENSE,
  numbered,
  outcomes,
  remaining,
  remove,
  SHOP,
  type Step,
  shows,
} from './service-requests.ts'

/** Starts a stand-in that makes an alternative choice; whoever starts it stops it. */
export async function openWithAlternative(
  id: string,
  number: number,
  options: ServerOptions = {},
): Promise<TestService> {
  return openService(options, OPERATIONS, { contract: await contractWith(`${id}-${number}`) })
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

const NOT_YET_REFRESHED: ServerOptions = {
  fixture: { domains: [{ name: 'b.example', added_at: 'PT1M', policy: { p: 'reject' } }] },
}
const withNewKey = (created_at: string): ServerOptions => ({ fixture: { keys: [{ key: NEW_KEY, created_at }] } })

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

const policies = shows(({ body }) =>
  body.data.map(
    (record: Record<string, unknown>) => `${record['domain']} ${record['p']} ${record['sp']} ${record['np']}`,
  ),
)
const message = shows(({ body }) => body.data.message)

/** On which day from now domains have figures that are added in the morning, and just before midnight. */
async function daysUntilFigures(service: TestService): Promise<Record<string, number>> {
  const days: Record<string, number> = {}
  await service.send('POST', '/domains', { domains: numbered('morning', 12) })
  service.advance((14 * 60 + 29) * 60_000 + 30_000)
  await service.send('POST', '/domains', { domains: numbered('midnight', 12) })
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

/** One way to each error code, without anything else that is wrong; its status, and those that are alternatives. */
const REFUSED: Partial<Record<ErrorCode, [step: Step, chosen: number, ...alternatives: number[]]>> = {
  unauthorized: [askAs(null), 401, 403],
  rate_limited: [exhaust, 429, 403],
  missing_id: [ask('DELETE /domaingroups'), 400, 422],
  invalid_request_body: [ask('POST /domains', ''), 400, 422],
  invalid_json: [ask('POST /domains', '{'), 400, 422],
  unknown_field: [ask('POST /domains', { domains: ['b.example'], more: 1 }), 400, 422],
  missing_field: [ask('POST /domains', {}), 400, 422],
  no_fields_to_update: [change({}), 400, 422],
  invalid_field_type: [ask('POST /domains', { domains: 'b.example' }), 400, 422],
  conflicting_fields: [change({ domains: [], add_domains: [] }), 400, 422],
  request_too_large: [add(...numbered('b', 51)), 413, 400],
  invalid_name: [create(''), 400, 422],
  invalid_domain: [add('b'), 400, 422, 409],
  not_found: [ask('GET /domaingroups?id=none'), 404, 400],
  domain_delete_failed: [remove('used.example'), 409, 400, 422],
  not_monitored: [create('X', 'b.example'), 400, 404, 409, 422],
  duplicate_name: [create('shop'), 409, 400, 422],
}

const STATUSES = Object.entries(REFUSED).map(([code, [step, ...statuses]]) =>
  outcomes(
    `status-${code.replaceAll('_', '-')}`,
    {
      fixture: {
        domains: ['a.example', { name: 'used.example', features: ['mta-sts'] }],
        groups: [{ name: 'Shop', domains: ['a.example'] }],
      },
    },
    [[step, ...statuses.map((status) => `${status} ${code}`)]],
  ),
)

/** A creation with a body of so many bytes. */
const sized = (size: number) => ask('POST /domaingroups', JSON.stringify({ name: `${size}` }).padEnd(size))

export const BEHAVIOURS: readonly Behaviour[] = [
  ...HTTP_BEHAVIOURS,
  ...DOMAIN_BEHAVIOURS,
  ...STATUSES,
  outcomes('body-limit', {}, [
    [sized(65_536), '200'],
    [sized(65_537), '200', '200', '413 request_too_large'],
    [sized(102_400), '200', '200', '413 request_too_large'],
    [sized(102_401), '200', '413 request_too_large', '413 request_too_large'],
    [sized(1_048_576), '200', '413 request_too_large', '413 request_too_large'],
    [sized(1_048_577), '413 request_too_large'],
  ]),
  outcomes('plan-names', { plan: 'stone' }, [[LIST, '200', '403 unauthorized']]),
  outcomes('authorization-scheme', {}, [
    [askAs(`Bearer ${API_KEY}`), '200'],
    [askAs(`bearer ${API_KEY}`), '401 unauthorized', '200'],
    [askAs(`BEARER ${API_KEY}`), '401 unauthorized', '200'],
  ]),
  remaining('gate-order', { plan: 'below-stone' }, [[LIST, '403 unauthorized -', '403 unauthorized 29']]),
  outcomes('routing', {}, [
    [askAs(null, 'GET /nowhere'), '404 not_found', '401 unauthorized'],
    [askAs(null, 'PUT /domains'), '405 not_found', '401 unauthorized'],
    [ask('GET /nowhere'), '404 not_found'],
  ]),
  outcomes('path-matching', {}, [
    [LIST, '200'],
    [askUndocumented('GET /Domains'), '404 not_found', '200'],
    [askUndocumented('GET /domains/'), '404 not_found', '200'],
  ]),
  outcomes('head', {}, [[askUndocumented('HEAD /domains'), '200', '405']]),
  outcomes('content-type', {}, [
    [ask('POST /domaingroups', '{"name":"one"}', { 'content-type': 'text/plain' }), '400 invalid_request_body', '200'],
    [ask('POST /domaingroups', '{"name":"two"}', { 'content-type': null }), '400 invalid_request_body', '200'],
  ]),
  outcomes('null-fields', {}, [
    [ask('POST /domaingroups', { name: 'X', domains: null }), '400 invalid_field_type', '200'],
    [create(null), '400 invalid_field_type', '400 missing_field'],
  ]),
  outcomes('unknown-query-parameters', SHOP, [
    [ask('GET /domains?page=2'), '200', '400 unknown_field'],
    [ask('GET /dmarc?page=2'), '200', '400 unknown_field'],
    [ask('GET /domaingroups?page=2'), '200', '400 unknown_field'],
    [ask('POST /domains?page=2', { domains: ['b.example'] }), '200', '400 unknown_field'],
    [ask('DELETE /domaingroups?page=2&id={group}'), '200', '400 unknown_field'],
  ]),
  remaining('quota-scope', withNewKey('2025-01-01T00:00:00Z'), [
    [LIST, '200 29'],
    [askAs(`Bearer ${NEW_KEY}`), '200 29', '200 28'],
  ]),
  shows(resetOf)('quota-window', {}, [[LIST, '2026-01-15T10:00:00.000Z', '2026-01-15T10:30:00.000Z']]),
  header('x-ratelimit-reset')('rate-limit-reset', {}, [[LIST, `${Date.parse('2026-01-15T10:00:00Z') / 1000}`, '1800']]),
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
  answers('unprocessed-domains', {}, [
    [add('b.example'), '200 b.example'],
    [FIGURES, '200 b.example', '200'],
  ]),
  policies('policy-before-refresh', NOT_YET_REFRESHED, [
    [FIGURES, ['b.example none none none'], ['b.example reject reject reject']],
  ]),
  policies('policies-without-record', { fixture: { domains: [{ name: 'b.example', profile: 'no-record' }] } }, [
    [FIGURES, ['b.example none none none'], ['b.example   ']],
  ]),
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
  ...Object.entries({ dmarc: 10, domains: 30, domaingroups: 100 }).map(([name, limit]) =>
    header('x-ratelimit-limit')(`grace-${name}`, withNewKey('2026-01-15T09:00:00Z'), [
      [ask(`GET /${name}`), `${limit}`],
      [askAs(`Bearer ${NEW_KEY}`, `GET /${name}`), `${limit * 10}`, `${limit * 2}`, `${limit * 100}`],
    ]),
  ),
  outcomes('add-domains-status', {}, [[add('b.example'), '200', '202', '201']]),
  outcomes('delete-domains-status', monitoring('a.example'), [[remove('a.example'), '200', '202']]),
  outcomes('create-group-status', {}, [[create('X'), '200', '201']]),
  remaining('empty-id-on-read', {}, [[ask('GET /domaingroups?id='), '404 not_found 99', '400 missing_id 99']]),
  outcomes('empty-id-on-write', {}, [
    [ask('PATCH /domaingroups?id=', { name: 'X' }), '400 missing_id', '404 not_found'],
    [ask('DELETE /domaingroups?id='), '400 missing_id', '404 not_found'],
    [ask('DELETE /domaingroups'), '400 missing_id'],
  ]),
  shows(({ headers }) => headers['x-request-id']?.replaceAll(/[0-9a-f]/g, '0'))(
    'request-id-format',
    {},
    [LIST, askAs(null), ask('GET /nowhere'), NONSENSE].map(
      (step) => [step, '00000000-0000-0000-0000-000000000000', '0'.repeat(32)] as const,
    ),
  ),
  shows(({ status, headers }) => [status, headers['www-authenticate']])('www-authenticate', {}, [
    [askAs(null), [401, 'Bearer'], [401, undefined]],
  ]),
  header('retry-after')('retry-after', {}, [[exhaust, undefined, '1800']]),
  message('add-domains-message', {}, [
    [add('b.example'), 'Domains added. Background processing has started.', 'Domains added successfully.'],
  ]),
  message('delete-domains-message', monitoring('a.example'), [
    [remove('a.example'), 'Domains removed.', 'Domains deleted successfully.'],
  ]),
  message('delete-group-message', SHOP, [
    [ask('DELETE /domaingroups?id={group}'), 'Domain group deleted.', 'Domain group deleted successfully.'],
  ]),
  shows(({ body: { data } }) => ({ ...data, ...(data.group && { group: data.group.name }) }))(
    'update-group-response',
    SHOP,
    [
      [
        change({ name: 'Shops' }),
        { group: 'Shops' },
        ...[{ group: 'Shops', message: 'Domain group updated.' }, { message: 'Domain group updated.' }, {}],
      ],
    ],
  ),
  {
    id: 'group-id-format',
    async observe(service) {
      const ids: string[] = []
      for (let index = 0; index < 30; index++) ids.push((await create(`${index}`)(service)).body.data.group.id)
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
  shows(({ text }) => decimals(text))('percentages', { fixture: 'demo' }, [[FIGURES, [1], [2], [0]]]),
  outcomes('status-plan-too-low', { plan: 'below-stone' }, [
    [LIST, '403 unauthorized', '401 unauthorized', '402 unauthorized'],
  ]),
  ...Object.entries({ 'content-type': 'text/plain', 'content-encoding': 'gzip' }).map(([name, value]) =>
    outcomes(`status-${name}`, {}, [
      [ask('POST /domains', '{}', { [name]: value }), '400 invalid_request_body', '415 invalid_request_body'],
      [ask('POST /domains', ''), '400 invalid_request_body'],
    ]),
  ),
  outcomes('status-unknown-path', {}, [
    [ask('GET /nowhere'), '404 not_found', '400 not_found'],
    [ask('PUT /domains'), '405 not_found'],
  ]),
]

function resetOf({ headers }: TestResponse): string {
  return new Date(Number(headers['x-ratelimit-reset']) * 1000).toISOString()
}

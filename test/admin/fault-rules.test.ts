import { describe, expect, it } from 'vitest'
import { readLimits } from '../../src/admin/document.ts'
import { addFault, askControl, controlApi, faultsOf } from '../support/control-plane.ts'
import { processorTime } from '../support/processor-time.ts'
import { startService } from '../support/service.ts'

const { faultsPerAccount, answerLimit } = readLimits(controlApi)
const LIMITED = { respond: { error: 'rate_limited' } }
const OPERATIONS =
  'listDmarc, listDomains, addDomains, deleteDomains, listDomainGroups, createDomainGroup, deleteDomainGroup, updateDomainGroup'
const NEEDS = 'The body must have one of the fields respond, connection, corrupt, event, delay_ms, jitter_ms.'
const EXCLUDED =
  'The body combines fields that exclude each other: a rule has one of respond, connection, corrupt and event; a response can only be changed after the request was executed, and an event has a phase of its own.'
const EXCLUDED_ANSWER =
  '`respond` combines fields that exclude each other: an error has its own headers and body, and the statuses 204, 205 and 304 have no body.'
const DURATION = '`expires_after` must be an ISO 8601 duration such as PT1H, P1D or P2W, not'

function withHeaders(headers: Record<string, unknown>): object {
  return { respond: { status: 503, headers } }
}

function unfit(name: string): string {
  return `\`respond.headers\` has the name ${JSON.stringify(name)}, which is not a header name, or is the server's own, such as Content-Length.`
}

type Row = [rule: unknown, code: string, field: string | null, message: string]

const REFUSALS: Row[] = [
  // What does nothing, or two things at once.
  [{}, 'missing_field', '', NEEDS],
  [{ description: 'x', match: {}, times: 1 }, 'missing_field', '', NEEDS],
  [[], 'invalid_request_body', '', 'Request body must be a JSON object.'],
  ['null', 'invalid_request_body', '', 'Request body must be a JSON object.'],
  [{ ...LIMITED, connection: 'reset' }, 'conflicting_fields', '', EXCLUDED],
  [{ ...LIMITED, corrupt: 'wrong-type' }, 'conflicting_fields', '', EXCLUDED],
  [{ connection: 'reset', corrupt: 'wrong-type' }, 'conflicting_fields', '', EXCLUDED],
  [{ corrupt: 'wrong-type', phase: 'before' }, 'conflicting_fields', '', EXCLUDED],
  [{ connection: 'truncate', phase: 'before' }, 'conflicting_fields', '', EXCLUDED],
  [{ connection: 'drip', phase: 'before' }, 'conflicting_fields', '', EXCLUDED],
  [{ respond: {} }, 'missing_field', '/respond', '`respond` must have one of the fields error, status.'],
  [{ respond: { body: 1 } }, 'missing_field', '/respond', '`respond` must have one of the fields error, status.'],
  [{ respond: { error: 'rate_limited', body: 1 } }, 'conflicting_fields', '/respond', EXCLUDED_ANSWER],
  [{ respond: { error: 'rate_limited', headers: {} } }, 'conflicting_fields', '/respond', EXCLUDED_ANSWER],
  [{ respond: { status: 204, body: 'x' } }, 'conflicting_fields', '/respond', EXCLUDED_ANSWER],
  [{ respond: { status: 304, body: null } }, 'conflicting_fields', '/respond', EXCLUDED_ANSWER],
  // Rules that could never act.
  [
    { ...LIMITED, match: { operation: 'listdomains' } },
    'invalid_value',
    '/match/operation',
    `\`match.operation\` must be one of ${OPERATIONS}, not "listdomains". Did you mean listDomains?`,
  ],
  [
    { ...LIMITED, match: { path: '/api/v1/dmarc' } },
    'invalid_value',
    '/match/path',
    '`match.path` must be one of /dmarc, /domains, /domaingroups, not "/api/v1/dmarc".',
  ],
  [
    { ...LIMITED, match: { method: 'PUT' } },
    'invalid_value',
    '/match/method',
    '`match.method` must be one of GET, HEAD, POST, PATCH, DELETE, not "PUT".',
  ],
  [
    { ...LIMITED, match: { operation: 'listDmarc', method: 'POST' } },
    'invalid_value',
    '/match',
    'No request can match `match`: listDmarc is GET /dmarc.',
  ],
  [
    { ...LIMITED, match: { operation: 'listDmarc', path: '/domains' } },
    'invalid_value',
    '/match',
    'No request can match `match`: listDmarc is GET /dmarc.',
  ],
  [
    { ...LIMITED, match: { path: '/domains', method: 'PATCH' } },
    'invalid_value',
    '/match',
    'No request can match `match`: /domains has GET, POST, DELETE.',
  ],
  ...['truncate', 'drip'].map(
    (connection): Row => [
      { match: { method: 'HEAD' }, connection },
      'invalid_value',
      '/match/method',
      '`match.method` cannot be "HEAD": its response has no body that could be changed.',
    ],
  ),
  [
    { match: { method: 'HEAD' }, corrupt: 'compatible' },
    'invalid_value',
    '/match/method',
    '`match.method` cannot be "HEAD": its response has no body that could be changed.',
  ],
  [
    { match: { operation: 'listDmarc' }, respond: { error: 'duplicate_name' } },
    'invalid_value',
    '/respond/error',
    '`respond.error` cannot be "duplicate_name": listDmarc can have the codes unauthorized, rate_limited, internal_error. Use respond.status for a response outside of the contract.',
  ],
  [
    { match: { path: '/domains', method: 'GET' }, respond: { error: 'invalid_domain' } },
    'invalid_value',
    '/respond/error',
    '`respond.error` cannot be "invalid_domain": listDomains can have the codes unauthorized, rate_limited, internal_error. Use respond.status for a response outside of the contract.',
  ],
  [
    { respond: { error: 'rate_limited', status: 403 } },
    'invalid_value',
    '/respond/status',
    '`respond.status` must be one of 429, not 403.',
  ],
  [
    { ...LIMITED, expires_after: 'PT0S' },
    'invalid_value',
    '/expires_after',
    '`expires_after` must be longer than "PT0S", because the rule would never act.',
  ],
  // Header fields that would break the message.
  ...[
    '',
    'x y',
    'x:y',
    'X\r\nY',
    'Content-Length',
    'CONTENT-length',
    'Transfer-Encoding',
    'tRANSFER-eNCODING',
    'connection',
    'Keep-Alive',
    'UPGRADE',
    'trailer',
    'x-request-id',
    'é',
    'a'.repeat(101),
  ].map((name): Row => {
    const shown = name.length > 100 ? name : undefined
    const message = shown === undefined ? unfit(name) : unfit(name).replace(`"${name}"`, `"${name.slice(0, 98)}…`)
    return [withHeaders({ [name]: '1' }), 'invalid_value', '/respond/headers', message]
  }),
  ...['a\r\nSet-Cookie: b', 'a\nb', 'a\rb', 'a\u0000b', 'é', 'a\n', '\u007f'].map(
    (value): Row => [
      withHeaders({ 'x-a': value }),
      'invalid_value',
      '/respond/headers/x-a',
      `\`respond.headers.x-a\` must be a header value of visible ASCII characters, spaces and tabs, not ${JSON.stringify(value).replace('\u007f', '\\u007f')}.`,
    ],
  ),
  [
    withHeaders({ 'x-a': 'a'.repeat(4001) }),
    'invalid_value',
    '/respond/headers/x-a',
    '`respond.headers.x-a` must have at most 4000 characters.',
  ],
  [
    withHeaders(Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`x-${index}`, '']))),
    'invalid_value',
    '/respond/headers',
    '`respond.headers` must have at most 50 fields.',
  ],
  // Values out of range.
  [
    { respond: { status: 503, body: 'ö'.repeat(answerLimit / 2 + 1) } },
    'invalid_value',
    '/respond/body',
    `\`respond.body\` must have at most ${answerLimit} bytes, not ${answerLimit + 2}.`,
  ],
  [
    { respond: { status: 503, body: ['x'.repeat(answerLimit - 3)] } },
    'invalid_value',
    '/respond/body',
    `\`respond.body\` must have at most ${answerLimit} bytes, not ${answerLimit + 1}.`,
  ],
  [
    `{"respond":{"status":503,"body":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`,
    'invalid_value',
    '',
    'The body must not be nested more than 100 levels deep.',
  ],
  [{ respond: { status: 199 } }, 'invalid_value', '/respond/status', '`respond.status` must be at least 200, not 199.'],
  [{ respond: { status: 600 } }, 'invalid_value', '/respond/status', '`respond.status` must be at most 599, not 600.'],
  [{ delay_ms: -1 }, 'invalid_value', '/delay_ms', '`delay_ms` must be at least 0, not -1.'],
  [{ delay_ms: 600_001 }, 'invalid_value', '/delay_ms', '`delay_ms` must be at most 600000, not 600001.'],
  [{ jitter_ms: 600_001 }, 'invalid_value', '/jitter_ms', '`jitter_ms` must be at most 600000, not 600001.'],
  [{ ...LIMITED, skip: -1 }, 'invalid_value', '/skip', '`skip` must be at least 0, not -1.'],
  [{ ...LIMITED, times: 0 }, 'invalid_value', '/times', '`times` must be at least 1, not 0.'],
  [{ ...LIMITED, probability: 1.01 }, 'invalid_value', '/probability', '`probability` must be at most 1, not 1.01.'],
  [{ ...LIMITED, probability: -0.1 }, 'invalid_value', '/probability', '`probability` must be at least 0, not -0.1.'],
  ...['1h', 'P1M', 'PT', 'P', '-PT1H', 'PT1.5S', ''].map(
    (span): Row => [
      { ...LIMITED, expires_after: span },
      'invalid_value',
      '/expires_after',
      `${DURATION} ${JSON.stringify(span)}.`,
    ],
  ),
  [
    { ...LIMITED, description: 'x'.repeat(501) },
    'invalid_value',
    '/description',
    '`description` must have at most 500 characters.',
  ],
  // Unknown choices, fields and types.
  [
    { connection: 'RESET' },
    'invalid_value',
    '/connection',
    '`connection` must be one of reset, hang, empty, truncate, drip, not "RESET".',
  ],
  [
    { corrupt: 'x' },
    'invalid_value',
    '/corrupt',
    '`corrupt` must be one of malformed-json, missing-field, wrong-type, extra-field, unknown-enum, bad-envelope, compatible, not "x".',
  ],
  [{ ...LIMITED, phase: 'during' }, 'invalid_value', '/phase', '`phase` must be one of before, after, not "during".'],
  [{ ...LIMITED, colour: 1 }, 'unknown_field', '/colour', 'The field `colour` is unknown.'],
  [{ ...LIMITED, match: { colour: 1 } }, 'unknown_field', '/match/colour', 'The field `match.colour` is unknown.'],
  [{ respond: { status: 503, delay: 1 } }, 'unknown_field', '/respond/delay', 'The field `respond.delay` is unknown.'],
  [{ ...LIMITED, match: 5 }, 'invalid_field_type', '/match', '`match` must be of type object, not number.'],
  [
    { ...LIMITED, match: { key: 5 } },
    'invalid_field_type',
    '/match/key',
    '`match.key` must be of type string, not number.',
  ],
  [{ respond: 'x' }, 'invalid_field_type', '/respond', '`respond` must be of type object, not string.'],
  [
    { respond: { error: 5 } },
    'invalid_field_type',
    '/respond/error',
    '`respond.error` must be of type string, not number.',
  ],
  [
    { respond: { status: '503' } },
    'invalid_field_type',
    '/respond/status',
    '`respond.status` must be of type integer, not string.',
  ],
  [{ delay_ms: 1.5 }, 'invalid_field_type', '/delay_ms', '`delay_ms` must be of type integer, not number.'],
  [{ delay_ms: null }, 'invalid_field_type', '/delay_ms', '`delay_ms` must be of type integer, not null.'],
  [
    { ...LIMITED, probability: '1' },
    'invalid_field_type',
    '/probability',
    '`probability` must be of type number, not string.',
  ],
  [
    { ...LIMITED, expires_after: 5 },
    'invalid_field_type',
    '/expires_after',
    '`expires_after` must be of type string, not number: an ISO 8601 duration such as PT1H, P1D or P2W.',
  ],
  [
    withHeaders({ 'x-a': 5 }),
    'invalid_field_type',
    '/respond/headers/x-a',
    '`respond.headers.x-a` must be of type string, not number: a header value of visible ASCII characters, spaces and tabs.',
  ],
]

describe('A rule that cannot be is refused', () => {
  it.each(REFUSALS.map((row) => [shown(row[0]), ...row] as const))('%s', async (_, rule, code, field, message) => {
    const service = await startService()
    const { status, error } = await askControl(service, 'POST', '/accounts/default/faults', rule)
    expect([status, error.code, error.message]).toEqual([400, code, message])
    expect(error.problems).toEqual([{ code, field, message }])
    expect(await faultsOf(service)).toEqual([])
  })

  it('naming every code there is when it is for an unknown one', async () => {
    const service = await startService()
    const rule = { respond: { error: 'too_many_requests' } }
    const { error } = await askControl(service, 'POST', '/accounts/default/faults', rule)
    for (const code of service.contract.catalogue.codes) expect(error.message).toContain(code)
    expect(error.message).toContain(', not "too_many_requests".')
  })

  it('to an account that there is not', async () => {
    const service = await startService()
    const { status, error } = await askControl(service, 'POST', '/accounts/nobody/faults', LIMITED)
    expect([status, error.message]).toEqual([404, 'There is no account "nobody".'])
  })
})

describe('A rule at the edge of what may be', () => {
  it.each([
    { respond: { error: 'unauthorized', status: 403 } },
    { respond: { status: 200 } },
    { respond: { status: 599, headers: {}, body: 'x'.repeat(answerLimit) } },
    { respond: { status: 205 } },
    { respond: { status: 500, headers: { "!#$%&'*+.^_`|~-": '\t ~' } } },
    { delay_ms: 600_000, jitter_ms: 600_000 },
    { jitter_ms: 0 },
    { ...LIMITED, skip: 1_000_000_000, times: 1_000_000_000, probability: 0 },
    { ...LIMITED, expires_after: 'PT1S' },
    { ...LIMITED, expires_after: 'P99999W' },
    { ...LIMITED, match: { operation: 'listDmarc', method: 'HEAD', path: '/dmarc', key: 'key_x' } },
    { connection: 'drip', phase: 'after', delay_ms: 1 },
    { corrupt: 'compatible', phase: 'after' },
    { description: '🙂'.repeat(500), delay_ms: 0 },
  ])('is accepted and told as it was given: %j', async (rule) => {
    const service = await startService()
    const added = await addFault(service, rule as object)
    expect(added.rule).toEqual(rule)
    expect(await faultsOf(service)).toEqual([added])
  })
})

describe('The rules of an account', () => {
  it('are as many as may be and no more, and the service answers on', async () => {
    const service = await startService({ enforceQuotas: false })
    const rule = { respond: { status: 500 }, probability: 0 }
    for (let count = 0; count < faultsPerAccount; count++) await addFault(service, rule)
    const refusal = await askControl(service, 'POST', '/accounts/default/faults', rule)
    const message = `There are already ${faultsPerAccount} fault rules, which is the limit.`
    expect([refusal.status, refusal.error.code, refusal.error.message]).toEqual([409, 'too_many', message])
    expect((await askControl(service, 'POST', '/accounts/default/fault-sets/flaky')).status).toBe(409)
    expect(await faultsOf(service)).toHaveLength(faultsPerAccount)
    const began = processorTime()
    for (let request = 0; request < 50; request++) expect((await service.get('/domains')).status).toBe(200)
    expect(processorTime() - began).toBeLessThan(5000)
    expect(new Set((await faultsOf(service)).map(({ matched }) => matched))).toEqual(new Set([50]))
    await askControl(service, 'DELETE', '/accounts/default/faults/fault_1')
    expect((await addFault(service, rule)).id).toBe(`fault_${faultsPerAccount + 1}`)
  })

  it('are the rules of one account when two are asked at once', async () => {
    const service = await startService()
    const added = await Promise.all(Array.from({ length: 20 }, () => addFault(service, { delay_ms: 0 })))
    expect(new Set(added.map(({ id }) => id)).size).toBe(20)
  })
})

function shown(rule: unknown): string {
  const text = typeof rule === 'string' ? rule : JSON.stringify(rule)
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}

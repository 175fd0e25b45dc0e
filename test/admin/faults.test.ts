import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readLimits } from '../../src/contract/control-api.ts'
import { addFault, askControl, controlApi, faultsOf } from '../support/control-plane.ts'
import { openService, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const { faultsPerAccount, answerLimit } = readLimits(controlApi)
const LIMITED = { respond: { error: 'rate_limited' } }
const OPERATIONS =
  'listDmarc, listDomains, addDomains, deleteDomains, listDomainGroups, createDomainGroup, deleteDomainGroup, updateDomainGroup'
const EXCLUDED =
  'The body combines fields that exclude each other: a rule has one of respond, connection, corrupt and event; a response can only be changed after the request was executed, and an event has a phase of its own.'
const EXCLUDED_ANSWER =
  '`respond` combines fields that exclude each other: an error has its own headers and body, and the statuses 204, 205 and 304 have no body.'
const CODES =
  'can have the codes unauthorized, rate_limited, internal_error. Use respond.status for a response outside of the contract.'
const LIMIT = `\`respond.body\` must have at most ${answerLimit} bytes, not`
const HEADER_VALUE = 'a header value of visible ASCII characters, spaces and tabs'

/** The rule `LIMITED` for some requests. */
const matching = (match: object) => ({ ...LIMITED, match })
const withError = (error: string, match: object) => ({ match, respond: { error } })
const withAnswer = (answer: object) => ({ respond: { status: 503, ...answer } })
const withHeaders = (headers: object) => withAnswer({ headers })

/** Each code with the rules that are refused with it. The first name in a message is the place that the refusal names. */
const REFUSALS: Readonly<Record<string, [rule: unknown, message: string][]>> = {
  invalid_request_body: [[[], 'Request body must be a JSON object.']],
  missing_field: [
    [{}, 'The body must have one of the fields respond, connection, corrupt, event, delay_ms, jitter_ms.'],
    [{ respond: { body: 1 } }, '`respond` must have one of the fields error, status.'],
  ],
  conflicting_fields: [
    [{ ...LIMITED, connection: 'reset' }, EXCLUDED],
    [{ connection: 'truncate', phase: 'before' }, EXCLUDED],
    [{ respond: { error: 'rate_limited', body: 1 } }, EXCLUDED_ANSWER],
    [{ respond: { status: 204, body: 'x' } }, EXCLUDED_ANSWER],
  ],
  unknown_field: [[matching({ colour: 1 }), 'The field `match.colour` is unknown.']],
  invalid_field_type: [
    [{ respond: { status: '503' } }, '`respond.status` must be of type integer, not string.'],
    [withHeaders({ 'x-a': 5 }), `\`respond.headers.x-a\` must be of type string, not number: ${HEADER_VALUE}.`],
  ],
  invalid_value: [
    // Rules that could never act.
    [
      matching({ operation: 'listdomains' }),
      `\`match.operation\` must be one of ${OPERATIONS}, not "listdomains". Did you mean listDomains?`,
    ],
    [
      matching({ path: '/domain' }),
      '`match.path` must be one of /dmarc, /domains, /domaingroups, not "/domain". Did you mean /domains?',
    ],
    [matching({ operation: 'listDmarc', method: 'POST' }), 'No request can match `match`: listDmarc is GET /dmarc.'],
    [matching({ path: '/domains', method: 'PATCH' }), 'No request can match `match`: /domains has GET, POST, DELETE.'],
    [
      { match: { method: 'HEAD' }, connection: 'truncate' },
      '`match.method` cannot be "HEAD": its response has no body that could be changed.',
    ],
    [
      withError('duplicate_name', { operation: 'listDmarc' }),
      `\`respond.error\` cannot be "duplicate_name": listDmarc ${CODES}`,
    ],
    [
      withError('invalid_domain', { path: '/domains', method: 'GET' }),
      `\`respond.error\` cannot be "invalid_domain": listDomains ${CODES}`,
    ],
    [{ respond: { error: 'rate_limited', status: 403 } }, '`respond.status` must be one of 429, not 403.'],
    [
      { ...LIMITED, expires_after: 'PT0S' },
      '`expires_after` must be longer than "PT0S", because the rule would never act.',
    ],
    ...['X\r\nY', 'CONTENT-length', 'x-request-id'].map((name): [object, string] => [
      withHeaders({ [name]: '1' }),
      `\`respond.headers\` has the name ${JSON.stringify(name)}, which is not a header name, or is the server's own, such as Content-Length.`,
    ]),
    ...['a\r\nSet-Cookie: b', 'é'].map((value): [object, string] => [
      withHeaders({ 'x-a': value }),
      `\`respond.headers.x-a\` must be ${HEADER_VALUE}, not ${JSON.stringify(value)}.`,
    ]),
    [withAnswer({ body: 'ö'.repeat(answerLimit / 2 + 1) }), `${LIMIT} ${answerLimit + 2}.`],
    [withAnswer({ body: ['x'.repeat(answerLimit - 3)] }), `${LIMIT} ${answerLimit + 1}.`],
  ],
}

/** Where the value is that a message is about, as a JSON pointer: `respond.status` at `/respond/status`. */
function placeIn(message: string): string {
  const [, name] = /^[^`]*`([^`]+)`/.exec(message) ?? []
  return name === undefined ? '' : `/${name.replaceAll('.', '/')}`
}

const shared = await openService({ enforceQuotas: false })
afterAll(shared.stop)
const add = (rule: unknown) => askControl(shared, 'POST', '/accounts/default/faults', rule)

describe('A rule that cannot be is refused', () => {
  const rows = Object.entries(REFUSALS).flatMap(([code, each]) =>
    each.map((row) => [shown(row[0]), code, ...row] as const),
  )
  it.each(rows)('%s, as %s', async (_, code, rule, message) => {
    const { status, error } = await add(rule)
    expect([status, error.code, error.message]).toEqual([400, code, message])
    expect(error.problems).toEqual([{ code, field: placeIn(message), message }])
    expect(await faultsOf(shared)).toEqual([])
  })

  it('naming every code there is when it is for an unknown one', async () => {
    const { error } = await add({ respond: { error: 'too_many_requests' } })
    for (const code of shared.contract.catalogue.codes) expect(error.message).toContain(code)
    expect(error.message).toContain(', not "too_many_requests".')
    expect((await add({ respond: { error: 'ratelimited' } })).error.message).toMatch(/mean rate_limited\?$/)
  })
})

it('A rule is listed as it was given, up to the largest values that may be', async () => {
  for (const rule of [
    { respond: { status: 599, headers: { "!#$%&'*+.^_`|~-": '\t ~' }, body: 'x'.repeat(answerLimit) } },
    { ...LIMITED, match: { operation: 'listDmarc', method: 'HEAD', path: '/dmarc', key: 'key_x' }, probability: 0 },
    { connection: 'drip', phase: 'after', delay_ms: 600_000, jitter_ms: 600_000, description: '🙂'.repeat(500) },
  ]) {
    const added = await addFault(shared, rule as object)
    expect([added.rule, await faultsOf(shared)]).toEqual([rule, [added]])
    await askControl(shared, 'DELETE', '/accounts/default/faults')
  }
})

it('The rules of an account are as many as may be and no more, and the service answers on', async () => {
  const rule = { respond: { status: 500 }, probability: 0 }
  const file = join(temporaryFolder(), 'faults.json')
  writeFileSync(file, JSON.stringify({ many: { rules: Array(faultsPerAccount).fill(rule) } }))
  const service = await startService({ faults: [file], enforceQuotas: false })
  const refusal = await askControl(service, 'POST', '/accounts/default/faults', rule)
  const message = `There are already ${faultsPerAccount} fault rules, which is the limit.`
  expect([refusal.status, refusal.error.code, refusal.error.message]).toEqual([409, 'too_many', message])
  expect((await askControl(service, 'POST', '/accounts/default/fault-sets/flaky')).status).toBe(409)
  for (let request = 0; request < 5; request++) expect((await service.get('/domains')).status).toBe(200)
  expect(new Set((await faultsOf(service)).map(({ matched }) => matched))).toEqual(new Set([5]))
  await askControl(service, 'DELETE', '/accounts/default/faults/fault_1')
  expect((await addFault(service, rule)).id).toBe(`fault_${faultsPerAccount + 1}`)
})

function shown(rule: unknown): string {
  const text = typeof rule === 'string' ? rule : JSON.stringify(rule)
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}

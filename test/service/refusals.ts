import { expect } from 'vitest'
import type { Operation } from '../../src/contract/api.ts'
import { loadContract } from '../../src/contract/contract.ts'
import type { ErrorCode } from '../../src/domain/errors.ts'
import { ACCOUNT, changeAccount, DISABLED_KEY, pathOf } from '../support/account.ts'
import { API_KEY, type TestResponse, type TestService } from '../support/service.ts'

export const contract = await loadContract()

interface Sent {
  /** The name of a group, whose id is sent; any other text is sent as it is, and `null` not at all. */
  id?: string | null
  body?: unknown
  headers?: Record<string, string | null>
}

/** What else is out of the ordinary. */
interface Given {
  plan?: string
  /** Whether the quota of the path is used up. */
  exhausted?: boolean
}

/** A request that each operation accepts from the account of these tests. */
export const ACCEPTED: Record<string, Sent> = {
  listDmarc: {},
  listDomains: {},
  addDomains: { body: { domains: ['new.example'] } },
  deleteDomains: { body: { domains: ['two.example'] } },
  listDomainGroups: {},
  createDomainGroup: { body: { name: 'Support', domains: ['two.example'] } },
  updateDomainGroup: { id: 'Sales', body: { name: 'Support', add_domains: ['two.example'] } },
  deleteDomainGroup: { id: 'Sales' },
}
export const ALL = Object.keys(ACCEPTED)
const ON_DOMAINS = ['listDomains', 'addDomains', 'deleteDomains']
const ON_GROUPS = ['listDomainGroups', 'createDomainGroup', 'updateDomainGroup', 'deleteDomainGroup']
const OF_DOMAINS = ['addDomains', 'deleteDomains']
const OF_A_GROUP = ['createDomainGroup', 'updateDomainGroup']
const BY_ID = ['updateDomainGroup', 'deleteDomainGroup']
const READING_A_BODY = [...OF_DOMAINS, ...OF_A_GROUP]

export function hosts(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `host-${index}.example`)
}

type Row = [when: string, sent: Sent, message: string, given?: Given]

export interface Case {
  operation: string
  status: number
  code: ErrorCode
  when: string
  sent: Sent
  message: string
  given: Given
}

/** Cases for each of the operations; what a row does not send is as in the accepted request. */
function refused(status: number, code: ErrorCode, operations: string | readonly string[], rows: Row[]): Case[] {
  return [operations].flat().flatMap((operation) =>
    rows.map(([when, sent, message, given = {}]): Case => {
      return { operation, status, code, when, sent: { ...ACCEPTED[operation], ...sent }, message, given }
    }),
  )
}

function withKey(authorization: string | null): Sent {
  return { headers: { authorization } }
}

function ofType(type: string | null): Sent {
  return { headers: { 'content-type': type } }
}

function withBody(body: unknown): Sent {
  return { body }
}

const NO_KEY = 'A valid API key is required in the Authorization header.'
const NO_ACCESS = 'The plan below-stone does not include API access; it starts with the plan stone.'
const NO_ID = 'The query parameter `id` is required.'
const NO_TYPE = 'The header Content-Type must be application/json.'
const NO_CODING = 'Request body must be sent without a Content-Encoding, which "gzip" is.'
const NO_BODY = 'Request body must not be empty.'
const NO_JSON = 'Request body must contain valid JSON.'
const NO_OBJECT = 'Request body must be a JSON object.'
const TOO_LARGE = 'Request body must not be larger than 1048576 bytes.'
const NO_DOMAIN = 'The field `domains` must name at least one domain.'
const TOO_MANY = 'The field `domains` must name at most 50 domains, not 51.'
const NO_CHANGE = 'Request body must contain at least one field to update.'
const MIXED = 'The field `domains` cannot be combined with `add_domains` or `remove_domains`.'
const BLANK = '`name` must have a visible character.'
const TOO_LONG = '`name` must be a name of at most 100 characters, not 101.'
const TAKEN = 'A domain group with the name "mARKETING" already exists.'

function used(limit: number, path: string): string {
  return `The limit of ${limit} requests for ${path} is used up until 2026-01-15T10:00:00Z.`
}

function required(field: string): string {
  return `The field \`${field}\` is required.`
}

function unsupported(field: string): string {
  return `The field \`${field}\` is not supported.`
}

function wrongType(field: string, type: string, given: string): string {
  return `\`${field}\` must be of type ${type}, not ${given}.`
}

export function noHostname(field: string, value: string): string {
  return `\`${field}\` must be a valid hostname, which ${JSON.stringify(value)} is not.`
}

function noGroup(id: string): string {
  return `No domain group has the id "${id}".`
}

const VALUES: readonly [type: string, value: unknown][] = [
  ['null', null],
  ['string', 'two.example'],
  ['number', 5],
  ['boolean', false],
  ['array', ['two.example']],
  ['object', { 0: 'two.example' }],
]

/** A row for each type that the field cannot have; `beside` is what else the body needs. */
function typesOf(field: string, type: string, beside: object = {}): Row[] {
  const wrong = VALUES.filter(([given]) => given !== type)
  return wrong.map(([given, value]) => [
    `${field} of type ${given}`,
    withBody({ ...beside, [field]: value }),
    wrongType(field, type, given),
  ])
}

/** The same for a field that is an array of strings, and for its second entry. */
function typesOfArray(field: string, beside: object = {}): Row[] {
  const wrong = VALUES.filter(([given]) => given !== 'string')
  const entries = wrong.map(([given, value]): Row => {
    const body = { ...beside, [field]: ['two.example', value] }
    return [`${given} in ${field}`, withBody(body), wrongType(`${field}[1]`, 'string', given)]
  })
  return [...typesOf(field, 'array', beside), ...entries]
}

const NO_HOSTNAMES = [
  ...['', 'localhost', 'no host.example', '192.0.2.1', 'one.example:25', 'https://one.example', '*.one.example'],
  ...['_dmarc.one.example', 'one..example', '-one.example', 'one.example/', 'user@one.example', 'xn--a.example'],
]

function invalidIn(field: string, beside: object = {}): Row[] {
  return NO_HOSTNAMES.map((name) => [
    `[valid-hostnames] ${JSON.stringify(name)} in ${field}`,
    withBody({ ...beside, [field]: ['two.example', name] }),
    noHostname(`${field}[1]`, name),
  ])
}

function unmonitoredIn(field: string, beside: object = {}): Row[] {
  const message = `\`${field}[1]\`: stranger.example is not a monitored domain.`
  const row = (when: string, names: string[]): Row => [
    `${when} in ${field}`,
    withBody({ ...beside, [field]: names }),
    message,
  ]
  return [
    row('[members-monitored] an unmonitored domain', ['two.example', 'stranger.example']),
    row('one in another spelling', ['one.example', 'Stranger.Example.']),
  ]
}

export const CASES: Case[] = [
  ...refused(401, 'unauthorized', ALL, [
    ['[key-required] no Authorization header', withKey(null), NO_KEY],
    ['an unknown key', withKey(`Bearer ${API_KEY}0`), NO_KEY],
    ['a disabled key', withKey(`Bearer ${DISABLED_KEY}`), NO_KEY],
  ]),
  ...refused(403, 'unauthorized', ALL, [
    ['[stone-plan-required] a plan below Stone', {}, NO_ACCESS, { plan: 'below-stone' }],
  ]),

  ...refused(429, 'rate_limited', 'listDmarc', [
    ['[dmarc-limit] its quota used', {}, used(10, '/dmarc'), { exhausted: true }],
  ]),
  ...refused(429, 'rate_limited', ON_DOMAINS, [
    ['[domains-limit] its quota used', {}, used(30, '/domains'), { exhausted: true }],
  ]),
  ...refused(429, 'rate_limited', ON_GROUPS, [
    ['[domaingroups-limit] its quota used', {}, used(100, '/domaingroups'), { exhausted: true }],
  ]),

  ...refused(400, 'missing_id', BY_ID, [
    ['[update-needs-id] [delete-needs-id] no id', { id: null }, NO_ID],
    ['an empty id', { id: '' }, NO_ID],
  ]),

  ...refused(400, 'invalid_request_body', READING_A_BODY, [
    ['no Content-Type', ofType(null), NO_TYPE],
    ['the Content-Type of text', ofType('text/plain'), NO_TYPE],
    ['a Content-Encoding', { headers: { 'content-encoding': 'gzip' } }, NO_CODING],
    ['an empty body', withBody(''), NO_BODY],
    ['an array as its body', withBody('[{}]'), NO_OBJECT],
    ['a string as its body', withBody('"{}"'), NO_OBJECT],
    ['null as its body', withBody('null'), NO_OBJECT],
  ]),
  ...refused(413, 'request_too_large', READING_A_BODY, [
    ['a body of 1 MiB and a byte', withBody('{}'.padEnd(1_048_577)), TOO_LARGE],
  ]),
  ...refused(400, 'invalid_json', READING_A_BODY, [
    ['white space as its body', withBody(' \n'), NO_JSON],
    ['half a body', withBody('{"domains":["a.example"]'), NO_JSON],
    ['two bodies', withBody('{}{}'), NO_JSON],
  ]),

  ...refused(400, 'unknown_field', READING_A_BODY, [
    ['an unsupported field', withBody({ domain: 'a.example' }), unsupported('domain')],
    ['an unsupported field that is null', withBody({ notes: null }), unsupported('notes')],
    ['a field in other case', withBody({ Domains: ['a.example'] }), unsupported('Domains')],
    ['an id in its body', withBody({ id: '00000000' }), unsupported('id')],
  ]),
  ...refused(400, 'unknown_field', OF_DOMAINS, [
    ['a field of groups', withBody({ domains: ['two.example'], name: 'Sales' }), unsupported('name')],
  ]),
  ...refused(400, 'unknown_field', 'createDomainGroup', [
    ['a field of updates', withBody({ name: 'Support', add_domains: [] }), unsupported('add_domains')],
  ]),

  ...refused(400, 'missing_field', OF_DOMAINS, [
    ['no domains', withBody({}), required('domains')],
    ['empty domains', withBody({ domains: [] }), NO_DOMAIN],
  ]),
  ...refused(400, 'missing_field', 'createDomainGroup', [
    ['nothing in its body', withBody({}), required('name')],
    ['no name', withBody({ domains: ['two.example'] }), required('name')],
  ]),
  ...refused(400, 'no_fields_to_update', 'updateDomainGroup', [
    ['[update-needs-a-field] nothing', withBody({}), NO_CHANGE],
  ]),

  ...refused(400, 'invalid_field_type', OF_DOMAINS, typesOfArray('domains')),
  ...refused(400, 'invalid_field_type', 'createDomainGroup', [
    ...typesOf('name', 'string'),
    ...typesOfArray('domains', { name: 'Support' }),
  ]),
  ...refused(400, 'invalid_field_type', 'updateDomainGroup', [
    ...typesOf('name', 'string'),
    ...typesOfArray('domains'),
    ...typesOfArray('add_domains'),
    ...typesOfArray('remove_domains'),
  ]),
  ...refused(400, 'conflicting_fields', 'updateDomainGroup', [
    ['[no-mixed-changes] domains and add_domains', withBody({ domains: [], add_domains: [] }), MIXED],
    ['domains and remove_domains', withBody({ domains: [], remove_domains: [] }), MIXED],
    ['domains, add_domains and remove_domains', withBody({ domains: [], add_domains: [], remove_domains: [] }), MIXED],
  ]),

  ...refused(413, 'request_too_large', 'addDomains', [['51 domains', withBody({ domains: hosts(51) }), TOO_MANY]]),
  ...refused(400, 'invalid_name', OF_A_GROUP, [
    ['[name-length] an empty name', withBody({ name: '' }), '`name` must not be empty.'],
    ['a blank name', withBody({ name: ' \t' }), BLANK],
    ['a name of 101 characters', withBody({ name: 'x'.repeat(101) }), TOO_LONG],
    ['a name of 101 characters in 202 units', withBody({ name: '😀'.repeat(101) }), TOO_LONG],
  ]),
  ...refused(400, 'invalid_domain', OF_DOMAINS, invalidIn('domains')),
  ...refused(400, 'invalid_domain', 'createDomainGroup', invalidIn('domains', { name: 'Support' })),
  ...refused(400, 'invalid_domain', 'updateDomainGroup', [...invalidIn('domains'), ...invalidIn('add_domains')]),
  ...refused(400, 'invalid_domain', OF_DOMAINS, [
    ...repeated('[no-duplicates] a domain twice', ['two.example', 'two.example']),
    ...repeated('a domain in two spellings', ['two.example', 'TWO.example.']),
  ]),
  ...refused(400, 'invalid_domain', 'addDomains', [
    ['a monitored domain', withBody({ domains: ['One.example'] }), '`domains[0]`: one.example is monitored already.'],
  ]),

  ...refused(
    404,
    'not_found',
    ['listDomainGroups', ...BY_ID],
    [
      [
        '[unknown-id-read] [unknown-id-update] [unknown-id-delete] an unknown id',
        { id: '00000000' },
        noGroup('00000000'),
      ],
      ['a name as its id', { id: 'marketing' }, noGroup('marketing')],
      ['a property of objects as its id', { id: '__proto__' }, noGroup('__proto__')],
    ],
  ),
  ...refused(404, 'not_found', 'listDomainGroups', [['an empty id', { id: '' }, noGroup('')]]),
  ...refused(409, 'domain_delete_failed', 'deleteDomains', [
    stuck(['two.example', 'used.example'], '`domains[1]`: used.example is in use by mta-sts and cannot be removed.'),
    stuck(['busy.example'], '`domains[0]`: busy.example is in use by mta-sts, tls-rpt and cannot be removed.'),
    stuck(['two.example', 'stranger.example'], '`domains[1]`: stranger.example is not a monitored domain.'),
    stuck(hosts(51), '`domains[0]`: host-0.example is not a monitored domain.'),
  ]),
  ...refused(400, 'not_monitored', 'createDomainGroup', unmonitoredIn('domains', { name: 'Support' })),
  ...refused(400, 'not_monitored', 'updateDomainGroup', [...unmonitoredIn('domains'), ...unmonitoredIn('add_domains')]),
  ...refused(409, 'duplicate_name', OF_A_GROUP, [
    ['[name-unique] [new-name-unique] the name of another group', withBody({ name: 'mARKETING' }), TAKEN],
  ]),
]

/** The body of a refusal with some message. */
export function refusal(code: string): object {
  return { success: false, error: { code, message: expect.stringMatching(/./) } }
}

function repeated(when: string, domains: string[]): Row[] {
  return [[when, withBody({ domains }), '`domains[1]`: two.example is named more than once.']]
}

function stuck(domains: string[], message: string): Row {
  return [`the last of ${domains.length} domains ${domains.at(-1)}`, withBody({ domains }), message]
}

export async function send(
  service: TestService,
  operation: string,
  { id, body, headers }: Sent,
): Promise<TestResponse> {
  const { method, path } = operationOf(operation)
  return service.send(method, path + (await queryFor(service, id)), body, headers)
}

async function queryFor(service: TestService, id: string | null | undefined): Promise<string> {
  if (id === undefined || id === null) return ''
  const known = (ACCOUNT.groups ?? []).some(({ name }) => name === id)
  return known ? new URL(await pathOf(service, id), service.baseUrl).search : `?id=${encodeURIComponent(id)}`
}

export function operationOf(id: string): Operation {
  const operation = contract.operations.find((each) => each.id === id)
  if (operation === undefined) throw new Error(`There is no operation ${id}.`)
  return operation
}

/** Brings the account into the state of the case, and sends its request. */
export async function refuse(service: TestService, { operation, sent, given }: Case): Promise<TestResponse> {
  if (given.exhausted === true) await exhaust(service, operationOf(operation))
  const { plan } = given
  if (plan !== undefined) await changeAccount(service, (state) => ({ ...state, plan }))
  return send(service, operation, sent)
}

async function exhaust(service: TestService, { path, quota }: Operation): Promise<void> {
  for (let request = 0; request < (quota?.limit ?? 0); request++) await service.get(path)
}

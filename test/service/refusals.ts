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
const READING_A_BODY = ['addDomains', 'deleteDomains', 'createDomainGroup', 'updateDomainGroup']

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
const FIFTY_ONE = Array.from({ length: 51 }, (_, index) => `host-${index}.example`)

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
    `${JSON.stringify(name)} in ${field}`,
    withBody({ ...beside, [field]: ['two.example', name] }),
    noHostname(`${field}[1]`, name),
  ])
}

function unmonitoredIn(field: string, beside: object = {}): Row[] {
  const message = `\`${field}[1]\`: stranger.example is not a monitored domain.`
  return [
    [
      `an unmonitored domain in ${field}`,
      withBody({ ...beside, [field]: ['two.example', 'stranger.example'] }),
      message,
    ],
    [
      `one in another spelling in ${field}`,
      withBody({ ...beside, [field]: ['one.example', 'Stranger.Example.'] }),
      message,
    ],
  ]
}

export const CASES: Case[] = [
  ...refused(401, 'unauthorized', ALL, [
    ['no Authorization header', withKey(null), NO_KEY],
    ['an empty Authorization header', withKey(''), NO_KEY],
    ['the scheme without a key', withKey('Bearer'), NO_KEY],
    ['a key without the scheme', withKey(API_KEY), NO_KEY],
    ['the scheme in lower case', withKey(`bearer ${API_KEY}`), NO_KEY],
    ['another scheme', withKey(`Basic ${API_KEY}`), NO_KEY],
    ['an unknown key', withKey(`Bearer ${API_KEY}0`), NO_KEY],
    ['a disabled key', withKey(`Bearer ${DISABLED_KEY}`), NO_KEY],
  ]),
  ...refused(403, 'unauthorized', ALL, [['a plan below Stone', {}, NO_ACCESS, { plan: 'below-stone' }]]),

  ...refused(429, 'rate_limited', 'listDmarc', [['its quota used', {}, used(10, '/dmarc'), { exhausted: true }]]),
  ...refused(429, 'rate_limited', ON_DOMAINS, [['its quota used', {}, used(30, '/domains'), { exhausted: true }]]),
  ...refused(429, 'rate_limited', ON_GROUPS, [['its quota used', {}, used(100, '/domaingroups'), { exhausted: true }]]),

  ...refused(
    400,
    'missing_id',
    ['updateDomainGroup', 'deleteDomainGroup'],
    [
      ['no id', { id: null }, NO_ID],
      ['an empty id', { id: '' }, NO_ID],
    ],
  ),

  ...refused(400, 'invalid_request_body', READING_A_BODY, [
    ['no Content-Type', ofType(null), NO_TYPE],
    ['an empty Content-Type', ofType(''), NO_TYPE],
    ['the Content-Type of a form', ofType('application/x-www-form-urlencoded'), NO_TYPE],
    ['the Content-Type of text', ofType('text/plain'), NO_TYPE],
    ['a Content-Type in another charset', ofType('application/json; charset=latin1'), NO_TYPE],
    ['a Content-Encoding', { headers: { 'content-encoding': 'gzip' } }, NO_CODING],
    ['an empty body', withBody(''), NO_BODY],
    ['an array as its body', withBody('[{}]'), NO_OBJECT],
    ['a string as its body', withBody('"{}"'), NO_OBJECT],
    ['a number as its body', withBody('5'), NO_OBJECT],
    ['null as its body', withBody('null'), NO_OBJECT],
    ['true as its body', withBody('true'), NO_OBJECT],
  ]),
  ...refused(413, 'request_too_large', READING_A_BODY, [
    ['a body of 1 MiB and a byte', withBody('{}'.padEnd(1_048_577)), TOO_LARGE],
  ]),
  ...refused(400, 'invalid_json', READING_A_BODY, [
    ['white space as its body', withBody(' \n'), NO_JSON],
    ['half a body', withBody('{"domains":["a.example"]'), NO_JSON],
    ['two bodies', withBody('{}{}'), NO_JSON],
    ['a comma too many', withBody('{"domains":["a.example"],}'), NO_JSON],
    ['single quotes', withBody("{'domains':['a.example']}"), NO_JSON],
    ['NaN as its body', withBody('NaN'), NO_JSON],
    ['a byte order mark', withBody('\ufeff{}'), NO_JSON],
    ['bytes that are not UTF-8', withBody(Buffer.from('{"name":"caf\xe9"}', 'latin1')), NO_JSON],
  ]),

  ...refused(400, 'unknown_field', READING_A_BODY, [
    ['an unsupported field', withBody({ domain: 'a.example' }), unsupported('domain')],
    ['an unsupported field that is null', withBody({ notes: null }), unsupported('notes')],
    ['a field in other case', withBody({ Domains: ['a.example'] }), unsupported('Domains')],
    ['an id in its body', withBody({ id: '00000000' }), unsupported('id')],
  ]),
  ...refused(
    400,
    'unknown_field',
    ['addDomains', 'deleteDomains'],
    [['a field of groups', withBody({ domains: ['two.example'], name: 'Sales' }), unsupported('name')]],
  ),
  ...refused(400, 'unknown_field', 'createDomainGroup', [
    ['a field of updates', withBody({ name: 'Support', add_domains: [] }), unsupported('add_domains')],
  ]),

  ...refused(
    400,
    'missing_field',
    ['addDomains', 'deleteDomains'],
    [
      ['no domains', withBody({}), required('domains')],
      ['empty domains', withBody({ domains: [] }), NO_DOMAIN],
    ],
  ),
  ...refused(400, 'missing_field', 'createDomainGroup', [
    ['nothing in its body', withBody({}), required('name')],
    ['no name', withBody({ domains: ['two.example'] }), required('name')],
  ]),
  ...refused(400, 'no_fields_to_update', 'updateDomainGroup', [['nothing in its body', withBody({}), NO_CHANGE]]),

  ...refused(400, 'invalid_field_type', ['addDomains', 'deleteDomains'], typesOfArray('domains')),
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
    ['domains and add_domains', withBody({ domains: [], add_domains: [] }), MIXED],
    ['domains and remove_domains', withBody({ domains: [], remove_domains: [] }), MIXED],
    ['domains, add_domains and remove_domains', withBody({ domains: [], add_domains: [], remove_domains: [] }), MIXED],
  ]),

  ...refused(413, 'request_too_large', 'addDomains', [['51 domains', withBody({ domains: FIFTY_ONE }), TOO_MANY]]),
  ...refused(
    400,
    'invalid_name',
    ['createDomainGroup', 'updateDomainGroup'],
    [
      ['an empty name', withBody({ name: '' }), '`name` must not be empty.'],
      ['a blank name', withBody({ name: ' \t' }), BLANK],
      ['a name of 101 characters', withBody({ name: 'x'.repeat(101) }), TOO_LONG],
      ['a name of 101 characters in 202 units', withBody({ name: '😀'.repeat(101) }), TOO_LONG],
    ],
  ),
  ...refused(400, 'invalid_domain', ['addDomains', 'deleteDomains'], invalidIn('domains')),
  ...refused(400, 'invalid_domain', 'createDomainGroup', invalidIn('domains', { name: 'Support' })),
  ...refused(400, 'invalid_domain', 'updateDomainGroup', [...invalidIn('domains'), ...invalidIn('add_domains')]),
  ...refused(
    400,
    'invalid_domain',
    ['addDomains', 'deleteDomains'],
    [
      ...repeated('a domain twice', ['two.example', 'two.example']),
      ...repeated('a domain in two spellings', ['two.example', 'TWO.example.']),
    ],
  ),
  ...refused(400, 'invalid_domain', 'addDomains', [
    ['a monitored domain', withBody({ domains: ['One.example'] }), '`domains[0]`: one.example is monitored already.'],
  ]),

  ...refused(
    404,
    'not_found',
    ['listDomainGroups', 'updateDomainGroup', 'deleteDomainGroup'],
    [
      ['an unknown id', { id: '00000000' }, noGroup('00000000')],
      ['a name as its id', { id: 'marketing' }, noGroup('marketing')],
      ['a property of objects as its id', { id: '__proto__' }, noGroup('__proto__')],
    ],
  ),
  ...refused(404, 'not_found', 'listDomainGroups', [['an empty id', { id: '' }, noGroup('')]]),
  ...refused(409, 'domain_delete_failed', 'deleteDomains', [
    stuck(['two.example', 'used.example'], '`domains[1]`: used.example is in use by mta-sts and cannot be removed.'),
    stuck(['busy.example'], '`domains[0]`: busy.example is in use by mta-sts, tls-rpt and cannot be removed.'),
    stuck(['two.example', 'stranger.example'], '`domains[1]`: stranger.example is not a monitored domain.'),
    stuck(FIFTY_ONE, '`domains[0]`: host-0.example is not a monitored domain.'),
  ]),
  ...refused(400, 'not_monitored', 'createDomainGroup', unmonitoredIn('domains', { name: 'Support' })),
  ...refused(400, 'not_monitored', 'updateDomainGroup', [...unmonitoredIn('domains'), ...unmonitoredIn('add_domains')]),
  ...refused(
    409,
    'duplicate_name',
    ['createDomainGroup', 'updateDomainGroup'],
    [['the name of another group', withBody({ name: 'mARKETING' }), TAKEN]],
  ),
]

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

/** A request of a question. `GROUP` and `KEY` in it stand for the id of a group and for the key. */
export interface DecidingRequest {
  method: string
  /** Below the base URL, with the query. */
  path: string
  /** Other fields than Authorization with the key and the Content-Type of JSON. `null` leaves a field out. */
  headers?: Readonly<Record<string, string | null>>
  /** Sent as JSON; a string is sent as it is. */
  body?: unknown
  /** The body is padded with spaces to this many bytes. */
  pad_to?: number
  /** How often it is sent; once by default. */
  times?: number
}

/** The requests that show which choice a service has made, as advice to the user. `verify` has probes of its own. */
export interface ChoiceQuestion {
  /** What the account must hold for it. */
  given?: string
  /** In this order. */
  requests: readonly DecidingRequest[]
  /** The difference that shows the choice. */
  look: string
}

const MONITORED = 'the domain a.example is monitored'
const UNMONITORED = 'the domain b.example is not monitored'
const GROUP = 'GROUP is the id of a group'

const read = (path: string, headers?: DecidingRequest['headers']): DecidingRequest => ({
  method: 'GET',
  path,
  ...(headers !== undefined && { headers }),
})
const add = (...domains: string[]): DecidingRequest => ({ method: 'POST', path: '/domains', body: { domains } })
const remove = (...domains: string[]): DecidingRequest => ({ method: 'DELETE', path: '/domains', body: { domains } })
const create = (body: unknown, headers?: DecidingRequest['headers']): DecidingRequest => ({
  method: 'POST',
  path: '/domaingroups',
  ...(headers !== undefined && { headers }),
  body,
})
const change = (body: unknown): DecidingRequest => ({ method: 'PATCH', path: '/domaingroups?id=GROUP', body })

const isAccepted = 'whether it is accepted'
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `understudy-${index + 1}.example`)

const UNSORTED_DOMAINS = ['b', 'a', 'c'].map((letter) => add(`understudy-${letter}.example`))

const ask = (look: string, requests: readonly DecidingRequest[], given?: string): ChoiceQuestion => ({
  ...(given !== undefined && { given }),
  requests,
  look,
})
const status = (request: DecidingRequest, given?: string) => ask('the status', [request], given)

/** By the id of the assumption. Each observable assumption has one; a test sends them under every alternative. */
export const QUESTIONS: Readonly<Record<string, ChoiceQuestion>> = {
  'body-limit': ask(
    'which is the first that is answered request_too_large',
    [65_537, 102_401, 1_048_577].map((pad_to) => ({ ...create({ name: 'Body' }), pad_to })),
  ),
  'authorization-scheme': ask('whether the key is valid behind this spelling of the scheme', [
    read('/domains', { authorization: 'bearer KEY' }),
  ]),
  routing: ask('whether the missing key or the unknown path decides the answer', [
    read('/nowhere', { authorization: null }),
  ]),
  'path-matching': ask('whether the path is found', [read('/Domains/')]),
  'content-type': ask(isAccepted, [create({ name: 'Typed' }, { 'content-type': 'text/plain' })]),
  'null-fields': ask(isAccepted, [create({ name: 'Null', domains: null })]),
  'unknown-query-parameters': ask(isAccepted, [read('/domains?verbose=1')]),
  'international-names': ask('whether it is accepted, and how the response spells it', [add('BÜCHER.example')]),
  'canonical-form': ask('how both responses spell the domain', [add('B.EXAMPLE'), read('/domains')], UNMONITORED),
  'domain-order': ask('the order of the domains', [...UNSORTED_DOMAINS, read('/domains')]),
  'record-order': ask('the order of the records', [...UNSORTED_DOMAINS, read('/dmarc')]),
  'group-order': ask('the order of the groups', [
    ...['b', 'a', 'c'].map((name) => create({ name })),
    read('/domaingroups'),
  ]),
  'already-monitored': ask('the error code, if it is refused', [add('a.example')], MONITORED),
  'repeated-domains': ask('the error code', [add('b.example', 'b.example')], UNMONITORED),
  'unmonitored-deletion': ask('the error code, if it is refused', [remove('b.example')], UNMONITORED),
  'deletion-of-members': ask(
    'whether it is removed, although it is a member and no feature uses it yet',
    [add('b.example'), create({ name: 'Member', domains: ['b.example'] }), remove('b.example')],
    UNMONITORED,
  ),
  'shared-domains': ask(
    'whether it is accepted, and in which groups the domain is then',
    [create({ name: 'Share', domains: ['c.example'] }), read('/domaingroups')],
    'the domain c.example is a member of a group',
  ),
  'name-comparison': ask(
    'whether the second and the fourth are answered duplicate_name',
    ['Äpfel', 'äPFEL', 'straße', 'STRASSE'].map((name) => create({ name })),
  ),
  'quota-window': ask('whether X-RateLimit-Reset is a full hour', [read('/domaingroups')]),
  'rate-limit-reset': ask('whether X-RateLimit-Reset is a time or a duration', [read('/domaingroups')]),
  'quota-headers': ask('which of them have the headers about the quota', [
    read('/domaingroups?id=none'),
    { method: 'PUT', path: '/domaingroups' },
    read('/domaingroups', { authorization: null }),
  ]),
  'charged-requests': ask('whether X-RateLimit-Remaining falls by the second', [
    read('/domaingroups'),
    read('/domaingroups?id=none'),
    read('/domaingroups'),
  ]),
  decimals: ask('how whole percentages are written, as in 100.0 or 100', [read('/dmarc')], 'a domain is monitored'),
  'refresh-time': ask(
    'between which times of day the figures change',
    [read('/dmarc'), read('/dmarc')],
    'mail arrives each day',
  ),
  'unprocessed-domains': ask('whether the domain has a record', [add('b.example'), read('/dmarc')], UNMONITORED),
  grace: ask('X-RateLimit-Limit', [read('/domains')], 'the key is less than a week old'),
  'add-domains-status': status(add('b.example'), UNMONITORED),
  'delete-domains-status': status(remove('a.example'), MONITORED),
  'create-group-status': status(create({ name: 'Status' })),
  'policies-without-record': ask(
    'what its record has as p',
    [read('/dmarc')],
    'a domain without a DMARC record is monitored',
  ),
  'request-id-format': ask('the form of X-Request-Id', [read('/domains')]),
  'www-authenticate': ask('whether there is a WWW-Authenticate', [read('/domains', { authorization: null })]),
  'retry-after': ask('whether the refusal has a Retry-After', [{ ...read('/dmarc'), times: 11 }]),
  'too-many-domains': ask('the error code', [add(...numbered(51))]),
  'empty-lists': ask('whether each is accepted', [change({ add_domains: [] }), change({ domains: [] })], GROUP),
  'group-id-format': ask('the form of the id', [create({ name: 'Id' })]),
  percentages: ask('how many decimals the percentages have', [read('/dmarc')], 'mail arrives each day'),
  'update-group-response': ask('whether the response has a message and the group', [change({ name: 'Update' })], GROUP),
  'status-unauthorized': status(read('/domains', { authorization: null })),
  'status-rate-limited': ask('the status of the refusal', [{ ...read('/dmarc'), times: 11 }]),
  'status-missing-id': status({ method: 'DELETE', path: '/domaingroups' }),
  'status-invalid-request-body': status({ method: 'POST', path: '/domains', body: '' }),
  'status-invalid-json': status(create('{')),
  'status-unknown-field': status(create({ name: 'Field', label: 'X' })),
  'status-missing-field': status(create({})),
  'status-no-fields-to-update': status(change({}), GROUP),
  'status-invalid-field-type': status(create({ name: 5 })),
  'status-conflicting-fields': status(change({ domains: [], add_domains: [] }), GROUP),
  'status-request-too-large': ask('the status', [add(...numbered(51))]),
  'status-invalid-name': status(create({ name: '' })),
  'status-invalid-domain': status(add('no host')),
  'status-not-found': status(read('/domaingroups?id=none')),
  'status-unknown-path': status(read('/nowhere')),
  'status-wrong-method': ask('the status and the error code', [{ method: 'PUT', path: '/domains' }]),
  'status-domain-delete-failed': status(remove('b.example'), UNMONITORED),
  'status-not-monitored': status(create({ name: 'Stranger', domains: ['b.example'] }), UNMONITORED),
  'status-duplicate-name': ask('the status', [create({ name: 'Twice' }), create({ name: 'TWICE' })]),
}

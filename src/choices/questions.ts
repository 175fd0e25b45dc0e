/** A request of a question. `GROUP`, `OTHER` and `KEY` in it stand for the ids of two groups and for the key. */
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
const GROUPS = 'GROUP is the id of a group, OTHER that of another one'

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
/** A name that may not be a hostname. */
const hostname = (name: string, look = isAccepted) => ask(look, [add(name)])
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
  precedence: ask('which of its problems decides the error code', [
    create({ label: 'X' }),
    { method: 'PATCH', path: '/domaingroups', body: '{' },
  ]),
  routing: ask('whether the missing key or the unknown path decides the answer', [
    read('/nowhere', { authorization: null }),
  ]),
  'path-matching': ask('whether the path is found', [read('/Domains/')]),
  head: ask('the status', [{ method: 'HEAD', path: '/domains' }]),
  'content-type': ask(isAccepted, [create({ name: 'Typed' }, { 'content-type': 'text/plain' })]),
  'request-charset': ask('whether each is accepted, and the name of the second group', [
    create({ name: 'Set' }, { 'content-type': 'application/json; charset=us-ascii' }),
    create({ name: 'Café' }, { 'content-type': 'application/json; charset=iso-8859-1' }),
  ]),
  'byte-order-mark': ask(isAccepted, [create('\ufeff{"name":"Mark"}')]),
  'duplicate-fields': ask(isAccepted, [create('{"name":"One","name":"Two"}')]),
  'ignored-body': ask(isAccepted, [{ method: 'GET', path: '/domains', body: {} }]),
  'null-fields': ask(isAccepted, [create({ name: 'Null', domains: null })]),
  'unknown-query-parameters': ask(isAccepted, [read('/domains?verbose=1')]),
  'empty-parameters': ask('whether it lists the groups', [read('/domaingroups?id=')]),
  'repeated-id': ask('which group is answered, if any', [read('/domaingroups?id=GROUP&id=OTHER')], GROUPS),
  'final-dot': hostname('b.example.'),
  'international-names': hostname('BÜCHER.example', 'whether it is accepted, and how the response spells it'),
  underscores: hostname('_dmarc.b.example'),
  'single-labels': hostname('understudy'),
  'ipv4-addresses': hostname('192.0.2.1'),
  'numeric-last-labels': hostname('example.123'),
  wildcards: hostname('*.b.example'),
  'public-suffixes': hostname('co.uk'),
  'space-around-hostnames': hostname(' b.example '),
  'invisible-in-hostnames': hostname('b\u200b.example'),
  'canonical-form': ask('how both responses spell the domain', [add('B.EXAMPLE'), read('/domains')], UNMONITORED),
  'domain-order': ask('the order of the domains', [...UNSORTED_DOMAINS, read('/domains')]),
  'record-order': ask('the order of the records', [...UNSORTED_DOMAINS, read('/dmarc')]),
  'group-order': ask('the order of the groups', [
    ...['b', 'a', 'c'].map((name) => create({ name })),
    read('/domaingroups'),
  ]),
  'member-order': ask(
    'the order of the members',
    [create({ name: 'Order', domains: ['c.example', 'a.example'] })],
    'the domains a.example and c.example are monitored',
  ),
  'echo-order': ask('the order of the domains', [add('understudy-b.example', 'understudy-a.example')]),
  'already-monitored': ask('the error code, if it is refused', [add('a.example')], MONITORED),
  'repeated-domains': ask('the error code', [add('b.example', 'b.example')], UNMONITORED),
  'repeated-deletions': ask('the error code, if it is refused', [remove('a.example', 'a.example')], MONITORED),
  'mixed-additions': ask(
    'whether the other domain is added, although the first request is refused',
    [add('a.example'), add('b.example', 'a.example')],
    `${MONITORED}, ${UNMONITORED}`,
  ),
  'unmonitored-deletion': ask('the error code, if it is refused', [remove('b.example')], UNMONITORED),
  'mixed-deletions': ask(
    'whether the other domain is removed, although the first request is refused',
    [remove('b.example'), remove('a.example', 'b.example')],
    `${MONITORED}, ${UNMONITORED}`,
  ),
  'deletion-of-members': ask(
    'whether it is removed, although it is a member and no feature uses it yet',
    [add('b.example'), create({ name: 'Member', domains: ['b.example'] }), remove('b.example')],
    UNMONITORED,
  ),
  'repeated-members': ask(
    'the error code, or the members',
    [create({ name: 'Repeat', domains: ['a.example', 'a.example'] })],
    MONITORED,
  ),
  'mixed-members': ask(
    'whether the other domain is added',
    [change({ add_domains: ['b.example', 'a.example'] })],
    `${MONITORED}, ${UNMONITORED}; GROUP is the id of a group`,
  ),
  'shared-domains': ask(
    'whether it is accepted, and in which groups the domain is then',
    [create({ name: 'Share', domains: ['c.example'] }), read('/domaingroups')],
    'the domain c.example is a member of a group',
  ),
  'domain-cap': ask(
    'whether more than 100 domains are accepted',
    [0, 50, 100].map((from) => add(...numbered(150).slice(from, from + 50))),
  ),
  'group-cap': ask(
    'whether more than 20 groups are accepted',
    Array.from({ length: 21 }, (_, index) => create({ name: `Group ${index + 1}` })),
  ),
  'member-cap': ask('whether more than 50 members are accepted', [
    add(...numbered(51).slice(0, 50)),
    add(...numbered(51).slice(50)),
    create({ name: 'Many', domains: numbered(51) }),
  ]),
  'own-name': ask('whether the second is accepted, where CREATED is the id that the first has answered', [
    create({ name: 'Own' }),
    { method: 'PATCH', path: '/domaingroups?id=CREATED', body: { name: 'OWN' } },
  ]),
  'name-length-unit': ask('whether each is accepted', [
    create({ name: 'é'.repeat(51) }),
    create({ name: '😀'.repeat(51) }),
  ]),
  'space-around-names': ask('whether it is accepted, and the name that is answered', [create({ name: ' Space ' })]),
  'control-characters': ask('whether each is accepted', [create({ name: 'a\u0000b' }), create({ name: 'a\nb' })]),
  'lone-surrogates': ask('whether it is accepted, and the name that is answered', [create('{"name":"half \\ud83d"}')]),
  'invisible-in-names': ask('whether it is accepted, and the name that is answered', [
    create({ name: 'soft\u00adhyphen' }),
  ]),
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
  'response-charset': ask('the Content-Type', [read('/domains')]),
  'client-request-ids': ask('whether the X-Request-Id is the one that was sent', [
    read('/domains', { 'x-request-id': 'understudy-1' }),
  ]),
  cors: ask('whether there is an Access-Control-Allow-Origin', [read('/domains', { origin: 'http://localhost:5173' })]),
  decimals: ask('how whole percentages are written, as in 100.0 or 100', [read('/dmarc')], 'a domain is monitored'),
  'refresh-time': ask(
    'between which times of day the figures change',
    [read('/dmarc'), read('/dmarc')],
    'mail arrives each day',
  ),
  'processing-time': ask(
    'whether the domain has figures right after the refresh',
    [add('b.example'), read('/dmarc')],
    'mail arrives for b.example each day, and it is less than a minute before the daily refresh',
  ),
  'unprocessed-domains': ask('whether the domain has a record', [add('b.example'), read('/dmarc')], UNMONITORED),
  'policy-before-refresh': ask(
    'whether the record has the policy',
    [add('b.example'), read('/dmarc')],
    'b.example publishes a policy other than none, and is not monitored',
  ),
  ...Object.fromEntries(
    ['dmarc', 'domains', 'domaingroups'].map((path): [string, ChoiceQuestion] => [
      `grace-${path}`,
      ask('X-RateLimit-Limit', [read(`/${path}`)], 'the key is less than a week old'),
    ]),
  ),
  'add-domains-status': status(add('b.example'), UNMONITORED),
  'delete-domains-status': status(remove('a.example'), MONITORED),
  'empty-id-on-read': ask('the error code', [read('/domaingroups?id=')]),
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
  'no-domains': ask('the error code, if it is refused', [add()]),
  'deletions-per-request': ask('the error code', [remove(...numbered(51))]),
  'no-deletions': ask('the error code, if it is refused', [remove()]),
  'deletion-entries': ask('the error code', [remove('no host')]),
  'empty-lists': ask('whether each is accepted', [change({ add_domains: [] }), change({ domains: [] })], GROUP),
  'removal-entries': ask(isAccepted, [change({ remove_domains: ['no host'] })], GROUP),
  'member-entries': ask('the error code', [create({ name: 'Entry', domains: ['no host'] })]),
  'empty-id-on-write': ask('the error code', [{ method: 'DELETE', path: '/domaingroups?id=' }]),
  'blank-names': ask('whether each is accepted', [
    create({ name: ' ' }),
    create({ name: '\u200b' }),
    create({ name: ' Blank ' }),
  ]),
  'group-id-format': ask('the form of the id', [create({ name: 'Id' })]),
  percentages: ask('how many decimals the percentages have', [read('/dmarc')], 'mail arrives each day'),
  'add-domains-message': ask('the message', [add('b.example')], UNMONITORED),
  'delete-domains-message': ask('the message', [remove('a.example')], MONITORED),
  'update-group-response': ask('whether the response has a message and the group', [change({ name: 'Update' })], GROUP),
  'delete-group-message': ask('the message', [{ method: 'DELETE', path: '/domaingroups?id=GROUP' }], GROUP),
  'status-unauthorized': status(read('/domains', { authorization: null })),
  'status-rate-limited': ask('the status of the refusal', [{ ...read('/dmarc'), times: 11 }]),
  'status-missing-id': status({ method: 'DELETE', path: '/domaingroups' }),
  'status-invalid-request-body': status({ method: 'POST', path: '/domains', body: '' }),
  'status-content-encoding': status(create({ name: 'Coded' }, { 'content-encoding': 'br' })),
  'status-content-type': status(create({ name: 'Typed' }, { 'content-type': 'text/plain' })),
  'status-invalid-json': status(create('{')),
  'status-unknown-field': status(create({ name: 'Field', label: 'X' })),
  'status-missing-field': status(create({})),
  'status-no-fields-to-update': status(change({}), GROUP),
  'status-invalid-field-type': status(create({ name: 5 })),
  'status-conflicting-fields': status(change({ domains: [], add_domains: [] }), GROUP),
  'status-request-too-large': ask('the status', [add(...numbered(51))]),
  'status-large-header': ask('the status and the error code', [read('/domains', { 'x-large': 'x'.repeat(65_536) })]),
  'status-invalid-name': status(create({ name: '' })),
  'status-invalid-domain': status(add('no host')),
  'status-not-found': status(read('/domaingroups?id=none')),
  'status-unknown-path': status(read('/nowhere')),
  'status-wrong-method': ask('the status and the error code', [{ method: 'PUT', path: '/domains' }]),
  'status-domain-delete-failed': status(remove('b.example'), UNMONITORED),
  'status-not-monitored': status(create({ name: 'Stranger', domains: ['b.example'] }), UNMONITORED),
  'status-duplicate-name': ask('the status', [create({ name: 'Twice' }), create({ name: 'TWICE' })]),
}

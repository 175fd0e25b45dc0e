/** A request of a probe. `GROUP`, `OTHER` and `KEY` in it stand for the ids of two groups and for the key. */
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

/** The requests that show which choice a service has made. */
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

/** A probe with a name that may not be a hostname. */
const hostname = (name: string, look = isAccepted): ChoiceQuestion => ({ requests: [add(name)], look })
const status = (request: DecidingRequest, given?: string): ChoiceQuestion => ({
  ...(given !== undefined && { given }),
  requests: [request],
  look: 'the status',
})

/** By the id of the assumption. Each observable assumption has one; a test sends them under every alternative. */
export const PROBES: Readonly<Record<string, ChoiceQuestion>> = {
  'body-limit': {
    requests: [65_537, 102_401, 1_048_577].map((pad_to) => ({ ...create({ name: 'Body' }), pad_to })),
    look: 'which is the first that is answered request_too_large',
  },
  'authorization-scheme': {
    requests: [read('/domains', { authorization: 'bearer KEY' })],
    look: 'whether the key is valid behind this spelling of the scheme',
  },
  precedence: {
    requests: [create({ label: 'X' }), { method: 'PATCH', path: '/domaingroups', body: '{' }],
    look: 'which of its problems decides the error code',
  },
  routing: {
    requests: [read('/nowhere', { authorization: null })],
    look: 'whether the missing key or the unknown path decides the answer',
  },
  'path-matching': { requests: [read('/Domains/')], look: 'whether the path is found' },
  head: { requests: [{ method: 'HEAD', path: '/domains' }], look: 'the status' },
  'content-type': {
    requests: [create({ name: 'Typed' }, { 'content-type': 'text/plain' })],
    look: isAccepted,
  },
  'request-charset': {
    requests: [
      create({ name: 'Set' }, { 'content-type': 'application/json; charset=us-ascii' }),
      create({ name: 'Café' }, { 'content-type': 'application/json; charset=iso-8859-1' }),
    ],
    look: 'whether each is accepted, and the name of the second group',
  },
  'byte-order-mark': { requests: [create('\ufeff{"name":"Mark"}')], look: isAccepted },
  'duplicate-fields': { requests: [create('{"name":"One","name":"Two"}')], look: isAccepted },
  'ignored-body': { requests: [{ method: 'GET', path: '/domains', body: {} }], look: isAccepted },
  'null-fields': { requests: [create({ name: 'Null', domains: null })], look: isAccepted },
  'unknown-query-parameters': { requests: [read('/domains?verbose=1')], look: isAccepted },
  'empty-parameters': { requests: [read('/domaingroups?id=')], look: 'whether it lists the groups' },
  'repeated-id': {
    given: GROUPS,
    requests: [read('/domaingroups?id=GROUP&id=OTHER')],
    look: 'which group is answered, if any',
  },
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
  'canonical-form': {
    given: UNMONITORED,
    requests: [add('B.EXAMPLE'), read('/domains')],
    look: 'how both responses spell the domain',
  },
  'domain-order': {
    requests: [add('understudy-b.example'), add('understudy-a.example'), add('understudy-c.example'), read('/domains')],
    look: 'the order of the domains',
  },
  'record-order': {
    requests: [add('understudy-b.example'), add('understudy-a.example'), add('understudy-c.example'), read('/dmarc')],
    look: 'the order of the records',
  },
  'group-order': {
    requests: [create({ name: 'b' }), create({ name: 'a' }), create({ name: 'c' }), read('/domaingroups')],
    look: 'the order of the groups',
  },
  'member-order': {
    given: 'the domains a.example and c.example are monitored',
    requests: [create({ name: 'Order', domains: ['c.example', 'a.example'] })],
    look: 'the order of the members',
  },
  'echo-order': { requests: [add('understudy-b.example', 'understudy-a.example')], look: 'the order of the domains' },
  'already-monitored': {
    given: MONITORED,
    requests: [add('a.example')],
    look: 'the error code, if it is refused',
  },
  'repeated-domains': {
    given: UNMONITORED,
    requests: [add('b.example', 'b.example')],
    look: 'the error code, or which domains are added',
  },
  'mixed-additions': {
    given: `${MONITORED}, ${UNMONITORED}`,
    requests: [add('a.example'), add('b.example', 'a.example')],
    look: 'whether the other domain is added, although the first request is refused',
  },
  'unmonitored-deletion': {
    given: UNMONITORED,
    requests: [remove('b.example')],
    look: 'the error code, if it is refused',
  },
  'mixed-deletions': {
    given: `${MONITORED}, ${UNMONITORED}`,
    requests: [remove('b.example'), remove('a.example', 'b.example')],
    look: 'whether the other domain is removed, although the first request is refused',
  },
  'deletion-of-members': {
    given: UNMONITORED,
    requests: [add('b.example'), create({ name: 'Member', domains: ['b.example'] }), remove('b.example')],
    look: 'whether it is removed, although it is a member and no feature uses it yet',
  },
  'repeated-members': {
    given: MONITORED,
    requests: [create({ name: 'Repeat', domains: ['a.example', 'a.example'] })],
    look: 'the error code, or the members',
  },
  'mixed-members': {
    given: `${MONITORED}, ${UNMONITORED}; GROUP is the id of a group`,
    requests: [change({ add_domains: ['b.example', 'a.example'] })],
    look: 'whether the other domain is added',
  },
  'shared-domains': {
    given: 'the domain c.example is a member of a group',
    requests: [create({ name: 'Share', domains: ['c.example'] }), read('/domaingroups')],
    look: 'whether it is accepted, and in which groups the domain is then',
  },
  'domain-cap': {
    requests: [0, 50, 100].map((from) => add(...numbered(150).slice(from, from + 50))),
    look: 'whether more than 100 domains are accepted',
  },
  'group-cap': {
    requests: Array.from({ length: 21 }, (_, index) => create({ name: `Group ${index + 1}` })),
    look: 'whether more than 20 groups are accepted',
  },
  'member-cap': {
    requests: [
      add(...numbered(51).slice(0, 50)),
      add(...numbered(51).slice(50)),
      create({ name: 'Many', domains: numbered(51) }),
    ],
    look: 'whether more than 50 members are accepted',
  },
  'own-name': {
    requests: [create({ name: 'Own' }), { method: 'PATCH', path: '/domaingroups?id=CREATED', body: { name: 'OWN' } }],
    look: 'whether the second is accepted, where CREATED is the id that the first has answered',
  },
  'name-length-unit': {
    requests: [create({ name: 'é'.repeat(51) }), create({ name: '😀'.repeat(51) })],
    look: 'whether each is accepted',
  },
  'space-around-names': {
    requests: [create({ name: ' Space ' })],
    look: 'whether it is accepted, and the name that is answered',
  },
  'control-characters': {
    requests: [create({ name: 'a\u0000b' }), create({ name: 'a\nb' })],
    look: 'whether each is accepted',
  },
  'lone-surrogates': {
    requests: [create('{"name":"half \\ud83d"}')],
    look: 'whether it is accepted, and the name that is answered',
  },
  'invisible-in-names': {
    requests: [create({ name: 'soft\u00adhyphen' })],
    look: 'whether it is accepted, and the name that is answered',
  },
  'name-comparison': {
    requests: ['Äpfel', 'äPFEL', 'straße', 'STRASSE'].map((name) => create({ name })),
    look: 'whether the second and the fourth are answered duplicate_name',
  },
  'quota-window': { requests: [read('/domaingroups')], look: 'whether X-RateLimit-Reset is a full hour' },
  'rate-limit-reset': { requests: [read('/domaingroups')], look: 'whether X-RateLimit-Reset is a time or a duration' },
  'quota-headers': {
    requests: [
      read('/domaingroups?id=none'),
      { method: 'PUT', path: '/domaingroups' },
      read('/domaingroups', { authorization: null }),
    ],
    look: 'which of them have the headers about the quota',
  },
  'charged-requests': {
    requests: [read('/domaingroups'), read('/domaingroups?id=none'), read('/domaingroups')],
    look: 'whether X-RateLimit-Remaining falls by the second',
  },
  'response-charset': { requests: [read('/domains')], look: 'the Content-Type' },
  'client-request-ids': {
    requests: [read('/domains', { 'x-request-id': 'understudy-1' })],
    look: 'whether the X-Request-Id is the one that was sent',
  },
  cors: {
    requests: [read('/domains', { origin: 'http://localhost:5173' })],
    look: 'whether there is an Access-Control-Allow-Origin',
  },
  decimals: {
    given: 'a domain is monitored',
    requests: [read('/dmarc')],
    look: 'how whole percentages are written, as in 100.0 or 100',
  },
  'refresh-time': {
    given: 'mail arrives each day',
    requests: [read('/dmarc'), read('/dmarc')],
    look: 'between which times of day the figures change',
  },
  'processing-time': {
    given: 'mail arrives for b.example each day, and it is less than a minute before the daily refresh',
    requests: [add('b.example'), read('/dmarc')],
    look: 'whether the domain has figures right after the refresh',
  },
  'unprocessed-domains': {
    given: UNMONITORED,
    requests: [add('b.example'), read('/dmarc')],
    look: 'whether the domain has a record',
  },
  'policy-before-refresh': {
    given: 'b.example publishes a policy other than none, and is not monitored',
    requests: [add('b.example'), read('/dmarc')],
    look: 'whether the record has the policy',
  },
  ...Object.fromEntries(
    ['dmarc', 'domains', 'domaingroups'].map((path): [string, ChoiceQuestion] => [
      `grace-${path}`,
      {
        given: 'the key is less than a week old',
        requests: [read(`/${path}`)],
        look: 'X-RateLimit-Limit',
      },
    ]),
  ),
  'add-domains-status': status(add('b.example'), UNMONITORED),
  'empty-id-on-read': { requests: [read('/domaingroups?id=')], look: 'the error code' },
  'create-group-status': status(create({ name: 'Status' })),
  'policies-without-record': {
    given: 'a domain without a DMARC record is monitored',
    requests: [read('/dmarc')],
    look: 'what its record has as p',
  },
  'request-id-format': { requests: [read('/domains')], look: 'the form of X-Request-Id' },
  'www-authenticate': {
    requests: [read('/domains', { authorization: null })],
    look: 'whether there is a WWW-Authenticate',
  },
  'retry-after': {
    requests: [{ ...read('/dmarc'), times: 11 }],
    look: 'whether the refusal has a Retry-After',
  },
  'too-many-or-no-domains': { requests: [add(...numbered(51)), add()], look: 'the error codes' },
  'deletions-per-request': {
    requests: [remove(...numbered(51)), remove()],
    look: 'the error codes',
  },
  'deletion-entries': { requests: [remove('no host')], look: 'the error code' },
  'empty-lists': {
    given: 'GROUP is the id of a group',
    requests: [change({ add_domains: [] }), change({ domains: [] })],
    look: 'whether each is accepted',
  },
  'removal-entries': {
    given: 'GROUP is the id of a group',
    requests: [change({ remove_domains: ['no host'] })],
    look: isAccepted,
  },
  'member-entries': { requests: [create({ name: 'Entry', domains: ['no host'] })], look: 'the error code' },
  'empty-id-on-write': { requests: [{ method: 'DELETE', path: '/domaingroups?id=' }], look: 'the error code' },
  'blank-names': {
    requests: [create({ name: ' ' }), create({ name: '\u200b' }), create({ name: ' Blank ' })],
    look: 'whether each is accepted',
  },
  'group-id-format': { requests: [create({ name: 'Id' })], look: 'the form of the id' },
  percentages: {
    given: 'mail arrives each day',
    requests: [read('/dmarc')],
    look: 'how many decimals the percentages have',
  },
  'subdomain-policies': {
    given: 'a domain is monitored whose DMARC record has no sp and no np',
    requests: [read('/dmarc')],
    look: 'whether its record has sp and np',
  },
  'add-domains-message': { given: UNMONITORED, requests: [add('b.example')], look: 'the message' },
  'delete-domains-message': { given: MONITORED, requests: [remove('a.example')], look: 'the message' },
  'update-group-response': {
    given: 'GROUP is the id of a group',
    requests: [change({ name: 'Update' })],
    look: 'whether the response has a message',
  },
  'delete-group-message': {
    given: 'GROUP is the id of a group',
    requests: [{ method: 'DELETE', path: '/domaingroups?id=GROUP' }],
    look: 'the message',
  },
  'status-unauthorized': status(read('/domains', { authorization: null })),
  'status-rate-limited': {
    requests: [{ ...read('/dmarc'), times: 11 }],
    look: 'the status of the refusal',
  },
  'status-missing-id': status({ method: 'DELETE', path: '/domaingroups' }),
  'status-invalid-request-body': status({ method: 'POST', path: '/domains', body: '' }),
  'status-content-encoding': status(create({ name: 'Coded' }, { 'content-encoding': 'br' })),
  'status-content-type': status(create({ name: 'Typed' }, { 'content-type': 'text/plain' })),
  'status-invalid-json': status(create('{')),
  'status-unknown-field': status(create({ name: 'Field', label: 'X' })),
  'status-missing-field': status(create({})),
  'status-no-fields-to-update': status(change({}), 'GROUP is the id of a group'),
  'status-invalid-field-type': status(create({ name: 5 })),
  'status-conflicting-fields': status(change({ domains: [], add_domains: [] }), 'GROUP is the id of a group'),
  'status-request-too-large': { requests: [add(...numbered(51))], look: 'the status' },
  'status-large-header': {
    requests: [read('/domains', { 'x-large': 'x'.repeat(65_536) })],
    look: 'the status and the error code',
  },
  'status-invalid-name': status(create({ name: '' })),
  'status-invalid-domain': status(add('no host')),
  'status-not-found': status(read('/domaingroups?id=none')),
  'status-unknown-path': status(read('/nowhere')),
  'status-wrong-method': {
    requests: [{ method: 'PUT', path: '/domains' }],
    look: 'the status and the error code',
  },
  'status-domain-delete-failed': status(remove('b.example'), UNMONITORED),
  'status-not-monitored': status(create({ name: 'Stranger', domains: ['b.example'] }), UNMONITORED),
  'status-duplicate-name': { requests: [create({ name: 'Twice' }), create({ name: 'TWICE' })], look: 'the status' },
}

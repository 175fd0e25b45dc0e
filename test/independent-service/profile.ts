import { type Draw, draws } from './draw.ts'

/** The error codes of the specification; they are given, only their statuses and texts are open. */
export const CODES = [
  'unauthorized',
  'rate_limited',
  'invalid_json',
  'invalid_request_body',
  'unknown_field',
  'missing_field',
  'invalid_field_type',
  'invalid_domain',
  'domain_delete_failed',
  'request_too_large',
  'duplicate_name',
  'not_monitored',
  'no_fields_to_update',
  'conflicting_fields',
  'not_found',
  'missing_id',
  'invalid_name',
] as const

export type Code = (typeof CODES)[number]

export const CALLS = [
  'GET /dmarc',
  'GET /domains',
  'POST /domains',
  'DELETE /domains',
  'GET /domaingroups',
  'POST /domaingroups',
  'PATCH /domaingroups',
  'DELETE /domaingroups',
] as const

export type Call = (typeof CALLS)[number]

/** What is looked at before a body is read, then what is looked at in it; the first that refuses answers. */
const FRONT_CHECKS = ['route', 'key', 'limit', 'media', 'size', 'json'] as const
const INNER_CHECKS = [
  'object',
  'query',
  'missing id',
  'unknown id',
  'unknown field',
  'missing field',
  'field type',
  'nothing to update',
  'conflict',
  'too many',
  'no domains',
  'hostname',
  'duplicates',
  'already monitored',
  'unmonitored removal',
  'in use',
  'name length',
  'duplicate name',
  'members',
  'member duplicates',
] as const

/** `plan` and `fault` are for a service whose accounts have plans, and where something else may answer at times. */
export type Check = (typeof FRONT_CHECKS)[number] | (typeof INNER_CHECKS)[number] | 'plan' | 'fault'

export type ListOrder = 'insertion' | 'reverse' | 'alphabet' | 'length' | 'hash'
type Answered = 'success' | 'refusal' | 'unauthorized' | 'limited' | 'unrouted'

/** One service that keeps the specification: a value for everything that the specification leaves open. */
export interface Profile {
  name: string
  statuses: Record<Code, number>
  successes: Record<Call, number>
  unknownPath: number
  unknownMethod: number
  planStatus: number
  checks: readonly Check[]
  /** Where the specification names no code, or lets the service accept. */
  codes: {
    tooMany: Code
    noDomains: Code | 'accepted'
    duplicates: Code
    alreadyMonitored: Code | 'accepted'
    notAnObject: Code
    emptyBody: Code
    badUtf8: Code
    otherMedia: Code | 'accepted'
    otherCharset: Code | 'accepted'
    otherEncoding: Code | 'accepted'
    unknownQuery: Code | 'accepted'
    emptyIdRead: Code | 'list'
    emptyIdWrite: Code
    unmonitoredRemoval: Code | 'accepted'
    invalidRemoval: Code | 'accepted'
    repeatedRemoval: Code | 'accepted'
    invalidMember: 'invalid_domain' | 'not_monitored'
    memberDuplicates: Code | 'accepted'
    nullField: 'invalid_field_type' | 'absent'
  }
  bodyLimit: number
  repeatedId: 'first' | 'last'
  head: 'as GET' | 'unknown'
  trailingSlash: 'accepted' | 'unknown'
  scheme: 'exact' | 'any case'
  lists: { domains: ListOrder; records: ListOrder; groups: ListOrder; members: ListOrder; echoed: ListOrder }
  hostnames: {
    underscore: boolean
    singleLabel: boolean
    trailingDot: boolean
    numericEnd: boolean
    unicode: 'refused' | 'as sent' | 'punycode'
  }
  stored: 'lower case' | 'as sent'
  /** What the answer to an addition lists when some of its domains were there already. */
  echoes: 'added' | 'requested'
  removal: 'leaves its groups' | 'refused for members'
  names: {
    trimmed: boolean
    length: 'code points' | 'code units'
    fold: 'lower' | 'upper and lower'
    refuses: { blank: boolean; characters?: RegExp }
  }
  patch: 'group' | 'empty' | 'message' | 'message and group' | 'bare group' | 'null'
  ids: 'letters' | 'number' | 'uuid' | 'prefixed' | 'url-safe'
  requestIds: 'uuid' | 'hex' | 'number' | 'prefixed'
  echoesRequestId: boolean
  wording: 'sentences' | 'terse' | 'codes' | 'other language'
  quota: {
    window: 'aligned' | 'from the first' | 'sliding'
    reset: 'instant' | 'seconds left'
    per: 'key' | 'account'
    headersOn: readonly Answered[]
    lowerCaseHeaders: boolean
    charges: { refusals: boolean; limited: boolean; unrouted: boolean }
    /** A limit of its own for callers without a good key. */
    anonymous: number | undefined
    retryAfter: boolean
    graceFactor: number
  }
  figures: {
    decimals: 0 | 1 | 2
    policies: readonly string[]
    testing: readonly string[]
    combined: 'at least each' | 'independent'
    refreshHour: number
    firstFigures: 'at once' | 'after processing' | 'next refresh'
  }
  wire: {
    gzip: 'never' | 'when asked' | 'always'
    contentType: string
    pretty: boolean
    escaped: boolean
    dataFirst: boolean
    chunked: boolean
    challenge: boolean
  }
}

const COMMON_STATUSES: Record<Code, number> = {
  unauthorized: 401,
  rate_limited: 429,
  invalid_json: 400,
  invalid_request_body: 400,
  unknown_field: 400,
  missing_field: 400,
  invalid_field_type: 400,
  invalid_domain: 400,
  domain_delete_failed: 409,
  request_too_large: 413,
  duplicate_name: 409,
  not_monitored: 400,
  no_fields_to_update: 400,
  conflicting_fields: 400,
  not_found: 404,
  missing_id: 400,
  invalid_name: 400,
}

function oneStatus(status: number): Record<Call, number> {
  return Object.fromEntries(CALLS.map((call) => [call, status])) as Record<Call, number>
}

/** The plainest reading of the specification. */
export const PLAIN: Profile = {
  name: 'plain',
  statuses: COMMON_STATUSES,
  successes: oneStatus(200),
  unknownPath: 404,
  unknownMethod: 405,
  planStatus: 403,
  checks: [...FRONT_CHECKS, ...INNER_CHECKS],
  codes: {
    tooMany: 'invalid_request_body',
    noDomains: 'invalid_request_body',
    duplicates: 'invalid_domain',
    alreadyMonitored: 'invalid_domain',
    notAnObject: 'invalid_request_body',
    emptyBody: 'invalid_request_body',
    badUtf8: 'invalid_json',
    otherMedia: 'invalid_request_body',
    otherCharset: 'accepted',
    otherEncoding: 'invalid_request_body',
    unknownQuery: 'accepted',
    emptyIdRead: 'not_found',
    emptyIdWrite: 'missing_id',
    unmonitoredRemoval: 'not_monitored',
    invalidRemoval: 'invalid_domain',
    repeatedRemoval: 'accepted',
    invalidMember: 'not_monitored',
    memberDuplicates: 'accepted',
    nullField: 'invalid_field_type',
  },
  bodyLimit: 1_048_576,
  repeatedId: 'first',
  head: 'as GET',
  trailingSlash: 'unknown',
  scheme: 'any case',
  lists: { domains: 'insertion', records: 'insertion', groups: 'insertion', members: 'insertion', echoed: 'insertion' },
  hostnames: { underscore: false, singleLabel: false, trailingDot: false, numericEnd: false, unicode: 'refused' },
  stored: 'lower case',
  echoes: 'added',
  removal: 'leaves its groups',
  names: { trimmed: false, length: 'code points', fold: 'lower', refuses: { blank: false } },
  patch: 'group',
  ids: 'letters',
  requestIds: 'uuid',
  echoesRequestId: false,
  wording: 'sentences',
  quota: {
    window: 'from the first',
    reset: 'instant',
    per: 'key',
    headersOn: ['success', 'refusal', 'limited'],
    lowerCaseHeaders: false,
    charges: { refusals: true, limited: false, unrouted: false },
    anonymous: undefined,
    retryAfter: true,
    graceFactor: 2,
  },
  figures: {
    decimals: 1,
    policies: ['none', 'quarantine', 'reject'],
    testing: ['n'],
    combined: 'at least each',
    refreshHour: 0,
    firstFigures: 'at once',
  },
  wire: {
    gzip: 'never',
    contentType: 'application/json',
    pretty: false,
    escaped: false,
    dataFirst: false,
    chunked: false,
    challenge: false,
  },
}

const CONTROLS = { blank: false, characters: /\p{Cc}/u }

/** A team that answers 422, sorts every list, and limits before it knows the key. */
const STRICT: Profile = {
  ...PLAIN,
  name: 'strict',
  statuses: {
    ...COMMON_STATUSES,
    unknown_field: 422,
    missing_field: 422,
    invalid_field_type: 422,
    invalid_domain: 422,
    not_monitored: 422,
    no_fields_to_update: 422,
    conflicting_fields: 422,
    invalid_name: 422,
    domain_delete_failed: 423,
  },
  successes: { ...oneStatus(200), 'POST /domains': 202, 'POST /domaingroups': 201 },
  checks: ['limit', 'route', 'key', 'size', 'media', 'json', ...[...INNER_CHECKS].toReversed()],
  codes: {
    ...PLAIN.codes,
    tooMany: 'request_too_large',
    noDomains: 'missing_field',
    duplicates: 'invalid_request_body',
    otherCharset: 'invalid_request_body',
    unknownQuery: 'unknown_field',
    invalidMember: 'invalid_domain',
    memberDuplicates: 'invalid_request_body',
  },
  bodyLimit: 65_536,
  scheme: 'exact',
  lists: { domains: 'alphabet', records: 'alphabet', groups: 'alphabet', members: 'alphabet', echoed: 'alphabet' },
  removal: 'refused for members',
  names: { trimmed: true, length: 'code points', fold: 'upper and lower', refuses: CONTROLS },
  patch: 'message',
  ids: 'prefixed',
  requestIds: 'prefixed',
  quota: {
    ...PLAIN.quota,
    window: 'aligned',
    per: 'account',
    headersOn: ['success', 'refusal', 'unauthorized', 'limited'],
    lowerCaseHeaders: true,
    anonymous: 300,
  },
  figures: { ...PLAIN.figures, decimals: 2, refreshHour: 4, firstFigures: 'next refresh' },
  wire: { ...PLAIN.wire, contentType: 'application/json; charset=utf-8', challenge: true },
}

/** A team that accepts what it can, answers 400 to all else, and shows the newest first. */
const LENIENT: Profile = {
  ...PLAIN,
  name: 'lenient',
  statuses: {
    ...(Object.fromEntries(CODES.map((code) => [code, 400])) as Record<Code, number>),
    unauthorized: 403,
    rate_limited: 429,
  },
  unknownMethod: 404,
  codes: {
    ...PLAIN.codes,
    tooMany: 'invalid_field_type',
    noDomains: 'accepted',
    alreadyMonitored: 'accepted',
    notAnObject: 'invalid_field_type',
    emptyBody: 'invalid_json',
    otherMedia: 'accepted',
    otherCharset: 'accepted',
    otherEncoding: 'accepted',
    emptyIdRead: 'list',
    emptyIdWrite: 'not_found',
    unmonitoredRemoval: 'accepted',
    invalidRemoval: 'accepted',
    nullField: 'absent',
  },
  repeatedId: 'last',
  trailingSlash: 'accepted',
  lists: { domains: 'reverse', records: 'reverse', groups: 'reverse', members: 'reverse', echoed: 'reverse' },
  hostnames: { underscore: true, singleLabel: true, trailingDot: true, numericEnd: true, unicode: 'as sent' },
  stored: 'as sent',
  echoes: 'requested',
  names: { trimmed: false, length: 'code units', fold: 'lower', refuses: { blank: false } },
  patch: 'empty',
  ids: 'number',
  requestIds: 'number',
  wording: 'terse',
  quota: {
    ...PLAIN.quota,
    window: 'sliding',
    reset: 'seconds left',
    headersOn: ['success'],
    charges: { refusals: false, limited: false, unrouted: false },
    retryAfter: false,
  },
  figures: { ...PLAIN.figures, decimals: 0, combined: 'independent', policies: ['reject'], testing: ['n', 'y'] },
  wire: { ...PLAIN.wire, gzip: 'when asked', chunked: true },
}

/** A team behind a gateway: gzip for everybody, lists in the order of a hash, bodies read before the key is. */
const GATEWAY: Profile = {
  ...PLAIN,
  name: 'gateway',
  successes: { ...oneStatus(200), 'POST /domains': 201, 'DELETE /domains': 202, 'POST /domaingroups': 201 },
  checks: ['route', 'size', 'media', 'json', 'key', 'limit', ...INNER_CHECKS],
  codes: {
    ...PLAIN.codes,
    tooMany: 'invalid_domain',
    noDomains: 'invalid_domain',
    duplicates: 'invalid_domain',
    alreadyMonitored: 'invalid_request_body',
    badUtf8: 'invalid_request_body',
    unmonitoredRemoval: 'domain_delete_failed',
  },
  bodyLimit: 32_768,
  head: 'unknown',
  lists: { domains: 'hash', records: 'length', groups: 'hash', members: 'length', echoed: 'hash' },
  hostnames: { underscore: true, singleLabel: false, trailingDot: true, numericEnd: false, unicode: 'punycode' },
  patch: 'message and group',
  ids: 'uuid',
  requestIds: 'hex',
  echoesRequestId: true,
  wording: 'other language',
  quota: {
    ...PLAIN.quota,
    headersOn: ['success', 'refusal', 'unauthorized', 'limited', 'unrouted'],
    charges: { refusals: true, limited: true, unrouted: true },
    anonymous: 60,
  },
  figures: { ...PLAIN.figures, refreshHour: 17, firstFigures: 'after processing', policies: ['none', 'reject', ''] },
  wire: { ...PLAIN.wire, gzip: 'always', pretty: true, escaped: true, dataFirst: true, challenge: true },
}

export const HONEST_PROFILES: readonly Profile[] = [PLAIN, STRICT, LENIENT, GATEWAY]

const REFUSAL_STATUSES = [400, 403, 404, 405, 406, 409, 410, 411, 412, 413, 415, 418, 422, 423, 428, 451]
const VAGUE_CODES: Code[] = ['invalid_request_body', 'invalid_field_type', 'invalid_domain']
const ORDERS: ListOrder[] = ['insertion', 'reverse', 'alphabet', 'length', 'hash']

function randomStatuses({ one, chance }: Draw): Record<Code, number> {
  const usual = chance(0.5)
  const drawn = CODES.map((code) => [code, usual && chance(0.7) ? COMMON_STATUSES[code] : one(REFUSAL_STATUSES)])
  return {
    ...(Object.fromEntries(drawn) as Record<Code, number>),
    unauthorized: one([400, 401, 403, 404]),
    rate_limited: one([403, 420, 429]),
  }
}

/** A body may be read before the key is, but nothing of the account is told to a caller without one. */
function randomChecks({ one, shuffled }: Draw): Check[] {
  const front = one([FRONT_CHECKS, shuffled(FRONT_CHECKS), shuffled(FRONT_CHECKS)])
  const route = front.filter((check) => check !== 'route')
  return [...one([['route', ...route], front] as Check[][]), ...shuffled(INNER_CHECKS)]
}

/** One admissible service per seed. */
export function randomProfile(seed: number): Profile {
  const draw = draws(seed)
  const { one, chance } = draw
  const yes = () => chance(0.5)
  return {
    name: `random ${seed}`,
    statuses: randomStatuses(draw),
    successes: {
      ...oneStatus(200),
      'POST /domains': one([200, 201, 202]),
      'DELETE /domains': one([200, 202]),
      'POST /domaingroups': one([200, 201]),
      'PATCH /domaingroups': one([200, 200, 202]),
      'DELETE /domaingroups': one([200, 202]),
    },
    unknownPath: one([400, 404]),
    unknownMethod: one([404, 405]),
    planStatus: 403,
    checks: randomChecks(draw),
    codes: {
      tooMany: one([...VAGUE_CODES, 'request_too_large']),
      noDomains: one([...VAGUE_CODES, 'missing_field', 'accepted']),
      duplicates: one(VAGUE_CODES),
      alreadyMonitored: one([...VAGUE_CODES, 'accepted']),
      notAnObject: one(['invalid_request_body', 'invalid_field_type', 'invalid_json']),
      emptyBody: one(['invalid_request_body', 'invalid_json']),
      badUtf8: one(['invalid_request_body', 'invalid_json']),
      otherMedia: one(['invalid_request_body', 'invalid_json', 'accepted']),
      otherCharset: one(['invalid_request_body', 'accepted']),
      otherEncoding: one(['invalid_request_body', 'invalid_json', 'accepted']),
      unknownQuery: one(['unknown_field', 'accepted', 'accepted']),
      emptyIdRead: one(['not_found', 'list', 'missing_id']),
      emptyIdWrite: one(['missing_id', 'not_found']),
      unmonitoredRemoval: one(['not_monitored', 'domain_delete_failed', 'accepted']),
      invalidRemoval: one(['invalid_domain', 'accepted']),
      repeatedRemoval: 'accepted',
      invalidMember: one(['invalid_domain', 'not_monitored']),
      memberDuplicates: one([...VAGUE_CODES, 'accepted']),
      nullField: one(['invalid_field_type', 'absent']),
    },
    bodyLimit: one([16_384, 65_536, 102_400, 1_048_576, 10_485_760]),
    repeatedId: one(['first', 'last']),
    head: one(['as GET', 'unknown']),
    trailingSlash: one(['accepted', 'unknown']),
    scheme: one(['exact', 'any case']),
    lists: {
      domains: one(ORDERS),
      records: one(ORDERS),
      groups: one(ORDERS),
      members: one(ORDERS),
      echoed: one(ORDERS),
    },
    hostnames: {
      underscore: yes(),
      singleLabel: yes(),
      trailingDot: yes(),
      numericEnd: yes(),
      unicode: one(['refused', 'as sent', 'punycode']),
    },
    stored: one(['lower case', 'as sent']),
    echoes: one(['added', 'requested']),
    removal: one(['leaves its groups', 'refused for members']),
    names: {
      trimmed: yes(),
      length: one(['code points', 'code units']),
      fold: one(['lower', 'upper and lower']),
      refuses: yes() ? { blank: false } : CONTROLS,
    },
    patch: one(['group', 'empty', 'message', 'message and group', 'bare group', 'null']),
    ids: one(['letters', 'number', 'uuid', 'prefixed', 'url-safe']),
    requestIds: one(['uuid', 'hex', 'number', 'prefixed']),
    echoesRequestId: chance(0.2),
    wording: one(['sentences', 'terse', 'codes', 'other language']),
    quota: {
      window: one(['aligned', 'from the first', 'sliding']),
      reset: one(['instant', 'instant', 'seconds left']),
      per: one(['key', 'account']),
      headersOn: ['success', ...(['refusal', 'unauthorized', 'limited', 'unrouted'] as const).filter(yes)],
      lowerCaseHeaders: yes(),
      charges: { refusals: yes(), limited: yes(), unrouted: yes() },
      anonymous: one([undefined, 60, 1000]),
      retryAfter: yes(),
      graceFactor: one([2, 5, 10]),
    },
    figures: {
      decimals: one([0, 1, 2]),
      policies: one([['reject'], ['none', 'quarantine', 'reject'], ['NONE', 'REJECT'], ['none', 'reject', '']]),
      testing: one([['n'], ['n', 'y']]),
      combined: one(['at least each', 'independent']),
      refreshHour: one([0, 4, 17]),
      firstFigures: one(['at once', 'after processing', 'next refresh']),
    },
    wire: {
      gzip: one(['never', 'when asked', 'always']),
      contentType: one([
        'application/json',
        'application/json; charset=utf-8',
        'application/json;charset=UTF-8',
        'Application/JSON',
      ]),
      pretty: yes(),
      escaped: yes(),
      dataFirst: yes(),
      chunked: yes(),
      challenge: yes(),
    },
  }
}

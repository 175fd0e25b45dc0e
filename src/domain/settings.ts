import { LIMITS } from './limits.ts'

/** The JSON schema of a setting. Its type has the values that the schema permits. */
interface SettingSchema<Value> {
  readonly [keyword: string]: unknown
  /** Never present: it only gives the type a place. */
  readonly [VALUE]?: Value
}

declare const VALUE: unique symbol

function setting<Value>(schema: SettingSchema<Value>): SettingSchema<Value> {
  return schema
}

function either<const Values extends readonly string[]>(...values: Values): SettingSchema<Values[number]> {
  return { enum: values }
}

/** An integer of at least `minimum`, or `none`. */
function atMost(minimum: number): SettingSchema<number | 'none'> {
  return {
    if: { type: 'string' },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { const: 'none' },
    else: { type: 'integer', minimum, maximum: LIMITS.cap },
  }
}

const seconds = setting<number>({ type: 'integer', minimum: 0, maximum: LIMITS.period })

/** The schema of each of the `x-settings` of openapi.yaml, which explain each setting. Its name there is in kebab-case. */
export const SETTINGS = {
  bodyLimit: setting<number>({ type: 'integer', minimum: 1, maximum: LIMITS.body }),
  plans: setting<{ order: readonly string[]; lowest: string }>({
    type: 'object',
    additionalProperties: false,
    required: ['order', 'lowest'],
    properties: {
      order: {
        type: 'array',
        minItems: 1,
        maxItems: LIMITS.plans,
        uniqueItems: true,
        items: { type: 'string', minLength: 1, maxLength: LIMITS.plan },
      },
      lowest: { type: 'string' },
    },
  }),
  authorizationScheme: either('exact', 'any-case'),
  gateOrder: setting<readonly ('key' | 'plan' | 'quota')[]>({
    enum: [
      ['key', 'plan', 'quota'],
      ['key', 'quota', 'plan'],
    ],
  }),
  precedence: setting<readonly string[]>({ type: 'array', uniqueItems: true, items: { type: 'string', minLength: 1 } }),
  routing: either('before-key', 'after-key'),
  notHttp: either('answered', 'closed'),
  pathMatching: either('exact', 'lenient'),
  head: either('get', 'wrong-method'),
  contentType: either('required', 'ignored'),
  requestCharset: either('utf-8', 'ignored', 'decoded'),
  byteOrderMark: either('refused', 'ignored'),
  duplicateFields: either('last', 'refused'),
  unreadBodies: either('ignored', 'refused'),
  nullFields: either('wrong-type', 'absent'),
  unknownQueryParameters: either('ignored', 'refused'),
  emptyParameters: either('empty', 'absent'),
  repeatedParameters: either('first', 'last', 'refused'),
  finalDot: either('dropped', 'refused'),
  internationalNames: either('a-label', 'u-label', 'refused'),
  underscores: either('refused', 'accepted'),
  singleLabels: either('refused', 'accepted'),
  ipv4Addresses: either('refused', 'accepted'),
  numericLastLabels: either('refused', 'accepted'),
  wildcards: either('refused', 'accepted'),
  publicSuffixes: either('accepted', 'refused'),
  spaceAroundHostnames: either('refused', 'trimmed'),
  invisibleInHostnames: either('refused', 'dropped'),
  spelling: either('canonical', 'echoed', 'as-sent'),
  domainOrder: either('addition', 'alphabetical', 'newest-first'),
  recordOrder: either('addition', 'alphabetical', 'newest-first'),
  groupOrder: either('addition', 'alphabetical', 'newest-first'),
  memberOrder: either('addition', 'alphabetical'),
  echoOrder: either('request', 'alphabetical'),
  alreadyMonitored: either('invalid_domain', 'invalid_request_body', 'skipped'),
  repeatedDomains: either('invalid_domain', 'invalid_request_body'),
  repeatedDeletions: either('invalid_domain', 'invalid_request_body', 'once'),
  mixedAdditions: either('refused', 'partial'),
  unmonitoredDeletion: either('domain_delete_failed', 'not_monitored', 'ignored'),
  mixedDeletions: either('refused', 'partial'),
  deletionOfMembers: either('dropped', 'refused'),
  repeatedMembers: either('once', 'invalid_domain', 'invalid_request_body'),
  mixedMembers: either('refused', 'partial'),
  sharedDomains: either('allowed', 'refused', 'moved'),
  domainCap: atMost(1),
  // There must be room for a second group.
  groupCap: atMost(2),
  memberCap: atMost(1),
  ownName: either('allowed', 'refused'),
  nameLengthUnit: either('code-points', 'utf-16', 'utf-8'),
  spaceAroundNames: either('kept', 'trimmed', 'refused'),
  controlCharacters: either('refused', 'nul-refused', 'kept'),
  loneSurrogates: either('refused', 'replaced', 'kept'),
  invisibleInNames: either('kept', 'dropped', 'refused'),
  nameComparison: either('unicode', 'lower-case', 'ascii'),
  gracePeriod: seconds,
  quotaScope: either('key', 'account'),
  quotaWindow: either('aligned', 'first-request'),
  rateLimitReset: either('unix-time', 'seconds-left'),
  quotaHeaders: either('charged', 'valid-key', 'any-request', 'success-or-limited'),
  chargedRequests: either('authenticated', 'successful'),
  responseType: either('application/json', 'application/json; charset=utf-8'),
  clientRequestIds: either('ignored', 'echoed'),
  cors: either('none', 'any-origin'),
  decimals: either('kept', 'shortest'),
  refresh: setting<string>({
    type: 'string',
    pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
    title: 'a time of day such as 04:00',
  }),
  processingTime: seconds,
  unprocessedDomains: either('listed', 'absent'),
  policyBeforeRefresh: either('none', 'published'),
  countPeriod: setting<number>({ type: 'integer', minimum: 1, maximum: LIMITS.days }),
}

/** The values of the `x-settings` of openapi.yaml. */
export type Settings = {
  [Name in keyof typeof SETTINGS]: (typeof SETTINGS)[Name] extends SettingSchema<infer Value> ? Value : never
}

/** `rateLimitReset` → `rate-limit-reset`: the spelling of settings and options in documents and command lines. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** `rate-limit-reset` → `rateLimitReset`: the name of a setting in the program. */
export function camel(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

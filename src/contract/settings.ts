import { LIMITS } from '../domain/limits.ts'
import { kebab, type Settings } from '../domain/settings.ts'
import { isObject, type Json, pointTo } from '../ground/json.ts'
import { findViolation } from '../ground/schema.ts'
import { ContractError } from './contract-error.ts'
import type { DocumentText } from './document.ts'

const either = (...values: string[]): Json => ({ enum: values })
/** An integer of at least `minimum`, or `none`. */
const atMost = (minimum: number): Json => ({
  if: { type: 'string' },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { const: 'none' },
  else: { type: 'integer', minimum, maximum: LIMITS.cap },
})
const seconds: Json = { type: 'integer', minimum: 0, maximum: LIMITS.period }

/** The schema of each setting of `x-settings`. There, its name is in kebab-case. */
const SCHEMAS = {
  bodyLimit: { type: 'integer', minimum: 1, maximum: LIMITS.body },
  plans: {
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
  },
  authorizationScheme: either('exact', 'any-case'),
  gateOrder: {
    enum: [
      ['key', 'plan', 'quota'],
      ['key', 'quota', 'plan'],
    ],
  },
  precedence: { type: 'array', uniqueItems: true, items: { type: 'string', minLength: 1 } },
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
  repeatedDomains: either('invalid_domain', 'invalid_request_body', 'once'),
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
  refresh: { type: 'string', pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', title: 'a time of day such as 04:00' },
  processingTime: seconds,
  unprocessedDomains: either('listed', 'absent'),
  policyBeforeRefresh: either('none', 'published'),
  countPeriod: { type: 'integer', minimum: 1, maximum: LIMITS.days },
} satisfies Record<keyof Settings, Json>

/**
 * Reads `x-settings`. The values are checked unless the document was validated before. @throws ContractError for an
 * unknown, missing or invalid setting.
 */
export async function readSettings({ source: document, file, validated }: DocumentText): Promise<Settings> {
  const given = isObject(document['x-settings']) ? document['x-settings'] : {}
  const expected = new Map(Object.entries(SCHEMAS).map(([name, schema]) => [kebab(name), { name, schema }]))
  const settings: Json = {}
  for (const key of Object.keys(given)) {
    if (!expected.has(key)) {
      throw new ContractError(
        file,
        pointTo('/x-settings', key),
        `There is no setting ${key}; there are ${[...expected.keys()].join(', ')}.`,
      )
    }
  }
  for (const [key, { name, schema }] of expected) {
    const pointer = pointTo('/x-settings', key)
    const setting = given[key]
    if (!isObject(setting) || !Object.hasOwn(setting, 'value')) {
      throw new ContractError(file, pointer, `The setting ${key} needs a value.`)
    }
    const violation = validated ? undefined : await findViolation(schema, setting['value'])
    if (violation) {
      throw new ContractError(file, `${pointer}/value${violation.pointer}`, `The value ${violation.reason}.`)
    }
    settings[name] = setting['value']
  }
  const checked = settings as unknown as Settings
  if (!checked.plans.order.includes(checked.plans.lowest)) {
    throw new ContractError(file, '/x-settings/plans/value/lowest', 'The lowest plan must be one of the order.')
  }
  return checked
}

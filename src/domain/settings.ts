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
  routing: either('before-key', 'after-key'),
  pathMatching: either('exact', 'lenient'),
  contentType: either('required', 'ignored'),
  nullFields: either('wrong-type', 'absent'),
  unknownQueryParameters: either('ignored', 'refused'),
  internationalNames: either('a-label', 'u-label', 'refused'),
  spelling: either('canonical', 'echoed', 'as-sent'),
  domainOrder: either('addition', 'alphabetical', 'newest-first'),
  recordOrder: either('addition', 'alphabetical', 'newest-first'),
  groupOrder: either('addition', 'alphabetical', 'newest-first'),
  alreadyMonitored: either('invalid_domain', 'invalid_request_body', 'skipped'),
  repeatedDomains: either('invalid_domain', 'invalid_request_body'),
  unmonitoredDeletion: either('domain_delete_failed', 'not_monitored', 'ignored'),
  deletionOfMembers: either('dropped', 'refused'),
  sharedDomains: either('allowed', 'refused', 'moved'),
  nameComparison: either('unicode', 'lower-case', 'ascii'),
  gracePeriod: setting<number>({ type: 'integer', minimum: 0, maximum: LIMITS.period }),
  grace: setting<number>({ type: 'number', minimum: 1, maximum: LIMITS.grace }),
  quotaScope: either('key', 'account'),
  quotaWindow: either('aligned', 'first-request'),
  rateLimitReset: either('unix-time', 'seconds-left'),
  quotaHeaders: either('charged', 'valid-key', 'any-request', 'success-or-limited'),
  chargedRequests: either('authenticated', 'successful'),
  decimals: either('kept', 'shortest'),
  refresh: setting<string>({
    type: 'string',
    pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
    title: 'a time of day such as 04:00',
  }),
  unprocessedDomains: either('listed', 'absent'),
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

/** Source: "API access is limited to the plan tier named Stone and higher tiers." */
export function includesApiAccess(plan: string, { order, lowest }: Settings['plans']): boolean {
  return order.indexOf(plan) >= order.indexOf(lowest)
}

import type { Contract } from '../../src/contract/contract.ts'
import { valueAt } from '../../src/ground/json.ts'
import { type Call, CODES, type Code, type ListOrder, PLAIN, type Profile } from '../independent-service/profile.ts'

const ORDERS = {
  addition: 'insertion',
  alphabetical: 'alphabet',
  'newest-first': 'reverse',
} as const
/** A code, or the word of the contract for what is no refusal. */
const codeOr = (value: string): Code | 'accepted' => CODES.find((code) => code === value) ?? 'accepted'
const order = (value: keyof typeof ORDERS): ListOrder => ORDERS[value]

/** The independent service as the stand-in chooses where the specification is silent: what openapi.yaml says. */
export function profileOf({ settings, operations, document }: Contract): Profile {
  const statusAt = (place: string) => Number(valueAt(document.source, `/x-errors/${place}/status`))
  return {
    ...PLAIN,
    name: 'as the stand-in chooses',
    statuses: Object.fromEntries(CODES.map((code) => [code, statusAt(code)])) as Record<Code, number>,
    successes: Object.fromEntries(
      operations.map(({ method, path, success }) => [`${method} ${path}`, success.status]),
    ) as Record<Call, number>,
    planStatus: statusAt('unauthorized/reasons/plan'),
    checks: [
      ...([
        'route',
        'key',
        'plan',
        'limit',
        'fault',
        'query',
        'missing id',
        'media',
        'size',
        'json',
        'object',
      ] as const),
      ...(['unknown field', 'missing field', 'no domains', 'nothing to update', 'field type', 'conflict'] as const),
      ...(['too many', 'name length', 'hostname', 'duplicates', 'member duplicates'] as const),
      ...(['already monitored', 'unknown id', 'unmonitored removal', 'in use', 'members', 'duplicate name'] as const),
    ],
    codes: {
      ...PLAIN.codes,
      tooMany: 'request_too_large',
      noDomains: 'missing_field',
      duplicates: settings.repeatedDomains,
      alreadyMonitored: codeOr(settings.alreadyMonitored),
      otherMedia: settings.contentType === 'ignored' ? 'accepted' : 'invalid_request_body',
      otherCharset: 'invalid_request_body',
      unknownQuery: settings.unknownQueryParameters === 'ignored' ? 'accepted' : 'unknown_field',
      unmonitoredRemoval: codeOr(settings.unmonitoredDeletion),
      repeatedRemoval: 'invalid_domain',
      invalidMember: 'invalid_domain',
      memberDuplicates: 'accepted',
      nullField: settings.nullFields === 'absent' ? 'absent' : 'invalid_field_type',
    },
    bodyLimit: settings.bodyLimit,
    repeatedId: 'first',
    head: 'as GET',
    scheme: settings.authorizationScheme === 'exact' ? 'exact' : 'any case',
    lists: {
      domains: order(settings.domainOrder),
      records: order(settings.recordOrder),
      groups: order(settings.groupOrder),
      members: 'insertion',
      echoed: 'insertion',
    },
    hostnames: {
      underscore: false,
      singleLabel: false,
      trailingDot: true,
      numericEnd: false,
      unicode: settings.internationalNames === 'refused' ? 'refused' : 'punycode',
    },
    removal: settings.deletionOfMembers === 'dropped' ? 'leaves its groups' : 'refused for members',
    names: {
      trimmed: false,
      length: 'code points',
      fold: settings.nameComparison === 'unicode' ? 'upper and lower' : 'lower',
      refuses: { blank: true, characters: /\0|\p{Cs}/u },
    },
    quota: {
      ...PLAIN.quota,
      window: settings.quotaWindow === 'aligned' ? 'aligned' : 'from the first',
      reset: settings.rateLimitReset === 'unix-time' ? 'instant' : 'seconds left',
      per: settings.quotaScope,
      charges: { refusals: settings.chargedRequests === 'authenticated', limited: false, unrouted: false },
      graceFactor: operations[0]?.quota?.grace ?? 1,
    },
  }
}

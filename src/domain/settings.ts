import type { ErrorCode } from './errors.ts'
import type { ListOrder } from './order.ts'

/** The maximum number of items. */
type Cap = number | 'none'

type CodeOfDuplicates = Extract<ErrorCode, 'invalid_domain' | 'invalid_request_body'>

/** The `x-settings` of openapi.yaml, which explain each setting. */
export interface Settings {
  bodyLimit: number
  plans: { order: readonly string[]; lowest: string }
  authorizationScheme: 'exact' | 'any-case'
  gateOrder: readonly ('key' | 'plan' | 'quota')[]
  precedence: readonly string[]
  routing: 'before-key' | 'after-key'
  notHttp: 'answered' | 'closed'
  pathMatching: 'exact' | 'lenient'
  head: 'get' | 'wrong-method'
  contentType: 'required' | 'ignored'
  requestCharset: 'utf-8' | 'ignored' | 'decoded'
  byteOrderMark: 'refused' | 'ignored'
  duplicateFields: 'last' | 'refused'
  unreadBodies: 'ignored' | 'refused'
  nullFields: 'wrong-type' | 'absent'
  unknownQueryParameters: 'ignored' | 'refused'
  emptyParameters: 'empty' | 'absent'
  repeatedParameters: 'first' | 'last' | 'refused'
  finalDot: 'dropped' | 'refused'
  internationalNames: 'a-label' | 'u-label' | 'refused'
  underscores: 'refused' | 'accepted'
  singleLabels: 'refused' | 'accepted'
  ipv4Addresses: 'refused' | 'accepted'
  numericLastLabels: 'refused' | 'accepted'
  wildcards: 'refused' | 'accepted'
  publicSuffixes: 'accepted' | 'refused'
  spaceAroundHostnames: 'refused' | 'trimmed'
  invisibleInHostnames: 'refused' | 'dropped'
  spelling: 'canonical' | 'echoed' | 'as-sent'
  domainOrder: ListOrder
  recordOrder: ListOrder
  groupOrder: ListOrder
  memberOrder: Exclude<ListOrder, 'newest-first'>
  echoOrder: 'request' | 'alphabetical'
  alreadyMonitored: CodeOfDuplicates | 'skipped'
  repeatedDomains: CodeOfDuplicates | 'once'
  mixedAdditions: 'refused' | 'partial'
  unmonitoredDeletion: Extract<ErrorCode, 'domain_delete_failed' | 'not_monitored'> | 'ignored'
  mixedDeletions: 'refused' | 'partial'
  deletionOfMembers: 'dropped' | 'refused'
  repeatedMembers: CodeOfDuplicates | 'once'
  mixedMembers: 'refused' | 'partial'
  sharedDomains: 'allowed' | 'refused' | 'moved'
  domainCap: Cap
  groupCap: Cap
  memberCap: Cap
  ownName: 'allowed' | 'refused'
  nameLengthUnit: 'code-points' | 'utf-16' | 'utf-8'
  spaceAroundNames: 'kept' | 'trimmed' | 'refused'
  controlCharacters: 'refused' | 'nul-refused' | 'kept'
  loneSurrogates: 'refused' | 'replaced' | 'kept'
  invisibleInNames: 'kept' | 'dropped' | 'refused'
  nameComparison: 'unicode' | 'lower-case' | 'ascii'
  gracePeriod: number
  quotaScope: 'key' | 'account'
  quotaWindow: 'aligned' | 'first-request'
  rateLimitReset: 'unix-time' | 'seconds-left'
  quotaHeaders: 'charged' | 'valid-key' | 'any-request' | 'success-or-limited'
  chargedRequests: 'authenticated' | 'successful'
  responseType: 'application/json' | 'application/json; charset=utf-8'
  clientRequestIds: 'ignored' | 'echoed'
  cors: 'none' | 'any-origin'
  decimals: 'kept' | 'shortest'
  refresh: string
  processingTime: number
  unprocessedDomains: 'listed' | 'absent'
  policyBeforeRefresh: 'none' | 'published'
  countPeriod: number
}

/** `rateLimitReset` → `rate-limit-reset`: the spelling of settings and options in documents and command lines. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

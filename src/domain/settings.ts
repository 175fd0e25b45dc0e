import type { ErrorCode } from './errors.ts'

/** The `x-settings` of openapi.yaml, which say what each one means. */
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
  internationalNames: 'a-label' | 'refused'
  underscores: 'refused' | 'accepted'
  alreadyMonitored: 'refused' | 'skipped'
  repeatedDomains: 'refused' | 'once'
  unmonitoredDeletion: Extract<ErrorCode, 'domain_delete_failed' | 'not_monitored'> | 'ignored'
  deletionOfMembers: 'dropped' | 'refused'
  repeatedMembers: 'once' | 'refused'
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

/** `rateLimitReset` → `rate-limit-reset`, as documents and command lines spell settings and options. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

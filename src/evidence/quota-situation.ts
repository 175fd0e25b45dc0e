import type { Problem } from '../domain/errors.ts'
import type { Settings } from '../domain/settings.ts'
import type { Reading } from './reading.ts'

/** What is known of an exchange beside what it shows itself. */
export interface Circumstances {
  /** What the service may have had in mind when it refused the request. Empty where that is not known. */
  problems: readonly Problem<string>[]
  /** Whether the key of the request is valid; `unknown` by default. */
  key?: 'valid' | 'invalid' | 'unknown'
}

/**
 * Why a response has the fields about the quota, or not. Its request was `charged`; or refused for its `key`, for the
 * `plan` of its account, or for a `method` that the path does not have, with a key that is valid, or not, or perhaps.
 */
export type QuotaSituation = 'charged' | 'key' | 'plan' | 'method' | 'method with a key' | 'method without a key'

/** Refusals for these are made after the quota was charged. The others with `unauthorized` belong to the key or the plan. */
const CHARGED_REASONS = new Set(['domain-cap', 'group-cap', 'member-cap'])

/** `undefined` where every alternative shows the fields, where there is no quota, and where the reason is not certain. */
export function situationOf(
  { operation, route, outcome, exchange }: Reading,
  { problems, key = 'unknown' }: Circumstances,
): QuotaSituation | undefined {
  if (outcome.kind !== 'refusal') return undefined
  const { code } = outcome
  const { quota } = operation ?? (route.ok ? undefined : route.neighbour) ?? {}
  if (quota === undefined || code === 'rate_limited' || code === 'internal_error') return undefined
  const isKeyless = exchange.request.credentials.kind === 'none' || key === 'invalid'
  if (operation === undefined) {
    if (code === 'unauthorized') return 'key'
    return isKeyless ? 'method without a key' : key === 'valid' ? 'method with a key' : 'method'
  }
  if (code !== 'unauthorized') return 'charged'
  if (isKeyless) return 'key'
  const kinds = new Set(
    problems
      .filter((problem) => problem.code === code)
      .map(({ reason }): QuotaSituation => {
        if (reason === 'plan') return 'plan'
        return CHARGED_REASONS.has(reason ?? '') ? 'charged' : 'key'
      }),
  )
  const [only] = kinds
  return kinds.size === 1 ? only : undefined
}

/** Whether a response has the fields; `undefined` where it may have them. */
export function expectsQuota(shown: Settings['quotaHeaders'], situation: QuotaSituation): boolean | undefined {
  switch (shown) {
    case 'charged':
      return situation === 'charged'
    case 'valid-key':
      if (situation === 'method') return undefined
      return situation !== 'key' && situation !== 'method without a key'
    case 'any-request':
      return true
    case 'success-or-limited':
      return false
  }
}

import type { Problem } from '../domain/errors.ts'
import type { Settings } from '../domain/settings.ts'
import type { ReadExchange } from '../exchanges/reading.ts'

/** What is known of an exchange beside its own content. */
export interface QuotaCircumstances {
  /** The problems for which the service may have refused the request. Empty if they are not known. */
  problems: readonly Problem<string>[]
  /** Whether the key of the request is valid; `unknown` by default. */
  key?: 'valid' | 'invalid' | 'unknown'
}

/**
 * Why a response has the quota fields or not. The request was `charged`, or it was refused. The reason was its `key`,
 * the `plan` of its account or a `method` that the path lacks. With `method`, the key may be valid, invalid or unknown.
 */
export type QuotaSituation = 'charged' | 'key' | 'plan' | 'method' | 'method with a key' | 'method without a key'

/** These refusals come after the quota was charged. Others with `unauthorized` are about the key or the plan. */
const CHARGED_REASONS = new Set(['domain-cap', 'group-cap', 'member-cap'])

/** `undefined` if every alternative shows the fields, if there is no quota, or if the reason is not certain. */
export function situationOf(
  { operation, route, outcome, exchange, failed }: ReadExchange,
  { problems, key = 'unknown' }: QuotaCircumstances,
): QuotaSituation | undefined {
  if (outcome.kind !== 'refusal' || failed !== undefined) return undefined
  const { code } = outcome
  const { quota } = operation ?? (route.ok ? undefined : route.neighbour) ?? {}
  if (quota === undefined || code === 'rate_limited') return undefined
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

/** Whether a response has the fields; `undefined` if both are possible. */
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

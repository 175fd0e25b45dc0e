import type { Contract } from '../contract/contract.ts'
import type { Problem } from '../domain/errors.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import { valueAt } from '../ground/json.ts'
import type { InjectionTarget, NamedDomain } from './injection.ts'

const HOUR = 3_600_000
const SOME_DOMAIN: NamedDomain = { field: '/domains/0', domain: 'example.com' }

/** What a request may do to meet a problem, by its code or its reason. `limit` points to the limit in the schema of the body. */
const SAMPLES: Readonly<Record<string, { field?: string; value?: string; limit?: string }>> = {
  missing_id: { field: 'id' },
  not_found: { field: 'id', value: '' },
  unknown_field: { field: '/colour' },
  invalid_name: { field: '/name', limit: '/properties/name/maxLength' },
  duplicate_name: { field: '/name', value: 'Marketing' },
  invalid_field_type: { field: '/domains' },
  invalid_domain: { value: 'not a hostname' },
  maxItems: { field: '/domains', limit: '/properties/domains/maxItems' },
  minItems: { field: '/domains' },
  coding: { value: 'gzip' },
}

/**
 * A problem that the request does not have, with all data that the message of the catalogue may need. `named` is the
 * domain of the problem, if the request is known to name one.
 */
export function sampleProblem(
  { operation, query, allowance, request, principal }: InjectionTarget,
  { code, reason }: Pick<Problem<string>, 'code' | 'reason'>,
  { routes, settings }: Contract,
  named?: NamedDomain,
): Problem<string> {
  const { domain, field } = named ?? SOME_DOMAIN
  const sample = { ...SAMPLES[reason ?? ''], ...SAMPLES[code] }
  const { order, lowest } = settings.plans
  const schema = operation.bodySchema ?? {}
  const required = code === 'missing_field' ? valueAt(schema, '/required/0') : undefined
  const fixed = sample.limit === undefined ? settings.bodyLimit : Number(valueAt(schema, sample.limit) ?? 0)
  const limit = code === 'rate_limited' ? (allowance?.limit ?? 0) : fixed
  const value = code === 'invalid_domain' && named !== undefined ? domain : (sample.value ?? domain)
  const until = allowance === undefined ? principal.now + HOUR : allowance.resetAt * 1000
  return {
    code,
    ...(reason !== undefined && { reason }),
    field: required === undefined ? (sample.field ?? field) : `/${required}`,
    value: code === 'not_found' ? (query['id'] ?? '') : value,
    about: {
      ...{ domain, features: 'a monitoring feature', type: 'array', given: 'string', limit, count: limit + 1 },
      ...{ path: operation.path, method: request.method ?? '' },
      allowed: [...(routes.get(operation.path)?.keys() ?? [])].join(', '),
      // A plan that is too low, if there is one, and the lowest sufficient plan.
      ...{ plan: order[order.indexOf(lowest) - 1] ?? principal.account.plan, lowest },
      until: writeInstant(until),
    },
  }
}

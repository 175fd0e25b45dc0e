import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { Problem } from '../domain/errors.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import { isObject, valueAt } from '../ground/json.ts'
import type { InjectionTarget, NamedDomain } from './injection.ts'

const HOUR = 3_600_000
const SOME_DOMAIN: NamedDomain = { field: '/domains/0', domain: 'example.com' }

/**
 * A problem that the request does not have, with all data that the message of the catalogue may need. `named` is the
 * domain of the problem, if the request is known to name one.
 */
export function sampleProblem(
  target: InjectionTarget,
  { code, reason }: Pick<Problem<string>, 'code' | 'reason'>,
  contract: Contract,
  named?: NamedDomain,
): Problem<string> {
  const { operation, query, allowance, request, principal } = target
  const { domain, field } = named ?? SOME_DOMAIN
  const limit = sampleLimit(target, code, reason, contract)
  const until = allowance === undefined ? principal.now + HOUR : allowance.resetAt * 1000
  const methods = contract.routes.get(operation.path)
  return {
    code,
    ...(reason !== undefined && { reason }),
    field: sampleField(operation, code, reason) ?? field,
    value: sampleValue(code, reason, [query['id']].flat()[0], named) ?? domain,
    about: {
      ...{ domain, features: 'a monitoring feature', type: 'array', given: 'string', limit, count: limit + 1 },
      ...{ path: operation.path, method: request.method ?? '', allowed: [...(methods?.keys() ?? [])].join(', ') },
      ...samplePlans(principal.account.plan, contract),
      until: writeInstant(until),
    },
  }
}

const FIELDS: ReadonlyMap<string | undefined, string> = new Map([
  ['missing_id', 'id'],
  ['not_found', 'id'],
  ['unknown_field', '/colour'],
  ['invalid_name', '/name'],
  ['duplicate_name', '/name'],
  ['invalid_field_type', '/domains'],
  ['maxItems', '/domains'],
  ['minItems', '/domains'],
])

function sampleField(operation: Operation, code: string, reason: string | undefined): string | undefined {
  if (code !== 'missing_field') return FIELDS.get(code) ?? FIELDS.get(reason)
  const required = valueAt(operation.bodySchema ?? {}, '/required/0')
  return typeof required === 'string' ? `/${required}` : '/domains'
}

function sampleValue(
  code: string,
  reason: string | undefined,
  id: string | undefined,
  named: NamedDomain | undefined,
): string | undefined {
  if (code === 'not_found') return id ?? ''
  if (code === 'duplicate_name') return 'Marketing'
  if (reason === 'coding') return 'gzip'
  return code === 'invalid_domain' && named === undefined ? 'not a hostname' : undefined
}

/** The limit that the message for the code mentions. */
function sampleLimit(
  { operation, allowance }: InjectionTarget,
  code: string,
  reason: string | undefined,
  { settings }: Contract,
): number {
  if (code === 'rate_limited') return allowance?.limit ?? 0
  if (code === 'invalid_name') return limitAt(operation.bodySchema, '/properties/name/maxLength')
  if (reason === 'maxItems') return limitAt(operation.bodySchema, '/properties/domains/maxItems')
  return settings.bodyLimit
}

function limitAt(schema: unknown, pointer: string): number {
  const limit = isObject(schema) ? valueAt(schema, pointer) : undefined
  return typeof limit === 'number' ? limit : 0
}

/** A plan that is too low, if there is one, and the lowest sufficient plan. */
function samplePlans(plan: string, { settings }: Contract): { plan: string; lowest: string } {
  const { order, lowest } = settings.plans
  return { plan: order[order.indexOf(lowest) - 1] ?? plan, lowest }
}

import type { ServiceContract } from '../behaviour/operation.ts'
import type { PlannedRequest } from '../behaviour/planned-request.ts'
import type { Rehearsal } from '../behaviour/rehearsal.ts'
import type { Contract } from '../contract/contract.ts'
import type { AccountState } from '../domain/account.ts'
import type { Problem } from '../domain/errors.ts'
import { includesApiAccess } from '../domain/plans.ts'
import { writeQuery } from '../ground/target.ts'
import { correctContent, exampleContent } from './content-correction.ts'
import { type CorrectedRoute, correctRoute } from './route-correction.ts'
import { spelt } from './wording.ts'

/** A request as it was received. */
export interface RefusedRequest {
  method: string
  /** The request target as it was sent, such as /api/v1/domaingroups?id=x */
  target: string
  /** By lower-case name, without secrets. */
  headers: Readonly<Record<string, string>>
  /** The received body; undefined if none was read. */
  body: Buffer | undefined
}

export interface Correction {
  /** The requests that are sent before it, in this order. */
  before: readonly PlannedRequest[]
  request: PlannedRequest
  /** The changes, one short sentence each. */
  changes: readonly string[]
}

/** The most changes that are listed. A body may have thousands of wrong entries. */
const LISTED = 30

/**
 * The accepted request that is nearest to one that the service refused for `problems`. `account` is the present
 * account. The function changes nothing. The judge has checked the correction. `undefined` if even an example is refused.
 */
export function correctRequest(
  request: RefusedRequest,
  problems: readonly Problem<string>[],
  account: AccountState,
  contract: ServiceContract,
): Correction | undefined {
  const admission = admit(request, problems, account, contract)
  const { method, target, body: sent } = request
  const route = correctRoute(method, target, sent !== undefined && sent.length > 0, contract)
  const content =
    correctContent({ ...request, ...route }, account, contract) ?? exampleContent(route.operation, account, contract)
  if (content === undefined) return undefined
  const { rehearsal, parameters, body, changes } = content
  const { plane, path } = { plane: 'service' as const, path: route.operation.path + writeQuery(parameters) }
  const all = [...admission.changes, ...route.changes, ...changes]
  const listed = all.slice(0, LISTED)
  if (listed.length < all.length) listed.push(`${all.length - listed.length} more changes are not listed.`)
  const steps = rehearsal.steps.map((step) => (step.plane === 'service' ? { ...step, key: 'valid' as const } : step))
  return {
    before: [...admission.steps, ...quota(problems, route, rehearsal, account), ...steps],
    request: { plane, method: route.method, path, key: 'valid', ...(route.operation.readsBody && { body }) },
    changes: all.length === 0 ? ['Nothing: as the account is now, the request is accepted as it was sent.'] : listed,
  }
}

/** Corrects the sender and the form of the request, such as the key and the plan, but not its content. */
function admit(
  { headers }: RefusedRequest,
  problems: readonly Problem<string>[],
  account: AccountState,
  { settings }: Contract,
) {
  const { plans } = settings
  const steps: PlannedRequest[] = []
  const changes: string[] = []
  const has = (code: string, reason?: string) => problems.some((each) => each.code === code && each.reason === reason)
  if (has('unauthorized', 'host')) {
    changes.push(
      `The address is that of the server, so that \`Host\` names it, instead of ${spelt(headers['host'] ?? '')}.`,
    )
  }
  if (has('unauthorized')) changes.push('The header `Authorization` carries a valid key.')
  if (!account.keys.some(({ disabled }) => !disabled)) {
    steps.push({ plane: 'admin', method: 'POST', path: `${pathOf(account)}/keys`, body: {} })
    changes.push('The account gets a key first, because it has none that is enabled.')
  }
  if (!includesApiAccess(account.plan, plans)) {
    const plan = plans.order.find((each) => includesApiAccess(each, plans)) ?? plans.lowest
    steps.push({ plane: 'admin', method: 'PATCH', path: pathOf(account), body: { plan } })
    changes.push(`The account gets the plan ${plan} first, because ${account.plan} does not include API access.`)
  }
  if (isRateLimited(problems)) changes.push('The quota of this path is restored first, because it is used up.')
  if (has('invalid_request_body', 'malformed')) changes.push('The request is sent as valid HTTP/1.1, with a `Host`.')
  if (has('invalid_request_body', 'timeout')) changes.push('The request is sent without a pause.')
  if (has('request_too_large', 'large-header')) changes.push('The request has no headers but those that it needs.')
  return { steps, changes }
}

function isRateLimited(problems: readonly Problem<string>[]): boolean {
  return problems.some(({ code }) => code === 'rate_limited')
}

/** Restores as many requests of the quota as the correction sends. */
function quota(
  problems: readonly Problem<string>[],
  { operation }: CorrectedRoute,
  { steps }: Rehearsal,
  account: AccountState,
): PlannedRequest[] {
  if (!isRateLimited(problems)) return []
  const remaining = 1 + steps.filter(({ path }) => path === operation.path).length
  const body = { bucket: operation.path.slice(1), remaining }
  return [{ plane: 'admin', method: 'PATCH', path: `${pathOf(account)}/quotas`, body }]
}

function pathOf({ id }: AccountState): string {
  return `/accounts/${encodeURIComponent(id)}`
}

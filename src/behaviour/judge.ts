import type { Operation } from '../contract/api.ts'
import type { Catalogue } from '../contract/catalogue.ts'
import type { AccountState } from '../domain/account.ts'
import {
  type Acceptance,
  type Decision,
  type Problem,
  type Problems,
  type Refusal,
  refusalOf,
} from '../domain/errors.ts'
import { nameProblems } from '../domain/groups.ts'
import type { Settings } from '../domain/settings.ts'
import { isObject, type Json, valueAt } from '../ground/json.ts'
import { memoizeWeakly } from '../ground/memo.ts'
import type { Query } from '../ground/target.ts'
import type { Answer, ConformingRequest, ServiceContract } from './operation.ts'

/** A request to an operation, after HTTP has been parsed. */
export interface ReceivedRequest {
  operation: Operation
  query: Query
  /** A JSON value, or the reason why there is none. Absent if no body is read. */
  body: { ok: true; value: unknown } | Refusal | undefined
}

/** The settings of an API that decide whether a request conforms. */
export type ConformitySettings = Pick<Settings, 'nullFields' | 'unknownQueryParameters'>

/** `value` is the body of a refused request, if it is JSON. */
export type Conformity = ({ ok: true } & ConformingRequest) | (Refusal<string> & { value?: unknown })

const NO_PROBLEMS: readonly Problem<string>[] = []
const NO_BODY: Json = {}

/**
 * Checks a request against the parameters and the schema of its operation. The contents of the account play no part. A
 * refusal has all problems. The one that is answered comes first.
 */
export function conform(
  { operation, query, body }: ReceivedRequest,
  settings: ConformitySettings,
  catalogue: Catalogue,
): Conformity {
  const wrong = operation.checkQuery(query)
  // A setting is read only for a request that it can make a difference to.
  const isUnknown = hasUnknown(query, operation) && settings.unknownQueryParameters === 'refused'
  const unknown = isUnknown ? unknownParameters(query, operation) : NO_PROBLEMS
  const inQuery = joined(wrong, unknown)
  if (body === undefined) {
    return refusalFor(inQuery, catalogue) ?? { ok: true, operation, query, body: NO_BODY }
  }
  if (!body.ok) return refusalFor(joined(inQuery, body.problems), catalogue) ?? body
  const value = hasNull(body.value) && settings.nullFields === 'absent' ? withoutNulls(body.value) : body.value
  const problems = problemsOfName(value, operation)
  const refusal = refusalFor(joined(joined(inQuery, operation.checkBody(value)), problems), catalogue)
  if (refusal !== undefined) return { ...refusal, value }
  // The check of the body has just shown that it is an object.
  return { ok: true, operation, query, body: value as Json }
}

/** The refusal for the problems, if there are any. The problem that the catalogue ranks highest comes first. */
export function refusalFor(problems: readonly Problem<string>[], catalogue: Catalogue): Refusal<string> | undefined {
  const refusal = refusalOf(problems)
  if (refusal === undefined || problems.length === 1) return refusal
  const foremost = catalogue.foremost(refusal.problems)
  if (foremost === refusal.problems[0]) return refusal
  return { ok: false, problems: [foremost, ...problems.filter((each) => each !== foremost)] as Problems<string> }
}

function hasUnknown(query: Query, { parameters }: Operation): boolean {
  for (const name in query) if (!parameters.has(name)) return true
  return false
}

/** The query parameters that the operation does not declare. */
function unknownParameters(query: Readonly<Record<string, unknown>>, { parameters }: Operation): Problem<string>[] {
  const unknown = Object.keys(query).filter((name) => !parameters.has(name))
  return unknown.map((name) => ({ code: 'unknown_field', reason: 'query', field: name, value: query[name] }))
}

/** The concatenation of both lists. In most cases, both are empty. */
function joined<Item>(some: readonly Item[], others: readonly Item[]): readonly Item[] {
  if (others.length === 0) return some
  return some.length === 0 ? others : [...some, ...others]
}

/** The problems of the group name in the body that no schema can express. */
function problemsOfName(body: unknown, operation: Operation): readonly Problem<string>[] {
  const code = nameCodeOf(operation)
  const name = code !== 'none' && isObject(body) && Object.hasOwn(body, 'name') ? body['name'] : undefined
  if (typeof name !== 'string') return NO_PROBLEMS
  const problems = nameProblems(name)
  return problems.length === 0 ? NO_PROBLEMS : problems.map((problem) => ({ code, field: '/name', ...problem }))
}

/** The schema's code for a group name with forbidden characters. It is cached, because each request needs it. */
const nameCodeOf = memoizeWeakly(({ bodySchema }: Operation): string => {
  const code = valueAt(bodySchema, '/properties/name/x-error/pattern')
  return typeof code === 'string' ? code : 'none'
})

function hasNull(value: unknown): boolean {
  if (!isObject(value)) return false
  for (const name in value) if (value[name] === null) return true
  return false
}

/** The body of a request without the fields that are null. */
function withoutNulls(value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null)) : value
}

/** A refusal has all problems. The first one is answered. It carries no state, so it changes nothing. */
export type Judgement = Acceptance<AccountState, Answer> | Refusal<string>

/**
 * The service's answer to a request of an authorised caller, and the account after it: `conform`, then `decide`. No
 * other part of the program makes this decision. It is pure. `now` is in milliseconds on the account's clock.
 */
export function judge(
  request: ReceivedRequest,
  account: AccountState,
  contract: ServiceContract,
  now: number,
): Judgement {
  const conformity = conform(request, contract.settings, contract.catalogue)
  return conformity.ok ? decide(conformity, account, contract, now) : conformity
}

/** The second half of `judge`, for a request that conforms to the contract. A repeated decision runs only this. */
export function decide(
  request: ConformingRequest,
  account: AccountState,
  contract: ServiceContract,
  now: number,
): Decision<AccountState, Answer> {
  const decision = contract.behaviourOf(request.operation).decide(request, account, contract, now)
  if (decision.ok || decision.problems.length === 1) return decision
  return (refusalFor(decision.problems, contract.catalogue) ?? decision) as Refusal
}

import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { AccountState } from '../domain/account.ts'
import {
  type Acceptance,
  accept,
  type Decision,
  type Problem,
  type Refusal,
  refusalOf,
  refuse,
} from '../domain/errors.ts'
import { unknownGroup } from '../domain/groups.ts'
import { WRITES } from '../domain/writes.ts'
import type { Json } from '../ground/json.ts'

/** A request to an operation, from a caller who may make it. */
export interface Trial {
  operation: Operation
  query: Readonly<Record<string, string>>
  /** Empty for an operation that reads none. */
  body: Json
}

/** What the service would say to a request, and the account after it; nothing is kept. */
export function judge(
  trial: Trial,
  state: AccountState,
  contract: Contract,
): Acceptance<AccountState, unknown> | Refusal<string> {
  const { operation, query, body } = trial
  const problems = [...operation.checkQuery(query), ...unknownParameters(trial, contract), ...operation.checkBody(body)]
  // With too many entries, each of them can still be judged, so that those are left out first that would be anyway.
  if (problems.some(({ reason }) => reason !== 'maxItems')) return refusalOf(problems) as Refusal<string>
  const decision = decide(trial, state, contract)
  const all = [...problems, ...(decision.ok ? [] : decision.problems), ...tooManyBytes(body, contract)]
  return refusalOf(all) ?? decision
}

/** What the operation itself would decide; of those that read, only one can refuse. */
function decide(
  { operation, query, body }: Trial,
  state: AccountState,
  contract: Contract,
): Decision<AccountState, unknown> {
  // The moment of an addition changes nothing about whether it is accepted.
  const write = WRITES[operation.id]
  if (write !== undefined) return write({ query, body, now: state.createdAt }, state, contract)
  const { id } = query
  const unknown = operation.parameters.has('id') && id !== undefined && !state.groups.has(id)
  return unknown ? refuse(unknownGroup(id)) : accept(state, undefined)
}

function unknownParameters({ operation, query }: Trial, { settings }: Contract): Problem<string>[] {
  if (settings.unknownQueryParameters === 'ignored') return []
  const unknown = Object.keys(query).filter((name) => !operation.parameters.has(name))
  return unknown.map((name) => ({ code: 'unknown_field', reason: 'query', field: name }))
}

function tooManyBytes(body: Json, { settings: { bodyLimit } }: Contract): Problem<string>[] {
  const size = Buffer.byteLength(JSON.stringify(body))
  return size > bodyLimit ? [{ code: 'request_too_large', reason: 'bytes', about: { limit: bodyLimit } }] : []
}

import type { Operation } from '../../contract/api.ts'
import type { Contract } from '../../contract/contract.ts'
import type { Json } from '../../contract/json.ts'
import type { AccountState } from '../../domain/account.ts'
import { addDomains, deleteDomains } from '../../domain/domains.ts'
import {
  type Acceptance,
  accept,
  type Decision,
  type Problem,
  type Refusal,
  refusalOf,
  refuse,
} from '../../domain/errors.ts'
import { createGroup, deleteGroup, type GroupChanges, unknownGroup, updateGroup } from '../../domain/groups.ts'

/** A request to an operation, from a caller who may make it. */
export interface Trial {
  operation: Operation
  query: Readonly<Record<string, string>>
  /** Empty for an operation that reads none. */
  body: Json
}

/** What the service would say to a request, and the account after it; nothing is kept. */
export function rehearse(
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

type Judgement = (trial: Trial, state: AccountState, contract: Contract) => Decision<AccountState, unknown>

/** The decisions of the operations that can refuse; to read is always granted. */
const JUDGEMENTS: Readonly<Record<string, Judgement>> = {
  // The moment of the addition changes nothing about whether it is accepted.
  addDomains: ({ body }, state, contract) =>
    addDomains(state, hostnames(body, 'domains', contract), state.createdAt, contract.settings),
  deleteDomains: ({ body }, state, contract) =>
    deleteDomains(state, hostnames(body, 'domains', contract), contract.settings),
  listDomainGroups: ({ query }, state) => {
    const { id } = query
    return id === undefined || state.groups.has(id) ? accept(state, undefined) : refuse(unknownGroup(id))
  },
  createDomainGroup: ({ body }, state, contract) => {
    const input = { name: String(body['name']), domains: hostnames(body, 'domains', contract) }
    return createGroup(state, input, contract.groupIds, contract.settings)
  },
  updateDomainGroup: ({ query, body }, state, contract) => {
    const changes: GroupChanges = {
      ...(body['name'] !== undefined && { name: String(body['name']) }),
      ...(body['domains'] !== undefined && { domains: hostnames(body, 'domains', contract) }),
      ...(body['add_domains'] !== undefined && { addDomains: hostnames(body, 'add_domains', contract) }),
      ...(body['remove_domains'] !== undefined && { removeDomains: hostnames(body, 'remove_domains', contract) }),
    }
    return updateGroup(state, query['id'] ?? '', changes, contract.settings)
  },
  deleteDomainGroup: ({ query }, state, contract) => deleteGroup(state, query['id'] ?? '', contract.settings),
}

function decide(trial: Trial, state: AccountState, contract: Contract): Decision<AccountState, unknown> {
  return JUDGEMENTS[trial.operation.id]?.(trial, state, contract) ?? accept(state, undefined)
}

function hostnames(body: Json, field: string, { canonicalHostname }: Contract): string[] {
  return ((body[field] ?? []) as string[]).map((name) => canonicalHostname(name) ?? name)
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

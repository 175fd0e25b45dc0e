import type { ServiceContract } from '../behaviour/operation.ts'
import { operationOf, pointerOf } from '../contract/api.ts'
import { assumptionsOf } from '../contract/assumptions.ts'
import type { Contract } from '../contract/contract.ts'
import { isRefusedBy } from '../contract/rules.ts'
import { evidenceOf, observationOf } from '../coverage/observation.ts'
import type { AccountState } from '../domain/account.ts'
import { OrderedMap } from '../domain/immutable.ts'
import { readJson, valueAt } from '../ground/json.ts'
import { queryOf, readQuery } from '../ground/target.ts'
import { type Entry, textOf } from '../journal/entry.ts'
import { decisiveSettings } from './decisive-settings.ts'

/** The rules that demand the refusal of the request, or that its success shows. */
export function rulesBehind(entry: Entry, contract: Contract): { id: string; says: string }[] {
  const { code, problems, injected, status } = entry
  const operation = operationOf(contract, entry.operation)
  if (injected || operation === undefined || status === undefined) return []
  const query = readQuery(queryOf(entry.target))
  const body = operation.readsBody && entry.body !== undefined ? readJson(textOf(entry.body)) : undefined
  const observation = observationOf(entry, status, { operation, query, body, group: entry.group })
  // The number of such requests on that day is unknown.
  const evidence = evidenceOf(observation, contract, 0)
  const behind = operation.rules.filter((rule) => {
    if (rule.unobservable !== undefined || !rule.matches(evidence)) return false
    return code === undefined ? rule.refuses.length === 0 : isRefusedBy(rule, code, problems[0]?.reason)
  })
  return behind.map(({ id, says }) => ({ id, says }))
}

/**
 * The assumptions behind the response: those at its code in the catalogue, or at the responses of the operation, and
 * those about the settings on which it rests. `state` is the account as the request found it, as far as that is known.
 */
export function assumptionsBehind(
  entry: Entry,
  state: AccountState,
  contract: ServiceContract,
): { id: string; spec: string }[] {
  if (entry.injected || entry.status === undefined) return []
  const settings = decisiveSettings(entry, statesFor(entry, state), contract)
  const holders = [...settings.map((name) => `/x-settings/${name}`), holderOf(entry, contract)]
  return assumptionsOf(contract.document.source)
    .filter(({ place }) => holders.includes(place))
    .map(({ id, spec }) => ({ id, spec }))
}

/** Where the document has the status of the response. */
function holderOf({ operation: id, code, problems: [problem] }: Entry, contract: ServiceContract): string | undefined {
  const operation = operationOf(contract, id)
  if (code === undefined) return operation && `${pointerOf(operation)}/responses`
  // The catalogue may answer with another code than the one that has the reason.
  const refusal = `/x-errors/${problem?.code ?? code}`
  const { source } = contract.document
  const reason = valueAt(source, `${refusal}/reasons/${problem?.reason}/as`) ?? problem?.reason
  const ofReason = `${refusal}/reasons/${reason}`
  return valueAt(source, `${ofReason}/status`) === undefined ? refusal : ofReason
}

/** The number of domains in an account that shows what a list rests on. */
const LISTED = 30

/** Accounts that the answer may have come from: the known one, and one with nothing in it. */
function statesFor({ violatesContract, method }: Entry, state: AccountState): AccountState[] {
  const none = OrderedMap<never, never>()
  const empty = { ...state, domains: none, groups: none, groupNames: none }
  // What the contract always forbids does not depend on the account.
  if (violatesContract) return [empty]
  // Long lists would be written once for each choice.
  return [method === 'GET' ? { ...state, domains: state.domains.take(LISTED) } : state, empty]
}

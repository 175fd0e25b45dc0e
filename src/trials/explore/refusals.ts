import { hostnamesIn } from '../../behaviour/hostnames.ts'
import { judge } from '../../behaviour/judge.ts'
import type { ConformingRequest, ServiceContract } from '../../behaviour/operation.ts'
import { operationOf } from '../../contract/api.ts'
import type { AccountState, DomainGroup, MonitoredDomain } from '../../domain/account.ts'
import { comparedName } from '../../domain/groups.ts'
import { OrderedMap } from '../../domain/immutable.ts'
import { isObject, type Json, readJson } from '../../ground/json.ts'
import { queryOf, readQuery } from '../../ground/target.ts'
import { type Entry, isBodyUnknown, PAST, textOf } from '../../journal/entry.ts'

/**
 * The error codes with which the service would refuse this very request if the account held something else, for example
 * because another client has made the same change. The service itself is asked, so no rule is written a second time.
 */
export function refusalsByState(entry: Entry, contract: ServiceContract): ReadonlySet<string> {
  const { at, code } = entry
  const request = conformingRequest(entry, contract)
  const before = entry[PAST]?.account
  if (request === undefined || before === undefined) return new Set()
  const { operation, query, body: value } = request
  const received = { operation, query, body: operation.readsBody ? { ok: true as const, value } : undefined }
  const codes = new Set<string>()
  for (const account of otherStates(before, value, contract)) {
    const judgement = judge(received, account, contract, at)
    if (!judgement.ok) codes.add(judgement.problems[0].code)
  }
  // The refusal of the run without faults is nothing new for the command.
  if (code !== undefined) codes.delete(code)
  return codes
}

/** A recorded request as the judge reads it; `undefined` if it has no operation or its body is no JSON object. */
export function conformingRequest(entry: Entry, contract: ServiceContract): ConformingRequest | undefined {
  const operation = operationOf(contract, entry.operation)
  if (operation === undefined || isBodyUnknown(entry)) return undefined
  const body = entry.body === undefined ? {} : readJson(textOf(entry.body))
  return isObject(body) ? { operation, query: readQuery(queryOf(entry.target)), body } : undefined
}

/** The account without domains, without groups, and with all that the body names, each in use. */
function otherStates(account: AccountState, body: Json, contract: ServiceContract): AccountState[] {
  const names = Object.keys(body).flatMap((field) =>
    Array.isArray(body[field]) ? hostnamesIn(body, field, contract) : [],
  )
  const used = names.map((name): [string, MonitoredDomain] => [name, { name, addedAt: 0, features: ['dmarc'] }])
  const name = typeof body['name'] === 'string' ? body['name'] : undefined
  const taken = name === undefined ? {} : { [comparedName(name, contract.settings.nameComparison)]: ANOTHER }
  return [
    { ...account, domains: OrderedMap<string, MonitoredDomain>() },
    {
      ...account,
      groups: OrderedMap<string, DomainGroup>(),
      groupNames: OrderedMap<string, string>(),
    },
    { ...account, domains: account.domains.merge(used), groupNames: account.groupNames.merge(taken) },
  ]
}

/** The id of a group that no account has. */
const ANOTHER = 'another group'

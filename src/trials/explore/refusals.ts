import { hostnamesIn } from '../../behaviour/hostnames.ts'
import { judge } from '../../behaviour/judge.ts'
import type { ServiceContract } from '../../behaviour/operation.ts'
import type { AccountState, DomainGroup, MonitoredDomain } from '../../domain/account.ts'
import { comparedName } from '../../domain/groups.ts'
import { PersistentMap } from '../../domain/persistent-map.ts'
import { isObject, type Json, readJson } from '../../ground/json.ts'
import { textOf } from '../../http/content.ts'
import { queryOf, readQuery } from '../../http/target.ts'
import { isBodyUnknown } from '../../journal/description.ts'
import type { Entry } from '../../journal/entry.ts'

/**
 * The error codes with which the service would refuse this very request if the account held something else, for example
 * because another client has made the same change. The service itself is asked, so no rule is written a second time.
 */
export function refusalsByState(entry: Entry, contract: ServiceContract): ReadonlySet<string> {
  const { operation, before, target, body, at, code } = entry
  if (operation === undefined || before === undefined) return new Set()
  if (isBodyUnknown(entry)) return new Set()
  const value = body === undefined ? {} : readJson(textOf(body))
  if (!isObject(value)) return new Set()
  const received = {
    operation,
    query: readQuery(queryOf(target)),
    body: operation.readsBody ? { ok: true as const, value } : undefined,
  }
  const codes = new Set<string>()
  for (const account of otherStates(before.account, value, contract)) {
    const judgement = judge(received, account, contract, at)
    if (!judgement.ok) codes.add(judgement.problems[0].code)
  }
  // The refusal of the run without faults is nothing new for the command.
  if (code !== undefined) codes.delete(code)
  return codes
}

/** The account without domains, without groups, and with all that the body names, each in use. */
function otherStates(account: AccountState, body: Json, contract: ServiceContract): AccountState[] {
  const names = Object.keys(body).flatMap((field) =>
    Array.isArray(body[field]) ? hostnamesIn(body, field, contract) : [],
  )
  const used = names.map((name): [string, MonitoredDomain] => [name, { name, addedAt: 0, features: ['dmarc'] }])
  const name = typeof body['name'] === 'string' ? body['name'] : undefined
  const taken = name === undefined ? [] : [[comparedName(name, contract.settings.nameComparison), ANOTHER] as const]
  return [
    { ...account, domains: PersistentMap.of<string, MonitoredDomain>() },
    {
      ...account,
      groups: PersistentMap.of<string, DomainGroup>(),
      groupNames: PersistentMap.of<string, string>(),
    },
    { ...account, domains: account.domains.with(used), groupNames: account.groupNames.with(taken) },
  ]
}

/** The id of a group that no account has. */
const ANOTHER = 'another group'

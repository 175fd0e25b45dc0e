import { METHODS } from 'node:http'
import type { Contract } from '../contract/contract.ts'
import type { AdminRefusal } from '../contract/control-api.ts'
import type { AccountState } from '../domain/account.ts'
import type { Entry } from '../journal/entry.ts'
import { matcherOf, type RequestMatch } from '../journal/match.ts'
import { unknownName } from './refusals.ts'

interface Known {
  contract: Contract
  /** The account whose requests are compared; absent for those of several accounts. */
  account?: Pick<AccountState, 'keys' | 'faults'>
  /** The entries to compare. A value that occurs in them is no mistake, whatever the contract says. */
  entries(): Iterable<Entry>
  /** What comes before the name of a field in the refusal. */
  place: string
}

/**
 * Refuses conditions that no request can meet, such as a misspelt operation. Without this, a check with `count: 0`
 * would pass for every client, because nothing matches.
 */
export function checkRequestMatch(match: RequestMatch, known: Known): AdminRefusal | undefined {
  const { contract, account, entries, place } = known
  const { operations, routes, catalogue } = contract
  const documented = operations.flatMap(({ responses }) => [...responses.keys()])
  const injected = account?.faults.flatMap(({ rule }) => rule.respond?.status ?? []) ?? []
  const choices: Readonly<Record<string, readonly string[] | undefined>> = {
    operation: operations.map(({ id }) => id),
    // A client may send any HTTP method, so a method that was never sent is no mistake.
    method: [...new Set([...operations.map(({ method }) => method), 'HEAD'])],
    path: [...routes.keys()],
    key: account?.keys.map(({ id }) => id),
    fault: account?.faults.map(({ id }) => id),
    code: catalogue.codes,
    status: [...new Set([...documented, ...catalogue.statuses, ...injected])].toSorted().map(String),
  }
  for (const [name, allowed] of Object.entries(choices)) {
    const value = match[name as keyof RequestMatch]
    if (value === undefined || allowed === undefined || allowed.includes(String(value))) continue
    if (name === 'method' && METHODS.includes(String(value))) continue
    const matches = matcherOf({ [name]: value }, contract)
    if (![...entries()].some(matches)) return unknownName(place + name, value, allowed)
  }
  return undefined
}

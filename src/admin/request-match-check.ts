import { METHODS } from 'node:http'
import type { Contract } from '../contract/contract.ts'
import type { AdminRefusal } from '../contract/control-api.ts'
import type { AccountState } from '../domain/account.ts'
import type { Entry } from '../journal/entry.ts'
import { matcherOf, type RequestMatch } from '../journal/match.ts'
import { unknownName } from './refusals.ts'

/** What a condition can name besides what the contract has. */
interface Known {
  contract: Contract
  /** The entries to compare. A value that occurs in them is no mistake, whatever the contract says. */
  entries(): Iterable<Entry>
  /** The ids of the account's keys; `undefined` if the requests of several accounts are compared. */
  keys?: readonly string[]
  /** The ids of the account's fault rules; `undefined` if the requests of several accounts are compared. */
  faults?: readonly string[]
  /** The statuses that the account's fault rules answer with. */
  injected: readonly number[]
  /** What comes before the name of a field in the refusal. */
  place: string
}

/** The keys and the fault rules of an account, and the statuses that the rules answer with. */
export function knownOf({ keys, faults }: AccountState): Pick<Required<Known>, 'keys' | 'faults' | 'injected'> {
  return {
    keys: keys.map(({ id }) => id),
    faults: faults.map(({ id }) => id),
    injected: faults.flatMap(({ rule }) => rule.respond?.status ?? []),
  }
}

/**
 * Refuses conditions that no request can meet, such as a misspelt operation. Without this, a check with `count: 0`
 * would pass for every client, because nothing matches.
 */
export function checkRequestMatch(match: RequestMatch, known: Known): AdminRefusal | undefined {
  const { contract, entries, place } = known
  const { operations, routes, catalogue } = contract
  const documented = operations.flatMap(({ responses }) => [...responses.keys()])
  const statuses = new Set([...documented, ...catalogue.statuses, ...known.injected])
  const choices: Readonly<Record<string, readonly string[] | undefined>> = {
    operation: operations.map(({ id }) => id),
    // A client may send any HTTP method, so a method that was never sent is no mistake.
    method: [...new Set([...operations.map(({ method }) => method), 'HEAD'])],
    path: [...routes.keys()],
    key: known.keys,
    fault: known.faults,
    code: catalogue.codes,
    status: [...statuses].sort((one, other) => one - other).map(String),
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

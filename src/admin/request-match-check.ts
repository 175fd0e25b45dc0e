import { METHODS } from 'node:http'
import { codesOf } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { Entry } from '../journal/entry.ts'
import { matcherOf, type RequestMatch } from '../journal/match.ts'
import type { AdminRefusal } from './codes.ts'
import { invalid, unknownName } from './refusals.ts'

type MatchPart = Parameters<typeof matcherOf>[0]

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
  /** The name of a field in the refusal. */
  fieldOf(name: string): string
}

/**
 * Refuses conditions that no request can meet, such as a misspelt operation. Without this, a check with `count: 0`
 * would pass for every client, because nothing matches.
 */
export function checkRequestMatch(match: RequestMatch, known: Known): AdminRefusal | undefined {
  const { contract, entries, fieldOf } = known
  const { operations, routes, catalogue } = contract
  const names = operations.map(({ id }) => id)
  const choices: Readonly<Record<string, readonly string[] | undefined>> = {
    operation: names,
    method: [...new Set([...operations.map(({ method }) => method), 'HEAD'])],
    path: [...routes.keys()],
    key: known.keys,
    fault: known.faults,
    code: catalogue.codes,
    status: statusesIn(known).map(String),
  }
  function isSeen(part: MatchPart): boolean {
    const matches = matcherOf(part, contract)
    for (const entry of entries()) {
      if (matches(entry)) return true
    }
    return false
  }
  for (const [name, allowed] of Object.entries(choices)) {
    const value = match[name as keyof RequestMatch]
    if (value === undefined || allowed === undefined || allowed.includes(String(value))) continue
    // A client may send any HTTP method, so a method that was never sent is no mistake.
    if (name === 'method' && METHODS.includes(String(value))) continue
    if (!isSeen({ [name]: value })) return unknownName(fieldOf(name), value, allowed)
  }
  return checkCombination(match, known, isSeen)
}

/** Whether an operation has the method, the path, the status and the code of the other conditions. */
function checkCombination(
  { operation: id, method, path, status, code }: RequestMatch,
  { contract, injected, fieldOf }: Known,
  isSeen: (part: MatchPart) => boolean,
): AdminRefusal | undefined {
  const operation = contract.operations.find((each) => each.id === id)
  if (operation === undefined || id === undefined) return undefined
  const refuse = (field: string, value: unknown, allowed: Iterable<unknown>) =>
    invalid(fieldOf(field), value, 'impossible', { operation: id, allowed: [...allowed].join(', ') })
  const methods = [operation.method, ...(operation.method === 'GET' ? ['HEAD'] : [])]
  if (method !== undefined && !methods.includes(method)) return refuse('method', method, methods)
  if (path !== undefined && path !== operation.path) return refuse('path', path, [operation.path])
  const codes = codesOf([operation])
  if (code !== undefined && !codes.has(code) && !isSeen({ operation: id, code })) return refuse('code', code, codes)
  const statuses = [...operation.responses.keys(), ...injected]
  if (status === undefined || statuses.includes(status) || isSeen({ operation: id, status })) return undefined
  return refuse('status', status, statuses)
}

function statusesIn({ contract: { operations, catalogue }, injected }: Known): number[] {
  const documented = operations.flatMap(({ responses }) => [...responses.keys()])
  return [...new Set([...documented, ...catalogue.statuses, ...injected])].sort((one, other) => one - other)
}

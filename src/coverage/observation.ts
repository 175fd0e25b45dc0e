import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { DomainGroup } from '../domain/account.ts'
import type { Allowance } from '../domain/quotas.ts'
import { isObject } from '../ground/json.ts'
import type { Query } from '../ground/target.ts'
import type { KeyEvidence, NewEntry } from '../journal/entry.ts'

/** The facts about an answered request. */
export interface Observation {
  /** `undefined` for an unknown path and for an unsupported method. */
  operation: Operation | undefined
  status: number
  /** The code of a refusal. */
  code: string | undefined
  reason: string | undefined
  /** Whether a fault or a simulation answered. Such an answer shows nothing about the service. */
  injected: boolean
  query: Query
  /** The JSON value; `undefined` if no body was read, or if it was not JSON. */
  body: unknown
  bodyBytes: number
  allowance: Allowance | undefined
  /** Milliseconds since the Unix epoch, on the account's clock. */
  now: number
  key: KeyEvidence
  /** The group in the query, as it was before the request. */
  group: DomainGroup | undefined
}

/** The observation for the coverage from an exchange that was answered with `status`. */
export function observationOf(
  { code, problems, injected, body: sent, allowance, at, keyEvidence }: NewEntry,
  status: number,
  { operation, query, body, group }: Pick<Observation, 'operation' | 'query' | 'body' | 'group'>,
): Observation {
  const [problem] = problems
  // biome-ignore format: one line for each part of the exchange
  return {
    operation, status, code, reason: problem?.reason, injected,
    query, body, bodyBytes: sent?.size ?? 0,
    allowance, now: at, key: keyEvidence, group,
  }
}

/** The evidence for the `when` of a rule. */
export interface RuleEvidence extends Pick<Observation, 'query' | 'body' | 'key' | 'group'> {
  /** The number of successes of the operation on this refresh day, including this one. */
  timesToday: number
  /** The entries of `remove_domains` that the group did not have; found only for a rule that asks for them. */
  readonly unrecognised: readonly string[]
}

export function evidenceOf(
  { query, body, key, group }: Observation,
  { canonicalHostname }: Pick<Contract, 'canonicalHostname'>,
  timesToday: number,
): RuleEvidence {
  return {
    ...{ query, body, key, group, timesToday },
    get unrecognised() {
      const removed = isObject(body) && Array.isArray(body['remove_domains']) ? body['remove_domains'] : []
      const members = new Set(group?.domains)
      // All sent entries are checked, including those that are no hostname.
      return removed.filter((name) => typeof name === 'string' && !members.has(canonicalHostname(name) ?? name))
    },
  }
}

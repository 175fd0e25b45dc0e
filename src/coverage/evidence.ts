import type { Contract } from '../contract/contract.ts'
import { isObject } from '../ground/json.ts'
import type { KeyEvidence } from '../journal/entry.ts'
import type { Observation } from './observation.ts'

/** The evidence for the `when` of a rule. It computes only what a rule uses. */
export class RuleEvidence {
  readonly query: Observation['query']
  readonly body: unknown
  readonly key: KeyEvidence
  readonly group: Observation['group']
  /** The number of successes of the operation on this refresh day, including this one. */
  readonly timesToday: number
  readonly #contract: Contract

  constructor({ query, body, key, group }: Observation, contract: Contract, timesToday: number) {
    this.query = query
    this.body = body
    this.key = key
    this.group = group
    this.timesToday = timesToday
    this.#contract = contract
  }

  /** The entries of `remove_domains` that the group did not have. */
  get unrecognised(): string[] {
    const { body, group } = this
    const removed = isObject(body) && Array.isArray(body['remove_domains']) ? body['remove_domains'] : []
    const members = new Set(group?.domains)
    return removed.filter(
      (name): name is string =>
        // All sent entries are checked, including those that are no hostname.
        typeof name === 'string' && !members.has(this.#contract.canonicalHostname(name) ?? name),
    )
  }
}

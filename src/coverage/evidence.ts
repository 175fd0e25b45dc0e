import type { Contract } from '../contract/contract.ts'
import { isObject } from '../ground/json.ts'
import type { KeyEvidence } from '../journal/entry.ts'
import type { Observation } from './observation.ts'

/** The evidence for the `when` of a rule. One object serves all requests. It computes only what a rule uses. */
export class RuleEvidence {
  observation: Observation | undefined
  /** The number of successes of the operation on this refresh day, including this one. */
  timesToday = 0
  readonly #contract: Contract

  constructor(contract: Contract) {
    this.#contract = contract
  }

  get query(): Observation['query'] | undefined {
    return this.observation?.query
  }

  get body(): unknown {
    return this.observation?.body
  }

  get key(): KeyEvidence | undefined {
    return this.observation?.key
  }

  get group(): Observation['group'] {
    return this.observation?.group
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

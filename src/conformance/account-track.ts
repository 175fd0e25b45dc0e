import { Knowledge } from '../choices/knowledge.ts'
import type { Assignment, ChoiceObservation } from '../choices/observation.ts'
import type { Variants } from '../choices/variants.ts'
import type { Operation } from '../contract/api.ts'
import type { RequestPurpose } from '../exchanges/purpose.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { compareList, type ListRemarks } from './list-comparison.ts'
import type { Hints } from './list-hints.ts'
import { PendingConclusions } from './pending-conclusions.ts'

const LIKELY_LIMIT = 1_000

/** What is known about the account of one key. */
export class AccountTrack {
  readonly knowledge = new Knowledge()
  readonly pending = new PendingConclusions()
  /** Whether another client was seen to change the account. */
  isShared = false
  /** What lists said, and how many lists had confirmed the knowledge by then. */
  readonly #likely: { allows: readonly Assignment[]; evidence: string; seen: number }[] = []
  /** How many lists showed what was expected. */
  #confirmed = 0
  /** Whether a request with the key was ever admitted. */
  wasAdmitted = false
  readonly #variants: Variants
  readonly #isSoleWriter: boolean
  readonly #isOwnName: (name: string) => boolean

  constructor(variants: Variants, isSoleWriter: boolean, isOwnName: (name: string) => boolean) {
    this.#variants = variants
    this.#isSoleWriter = isSoleWriter
    this.#isOwnName = isOwnName
  }

  /** Whether no other client changes the domain or group with this name. */
  isCertain(name: string): boolean {
    return this.#isSoleWriter || this.#isOwnName(name)
  }

  /** Keeps what a list says on the condition that no other client has removed an item and added it again. */
  remember(allows: Hints['likely'], evidence: string): void {
    for (const each of allows) {
      if (this.#likely.length < LIKELY_LIMIT) this.#likely.push({ allows: each, evidence, seen: this.#confirmed })
    }
  }

  /** What lists said. It counts only if neither the list nor a later one shows a change by another client. */
  get likely(): readonly ChoiceObservation[] {
    if (this.isShared) return []
    const shown = this.#likely.filter(({ seen }) => seen < this.#confirmed)
    return shown.map(({ allows, evidence }) => ({ allows, evidence: [evidence], count: 1 }))
  }

  /** Forgets everything that a request may have changed. */
  forget({ names, ids }: RequestPurpose, operation: Operation | undefined): void {
    const { knowledge, pending } = this
    for (const name of names) pending.contradict(`domain ${name}`)
    for (const id of ids) pending.contradict(`group ${id}`)
    pending.contradict('groups')
    const touched = [...knowledge.groups].filter(([, group]) => group.domains.some((member) => names.includes(member)))
    const changesMembers = operation === undefined || operation.method === 'DELETE'
    knowledge.forget(names, [...ids, ...(changesMembers ? touched.map(([id]) => id) : [])])
  }

  /** Compares a whole list with the knowledge, and updates the knowledge from it. */
  compareList(reading: ReadExchange, now: number): ListRemarks {
    const isKnown =
      reading.shown.lists === 'domains' ? this.knowledge.areDomainsComplete : this.knowledge.areGroupsComplete
    const remarks = compareList(
      {
        knowledge: this.knowledge,
        pending: this.pending,
        variants: this.#variants,
        isCertain: (name) => this.isCertain(name),
      },
      reading,
      now,
    )
    if (remarks.mismatches.length > 0) this.isShared = true
    else if (isKnown) this.#confirmed++
    return remarks
  }
}

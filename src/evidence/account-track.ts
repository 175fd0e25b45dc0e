import { Knowledge } from './knowledge.ts'
import { compareList, type ListRemarks } from './list-comparison.ts'
import type { Hints } from './list-hints.ts'
import type { Assignment, Observation } from './observation.ts'
import type { Purpose } from './purpose.ts'
import type { Reading } from './reading.ts'
import { Suspense } from './suspense.ts'
import type { Variants } from './variants.ts'

const LIKELY_LIMIT = 1_000

/** Everything about the account of one key. */
export class AccountTrack {
  readonly knowledge = new Knowledge()
  readonly suspense = new Suspense()
  /** Whether somebody else was seen to change the account. */
  isShared = false
  /** What lists said, and how many lists of each kind had been compared by then. */
  readonly #likely: { allows: readonly Assignment[]; evidence: string; seen: number }[] = []
  /** How many lists showed what was expected. */
  #confirmed = 0
  /** Whether a request with the key was ever admitted. */
  wasAdmitted = false
  readonly #variants: Variants
  readonly #isSole: boolean
  readonly #isOwn: (name: string) => boolean

  constructor(variants: Variants, isSole: boolean, isOwn: (name: string) => boolean) {
    this.#variants = variants
    this.#isSole = isSole
    this.#isOwn = isOwn
  }

  /** Whether nobody else changes what has this name. */
  isCertain(name: string): boolean {
    return this.#isSole || this.#isOwn(name)
  }

  /** Keeps what a list says only if nobody else has taken anything out and put it back. */
  remember(allows: Hints['likely'], evidence: string): void {
    for (const each of allows) {
      if (this.#likely.length < LIKELY_LIMIT) this.#likely.push({ allows: each, evidence, seen: this.#confirmed })
    }
  }

  /**
   * What lists said, if nobody else was seen to change the account, also not in a list that came later.
   */
  get likely(): readonly Observation[] {
    if (this.isShared) return []
    const shown = this.#likely.filter(({ seen }) => seen < this.#confirmed)
    return shown.map(({ allows, evidence }) => ({ allows, evidence: [evidence], count: 1 }))
  }

  /** Nothing of what a request may have changed is known any more. */
  forget({ names, ids }: Purpose, operation: string): void {
    const { knowledge, suspense } = this
    for (const name of names) suspense.contradict(`domain ${name}`)
    for (const id of ids) suspense.contradict(`group ${id}`)
    suspense.contradict('groups')
    const touched = [...knowledge.groups].filter(([, group]) => group.domains.some((member) => names.includes(member)))
    const changesMembers = operation === 'deleteDomains' || operation === ''
    knowledge.forget(names, [...ids, ...(changesMembers ? touched.map(([id]) => id) : [])])
  }

  /** Compares a whole list with what is known, and takes it over. */
  compareList(reading: Reading, now: number): ListRemarks {
    const isKnown =
      reading.operation?.id === 'listDomains' ? this.knowledge.areDomainsComplete : this.knowledge.areGroupsComplete
    const remarks = compareList(
      {
        knowledge: this.knowledge,
        suspense: this.suspense,
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

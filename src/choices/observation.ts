import { combinationsOf } from '../ground/combinations.ts'

/** Numbers of alternatives by the id of their assumption. 0 is our choice. */
export type Assignment = Readonly<Record<string, number>>

/** Every combination of these numbers of assumptions. */
export function assignmentsOf(numbers: readonly (readonly [id: string, numbers: readonly number[]])[]): Assignment[] {
  const pairs = numbers.map(([id, each]) => each.map((number) => [id, number] as const))
  return combinationsOf(pairs).map((chosen) => Object.fromEntries(chosen))
}

/**
 * What exchanges say about assumptions: the service behaves like one of these combinations. All combinations name the
 * same assumptions. At least one combination of these assumptions is missing, or nothing was learnt.
 */
export interface ChoiceObservation {
  allows: readonly Assignment[]
  /** The ids of the first exchanges that show it. */
  evidence: readonly string[]
  /** How many exchanges show it. */
  count: number
}

/** How many ids of exchanges are kept as evidence. */
export const EVIDENCE_KEPT = 5

/** How many different observations are kept. There are a few hundred in practice. */
const LIMIT = 20_000

/** Joins equal observations. It keeps the exchange ids of the first ones. */
export class Observations {
  readonly #known = new Map<string, { allows: readonly Assignment[]; evidence: string[]; count: number }>()

  /** Returns whether the observation says something new. */
  add({ allows, evidence, count }: ChoiceObservation): boolean {
    const key = keyOf(allows)
    const known = this.#known.get(key)
    if (known === undefined) {
      if (this.#known.size >= LIMIT) return false
      this.#known.set(key, { allows, evidence: evidence.slice(0, EVIDENCE_KEPT), count })
      return true
    }
    known.count += count
    for (const id of evidence) {
      if (known.evidence.length < EVIDENCE_KEPT && !known.evidence.includes(id)) known.evidence.push(id)
    }
    return false
  }

  get all(): readonly ChoiceObservation[] {
    return [...this.#known.values()]
  }
}

/** Observations that permit the same combinations have the same key, in any order. */
function keyOf(allows: readonly Assignment[]): string {
  const texts = allows.map((assignment) => JSON.stringify(Object.entries(assignment).toSorted(byId)))
  return texts.toSorted().join(' ')
}

function byId([one]: readonly [string, number], [other]: readonly [string, number]): number {
  return one < other ? -1 : one > other ? 1 : 0
}

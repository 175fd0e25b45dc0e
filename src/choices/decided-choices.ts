import type { Assignment, ChoiceObservation } from './observation.ts'

/**
 * The choices that are certain so far. Each exchange is judged with them. The verdicts at the end are found more
 * thoroughly.
 */
export class DecidedChoices {
  readonly #left = new Map<string, Set<number>>()
  /** Assumptions for which exchanges contradict each other. */
  readonly #contradicted = new Set<string>()
  readonly #wide: ChoiceObservation['allows'][] = []
  #fixed: Assignment = {}

  get fixed(): Assignment {
    return this.#fixed
  }

  add(allows: ChoiceObservation['allows']): void {
    const ids = Object.keys(allows[0] ?? {})
    if (ids.length > 1) this.#wide.push(allows)
    let changes = this.#narrow(allows, ids)
    while (changes) {
      changes = false
      for (const wide of this.#wide) if (this.#narrow(wide, Object.keys(wide[0] ?? {}))) changes = true
    }
    const fixed = [...this.#left].filter(([id, left]) => left.size === 1 && !this.#contradicted.has(id))
    this.#fixed = Object.fromEntries(fixed.map(([id, [number = 0]]) => [id, number]))
  }

  #narrow(allows: ChoiceObservation['allows'], ids: readonly string[]): boolean {
    const possible = allows.filter((assignment) =>
      ids.every((id) => this.#contradicted.has(id) || this.#left.get(id)?.has(assignment[id] as number) !== false),
    )
    if (possible.length === 0) {
      for (const id of ids) this.#contradicted.add(id)
      return false
    }
    let changes = false
    for (const id of ids) {
      const numbers = new Set(possible.map((assignment) => assignment[id] as number))
      const left = this.#left.get(id)
      const narrowed = left === undefined ? numbers : new Set([...left].filter((number) => numbers.has(number)))
      if (narrowed.size === (left?.size ?? Number.POSITIVE_INFINITY)) continue
      this.#left.set(id, narrowed)
      changes = true
    }
    return changes
  }
}

/** What exchanges show about one choice of a service: it behaves like one of these alternatives. */
export interface ChoiceObservation {
  /** The id of the assumption. */
  id: string
  /** The numbers of the alternatives that are possible, in ascending order. 0 is our choice. */
  permits: readonly number[]
  /** The ids of the first exchanges that show it. */
  evidence: readonly string[]
  /** How many exchanges show it. */
  count: number
}

/** How many ids of exchanges are kept as evidence. */
export const EVIDENCE_KEPT = 5

/** How many different observations are kept. Traffic leads to a few per choice. */
const LIMIT = 2_000

/** Joins equal observations. It keeps the exchange ids of the first ones. */
export class Observations {
  readonly #known = new Map<string, ChoiceObservation & { evidence: string[] }>()
  /** The same, by the list of permitted numbers that an observation has again. */
  readonly #byPermits = new WeakMap<readonly number[], ChoiceObservation & { evidence: string[] }>()

  /** Notes that an exchange shows it. It is fast if equal lists of numbers are one object, and each is of one choice. */
  note({ id, permits }: Pick<ChoiceObservation, 'id' | 'permits'>, exchange: string): void {
    const known = this.#byPermits.get(permits)
    if (known !== undefined && known.evidence.length >= EVIDENCE_KEPT) {
      known.count++
      return
    }
    this.add({ id, permits, evidence: [exchange], count: 1 })
    const added = this.#known.get(`${id} ${permits.join()}`)
    if (added !== undefined) this.#byPermits.set(permits, added)
  }

  /** Returns whether the observation says something new. */
  add({ id, permits, evidence, count }: ChoiceObservation): boolean {
    const key = `${id} ${permits.join()}`
    const known = this.#known.get(key)
    if (known === undefined) {
      if (this.#known.size >= LIMIT) return false
      this.#known.set(key, { id, permits, evidence: evidence.slice(0, EVIDENCE_KEPT), count })
      return true
    }
    known.count += count
    for (const each of evidence) {
      if (known.evidence.length >= EVIDENCE_KEPT) break
      if (!known.evidence.includes(each)) known.evidence.push(each)
    }
    return false
  }

  get all(): readonly ChoiceObservation[] {
    return [...this.#known.values()]
  }
}

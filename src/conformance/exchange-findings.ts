import { type Assignment, assignmentsOf, type ChoiceObservation } from '../choices/observation.ts'
import type { Deciding, Permitted } from '../choices/permitted.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import type { JudgedDifference } from '../judge/finding.ts'
import { findingOf } from './contract-problems.ts'

/** What the check of one exchange found. */
export interface ExchangeFindings {
  findings: readonly JudgedDifference[]
  observations: readonly ChoiceObservation[]
}

export const NO_FINDINGS: ExchangeFindings = { findings: [], observations: [] }

/** What a finding about the exchange would say. `place` is a JSON pointer into openapi.yaml. */
export type FindingDraft = Parameters<typeof findingOf>[2] & { place?: string }

/** Collects what one exchange shows. */
export class FindingCollector {
  readonly reading: ReadExchange
  readonly permitted: Permitted
  readonly #fixed: Assignment
  readonly #findings: JudgedDifference[] = []
  readonly #observations: ChoiceObservation[] = []

  /** `fixed` are the choices that are certain. */
  constructor(reading: ReadExchange, permitted: Permitted, fixed: Assignment = {}) {
    this.reading = reading
    this.permitted = permitted
    this.#fixed = fixed
  }

  get all(): ExchangeFindings {
    return { findings: this.#findings, observations: this.#observations }
  }

  /** Records the alternatives whose values are accepted. With `ifNone`, it reports a finding if there are none. */
  observe(
    deciding: readonly Deciding<unknown>[],
    accepts: (...values: never[]) => boolean,
    ifNone?: FindingDraft,
  ): void {
    if (deciding.length === 0) return
    const [only] = deciding
    // What a certain choice explains says nothing new, and most exchanges are like that.
    if (only !== undefined && deciding.length === 1 && Object.hasOwn(this.#fixed, only.id)) {
      const value = only.values.get(this.#fixed[only.id] ?? 0)
      if (value !== undefined && accepts(value as never)) return
    }
    const all = assignmentsOf(deciding.map(({ id }) => [id, this.permitted.numbersOf(id)]))
    const allowed = all.filter((assignment) => {
      const values = deciding.map(({ id, values }) => values.get(assignment[id] ?? 0))
      // If an alternative could not be compiled, its value is unknown and counts as possible.
      return values.includes(undefined) || accepts(...(values as never[]))
    })
    this.allow(allowed, all.length, ifNone)
  }

  /** Records these combinations `of` so many. */
  allow(allowed: readonly Assignment[], of: number, ifNone?: FindingDraft): void {
    if (allowed.length === of) return
    if (allowed.length > 0) {
      this.#observations.push({ allows: allowed, evidence: [this.reading.exchange.id], count: 1 })
    } else if (ifNone !== undefined) this.find(ifNone)
  }

  find({ place, ...finding }: FindingDraft): void {
    const { lineOf, contract } = this.permitted
    const located = place === undefined ? finding : { ...finding, pointer: place, line: lineOf(place) }
    this.#findings.push(findingOf(this.reading, contract, located))
  }

  /** Adds the findings of another exchange. */
  add({ all }: FindingCollector): void {
    this.#findings.push(...all.findings)
  }
}

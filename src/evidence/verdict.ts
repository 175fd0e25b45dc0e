/** What evidence says about one assumption. */
export interface AssumptionVerdict {
  id: string
  verdict: 'as chosen' | 'alternative' | 'contradicted' | 'undecided'
  /** From 1; only with `alternative`. */
  alternative?: number
  /** The ids of some exchanges that show it; with `contradicted`, of both sides. */
  evidence: readonly string[]
  /** The numbers that are still possible, 0 for our choice; only with `undecided`, where some are excluded. */
  left?: readonly number[]
}

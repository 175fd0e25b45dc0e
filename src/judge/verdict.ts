/** What the evidence says about one assumption. */
export interface AssumptionVerdict {
  id: string
  verdict: 'as chosen' | 'alternative' | 'contradicted' | 'undecided'
  /** From 1; only with `alternative`. */
  alternative?: number
  /** The ids of some exchanges that show it; with `contradicted`, exchanges of both sides. */
  evidence: readonly string[]
  /** The numbers that are still possible, 0 for our choice. Only with `undecided`, if some are excluded. */
  left?: readonly number[]
}

import type { Choices } from '../contract/choices.ts'
import { type ChoiceObservation, EVIDENCE_KEPT, isOfEachCase } from './open-choice.ts'

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

/**
 * What all observations together say about every assumption, in the order of the document. Each assumption is judged by
 * itself. Observations about unknown assumptions or alternatives say nothing.
 */
export function decideVerdicts(
  observations: readonly ChoiceObservation[],
  { ids, alternatives }: Pick<Choices, 'ids' | 'alternatives'>,
): AssumptionVerdict[] {
  return ids.map((id) => {
    const all = [0, ...alternatives.filter((each) => each.id === id).map(({ number }) => number)]
    const about = observations.filter((each) => each.id === id && each.permits.some((number) => all.includes(number)))
    let left: readonly number[] = all
    const decisive: ChoiceObservation[] = []
    // Those that say most come first, then those that were seen most often.
    for (const observation of about.toSorted((a, b) => a.permits.length - b.permits.length || b.count - a.count)) {
      const rest = left.filter((number) => observation.permits.includes(number))
      if (left.length === 0 || rest.length === left.length) continue
      decisive.push(observation)
      left = rest
    }
    const evidence = evidenceOf(decisive)
    const [only, ...others] = left
    if (only === undefined) {
      const isOpen = isOfEachCase(id) && !about.some((each) => each.same_case)
      return { id, verdict: isOpen ? 'undecided' : 'contradicted', evidence }
    }
    if (others.length > 0 || all.length === 1) {
      return { id, verdict: 'undecided', evidence, ...(left.length < all.length && { left }) }
    }
    return only === 0
      ? { id, verdict: 'as chosen', evidence }
      : { id, verdict: 'alternative', alternative: only, evidence }
  })
}

/** Whether a service has chosen one alternative in some cases, and another one in others. */
export function isMixed({ verdict, evidence, left }: AssumptionVerdict): boolean {
  return verdict === 'undecided' && evidence.length > 0 && left === undefined
}

/** Some exchanges of each observation, as many of each as there is room for. */
function evidenceOf(observations: readonly ChoiceObservation[]): string[] {
  const places = Array.from({ length: EVIDENCE_KEPT }, (_, place) => place)
  const ids = places.flatMap((place) => observations.flatMap(({ evidence }) => evidence[place] ?? []))
  return [...new Set(ids)].slice(0, EVIDENCE_KEPT)
}

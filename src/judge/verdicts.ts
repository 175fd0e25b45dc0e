import type { Choices } from '../contract/choices.ts'
import { type ChoiceObservation, EVIDENCE_KEPT } from './open-choice.ts'

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
  const numbers = new Map(ids.map((id) => [id, [0]]))
  for (const { id, number } of alternatives) numbers.get(id)?.push(number)
  return ids.map((id) => {
    const about = observations.filter((each) => each.id === id)
    return decideVerdict(id, numbers.get(id) ?? [0], about)
  })
}

function decideVerdict(
  id: string,
  all: readonly number[],
  observations: readonly ChoiceObservation[],
): AssumptionVerdict {
  let left = all
  const decisive: ChoiceObservation[] = []
  for (const observation of inPreference(observations)) {
    if (!observation.permits.some((number) => all.includes(number))) continue
    const rest = left.filter((number) => observation.permits.includes(number))
    if (rest.length === left.length) continue
    decisive.push(observation)
    left = rest
    if (rest.length === 0) return { id, verdict: 'contradicted', evidence: evidenceOf(sidesOf(decisive)) }
  }
  const evidence = evidenceOf(decisive)
  if (left.length === all.length) return { id, verdict: 'undecided', evidence }
  const [only = 0, ...others] = left
  if (others.length > 0) return { id, verdict: 'undecided', evidence, left }
  return only === 0
    ? { id, verdict: 'as chosen', evidence }
    : { id, verdict: 'alternative', alternative: only, evidence }
}

/** The observations that say most come first, then those that were seen most often. */
function inPreference(observations: readonly ChoiceObservation[]): readonly ChoiceObservation[] {
  return observations.toSorted((one, other) => one.permits.length - other.permits.length || other.count - one.count)
}

/** The fewest of the observations that contradict each other. The last one contradicts the others together. */
function sidesOf(contradicting: readonly ChoiceObservation[]): readonly ChoiceObservation[] {
  let kept = contradicting
  for (const each of contradicting) {
    const others = kept.filter((other) => other !== each)
    const [first, ...rest] = others
    const common = first?.permits.filter((number) => rest.every(({ permits }) => permits.includes(number)))
    if (common?.length === 0) kept = others
  }
  return kept
}

/** Some exchanges of each observation, as many of each as there is room for. */
function evidenceOf(observations: readonly ChoiceObservation[]): string[] {
  const places = Array.from({ length: EVIDENCE_KEPT }, (_, place) => place)
  const ids = places.flatMap((place) => observations.flatMap(({ evidence }) => evidence[place] ?? []))
  return [...new Set(ids)].slice(0, EVIDENCE_KEPT)
}

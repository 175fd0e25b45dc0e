import { describe, expect, it } from 'vitest'
import type { Choices } from '../../src/contract/choices.ts'
import type { ChoiceObservation } from '../../src/judge/open-choice.ts'
import { type AssumptionVerdict, decideVerdicts } from '../../src/judge/verdicts.ts'

/** Assumptions with so many alternatives each, by their ids. */
function choicesOf(counts: Readonly<Record<string, number>>): Pick<Choices, 'ids' | 'alternatives'> {
  return {
    ids: Object.keys(counts),
    alternatives: Object.entries(counts).flatMap(([id, count]) =>
      Array.from({ length: count }, (_, index) => ({ id, number: index + 1 }) as Choices['alternatives'][number]),
    ),
  }
}

const CHOICES = choicesOf({ a: 1, b: 1, c: 2, d: 4, only: 0, 'status-x': 1 })

function see(evidence: string, id: string, ...permits: number[]): ChoiceObservation {
  return { id, permits, evidence: [evidence], count: 1 }
}

describe('decideVerdicts', () => {
  it('names every assumption in the order of the document, and decides nothing without an observation', () => {
    const verdicts = decideVerdicts([], CHOICES)
    expect(verdicts.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd', 'only', 'status-x'])
    expect(verdicts.every(({ verdict }) => verdict === 'undecided')).toBe(true)
  })

  const ofC: ChoiceObservation[] = [see('1', 'c', 0, 1), see('2', 'c', 0, 2), see('3', 'c', 1, 2)]
  const unknown = [see('1', 'a', 7), see('2', 'z', 1), see('3', 'a')]

  it.each<[what: string, observations: ChoiceObservation[], verdict: AssumptionVerdict]>([
    ['our choice', [see('1', 'a', 0)], { id: 'a', verdict: 'as chosen', evidence: ['1'] }],
    ['an alternative', [see('1', 'c', 2)], { id: 'c', verdict: 'alternative', alternative: 2, evidence: ['1'] }],
    ['what is left', [see('1', 'c', 0, 2)], { id: 'c', verdict: 'undecided', evidence: ['1'], left: [0, 2] }],
    ['what two say together', ofC.slice(0, 2), { id: 'c', verdict: 'as chosen', evidence: ['1', '2'] }],
    [
      'first what was seen most often',
      [see('1', 'c', 0, 1), { ...see('2', 'c', 0, 2), count: 5 }],
      { id: 'c', verdict: 'as chosen', evidence: ['2', '1'] },
    ],
    [
      'the shortest proof',
      [...ofC, see('4', 'c', 0)].slice(1, 2).concat(see('4', 'c', 0)),
      { id: 'c', verdict: 'as chosen', evidence: ['4'] },
    ],
    ['nothing of what there is not', unknown, { id: 'a', verdict: 'undecided', evidence: [] }],
    [
      'a contradiction of two',
      [see('1', 'd', 1), see('2', 'd', 0, 2, 3)],
      { id: 'd', verdict: 'contradicted', evidence: ['1', '2'] },
    ],
    [
      'a contradiction of three, and of each a proof',
      ofC,
      { id: 'c', verdict: 'contradicted', evidence: ['1', '2', '3'] },
    ],
    [
      'a mixture, if each case may be different',
      [see('1', 'status-x', 0), see('2', 'status-x', 1)],
      { id: 'status-x', verdict: 'undecided', evidence: ['1', '2'] },
    ],
    [
      'a contradiction of one case',
      [see('1', 'status-x', 0), { ...see('2', 'status-x', 1), same_case: true }],
      { id: 'status-x', verdict: 'contradicted', evidence: ['1', '2'] },
    ],
  ])('takes from observations %s', (_, observations, verdict) => {
    expect(decideVerdicts(observations, CHOICES).find(({ id }) => id === verdict.id)).toEqual(verdict)
  })

  it('judges each assumption by itself', () => {
    const verdicts = decideVerdicts([see('1', 'a', 0), see('2', 'a', 1), see('3', 'b', 1)], CHOICES)
    expect(verdicts.slice(0, 2).map(({ verdict }) => verdict)).toEqual(['contradicted', 'alternative'])
  })
})

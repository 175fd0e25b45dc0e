import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Assignment, ChoiceObservation } from '../../src/choices/observation.ts'
import { decideVerdicts } from '../../src/choices/verdicts.ts'
import type { Choices } from '../../src/contract/choices.ts'
import type { AssumptionVerdict } from '../../src/judge/verdict.ts'
import { createRandom } from '../support/random.ts'

/** Observations of one long run. */
const MANY = 1_000
const SEED = 14_017

/** Assumptions x0, x1 and so on with so many values each. */
function choicesWith(sizes: readonly number[]) {
  return choicesOf(Object.fromEntries(sizes.map((size, index) => [`x${index}`, size - 1])))
}

/** Assumptions with so many alternatives each, by their ids. */
function choicesOf(counts: Readonly<Record<string, number>>): Pick<Choices, 'ids' | 'alternatives'> {
  return {
    ids: Object.keys(counts),
    alternatives: Object.entries(counts).flatMap(([id, count]) =>
      Array.from({ length: count }, (_, index) => ({ id, number: index + 1 }) as Choices['alternatives'][number]),
    ),
  }
}

const CHOICES = choicesOf({ a: 1, b: 1, c: 2, d: 2, only: 0 })

function see(evidence: string, ...allows: Assignment[]): ChoiceObservation {
  return { allows, evidence: [evidence], count: 1 }
}

describe('decideVerdicts', () => {
  it('names every assumption in the order of the document, and decides nothing without an observation', () => {
    const verdicts = decideVerdicts([], CHOICES)
    expect(verdicts.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd', 'only'])
    expect(new Set(verdicts.map(({ verdict }) => verdict))).toEqual(new Set(['undecided']))
  })

  const either = see('1', { a: 1, b: 0 }, { a: 0, b: 1 })
  const searched = [
    see('1', { a: 1, b: 0 }, { a: 0, b: 1 }, { a: 1, b: 1 }),
    see('2', { a: 1, b: 0 }, { a: 0, b: 0 }, { a: 1, b: 1 }),
    see('3', { d: 1 }, { d: 2 }),
  ]
  const unknown = [see('1', { a: 7 }), see('2', { z: 1 }), { allows: [], evidence: ['3'], count: 1 }]

  it.each<[what: string, observations: ChoiceObservation[], verdict: AssumptionVerdict]>([
    ['our choice', [see('1', { a: 0 })], { id: 'a', verdict: 'as chosen', evidence: ['1'] }],
    ['an alternative', [see('1', { c: 2 })], { id: 'c', verdict: 'alternative', alternative: 2, evidence: ['1'] }],
    ['what is left', [see('1', { c: 2 }, { c: 0 })], { id: 'c', verdict: 'undecided', evidence: ['1'], left: [0, 2] }],
    ['nothing of what decides nothing alone', [either], { id: 'a', verdict: 'undecided', evidence: [] }],
    [
      'what two say together',
      [either, see('2', { b: 0 })],
      { id: 'a', verdict: 'alternative', alternative: 1, evidence: ['1', '2'] },
    ],
    [
      'what only a search shows, and all that it takes',
      searched,
      { id: 'a', verdict: 'alternative', alternative: 1, evidence: ['1', '2'] },
    ],
    ['nothing of what there is not', unknown, { id: 'a', verdict: 'undecided', evidence: [] }],
  ])('takes from observations %s', (_, observations, verdict) => {
    expect(decideVerdicts(observations, CHOICES).find(({ id }) => id === verdict.id)).toEqual(verdict)
  })

  it('says of a contradiction what both sides are, and keeps the verdicts of others', () => {
    const others = [see('3', { d: 2 }), see('4', { a: 1 }), see('5', { b: 1 })]
    const sides = [see('1', { a: 0 }), see('2', { a: 1, c: 0 }, { a: 1, c: 1 })]
    const verdicts = decideVerdicts([...sides, ...others], CHOICES)
    expect(verdicts).toEqual([
      { id: 'a', verdict: 'contradicted', evidence: expect.arrayContaining(['1']) },
      { id: 'b', verdict: 'alternative', alternative: 1, evidence: ['5'] },
      { id: 'c', verdict: 'undecided', evidence: ['2'], left: [0, 1] },
      { id: 'd', verdict: 'alternative', alternative: 2, evidence: ['3'] },
      { id: 'only', verdict: 'undecided', evidence: [] },
    ])
    expect(verdicts[0]?.evidence).toHaveLength(2)
  })

  it('finds a contradiction that takes several assumptions, and no more of them than it takes', () => {
    const verdicts = decideVerdicts(
      [
        see('1', { a: 0, b: 0, c: 0 }, { a: 1, b: 1, c: 0 }, { a: 0, b: 0, c: 1 }, { a: 1, b: 1, c: 1 }),
        see('2', { a: 1, d: 0 }, { a: 1, d: 1 }),
        see('3', { b: 0 }),
      ],
      CHOICES,
    )
    const contradicted = verdicts.filter(({ verdict }) => verdict === 'contradicted')
    expect(contradicted.map(({ id, evidence }) => [id, ...evidence.toSorted()])).toEqual([
      ['a', '1', '2', '3'],
      ['b', '1', '2', '3'],
    ])
    expect(new Set(verdicts.slice(2).map(({ verdict }) => verdict))).toEqual(new Set(['undecided']))
  })

  it(`agrees with a trial of all combinations, and never excludes the truth (seed ${SEED})`, () => {
    fc.assert(
      fc.property(worlds(), ({ sizes, truth, observations }) => {
        const verdicts = decideVerdicts(observations, choicesWith(sizes))
        const left = tryAll(sizes, observations)
        expect(verdicts).toHaveLength(sizes.length)
        for (const [index, verdict] of verdicts.entries()) {
          const id = `x${index}`
          const values = left[index] ?? []
          const truly = truth[index] ?? 0
          expect(values).toContain(truly)
          expect(verdict.id).toBe(id)
          if (values.length === sizes[index]) expect(verdict).toEqual({ id, verdict: 'undecided', evidence: [] })
          else if (values.length > 1) expect(verdict).toMatchObject({ verdict: 'undecided', left: values })
          else if (truly === 0) expect(verdict).toMatchObject({ verdict: 'as chosen' })
          else expect(verdict).toMatchObject({ verdict: 'alternative', alternative: truly })
          // What is named as evidence is enough by itself.
          const named = observations.filter(({ evidence }) => verdict.evidence.includes(evidence[0] ?? ''))
          expect(tryAll(sizes, named)[index]).toEqual(values)
        }
      }),
      { seed: SEED, numRuns: 100 },
    )
  })

  it(`contradicts only assumptions of which observations disagree (seed ${SEED})`, () => {
    fc.assert(
      fc.property(worlds(), worlds(), (one, other) => {
        const sizes = one.sizes.map((size, index) => Math.max(size, other.sizes[index] ?? 1))
        const observations = [...one.observations, ...other.observations]
        const verdicts = decideVerdicts(observations, choicesWith(sizes))
        const contradicted = verdicts.filter(({ verdict }) => verdict === 'contradicted').map(({ id }) => id)
        const isPossible = tryAll(sizes, observations).every((values) => values.length > 0)
        expect(contradicted.length === 0).toBe(isPossible)
      }),
      { seed: SEED, numRuns: 100 },
    )
  })

  it(`finds the truth in ${MANY} different observations, and doubts no more than a lie speaks of`, {}, () => {
    const sizes = Array.from({ length: 82 }, (_, index) => 2 + (index % 4))
    const choices = choicesWith(sizes)
    const random = createRandom(SEED)
    const below = (limit: number) => Math.floor(random() * limit)
    const truth = sizes.map(below)
    const observations = Array.from({ length: MANY }, (_, number) => {
      const scope = [...new Set([below(82), below(82), below(82)])]
      const allows = [assign(scope, (variable) => truth[variable] ?? 0)]
      for (let more = 0; more < 6; more++) allows.push(assign(scope, (variable) => below(sizes[variable] ?? 1)))
      return see(`${number}`, ...new Map(allows.map((each) => [JSON.stringify(each), each])).values())
    })
    const verdicts = decideVerdicts(observations, choices)
    expect(verdicts.map(({ alternative = 0 }) => alternative)).toEqual(truth)
    // One liar among them contradicts no more than what it speaks of.
    const lie = see('lie', { x3: (truth[3] ?? 0) === 0 ? 1 : 0 })
    const doubted = decideVerdicts([...observations, lie], choices)
    const contradicted = doubted.filter(({ verdict }) => verdict === 'contradicted').map(({ id }) => id)
    expect(contradicted).toContain('x3')
    expect(contradicted.length).toBeLessThan(4)
  })
})

/** What these variables are, by a function of each and of its place. */
function assign(scope: readonly number[], choose: (variable: number, place: number) => number): Assignment {
  return Object.fromEntries(scope.map((variable, place) => [`x${variable}`, choose(variable, place)]))
}

interface World {
  sizes: number[]
  truth: number[]
  observations: ChoiceObservation[]
}

/** Random choices of a service, and observations that are true of it. */
function worlds(): fc.Arbitrary<World> {
  return fc
    .record({
      sizes: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 5, maxLength: 5 }),
      draws: fc.array(fc.nat(1000), { minLength: 5, maxLength: 5 }),
      scopes: fc.array(
        fc.record({
          scope: fc.uniqueArray(fc.nat(4), { minLength: 1, maxLength: 4 }),
          others: fc.array(fc.array(fc.nat(1000), { minLength: 4, maxLength: 4 }), { maxLength: 20 }),
        }),
        { maxLength: 12 },
      ),
    })
    .map(({ sizes, draws, scopes }) => {
      const truth = sizes.map((size, index) => (draws[index] ?? 0) % size)
      const observations = scopes.map(({ scope, others }, number) => {
        const wrong = others.map((other) =>
          assign(scope, (variable, place) => (other[place] ?? 0) % (sizes[variable] ?? 1)),
        )
        return see(
          `${number}`,
          assign(scope, (variable) => truth[variable] ?? 0),
          ...wrong,
        )
      })
      return { sizes, truth, observations }
    })
}

/** The values that each variable has in the combinations that all observations permit, in their order. */
function tryAll(sizes: readonly number[], observations: readonly ChoiceObservation[]): number[][] {
  const left = sizes.map(() => new Set<number>())
  const total = sizes.reduce((product, size) => product * size, 1)
  for (let number = 0; number < total; number++) {
    let rest = number
    const values = sizes.map((size) => {
      const value = rest % size
      rest = Math.floor(rest / size)
      return value
    })
    const isLike = (each: Assignment) =>
      Object.entries(each).every(([id, value]) => values[Number(id.slice(1))] === value)
    if (!observations.every(({ allows }) => allows.some(isLike))) continue
    for (const [index, value] of values.entries()) left[index]?.add(value)
  }
  return left.map((values) => [...values].toSorted((one, other) => one - other))
}

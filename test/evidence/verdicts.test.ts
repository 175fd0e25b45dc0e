import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Choices } from '../../src/contract/choices.ts'
import type { Assignment, Observation } from '../../src/evidence/observation.ts'
import type { AssumptionVerdict } from '../../src/evidence/verdict.ts'
import { decideVerdicts, leastOf } from '../../src/evidence/verdicts.ts'
import { budget } from '../support/budget.ts'
import { processorTime } from '../support/processor-time.ts'

const SEED = 14_017

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

function see(evidence: string, ...allows: Assignment[]): Observation {
  return { allows, evidence: [evidence], count: 1 }
}

function verdictOf(id: string, ...observations: Observation[]): AssumptionVerdict | undefined {
  return decideVerdicts(observations, CHOICES).find((each) => each.id === id)
}

describe('decideVerdicts', () => {
  it('names every assumption in the order of the document, and decides nothing without an observation', () => {
    const verdicts = decideVerdicts([], CHOICES)
    expect(verdicts.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd', 'only'])
    expect(new Set(verdicts.map(({ verdict }) => verdict))).toEqual(new Set(['undecided']))
  })

  it('takes our choice or an alternative only where everything else is excluded', () => {
    expect(verdictOf('a', see('1', { a: 0 }))).toEqual({ id: 'a', verdict: 'as chosen', evidence: ['1'] })
    expect(verdictOf('c', see('1', { c: 2 }))).toEqual({
      id: 'c',
      verdict: 'alternative',
      alternative: 2,
      evidence: ['1'],
    })
    expect(verdictOf('c', see('1', { c: 2 }, { c: 0 }))).toEqual({
      id: 'c',
      verdict: 'undecided',
      evidence: ['1'],
      left: [0, 2],
    })
  })

  it('joins observations that decide nothing alone', () => {
    const either = see('1', { a: 1, b: 0 }, { a: 0, b: 1 })
    expect(verdictOf('a', either)).toEqual({ id: 'a', verdict: 'undecided', evidence: [] })
    expect(verdictOf('a', either, see('2', { b: 0 }))).toMatchObject({
      verdict: 'alternative',
      alternative: 1,
      evidence: ['1', '2'],
    })
  })

  it('finds what only a search shows, and names all that it takes', () => {
    const observations = [
      see('1', { a: 1, b: 0 }, { a: 0, b: 1 }, { a: 1, b: 1 }),
      see('2', { a: 1, b: 0 }, { a: 0, b: 0 }, { a: 1, b: 1 }),
      see('3', { d: 1 }, { d: 2 }),
    ]
    expect(verdictOf('a', ...observations)).toEqual({
      id: 'a',
      verdict: 'alternative',
      alternative: 1,
      evidence: ['1', '2'],
    })
  })

  it('says of a contradiction what both sides are, and keeps the verdicts of others', () => {
    const verdicts = decideVerdicts(
      [
        see('1', { a: 0 }),
        see('2', { a: 1, c: 0 }, { a: 1, c: 1 }),
        see('3', { d: 2 }),
        see('4', { a: 1 }),
        see('5', { b: 1 }),
      ],
      CHOICES,
    )
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
    expect(verdicts.map(({ verdict }) => verdict)).toEqual([
      'contradicted',
      'contradicted',
      'undecided',
      'undecided',
      'undecided',
    ])
    expect(verdicts[0]?.evidence.toSorted()).toEqual(['1', '2', '3'])
    expect(verdicts[1]?.evidence.toSorted()).toEqual(['1', '2', '3'])
  })

  it('does not hear of assumptions and alternatives that there are not', () => {
    expect(verdictOf('a', see('1', { a: 7 }), see('2', { z: 1 }), { allows: [], evidence: ['3'], count: 1 })).toEqual({
      id: 'a',
      verdict: 'undecided',
      evidence: [],
    })
  })

  it(`agrees with a trial of all combinations, and never excludes the truth (seed ${SEED})`, () => {
    fc.assert(
      fc.property(worlds(), ({ sizes, truth, observations }) => {
        const ids = sizes.map((_, index) => `x${index}`)
        const choices = choicesOf(Object.fromEntries(sizes.map((size, index) => [`x${index}`, size - 1])))
        const verdicts = decideVerdicts(observations, choices)
        const left = tryAll(sizes, observations)
        for (const [index, id] of ids.entries()) {
          const verdict = verdicts[index]
          const values = [...(left[index] ?? [])].toSorted((one, other) => one - other)
          const truly = truth[index] ?? 0
          expect(values).toContain(truly)
          expect(verdict?.id).toBe(id)
          if (values.length === sizes[index]) expect(verdict).toEqual({ id, verdict: 'undecided', evidence: [] })
          else if (values.length > 1) expect(verdict).toMatchObject({ verdict: 'undecided', left: values })
          else if (truly === 0) expect(verdict).toMatchObject({ verdict: 'as chosen' })
          else expect(verdict).toMatchObject({ verdict: 'alternative', alternative: truly })
          // What is named as evidence is enough by itself.
          const named = observations.filter(({ evidence }) => verdict?.evidence.includes(evidence[0] ?? ''))
          expect([...(tryAll(sizes, named)[index] ?? [])].toSorted((one, other) => one - other)).toEqual(values)
        }
      }),
      { seed: SEED, numRuns: budget({ quick: 300, full: 2000 }) },
    )
  })

  it(`contradicts only assumptions of which observations disagree (seed ${SEED})`, () => {
    fc.assert(
      fc.property(worlds(), worlds(), (one, other) => {
        const sizes = one.sizes.map((size, index) => Math.max(size, other.sizes[index] ?? 1))
        const observations = [...one.observations, ...other.observations]
        const verdicts = decideVerdicts(
          observations,
          choicesOf(Object.fromEntries(sizes.map((size, index) => [`x${index}`, size - 1]))),
        )
        const contradicted = verdicts.filter(({ verdict }) => verdict === 'contradicted').map(({ id }) => id)
        const isPossible = tryAll(sizes, observations).every((values) => values.size > 0)
        expect(contradicted.length === 0).toBe(isPossible)
      }),
      { seed: SEED, numRuns: budget({ quick: 200, full: 1500 }) },
    )
  })

  it('takes 10,000 different observations within three seconds', () => {
    const ids = Array.from({ length: 82 }, (_, index) => `x${index}`)
    const choices = choicesOf(Object.fromEntries(ids.map((id, index) => [id, 1 + (index % 4)])))
    const random = new Generator(SEED)
    const truth = ids.map((_, index) => random.below(2 + (index % 4)))
    const observations = Array.from({ length: 10_000 }, (_, number) => {
      const scope = [...new Set([random.below(82), random.below(82), random.below(82)])]
      const allows = new Map<string, Assignment>()
      const add = (values: readonly number[]) =>
        allows.set(
          values.join(),
          Object.fromEntries(scope.map((variable, place) => [`x${variable}`, values[place] ?? 0])),
        )
      add(scope.map((variable) => truth[variable] ?? 0))
      for (let more = 0; more < 6; more++) add(scope.map((variable) => random.below(2 + (variable % 4))))
      return see(`${number}`, ...allows.values())
    })
    const start = processorTime()
    const verdicts = decideVerdicts(observations, choices)
    expect(processorTime() - start).toBeLessThan(3000)
    expect(verdicts.map(({ alternative = 0 }) => alternative)).toEqual(truth)
    // One liar among them contradicts no more than what it speaks of.
    const lie = see('lie', { x3: (truth[3] ?? 0) === 0 ? 1 : 0 })
    const doubted = decideVerdicts([...observations, lie], choices)
    expect(doubted.filter(({ verdict }) => verdict === 'contradicted').map(({ id }) => id)).toContain('x3')
    expect(doubted.filter(({ verdict }) => verdict === 'contradicted').length).toBeLessThan(4)
  })
})

describe('leastOf', () => {
  it('finds a part that is enough, of which nothing can be left out, and prefers what comes first', () => {
    const isEnough = (some: readonly number[]) =>
      (some.includes(3) && some.includes(7)) || (some.includes(8) && some.includes(9))
    expect(leastOf([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], isEnough)).toEqual([3, 7])
  })
})

interface World {
  sizes: number[]
  truth: number[]
  observations: Observation[]
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
      const observations = scopes.map(({ scope, others }, number): Observation => {
        const tuples = [scope.map((variable) => truth[variable] ?? 0)]
        for (const other of others)
          tuples.push(scope.map((variable, place) => (other[place] ?? 0) % (sizes[variable] ?? 1)))
        return {
          allows: tuples.map((values) =>
            Object.fromEntries(scope.map((variable, place) => [`x${variable}`, values[place] ?? 0])),
          ),
          evidence: [`${number}`],
          count: 1,
        }
      })
      return { sizes, truth, observations }
    })
}

/** The values that each variable has in the combinations that all observations permit. */
function tryAll(sizes: readonly number[], observations: readonly Observation[]): Set<number>[] {
  const left = sizes.map(() => new Set<number>())
  const total = sizes.reduce((product, size) => product * size, 1)
  for (let number = 0; number < total; number++) {
    let rest = number
    const values = sizes.map((size) => {
      const value = rest % size
      rest = Math.floor(rest / size)
      return value
    })
    const holds = observations.every(({ allows }) =>
      allows.some((assignment) =>
        Object.entries(assignment).every(([id, value]) => values[Number(id.slice(1))] === value),
      ),
    )
    if (holds) for (const [index, value] of values.entries()) left[index]?.add(value)
  }
  return left
}

/** Numbers that are the same at each run. */
class Generator {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((this.#state / 2 ** 32) * limit)
  }
}

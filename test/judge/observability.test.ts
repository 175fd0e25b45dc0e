import { describe, expect, it } from 'vitest'
import { describeObservability, observabilityOf } from '../../src/judge/observability.ts'
import { QUESTIONS } from '../../src/judge/questions.ts'
import { assumptions } from '../support/alternatives.ts'

describe('observabilityOf', () => {
  it('says of every alternative why exchanges cannot show it, or has a request that does', () => {
    for (const assumption of assumptions) {
      const { observable, because, decide_with: probe } = observabilityOf(assumption)
      expect(observable || because !== undefined, assumption.id).toBe(true)
      expect(probe !== undefined, assumption.id).toBe(observable)
    }
    const known = assumptions.filter((each) => observabilityOf(each).observable).map(({ id }) => id)
    expect(Object.keys(QUESTIONS).toSorted()).toEqual(known.toSorted())
  })

  it('excepts no alternative that there is not', () => {
    for (const { id, unobservable = {}, alternatives } of assumptions) {
      const numbers = typeof unobservable === 'string' ? [1] : Object.keys(unobservable).map(Number)
      for (const number of numbers) expect(number, id).toBeLessThanOrEqual(alternatives.length)
    }
  })

  it.each([
    ['null-fields', 'yes, by POST /domaingroups with {"name":"Null","domains":null}: whether it is accepted.'],
    ['plan-names', 'no, because: No response says which plan the account has.'],
    [
      'percentages',
      'yes, by GET /dmarc: how many decimals the percentages have (if mail arrives each day). Not alternative 2: Each percentage may happen to be a whole number.',
    ],
    ['status-unauthorized', 'yes, by GET /domains without authorization: the status.'],
    ['status-invalid-json', 'yes, by POST /domaingroups with the body {: the status.'],
  ])('is written in a line: of %s', (id, line) => {
    const [assumption] = assumptions.filter((each) => each.id === id)
    expect(assumption && describeObservability(observabilityOf(assumption))).toEqual(line)
  })
})

import { describe, expect, it } from 'vitest'
import { describeObservability, observabilityOf } from '../../src/choices/observability.ts'
import { QUESTIONS } from '../../src/choices/questions.ts'
import { assumptions } from '../support/alternatives.ts'
import { mistakesAbout } from './deciding.ts'

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
    ['final-dot', 'yes, by POST /domains with {"domains":["b.example."]}: whether it is accepted.'],
    ['plan-names', 'no, because: No response says which plan the account has.'],
    [
      'percentages',
      'yes, by GET /dmarc: how many decimals the percentages have (if mail arrives each day). Not alternative 2: Each percentage may happen to be a whole number.',
    ],
    ['status-unauthorized', 'yes, by GET /domains without authorization: the status.'],
    ['byte-order-mark', expect.stringContaining('the body \ufeff{"name":"Mark"}')],
  ])('is written in a line: of %s', (id, line) => {
    const [assumption] = assumptions.filter((each) => each.id === id)
    expect(assumption && describeObservability(observabilityOf(assumption))).toEqual(line)
  })

  // Those that a client is likely to meet; a test of the night asks for all.
  it.each(['create-group-status/1', 'already-monitored/1', 'domain-order/1', 'canonical-form/1', 'quota-window/1'])(
    'has a request that decides %s',
    async (name) => expect(await mistakesAbout(name)).toEqual([]),
  )
})

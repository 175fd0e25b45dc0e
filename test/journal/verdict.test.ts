import { describe, expect, it } from 'vitest'
import { EXAMPLES, hasPassed, orderCodes, type Reckoning, Verdict } from '../../src/journal/verdict.ts'
import { range } from '../support/at-once.ts'
import { recorded } from '../support/entry.ts'

const EXCHANGE = {
  operation: undefined,
  judged: true,
  principal: undefined,
  owner: undefined,
  requestBody: undefined,
  responseBody: undefined,
}

const ids = (first: number, last: number) => range(first, last).map((number) => `r${number}`)
const idsOf = ({ first }: Reckoning) => first.map(({ entry }) => entry.requestId)

describe('The verdict', () => {
  it('keeps the first ten violations, counts all, and keeps the first ten of the whole after it was cleared', () => {
    expect(EXAMPLES).toBe(10)
    const verdict = new Verdict({ refresh: '00:00' })
    let count = 0
    const violate = (times: number) => {
      for (let index = 0; index < times; index++) {
        const violation = recorded({ requestId: `r${++count}`, violatesContract: true, code: 'not_found' })
        verdict.note(violation, { ...EXCHANGE, started: count, ended: count })
      }
    }
    verdict.note(recorded({ injected: true }), { ...EXCHANGE, started: 0, ended: 0 })
    violate(EXAMPLES + 1)
    expect(idsOf(verdict.sinceClearing)).toEqual(ids(1, EXAMPLES))
    verdict.clear()
    expect(idsOf(verdict.sinceClearing)).toEqual([])
    violate(EXAMPLES + 2)
    expect(idsOf(verdict.sinceClearing)).toEqual(ids(EXAMPLES + 2, 2 * EXAMPLES + 1))
    expect(idsOf(verdict.sinceStart)).toEqual(ids(1, EXAMPLES))
    expect(verdict.sinceClearing.counts).toMatchObject({ violations: EXAMPLES + 2 })
    const violations = 2 * EXAMPLES + 3
    expect(verdict.sinceStart.counts).toMatchObject({ violations, injected: 1, byCode: { not_found: violations } })
  })

  it.each([
    [0, 0, false],
    [0, 1, true],
    [1, 1, false],
    [1, 0, false],
  ])('of %d violations in %d requests that were held to the contract passes: %s', (violations, judged, passed) => {
    expect(hasPassed({ violations, judged })).toBe(passed)
  })

  it('lists codes by how often they were violated, then by name', () => {
    expect(Object.keys(orderCodes(Object.entries({ b: 1, a: 1, c: 2 })))).toEqual(['c', 'a', 'b'])
  })
})

import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { areaPath, linePath } from '../../../src/dashboard/charts/path.ts'
import { planPlot } from '../../../src/dashboard/charts/plot.ts'

describe('a path', () => {
  it('is a line through the points, interrupted by gaps', () => {
    expect(linePath([[0, 1], [2, 3.456], null, [4, 5], null, null])).toBe('M0,1L2,3.5M4,5h0')
  })

  it('is empty without points', () => {
    expect([linePath([]), linePath([null]), areaPath([null], 9)]).toEqual(['', '', ''])
  })

  it('encloses the area down to the ground', () => {
    expect(
      areaPath(
        [
          [0, 1],
          [2, 3],
        ],
        9,
      ),
    ).toBe('M0,9L0,1L2,3L2,9Z')
  })
})

describe('the plan of a chart', () => {
  const dates = Array.from({ length: 90 }, (_, index) => new Date(index * 86_400_000).toISOString().slice(0, 10))
  const history = {
    dates,
    messages: dates.map((_, index) => index * 10),
    shares: [{ name: 'DMARC', values: dates.map(() => 95) }],
  }

  it('has the days from left to right, and the shares above the messages', () => {
    const { days, left, right, shares, messages, height } = planPlot(history, 900)
    expect([days[0], days.at(-1)]).toEqual([left, right])
    expect(shares.bottom).toBeLessThan(messages.top)
    expect(messages.bottom).toBeLessThan(height)
  })

  it('has a dot for each refresh only where there is room', () => {
    expect(planPlot(history, 1600).dotted).toBe(true)
    expect(planPlot(history, 390).dotted).toBe(false)
  })

  it.each([0, 1, 30, 390, 3840])('has numbers only, also with a width of %d', (width) => {
    const one = { dates: ['2026-01-15'], messages: [0], shares: [{ name: 'DMARC', values: [null] }] }
    for (const plan of [planPlot(history, width), planPlot(one, width)])
      expect(inspect(plan, { depth: 9 })).not.toMatch(/NaN|Infinity/)
  })
})

import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  areaPath,
  dayTicks,
  linePath,
  nearestIndex,
  planPlot,
  roundTicks,
  scaleLinear,
  shareTicks,
} from '../../src/dashboard/charts/plot.ts'

describe('a path', () => {
  it('is a line through the points, interrupted by gaps', () => {
    expect(linePath([[0, 1], [2, 3.456], null, [4, 5], null, null])).toBe('M0,1L2,3.5M4,5h0')
  })

  it('is empty without points', () => {
    expect([linePath([]), linePath([null]), areaPath([null], 9)]).toEqual(['', '', ''])
  })

  it('encloses the area down to the ground', () => {
    const points: [number, number][] = [
      [0, 1],
      [2, 3],
    ]
    expect(areaPath(points, 9)).toBe('M0,9L0,1L2,3L2,9Z')
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

describe('a scale', () => {
  it('maps the ends of a range to the ends of another, and what is between in proportion', () => {
    const scale = scaleLinear([0, 200], [10, 0])
    expect([0, 50, 200].map(scale)).toEqual([10, 7.5, 0])
  })

  it('maps a range of one number to the first place, and not to NaN', () => {
    expect(scaleLinear([3, 3], [10, 20])(3)).toBe(10)
  })
})

describe('the ticks of an axis', () => {
  it.each([
    [0, [0, 1]],
    [1, [0, 1]],
    [7, [0, 5, 10]],
    [612_345, [0, 500_000, 1_000_000]],
    [1_000_000, [0, 500_000, 1_000_000]],
  ])('are round numbers up to %d', (most, ticks) => {
    expect(roundTicks(most, 3)).toEqual(ticks)
  })

  it('reach every number, begin at 0, and are few (seed 5)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 52 }), fc.integer({ min: 2, max: 8 }), (most, wanted) => {
        const ticks = roundTicks(most, wanted)
        expect(ticks[0]).toBe(0)
        expect(ticks.at(-1)).toBeGreaterThanOrEqual(most)
        expect(ticks.length).toBeLessThanOrEqual(wanted + 1)
        expect(ticks.every(Number.isSafeInteger)).toBe(true)
      }),
      { seed: 5 },
    )
  })

  it.each([
    { shares: [98.2, null, 99], ticks: [90, 95, 100] },
    { shares: [85, 99], ticks: [80, 90, 100] },
    { shares: [60, 99], ticks: [50, 75, 100] },
    { shares: [12], ticks: [0, 50, 100] },
    { shares: [null], ticks: [90, 95, 100] },
  ])('of shares $shares show all of them', ({ shares, ticks }) => {
    expect(shareTicks(shares)).toEqual(ticks)
  })

  it('of days are whole weeks apart, and name the newest', () => {
    expect(dayTicks(90, 7)).toEqual([5, 19, 33, 47, 61, 75, 89])
    expect(dayTicks(3, 7)).toEqual([0, 1, 2])
    expect(dayTicks(1, 0)).toEqual([0])
    expect(dayTicks(0, 5)).toEqual([])
  })

  it('of days are never more than there is room for (seed 6)', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 366 }), fc.integer({ min: 1, max: 40 }), (count, wanted) => {
        const ticks = dayTicks(count, wanted)
        expect(ticks.length).toBeLessThanOrEqual(Math.max(1, wanted))
        expect(ticks.at(-1)).toBe(count - 1)
      }),
      { seed: 6 },
    )
  })
})

describe('the nearest day', () => {
  it.each([
    [-50, 0],
    [0, 0],
    [14, 1],
    [16, 2],
    [900, 10],
  ])('of the place %d is the day %d', (place, index) => {
    expect(nearestIndex(place, 0, 100, 11)).toBe(index)
  })

  it('is the only one where there is one', () => {
    expect(nearestIndex(70, 50, 50, 1)).toBe(0)
  })
})

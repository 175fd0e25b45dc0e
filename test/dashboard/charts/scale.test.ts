import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dayTicks, nearestIndex, roundTicks, scaleLinear, shareTicks } from '../../../src/dashboard/charts/scale.ts'

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
    [
      [98.2, null, 99],
      [90, 95, 100],
    ],
    [
      [85, 99],
      [80, 90, 100],
    ],
    [
      [60, 99],
      [50, 75, 100],
    ],
    [[12], [0, 50, 100]],
    [[null], [90, 95, 100]],
  ])('of shares %j show all of them', (shares, ticks) => {
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

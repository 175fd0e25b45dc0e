import { describe, expect, it } from 'vitest'
import {
  dayTicks,
  linePath,
  nearestIndex,
  roundTicks,
  scaleLinear,
  shareTicks,
} from '../../src/dashboard/charts/plot.ts'

it('a line is interrupted where a value is missing, and a value alone is a dot', () => {
  expect(linePath([[0, 1], [2, 3.456], null, [4, 5], null, null])).toBe('M0,1L2,3.5M4,5h0')
})

it.each([
  [0, 0, 200, 10],
  [50, 0, 200, 7.5],
  [200, 0, 200, 0],
  // A range of one number is no division by zero.
  [3, 3, 3, 10],
])('the value %d of the range from %d to %d has the place %d', (value, least, most, place) => {
  expect(scaleLinear([least, most], [10, 0])(value)).toBe(place)
})

describe('the ticks of an axis', () => {
  it.each([
    [0, [0, 1]],
    [7, [0, 5, 10]],
    [612_345, [0, 500_000, 1_000_000]],
    [1_000_000, [0, 500_000, 1_000_000]],
  ])('are round numbers up to %d', (most, ticks) => {
    expect(roundTicks(most, 3)).toEqual(ticks)
  })

  it.each([
    { shares: [98.2, null, 99], ticks: [90, 95, 100] },
    { shares: [60, 99], ticks: [50, 75, 100] },
    { shares: [12], ticks: [0, 50, 100] },
    { shares: [null], ticks: [90, 95, 100] },
  ])('of shares $shares show all of them', ({ shares, ticks }) => {
    expect(shareTicks(shares)).toEqual(ticks)
  })

  it.each([
    [90, 7, [5, 19, 33, 47, 61, 75, 89]],
    [3, 7, [0, 1, 2]],
    [1, 0, [0]],
    [0, 5, []],
  ])('of %d days with room for %d are whole weeks apart, and name the newest', (count, room, ticks) => {
    expect(dayTicks(count, room)).toEqual(ticks)
  })
})

it.each([
  [-50, 11, 0],
  [14, 11, 1],
  [16, 11, 2],
  [900, 11, 10],
  [70, 1, 0],
])('the place %d of a chart of %d days is the day %d', (place, days, index) => {
  expect(nearestIndex(place, 0, 100, days)).toBe(index)
})

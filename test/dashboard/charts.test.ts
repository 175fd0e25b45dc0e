import { describe, expect, it } from 'vitest'
import { dayTicks, nearestIndex, roundTicks, shareTicks } from '../../src/dashboard/charts/plot.ts'

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

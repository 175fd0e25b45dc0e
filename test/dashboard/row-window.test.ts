import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rowAfterKey, scrollToShow, type View, windowOf } from '../../src/dashboard/controls/row-window.ts'

const VIEW: View = { top: 0, height: 400, row: 40, count: 10_000 }
const views = fc.record({
  top: fc.integer({ min: -500, max: 500_000 }),
  height: fc.integer({ min: 0, max: 3_000 }),
  row: fc.integer({ min: 20, max: 120 }),
  count: fc.nat(10_000),
})

describe('the rows that are drawn', () => {
  it.each([
    ['at the top', {}, { first: 0, end: 18 }],
    ['in the middle', { top: 4_000 }, { first: 92, end: 118 }],
    ['between two rows', { top: 4_010 }, { first: 92, end: 119 }],
    ['at the end', { top: 399_600 }, { first: 9_982, end: 10_000 }],
    ['beyond the end, because rows are gone', { top: 399_600, count: 20 }, { first: 2, end: 20 }],
    ['of no rows', { top: 100, count: 0 }, { first: 0, end: 0 }],
    ['of a screen that is higher than the list', { count: 3 }, { first: 0, end: 3 }],
  ])('%s', (_, view, expected) => {
    expect(windowOf({ ...VIEW, ...view })).toEqual(expected)
  })

  it('are all that are seen, and few more (seed 16)', () => {
    fc.assert(
      fc.property(views, (view) => {
        const { first, end } = windowOf(view)
        const { top, height, row, count } = view
        const seen = Math.max(0, Math.min(top, count * row - height))
        expect(first * row).toBeLessThanOrEqual(seen)
        expect(end * row).toBeGreaterThanOrEqual(Math.min(count * row, seen + height))
        expect(end - first).toBeLessThanOrEqual(Math.ceil(height / row) + 18)
        expect([first >= 0, end <= count]).toEqual([true, true])
      }),
      { seed: 16 },
    )
  })
})

describe('the scroll that shows a row', () => {
  it.each([
    ['that is seen already is none', 5, 100, 100],
    ['above puts it at the top', 1, 100, 40],
    ['below puts it at the bottom', 20, 100, 440],
    ['at the end is the last one', 9_999, 0, 399_600],
  ])('%s', (_, index, top, expected) => {
    expect(scrollToShow(index, { ...VIEW, top })).toBe(expected)
  })
})

describe('the row after a key', () => {
  it.each([
    ['ArrowDown', 4, 5],
    ['ArrowUp', 4, 3],
    ['ArrowUp', 0, 0],
    ['PageDown', 4, 13],
    ['PageUp', 4, 0],
    ['Home', 9_000, 0],
    ['End', 0, 9_999],
    ['ArrowDown', 9_999, 9_999],
    ['Enter', 4, undefined],
  ])('%s at %i is %s', (key, index, expected) => {
    expect(rowAfterKey(key, index, VIEW)).toBe(expected)
  })

  it('is none where there are no rows', () => {
    expect(rowAfterKey('End', 0, { ...VIEW, count: 0 })).toBeUndefined()
  })
})

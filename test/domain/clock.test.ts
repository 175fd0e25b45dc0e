import { describe, expect, it } from 'vitest'
import { changeClock, clockAt, timeOn } from '../../src/domain/clock.ts'
import { isInstant, parseDuration } from '../../src/domain/iso-8601.ts'

describe('an account’s clock', () => {
  it('shows the machine’s time, runs ahead of it, or stands still', () => {
    expect(timeOn({ offset: 0 }, 1000)).toBe(1000)
    expect(timeOn({ offset: 500 }, 1000)).toBe(1500)
    expect(timeOn({ frozenAt: 700 }, 1000)).toBe(700)
  })

  it('started at an instant runs on from it, and frozen there stays', () => {
    expect(timeOn(clockAt(5000, 1000), 1250)).toBe(5250)
    expect(timeOn(clockAt(5000, 1000, true), 1250)).toBe(5000)
  })

  it.each([
    ['advances', { offset: 0 }, { advance: 60 }, { offset: 60 }],
    ['jumps', { offset: 0 }, { now: 1500 }, { offset: 500 }],
    ['freezes where it is', { offset: 50 }, { frozen: true }, { frozenAt: 1050 }],
    ['runs again from where it stood', { frozenAt: 400 }, { frozen: false }, { offset: -600 }],
    ['advances while frozen and stays frozen', { frozenAt: 400 }, { advance: 100 }, { frozenAt: 500 }],
    ['stays as it is', { offset: 7 }, {}, { offset: 7 }],
    ['never goes back', { offset: 0 }, { now: 999 }, undefined],
  ])('%s', (_, setting, change, after) => {
    expect(changeClock(setting, change, 1000)).toEqual(after)
  })
})

describe('a duration', () => {
  it.each([
    ['PT0S', 0],
    ['PT1H', 3_600_000],
    ['P2W', 1_209_600_000],
    ['P1DT2H3M4S', 93_784_000],
  ])('%s is %i milliseconds', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds)
  })

  it.each(['', ' PT1H', ...'P PT P1DT 1H PT1 P1M P1Y PT-1H -PT1H PT1.5H P1W1D pt1h PT1H\n'.split(' ')])(
    'is not %j',
    (text) => {
      expect(parseDuration(text)).toBeUndefined()
    },
  )
})

describe('an instant', () => {
  it.each(['2026-01-15T09:00:00Z', '2026-01-15T09:00Z', '2024-02-29T23:59:59.999+02:00', '1970-01-01T00:00:00Z'])(
    'is %s',
    (text) => {
      expect(isInstant(text)).toBe(true)
    },
  )

  it.each([
    ...['now', '2026-01-15', '2026-01-15T09:00:00', '2026-01-15 09:00:00Z', '2026-01-15T25:00:00Z'],
    ...['2026-02-30T00:00:00Z', '2025-02-29T00:00:00Z', '2026-13-01T00:00:00Z', '1969-12-31T23:59:59Z'],
  ])('is not %s', (text) => {
    expect(isInstant(text)).toBe(false)
  })
})

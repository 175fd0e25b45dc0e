import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDuration } from '../../src/domain/iso-8601.ts'
import { writeDuration } from '../../src/library/duration.ts'

const SEED = 20_260_115
const amount = fc.option(fc.nat(10_000), { nil: undefined })
const spans = fc.record(
  { weeks: amount, days: amount, hours: amount, minutes: amount, seconds: amount },
  { requiredKeys: ['seconds'] },
)

describe('a span', () => {
  it(`is written as the duration of all its parts together (seed ${SEED})`, () => {
    fc.assert(
      fc.property(spans, ({ weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0, ...rest }) => {
        const whole = { weeks, days, hours, minutes, seconds, ...rest }
        const expected = (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds
        expect(parseDuration(writeDuration(whole))).toBe(expected * 1000)
      }),
      { seed: SEED },
    )
  })

  it('leaves out what is undefined', () => {
    expect(writeDuration({ hours: 1, days: undefined } as { hours: number })).toBe('PT3600S')
  })
})

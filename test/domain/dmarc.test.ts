import { describe, expect, it } from 'vitest'
import {
  contradictionIn,
  countedSince,
  describeDomain,
  firstRefresh,
  firstReportingDay,
  inheritTags,
  type PolicyTags,
  pinFigures,
  pinTags,
  type RecordPin,
  type RecordRules,
  refreshDay,
} from '../../src/domain/dmarc.ts'

const NO_MAIL = { both: 0, dkimOnly: 0, spfOnly: 0, neither: 0 }
const DAY = 86_400_000
const RULES: RecordRules = { policyWithoutRecord: 'none', percentageStep: 0.1 }

describe('a record', () => {
  it('inherits sp from p, and np from sp and then p', () => {
    const tags = (published: Parameters<typeof describeDomain>[1]) => {
      const { p, sp, np } = describeDomain('a.example', published, NO_MAIL, RULES)
      return [p, sp, np]
    }
    expect(tags({ p: 'reject' })).toEqual(['reject', 'reject', 'reject'])
    expect(tags({ p: 'reject', sp: 'none' })).toEqual(['reject', 'none', 'none'])
    expect(tags({ p: 'none', np: 'reject' })).toEqual(['none', 'none', 'reject'])
    expect(tags({ p: 'none', sp: 'quarantine', np: 'reject' })).toEqual(['none', 'quarantine', 'reject'])
  })

  it.each<[messages: number[], dmarc: number, dkim: number, spf: number, count: number]>([
    [[0, 0, 0, 0], 0, 0, 0, 0],
    [[0, 0, 0, 3], 0, 0, 0, 3],
    [[1, 1, 0, 1], 66.7, 66.7, 33.3, 3],
    // 1/6 rounds to 16.7 and 1/3 to 33.3; one and a half of them is no more than both shares together.
    [[0, 1, 1, 4], 33.3, 16.7, 16.7, 6],
    // Each of 0.04 % rounds to nothing, so their sum of 0.08 % must not round to a tenth.
    [[0, 4, 4, 9992], 0, 0, 0, 10_000],
  ])('of messages with both, DKIM only, SPF only and neither, %j, has %d, %d, %d and %d', (messages, ...figures) => {
    const [both = 0, dkimOnly = 0, spfOnly = 0, neither = 0] = messages
    const counts = { both, dkimOnly, spfOnly, neither }
    const { dmarc, dkim, spf, count } = describeDomain('a.example', { p: 'none' }, counts, RULES)
    expect([dmarc, dkim, spf, count]).toEqual(figures)
  })
})

it.each<[above: PolicyTags, below: PolicyTags]>([
  [{ p: 'reject' }, { p: 'reject' }],
  [{ p: 'reject', sp: 'none' }, { p: 'none' }],
  [
    { p: 'none', sp: 'quarantine', np: 'reject', testing: 'y', pct: 50 },
    { p: 'quarantine', np: 'reject', testing: 'y', pct: 50 },
  ],
])('the tags of a subdomain without a record below %j are %j', (above, below) => {
  expect(inheritTags(above)).toEqual(below)
})

it.each(['none', ''])('a record without tags has the policies %j where the contract says so', (withoutRecord) => {
  const rules = { ...RULES, policyWithoutRecord: withoutRecord } as RecordRules
  expect(describeDomain('a.example', undefined, NO_MAIL, rules)).toMatchObject({
    ...{ p: withoutRecord, sp: withoutRecord, np: withoutRecord, pct: 100, testing: 'n' },
  })
})

describe('a pinned record', () => {
  const TAGS: PolicyTags = { p: 'quarantine', sp: 'none' }
  const MAIL = { both: 90, dkimOnly: 5, spfOnly: 1, neither: 4 }

  function pinRecord(pin: RecordPin, { tags = TAGS, counts = MAIL, step = 0.1 } = {}) {
    const rules = { ...RULES, percentageStep: step }
    return pinFigures(describeDomain('a.example', pinTags(tags, pin), counts, rules), pin, step)
  }

  it.each([
    [{ p: 'reject' }, { sp: 'reject', np: 'reject', dmarc: 96, count: 100 }],
    [{ dkim: 100 }, { dmarc: 100, spf: 91 }],
    [{ dkim: 10, spf: 20 }, { dmarc: 30 }],
    [{ dmarc: 50 }, { dkim: 50, spf: 50 }],
    [{ dmarc: 99, dkim: 1, spf: 98.5 }, {}],
    [{ count: 0 }, { dmarc: 0, dkim: 0, spf: 0 }],
  ] as const)('%j gives %j', (pin, others) => {
    expect(pinRecord(pin)).toMatchObject({ ...pin, ...others })
  })

  it.each([
    ['0.1', 0.1, { spf: 33.333 }, { spf: 33.3 }],
    ['1', 1, { dmarc: 99.9, dkim: 49.9, spf: 50.1 }, { dmarc: 100, dkim: 50, spf: 50 }],
  ])('with every share is rounded to the step of the contract, %s, whatever was pinned', (_, step, pin, expected) => {
    expect(pinRecord(pin, { step })).toMatchObject(expected)
  })

  it('with a policy takes the place of the published np too', () => {
    expect(pinRecord({ p: 'reject' }, { tags: { ...TAGS, np: 'none' } })).toMatchObject({ sp: 'reject', np: 'reject' })
    expect(pinRecord({ pct: 5 }, { tags: { ...TAGS, np: 'reject' } })).toMatchObject({ sp: 'none', np: 'reject' })
  })

  it('with shares but no mail gets some mail', () => {
    const expected = { dkim: 95.5, dmarc: 95.5, spf: 0, count: 100 }
    expect(pinRecord({ dkim: 95.5 }, { counts: NO_MAIL })).toMatchObject(expected)
  })

  it.each([
    [{ count: 0, spf: 1 }, 'has shares of no mail: with count 0 they are 0'],
    [{ dmarc: 10, dkim: 20 }, 'has less dmarc than dkim or spf, of which either suffices'],
    [{ dmarc: 90, dkim: 20, spf: 30 }, 'has more dmarc than dkim and spf together'],
    [{ dmarc: 90, dkim: 20 }, undefined],
    [{ dmarc: 10.3, dkim: 10.1, spf: 0.2 }, undefined],
    [{ count: 0, spf: 0 }, undefined],
  ])('%j contradicts itself: %s', (pin, reason) => {
    expect(contradictionIn(pin)).toBe(reason)
  })
})

describe('the daily refresh', () => {
  it.each([
    ['2026-01-14T23:59:59.999Z', '00:00', 20_467],
    ['2026-01-15T00:00:00.000Z', '00:00', 20_468],
    ['2026-01-15T03:59:59.999Z', '04:00', 20_467],
    ['2026-01-15T04:00:00.000Z', '04:00', 20_468],
  ])('at %s with a refresh at %s is that of day %i', (instant, refresh, day) => {
    expect(refreshDay(Date.parse(instant), refresh)).toBe(day)
  })

  it.each([
    ['2026-01-14T23:59:00.000Z', 20_468],
    ['2026-01-14T23:59:00.001Z', 20_469],
  ])(
    'brings the first figures of a domain added at %s on day %i, when it has been processed for a minute',
    (instant, day) => {
      expect(firstReportingDay({ addedAt: Date.parse(instant) }, { refresh: '00:00' })).toBe(day)
      expect(day * DAY).toBeGreaterThanOrEqual(Date.parse(instant) + 60_000)
    },
  )

  it.each([
    ['2026-01-15T03:59:59.999Z', 20_468],
    ['2026-01-15T04:00:00.000Z', 20_468],
    ['2026-01-15T04:00:00.001Z', 20_469],
  ])('at which a domain added at %s is monitored first is that of day %i', (instant, day) => {
    expect(firstRefresh({ addedAt: Date.parse(instant) }, { refresh: '04:00' })).toBe(day)
  })

  it('counts mail since the addition, or since the refresh after it where it was processed then', () => {
    const noon = Date.parse('2026-01-15T12:00:00Z')
    expect(countedSince({ addedAt: noon }, { refresh: '00:00' })).toBe(20_468.5)
    expect(countedSince({ addedAt: noon + DAY / 2 - 30_000 }, { refresh: '00:00' })).toBe(20_469)
    expect(countedSince({ addedAt: noon - 30_000 }, { refresh: '12:00' })).toBe(20_468)
  })
})

import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MonitoredDomain } from '../../src/domain/account.ts'
import { type DmarcRecord, type Policy, PROFILE_NAMES, type ProfileName } from '../../src/domain/dmarc.ts'
import { characterOf, episodesOf } from '../../src/figures/character.ts'
import { PROFILES } from '../../src/figures/profiles.ts'
import { accountOf, DAY, domain, figuresOfDay, RULES, recordIn, SEED, TODAY } from './monitoring.ts'

function domains(count: number): MonitoredDomain[] {
  return Array.from({ length: count }, (_, index) => domain(`d${index}.example`))
}

/** A record in which every policy is one. */
type PlainRecord = DmarcRecord & { [Name in 'p' | 'sp' | 'np']: Policy }

function record(each: MonitoredDomain, day = TODAY, seed = SEED, rules = RULES): PlainRecord {
  return recordIn(accountOf([each], seed), each.name, day, rules) as PlainRecord
}

/** What makes a record unlawful, if anything; the sum is compared in tenths, because 0.1 + 0.2 is not 0.3. */
function faultOf({ dmarc, dkim, spf, count, p, sp, np, pct, testing }: PlainRecord): string | undefined {
  const tenths = (share: number) => Math.round(share * 10)
  for (const share of [dmarc, dkim, spf]) {
    if (!(share >= 0 && share <= 100)) return 'a share is out of range'
    if (Math.abs(share * 10 - tenths(share)) > 1e-9) return 'a share has more than one decimal'
  }
  if (tenths(dmarc) < Math.max(tenths(dkim), tenths(spf))) return 'dmarc is below dkim or spf'
  if (tenths(dmarc) > Math.min(1000, tenths(dkim) + tenths(spf))) return 'dmarc is above dkim and spf together'
  if (!Number.isSafeInteger(count) || count < 0) return 'the count is no count'
  if (count === 0 && dmarc + dkim + spf > 0) return 'there are shares of no mail'
  const policies = ['none', 'quarantine', 'reject']
  if (![p, sp, np].every((policy) => policies.includes(policy))) return 'a policy is unknown'
  if (!Number.isInteger(pct) || pct < 0 || pct > 100) return 'pct is out of range'
  return testing === 'y' || testing === 'n' ? undefined : 'testing is neither y nor n'
}

describe('the figures of domains on 90 days', () => {
  it('are lawful for any seed, name, profile, volume, pin and day (seed 1)', () => {
    const share = fc.integer({ min: 0, max: 1000 }).map((tenths) => tenths / 10)
    const pin = fc.record(
      { dkim: share, spf: share, count: fc.nat(1000), p: fc.constantFrom('none', 'reject') },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(
        fc.nat(),
        fc.domain(),
        fc.constantFrom(...PROFILE_NAMES),
        fc.nat(1_000_000),
        fc.integer({ min: -200, max: 200 }),
        fc.option(pin, { nil: undefined }),
        fc.nat(90),
        (seed, name, profile, volume, since, pinned, age) => {
          const pinOrNone = pinned?.count === 0 ? { count: 0 } : pinned
          const each = domain(name, {
            profile,
            volume,
            since: TODAY + since,
            ...(pinOrNone && { pin: pinOrNone as never }),
          })
          expect(faultOf(record(each, TODAY + age, seed))).toBeUndefined()
        },
      ),
      { seed: 1, numRuns: 250 },
    )
  })

  it('hash to the same value on every machine, in every process and Node version', () => {
    const hash = createHash('sha256')
    for (const each of domains(25)) {
      for (let day = 0; day < 90; day++) hash.update(JSON.stringify(record(each, TODAY + day)))
    }
    expect(hash.digest('hex')).toBe('0b739e3b47d400f025800ba80065769c13d32239f04d6c8be56c16c8fe0d390d')
  })

  it('of domains with some mail move on with the refresh: they take three values a week at least', () => {
    const busy = domains(200).filter((each) => record(each).count >= 100)
    expect(busy.length).toBeGreaterThan(10)
    for (const each of busy) {
      const week = Array.from({ length: 7 }, (_, day) => JSON.stringify(record(each, TODAY + day)))
      expect(new Set(week).size, each.name).toBeGreaterThanOrEqual(3)
    }
  })
})

describe('a profile', () => {
  function story(profile: ProfileName, name: string, ages: readonly number[], volume = 30_000): PlainRecord[] {
    return ages.map((age) => record(domain(name, { profile, since: TODAY, volume }), TODAY + age))
  }
  const NAMES = Array.from({ length: 12 }, (_, index) => `d${index}.story.example`)

  /** The nature of a domain, and the days that are counted when it has had its profile for so many days. */
  function countedDays(profile: ProfileName, name: string, age: number) {
    const character = characterOf(SEED, domain(name, { profile, since: TODAY, volume: 30_000 }))
    return [character, TODAY + age - 30, TODAY + age] as const
  }

  /** Whether something happens to it in these days that is no part of the story of its profile. */
  function hasIncidents(profile: ProfileName, name: string, age: number): boolean {
    const days = countedDays(profile, name, age)
    const own = (PROFILES[profile].story?.(...days) ?? []).map((each) => JSON.stringify(each))
    return episodesOf(...days).some((each) => !own.includes(JSON.stringify(each)))
  }

  /** Whether the mail of these days is not all usual. */
  function isDisturbed(profile: ProfileName, name: string, age: number): boolean {
    return episodesOf(...countedDays(profile, name, age)).length > 0
  }

  it('rolling-out goes from none to reject while alignment improves; some stall, and some step back once', {}, () => {
    const ways = new Map<string, number>()
    for (const name of NAMES) {
      const ages = Array.from({ length: 250 }, (_, age) => age)
      const days = story('rolling-out', name, ages)
      const way = days.map(({ p }) => p).filter((p, index, all) => p !== all[index - 1])
      const stalled = days.filter(({ p }) => p === 'quarantine').length > 100
      const key = `${way.join(' ')}${stalled ? ', slowly' : ''}`
      ways.set(key, (ways.get(key) ?? 0) + 1)
      const calm = days.filter((_, age) => age > 120 && !isDisturbed('rolling-out', name, age))
      for (const row of calm) expect(row.dmarc).toBeGreaterThan((days[0]?.dmarc ?? 0) + 4)
    }
    const straight = 'none quarantine reject'
    expect([...ways.keys()].toSorted()).toEqual([straight, `${straight} quarantine reject`, `${straight}, slowly`])
    expect(ways.get(straight)).toBeGreaterThan(NAMES.length / 2)
  })

  it.each<[ProfileName, string, (row: PlainRecord) => boolean]>([
    ['enforced', 'passes nearly always under a policy that acts', ({ p, dmarc }) => p !== 'none' && dmarc >= 96.5],
    ['forwarding-heavy', 'has low SPF and high DKIM', ({ dkim, spf, dmarc }) => spf < 77 && dkim > 94 && dmarc > 96],
    ['broken-spf', 'has hardly any SPF', ({ dkim, spf }) => spf < 4 && dkim > 80],
    ['parked', 'rejects and has no mail', ({ p, count }) => p === 'reject' && count === 0],
    [
      'no-record',
      'has nothing but defaults',
      ({ p, sp, np, pct, count }) => p === 'none' && sp === 'none' && np === 'none' && pct === 100 && count === 0,
    ],
  ])('%s %s', (profile, _, holds) => {
    for (const name of NAMES) {
      for (const age of [0, 30, 60]) {
        const [row] = story(profile, name, [age])
        if (row && !isDisturbed(profile, name, age)) expect(holds(row), JSON.stringify(row)).toBe(true)
      }
    }
  })

  it.each<[ProfileName, string, share: number, growth: number]>([
    ['new-esp', 'loses a good part of a grown volume, until the sender signs', 75, 1.15],
    ['spoofed', 'falls while its volume multiplies, until the attack ends', 35, 2],
  ])('%s %s', (profile, _, share, growth) => {
    for (const name of NAMES) {
      const [before, during, after] = story(profile, name, [0, 31, 120])
      expect(before?.dmarc).toBeGreaterThan(96)
      expect(during?.dmarc).toBeLessThan(share)
      expect(during?.count).toBeGreaterThan((before?.count ?? 0) * growth)
      if (!hasIncidents(profile, name, 120)) expect(after?.dmarc).toBeGreaterThan(96)
    }
  })

  it('new starts without mail and grows', () => {
    for (const name of NAMES) {
      const counts = story('new', name, [0, 3, 10, 30]).map(({ count }) => count)
      expect(counts[0]).toBe(0)
      expect(counts).toEqual(counts.toSorted((one, other) => one - other))
      expect(counts.at(-1)).toBeGreaterThan(15_000)
    }
  })

  it('mails less at weekends', () => {
    // The record of a Monday counts the mail of the Sunday before it.
    const volumeOn = (weekday: number) => {
      const days = Array.from({ length: 70 }, (_, index) => TODAY + index)
      const some = days.filter((day) => new Date((day - 1) * DAY).getUTCDay() === weekday)
      const usual = domain('d0.story.example', { profile: 'enforced', volume: 30_000, since: TODAY + 100 })
      return some.reduce((sum, day) => sum + figuresOfDay(accountOf([usual]), usual.name, day).count, 0)
    }
    for (const weekend of [0, 6]) expect(volumeOn(weekend)).toBeLessThan(volumeOn(3) * 0.6)
  })
})

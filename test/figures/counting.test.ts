import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dmarcRecords, recordOn, recordsFrom, reportsOn } from '../../src/figures/figures.ts'
import { accountOf, anyDomain, DAY, domain, figuresOfDay, RULES, recordIn, TODAY } from './monitoring.ts'

const HOUR = 3_600_000

const severalDomains = (minLength: number) =>
  fc.uniqueArray(anyDomain, { selector: ({ name }) => name, minLength, maxLength: 6 })

describe('the mail that is counted', () => {
  it('in 30 days is the sum of that of each day (seed 2)', () => {
    fc.assert(
      fc.property(anyDomain, fc.nat(40), (each, ahead) => {
        const account = accountOf([each])
        const day = TODAY + ahead
        const whole = recordIn(account, each.name, day)
        if (whole.count === 0) return
        const days = Array.from({ length: 30 }, (_, past) => figuresOfDay(account, each.name, day - past).count)
        expect(whole.count).toBe(days.reduce((sum, count) => sum + count, 0))
      }),
      { seed: 2, numRuns: 30 },
    )
  })

  it('of a new domain is none until the first refresh, then that since its addition, and grows for 30 days', () => {
    const nature = { volume: 30_000, profile: 'enforced' } as const
    const fresh = domain('mail.new-shop.example', { ...nature, addedAt: TODAY * DAY + 12 * HOUR })
    const account = accountOf([fresh])
    const old = accountOf([domain(fresh.name, nature)])
    const counts = Array.from({ length: 40 }, (_, age) => recordIn(account, fresh.name, TODAY + age).count)
    const [atOnce = 0, first = 0] = counts
    expect(atOnce).toBe(0)
    // Half of a day of about a thousand messages.
    expect(first).toBeGreaterThan(200)
    expect(first).toBeLessThan(900)
    for (let age = 2; age <= 30; age++) expect(counts[age]).toBeGreaterThan(counts[age - 1] ?? 0)
    for (let age = 31; age < 40; age++) {
      expect(counts[age], `on day ${age}`).toBe(recordIn(old, fresh.name, TODAY + age).count)
    }
  })

  it('depends on no other domains but those above, nor on their order (seed 4)', () => {
    fc.assert(
      fc.property(anyDomain, severalDomains(0), (each, others) => {
        const strangers = others.filter(({ name }) => name !== each.name && !each.name.endsWith(`.${name}`))
        const account = accountOf([each, ...strangers])
        const alone = recordOn(accountOf([{ ...each }]), each, TODAY, RULES)
        expect(recordOn(account, each, TODAY, RULES)).toEqual(alone)
        expect(dmarcRecords(accountOf([...strangers, { ...each }]), TODAY, RULES).at(-1)).toEqual(alone)
      }),
      { seed: 4, numRuns: 30 },
    )
  })
})

it('The records of several days are those of each day, with all that changes meanwhile (seed 8)', () => {
  fc.assert(
    fc.property(severalDomains(1), (domains) => {
      const account = accountOf(domains)
      for (const each of domains) {
        const days = Array.from({ length: 50 }, (_, index) => recordOn(account, each, TODAY - 40 + index, RULES))
        expect(recordsFrom(account, each, TODAY - 40, TODAY + 9, RULES)).toEqual(days)
      }
    }),
    { seed: 8, numRuns: 30 },
  )
})

it('The records of several days count less of a day from when a nearer domain requests the reports', () => {
  const below = domain('x.shop.big.example', { profile: 'no-record', volume: 90_000 })
  const above = domain('big.example', { policy: { p: 'reject' } })
  const nearer = domain('shop.big.example', { policy: { p: 'reject' }, addedAt: TODAY * DAY + 12 * HOUR })
  const account = accountOf([below, above, nearer])
  const days = [0, 1, 2].map((ahead) => recordOn(account, below, TODAY + ahead, RULES))
  expect(recordsFrom(account, below, TODAY, TODAY + 2, RULES)).toEqual(days)
  expect(days[1]?.count).toBeLessThan((days[0]?.count ?? 0) / 10)
})

it('The figures of a domain depend on the seed of its account', () => {
  const each = domain('a.example')
  const [one, other] = [1, 2].map((seed) => recordIn(accountOf([each], seed), each.name))
  expect(one).not.toEqual(other)
})

it.each([
  [{ profile: 'enforced' }, 'received'],
  [{ profile: 'parked' }, 'received'],
  [{ profile: 'no-record' }, 'none'],
  [{ profile: 'no-record', pin: { count: 7 } }, 'fixed'],
  [{ profile: 'enforced', addedAt: TODAY * DAY }, 'awaited'],
  [{ profile: 'enforced', pin: { dmarc: 9 }, pinnedAt: TODAY * DAY }, 'fixed'],
] as const)('The reports about a domain with %o are %s', (more, expected) => {
  const each = domain('a.example', more)
  expect(reportsOn(accountOf([each]), each, TODAY, RULES)).toBe(expected)
})

describe('the volume of a name', () => {
  const volumeOf = (name: string, seed: number) => {
    const each = domain(name, { profile: 'enforced', since: TODAY + 400 })
    return recordIn(accountOf([each], seed), name).count
  }

  it.each([
    ['careers.big.example', 'big.example'],
    ['big-nordics.example', 'big.example'],
    ['mail.big-benelux.example', 'mail.big.example'],
  ])('%s is at most that of %s, in every account', (small, large) => {
    for (let seed = 0; seed < 10; seed++) {
      expect(volumeOf(small, seed), `seed ${seed}`).toBeLessThanOrEqual(volumeOf(large, seed))
    }
  })
})

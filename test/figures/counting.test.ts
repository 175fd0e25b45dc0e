import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import type { MonitoredDomain } from '../../src/domain/account.ts'
import { PROFILE_NAMES } from '../../src/domain/profile.ts'
import { dmarcRecords, recordOn, recordsFrom } from '../../src/figures/figures.ts'
import { describeSums, followChanges, summarise, sumUp } from '../../src/figures/overview.ts'
import { runAtOnce } from '../../src/ground/work.ts'
import { budget } from '../support/budget.ts'
import { accountOf, DAY, domain, RULES, recordIn, rulesWith, SEED, TODAY } from './monitoring.ts'

const HOUR = 3_600_000

/** A domain of any nature that was added up to two months ago, at any time of a day. */
const anyDomain: fc.Arbitrary<MonitoredDomain> = fc
  .record(
    {
      name: fc.domain(),
      addedAt: fc.integer({ min: (TODAY - 60) * DAY, max: TODAY * DAY }),
      profile: fc.constantFrom(...PROFILE_NAMES),
      since: fc.integer({ min: TODAY - 100, max: TODAY + 30 }),
      volume: fc.nat(10_000_000),
    },
    { requiredKeys: ['name', 'addedAt'] },
  )
  .map((each) => ({ features: [], ...each }))

const severalDomains = (minLength: number) =>
  fc.uniqueArray(anyDomain, { selector: ({ name }) => name, minLength, maxLength: 6 })

describe('the mail that is counted', () => {
  it('in 30 days is the sum of that of each day (seed 2)', () => {
    fc.assert(
      fc.property(anyDomain, fc.nat(40), fc.constantFrom(0, 60, 7200, 86_400), (each, ahead, processingTime) => {
        const account = accountOf([each])
        const day = TODAY + ahead
        const ofOneDay = rulesWith({ processingTime, countPeriod: 1 })
        const days = Array.from({ length: 30 }, (_, past) => recordIn(account, each.name, day - past, ofOneDay).count)
        const whole = recordIn(account, each.name, day, rulesWith({ processingTime }))
        expect(whole.count).toBe(days.reduce((sum, count) => sum + count, 0))
      }),
      { seed: 2, numRuns: budget({ quick: 40, whole: 400, full: 4000 }) },
    )
  })

  it('is the same where the records of many days are made at once (seed 8)', () => {
    const below = domain('b.a.example', { profile: 'no-record', addedAt: (TODAY - 20) * DAY })
    fc.assert(
      fc.property(anyDomain, fc.nat(20), (each, age) => {
        const parent = domain('a.example', { addedAt: (TODAY + age - 10) * DAY })
        const account = accountOf([{ ...each, name: 'one.example' }, parent, below])
        for (const one of account.domains.values()) {
          const days = recordsFrom(account, one, TODAY - 30, TODAY + 40, RULES)
          const single = days.map((_, index) => recordOn(account, one, TODAY - 30 + index, RULES))
          expect(days).toEqual(single)
        }
      }),
      { seed: 8, numRuns: budget({ quick: 15, whole: 60, full: 600 }) },
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

  it('does not depend on what is read before, in which order, and how often (seed 3)', () => {
    fc.assert(
      fc.property(
        severalDomains(1),
        fc.array(fc.integer({ min: TODAY - 20, max: TODAY + 90 }), { minLength: 1, maxLength: 8 }),
        (domains, days) => {
          const read = accountOf(domains)
          for (const day of days) dmarcRecords(read, day, RULES)
          const [day = TODAY] = days
          const untouched = accountOf(domains.map((each) => ({ ...each })))
          expect(dmarcRecords(read, day, RULES)).toEqual(dmarcRecords(untouched, day, RULES))
        },
      ),
      { seed: 3, numRuns: budget({ quick: 40, whole: 300, full: 3000 }) },
    )
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
      { seed: 4, numRuns: budget({ quick: 40, whole: 300, full: 3000 }) },
    )
  })

  it('is at most 5 million in 30 days, whatever the name and whatever happens', () => {
    const roles = ['', 'mail.', 'news.', 'shop.', 'orders.', 'app.']
    for (let size = 0; size < budget({ quick: 200, whole: 3000, full: 3000 }); size++) {
      for (const role of roles) {
        const each = domain(`${role}org-${size}.example`)
        const { count } = recordIn(accountOf([each], SEED), each.name)
        if (count > 5_000_000) expect.fail(`${each.name} has ${count} messages`)
      }
    }
  })
})

describe('the volume of a name', () => {
  const volumeOf = (name: string, seed: number) => {
    const each = domain(name, { profile: 'enforced', since: TODAY + 400 })
    return recordIn(accountOf([each], seed), name).count
  }

  it.each([
    ['careers.big.example', 'big.example'],
    ['status.big.example', 'big.example'],
    ['www.big.example', 'careers.big.example'],
    ['big.example', 'news.big.example'],
    ['big-nordics.example', 'big.example'],
    ['get-big.example', 'big-nordics.example'],
    ['deep.shop.big.example', 'shop.big.example'],
    ['mail.big-benelux.example', 'mail.big.example'],
    ['careers.big.co.uk', 'big.co.uk'],
  ])('%s is at most that of %s, in every account', (small, large) => {
    for (let seed = 0; seed < budget({ quick: 15, whole: 60, full: 60 }); seed++) {
      expect(volumeOf(small, seed), `seed ${seed}`).toBeLessThanOrEqual(volumeOf(large, seed))
    }
  })

  it('is that of a large or of a small organisation for all of its names', () => {
    const sizes = Array.from({ length: 200 }, (_, seed) => [
      volumeOf('big.example', seed),
      volumeOf('mail.big.example', seed),
    ])
    const [largest = [0, 0]] = sizes.toSorted(([one = 0], [other = 0]) => other - one)
    const [smallest = [0, 0]] = sizes.toSorted(([one = 0], [other = 0]) => one - other)
    expect(largest[1]).toBeGreaterThan((smallest[1] ?? 0) * 50)
  })
})

it('the overview of an account has the domains that were there when it began, whatever changes while it pauses', () => {
  const domains = ['a.example', 'b.example', 'c.example'].map((name) => domain(name, { volume: 1000 }))
  const expected = runAtOnce(summarise(accountOf(domains), TODAY - 2, TODAY, RULES))
  const account = accountOf(domains)
  const work = summarise(account, TODAY - 2, TODAY, RULES)
  work.next()
  account.domains.delete('c.example').set('d.example', domain('d.example', { volume: 9000 }))
  expect(runAtOnce(work)).toEqual(expected)
})

describe('the sums of an account that has changed', () => {
  /** Names of which some are below others, so that a record may be inherited. */
  const family = fc.constantFrom('a.test', 'x.a.test', 'y.x.a.test', 'b.test', 'x.b.test', 'c.test', 'other.test')
  const pin = fc.option(fc.record({ dmarc: fc.nat(100), count: fc.nat(10_000) }), { nil: undefined })
  const changes = fc.array(fc.tuple(family, fc.option(anyDomain, { nil: undefined }), pin), { maxLength: 12 })
  const sumsOf = (account: ReturnType<typeof accountOf>) =>
    runAtOnce(sumUp(account, TODAY - 9, TODAY, RULES, [...account.domains.values()]))

  it('are those of an account that began like that (seed 6)', () => {
    fc.assert(
      fc.property(changes, changes, (first, second) => {
        const change = (domains: ReturnType<typeof accountOf>['domains'], all: typeof first) =>
          all.reduce(
            (map, [name, each, fixed]) =>
              each === undefined ? map.delete(name) : map.set(name, { ...each, name, ...(fixed && { pin: fixed }) }),
            domains,
          )
        const earlier = { seed: SEED, domains: change(accountOf([]).domains, first) }
        const followed = sumsOf(earlier)
        const account = { seed: SEED, domains: change(earlier.domains, second) }
        expect(followChanges(followed, earlier, account, RULES)).toBe(true)
        const domains = [...account.domains.values()]
        const overview = runAtOnce(describeSums(followed, account, RULES, domains))
        const anew = accountOf(domains)
        expect(overview).toEqual(runAtOnce(summarise(anew, TODAY - 9, TODAY, RULES)))
      }),
      { seed: 6, numRuns: budget({ quick: 50, whole: 200, full: 2000 }) },
    )
  })

  it('follow a domain whose record those below it inherit', () => {
    const child = domain('x.a.test', { profile: 'no-record', volume: 5_000 })
    const parent = domain('a.test', { profile: 'enforced', volume: 1_000 })
    const [alone, both] = [accountOf([child]), accountOf([child, parent])]
    const sums = sumsOf(alone)
    const added = { seed: SEED, domains: alone.domains.set('a.test', parent) }
    expect(followChanges(sums, alone, added, RULES)).toBe(true)
    expect(sums).toEqual(sumsOf(both))
    const removed = { seed: SEED, domains: added.domains.delete('a.test') }
    expect(followChanges(sums, added, removed, RULES)).toBe(true)
    expect(sums).toEqual(sumsOf(accountOf([child])))
  })

  it('count no domain but those that have changed and those below them', () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `host-${index}.example`)
    const earlier = accountOf(names.map((name) => domain(name)))
    const sums = sumsOf(earlier)
    const account = { seed: SEED, domains: earlier.domains.set('x.host-7.example', domain('x.host-7.example')) }
    const later = { seed: SEED, domains: account.domains.set('host-7.example', domain('host-7.example')) }
    const reads = vi.spyOn(later.domains, 'get')
    expect(followChanges(sums, earlier, later, RULES)).toBe(true)
    const read = new Set(reads.mock.calls.map(([name]) => name))
    expect([...read].filter((name) => !/host-7\.example$|^example$/.test(name))).toEqual([])
  })

  it('are counted again where much has changed, nothing is known of what changed, or fixed values are too large', () => {
    const account = accountOf([domain('a.example')])
    const many = Array.from({ length: 21 }, (_, index) => `host-${index}.example`)
    const grown = account.domains.with(many.map((name) => [name, domain(name)] as const))
    expect(followChanges(sumsOf(account), account, { seed: SEED, domains: grown }, RULES)).toBe(false)
    expect(followChanges(sumsOf(account), account, accountOf([domain('a.example')]), RULES)).toBe(false)
    const large = domain('b.example', { pin: { p: 'none', dmarc: 100, count: 1e13 } })
    const pinned = account.domains.set('b.example', large)
    expect(followChanges(sumsOf(account), account, { seed: SEED, domains: pinned }, RULES)).toBe(false)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MonitoredDomain } from '../../src/domain/account.ts'
import { dmarcRecords } from '../../src/figures/figures.ts'
import { accountOf, DAY, domain, RULES, recordIn, rulesWith, TODAY } from './monitoring.ts'

const CHILD = 'billing.shop.big.example'

function recordBelow(...parents: MonitoredDomain[]) {
  return recordIn(accountOf([...parents, domain(CHILD, { profile: 'no-record', volume: 3000 })]), CHILD)
}

describe('a domain without a record', () => {
  it.each<[string, MonitoredDomain[], object]>([
    ['none above it', [], { p: 'none', sp: 'none', np: 'none', count: 0, dmarc: 0 }],
    [
      'a parent that rejects',
      [domain('big.example', { policy: { p: 'reject' } })],
      { p: 'reject', sp: 'reject', np: 'reject' },
    ],
    [
      'a parent with policies for subdomains',
      [domain('big.example', { policy: { p: 'reject', sp: 'quarantine', np: 'reject' } })],
      { p: 'quarantine', sp: 'quarantine', np: 'reject' },
    ],
    [
      'a nearer parent with another policy',
      [domain('big.example', { policy: { p: 'reject' } }), domain('shop.big.example', { policy: { p: 'none' } })],
      { p: 'none', sp: 'none', np: 'none' },
    ],
    [
      'a nearer parent without a record',
      [domain('big.example', { policy: { p: 'reject' } }), domain('shop.big.example', { profile: 'no-record' })],
      { p: 'reject' },
    ],
    [
      'a parent whose policy is pinned',
      [domain('big.example', { policy: { p: 'none' }, pin: { p: 'quarantine' } })],
      { p: 'quarantine', sp: 'quarantine', np: 'quarantine' },
    ],
    [
      'a parent that only tests',
      [domain('big.example', { policy: { p: 'reject', testing: 'y', pct: 25 } })],
      { p: 'reject', testing: 'y', pct: 25 },
    ],
    [
      'a parent that was added a moment ago',
      [domain('big.example', { policy: { p: 'reject' }, addedAt: TODAY * DAY + 1 })],
      { p: 'none', count: 0 },
    ],
    ['a namesake that is no parent', [domain('ig.example', { policy: { p: 'reject' } })], { p: 'none', count: 0 }],
  ])('and %s has these policies', (_, parents, expected) => {
    expect(recordBelow(...parents)).toMatchObject(expected)
  })

  it('gets reports through its parent from the day on which the parent is monitored', () => {
    const countWith = (addedAt: number) =>
      recordBelow(domain('big.example', { policy: { p: 'reject' }, addedAt })).count
    expect(countWith((TODAY - 300) * DAY)).toBeGreaterThan(2000)
    const half = countWith((TODAY - 10) * DAY)
    expect(half).toBeGreaterThan(500)
    expect(half).toBeLessThan(1500)
  })

  it('publishes nothing where the contract lists published policies, but its mail is reported', () => {
    const rules = { ...RULES, recordForm: { policies: 'published', withoutRecord: null } as const }
    const child = domain(CHILD, { profile: 'no-record', volume: 3000 })
    const parent = domain('big.example', { policy: { p: 'reject', sp: 'none' } })
    const account = accountOf([parent, child])
    expect(recordIn(account, CHILD, TODAY, rules)).toMatchObject({ p: null })
    expect(recordIn(account, CHILD, TODAY, rules)).not.toHaveProperty('sp')
    expect(recordIn(account, CHILD, TODAY, rules).count).toBeGreaterThan(2000)
    expect(recordIn(account, 'big.example', TODAY, rules)).toMatchObject({ p: 'reject', sp: 'none' })
    expect(recordIn(account, 'big.example', TODAY, rules)).not.toHaveProperty('np')
  })
})

it('agrees with the nearest monitored parent in every account (seed 5)', () => {
  const profile = fc.constantFrom('no-record', 'enforced', 'monitoring-only', 'parked', 'rolling-out' as const)
  const names = ['example.org', 'a.example.org', 'b.a.example.org', 'c.b.a.example.org']
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...names), profile), { maxLength: 6 }),
      fc.nat(1000),
      (chosen, seed) => {
        const domains = [...new Map(chosen).entries()].map(([name, each]) =>
          domain(name, { profile: each as 'enforced' }),
        )
        const account = accountOf(domains, seed)
        const records = new Map(dmarcRecords(account, TODAY, RULES).map((row) => [row.domain, row]))
        for (const each of domains.filter((one) => one.profile === 'no-record')) {
          const above = names
            .toReversed()
            .filter((name) => each.name.endsWith(`.${name}`))
            .find((name) => (account.domains.get(name)?.profile ?? 'no-record') !== 'no-record')
          const parent = above === undefined ? undefined : records.get(above)
          const inherited =
            parent === undefined ? { p: 'none', sp: 'none' } : { p: parent.sp, sp: parent.sp, np: parent.np }
          expect(records.get(each.name)).toMatchObject(inherited)
        }
      },
    ),
    { seed: 5, numRuns: 300 },
  )
})

describe('the policy of a domain before its first refresh', () => {
  const account = accountOf([domain('a.example', { policy: { p: 'reject' }, addedAt: TODAY * DAY + 1 })])
  it('is none, and then that of its DNS', () => {
    expect(recordIn(account, 'a.example')).toMatchObject({ p: 'none', count: 0 })
    expect(recordIn(account, 'a.example', TODAY + 1)).toMatchObject({ p: 'reject' })
  })

  it('is that of its DNS at once where the contract says so', () => {
    const rules = rulesWith({ policyBeforeRefresh: 'published' })
    expect(recordIn(account, 'a.example', TODAY, rules)).toMatchObject({ p: 'reject', dmarc: 0, count: 0 })
  })
})

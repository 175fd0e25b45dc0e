import { describe, expect, it } from 'vitest'
import type { MonitoredDomain } from '../../src/domain/account.ts'
import { accountOf, DAY, domain, recordIn, TODAY } from './monitoring.ts'

const CHILD = 'billing.shop.big.example'

function recordBelow(...parents: MonitoredDomain[]) {
  return recordIn(accountOf([...parents, domain(CHILD, { profile: 'no-record', volume: 3000 })]), CHILD)
}

type Policies = NonNullable<MonitoredDomain['policy']>

/** A parent with these tags, and a nearer one. */
const big = (policy: Policies, more: Partial<MonitoredDomain> = {}) => domain('big.example', { policy, ...more })
const shop = (more: Partial<MonitoredDomain>) => domain('shop.big.example', more)
const all = (policy: string) => ({ p: policy, sp: policy, np: policy })

describe('a domain without a record', () => {
  it.each<[above: string, expected: object, ...parents: MonitoredDomain[]]>([
    ['none above it', { ...all('none'), count: 0, dmarc: 0 }],
    [
      'a parent with policies for subdomains',
      { p: 'quarantine', sp: 'quarantine', np: 'reject' },
      big({ p: 'reject', sp: 'quarantine', np: 'reject' }),
    ],
    ['a nearer parent with another policy', all('none'), big({ p: 'reject' }), shop({ policy: { p: 'none' } })],
    ['a parent whose policy is pinned', all('quarantine'), big({ p: 'none' }, { pin: { p: 'quarantine' } })],
    ['a parent that only tests', { p: 'reject', testing: 'y', pct: 25 }, big({ p: 'reject', testing: 'y', pct: 25 })],
    ['a parent added a moment ago', { p: 'none', count: 0 }, big({ p: 'reject' }, { addedAt: TODAY * DAY + 1 })],
    [
      'such a parent whose policy is pinned',
      { p: 'reject', count: 0 },
      big({ p: 'none' }, { addedAt: TODAY * DAY + 1, pin: { p: 'reject' } }),
    ],
    ['a namesake that is no parent', { p: 'none', count: 0 }, domain('ig.example', { policy: { p: 'reject' } })],
  ])('and %s has these policies', (_, expected, ...parents) => {
    expect(recordBelow(...parents)).toMatchObject(expected)
  })
})

describe('the policy of a domain before its first refresh', () => {
  const account = accountOf([domain('a.example', { policy: { p: 'reject' }, addedAt: TODAY * DAY + 1 })])
  it('is none, and then that of its DNS', () => {
    expect(recordIn(account, 'a.example')).toMatchObject({ p: 'none', count: 0 })
    expect(recordIn(account, 'a.example', TODAY + 1)).toMatchObject({ p: 'reject' })
  })
})

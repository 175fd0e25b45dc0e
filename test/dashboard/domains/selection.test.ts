import { describe, expect, it } from 'vitest'
import {
  filterDomains,
  type Order,
  policyOf,
  sortDomains,
  type Wanted,
} from '../../../src/dashboard/domains/selection.ts'
import type { DmarcRecord, Group, MonitoredDomain } from '../../../src/dashboard/responses.ts'

function domain(name: string, record: Partial<DmarcRecord> | null = {}, others: Partial<MonitoredDomain> = {}) {
  const usual = { p: 'none', sp: 'none', np: 'none', pct: 100, testing: 'n', dmarc: 0, dkim: 0, spf: 0, count: 0 }
  return {
    domain: name,
    added_at: '2026-01-01T00:00:00Z',
    features: [],
    profile: 'enforced',
    policy: { p: 'none' },
    inherits_from: null,
    volume: 0,
    pinned: {},
    record: record === null ? null : { domain: name, ...usual, ...record },
    events: [],
    ...others,
  } satisfies MonitoredDomain
}

const DOMAINS = [
  domain('b.example', { p: 'reject', dmarc: 50, count: 3 }, { features: ['bimi'] }),
  domain('a.example', { p: 'none', dmarc: 99.5, count: 20 }, { profile: 'parked' }),
  domain('new.example', null, { profile: 'new' }),
  domain('xn--mnchen-3ya.example', { p: 'reject', testing: 'y', dmarc: 50, count: 1 }),
  domain('bare.example', {}, { policy: null }),
]
const GROUP: Group = { id: '1', name: 'One', domains: ['a.example'] }
const GROUPS = new Map([['a.example', [GROUP]]])

function namesIn(domains: readonly MonitoredDomain[]): string[] {
  return domains.map(({ domain }) => domain.split('.')[0] ?? '')
}

describe('the order of domains', () => {
  it.each<[Order['by'], boolean, string]>([
    ['added', false, 'b a new xn--mnchen-3ya bare'],
    ['added', true, 'bare xn--mnchen-3ya new a b'],
    ['domain', false, 'a b bare new xn--mnchen-3ya'],
    ['domain', true, 'xn--mnchen-3ya new bare b a'],
    ['dmarc', true, 'a b xn--mnchen-3ya bare new'],
    ['dmarc', false, 'bare b xn--mnchen-3ya a new'],
    ['count', false, 'bare xn--mnchen-3ya b a new'],
    ['policy', true, 'b xn--mnchen-3ya a new bare'],
    ['features', true, 'b a new xn--mnchen-3ya bare'],
    ['groups', true, 'a b new xn--mnchen-3ya bare'],
  ])('by %s, descending: %s', (by, descending, names) => {
    expect(namesIn(sortDomains(DOMAINS, { by, descending }, GROUPS)).join(' ')).toBe(names)
  })
})

describe('the filter of domains', () => {
  it.each<[Partial<Wanted>, string]>([
    [{}, 'b a new xn--mnchen-3ya bare'],
    [{ search: ' A.EX ' }, 'a xn--mnchen-3ya'],
    [{ search: 'münchen.example' }, 'xn--mnchen-3ya'],
    [{ search: '<b>' }, ''],
    [{ search: 'x'.repeat(300) }, ''],
    [{ policy: 'reject' }, 'b xn--mnchen-3ya'],
    [{ policy: 'no record' }, 'new bare'],
    [{ profile: 'parked' }, 'a'],
    [{ profile: 'parked', policy: 'reject' }, ''],
    [{ search: 'b', policy: 'no record' }, 'bare'],
  ])('%o', (wanted, names) => {
    const all = { search: '', policy: '', profile: '', ...wanted }
    expect(namesIn(filterDomains(DOMAINS, all)).join(' ')).toBe(names)
  })
})

describe('the policy of a domain', () => {
  it('is that of GET /dmarc, unless no record was published, inherited or pinned', () => {
    const bare = { policy: null }
    expect(policyOf(domain('a.example', { p: 'reject' }))).toBe('reject')
    expect(policyOf(domain('a.example', { p: 'none' }, bare))).toBe('no record')
    expect(policyOf(domain('a.example', { p: 'reject' }, { ...bare, inherits_from: 'example' }))).toBe('reject')
    expect(policyOf(domain('a.example', { p: 'reject' }, { ...bare, pinned: { p: 'reject' } }))).toBe('reject')
    expect(policyOf(domain('a.example', { p: '' }))).toBe('no record')
    expect(policyOf(domain('a.example', null))).toBe('no record')
  })
})

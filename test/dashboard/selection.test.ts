import { describe, expect, it } from 'vitest'
import {
  filterDomains,
  type Order,
  readOrder,
  sortDomains,
  type Wanted,
  writeOrder,
} from '../../src/dashboard/domains/selection.ts'
import type { DmarcRecord, MonitoredDomain } from '../../src/dashboard/responses.ts'

/** A domain as the control plane reports it. */
function monitored(name: string, record: Partial<DmarcRecord> | null, more: Partial<MonitoredDomain> = {}) {
  const usual = { p: 'none', sp: 'none', np: 'none', pct: 100, testing: 'n', dmarc: 0, dkim: 0, spf: 0, count: 0 }
  return {
    ...{ domain: `${name}.example`, features: [], profile: 'enforced', policy: { p: 'none' }, inherits_from: null },
    ...{ reports: 'received', pinned: {}, events: [], record: record && { domain: name, ...usual, ...record } },
    ...more,
  } as unknown as MonitoredDomain
}

const DOMAINS = [
  monitored('b', { p: 'reject', dmarc: 50, count: 3 }, { features: ['bimi'] }),
  monitored('a', { p: 'none', dmarc: 99.5, count: 20 }, { profile: 'parked' }),
  monitored('new', null, { profile: 'new' }),
  monitored('xn--mnchen-3ya', { p: 'reject', testing: 'y', dmarc: 50, count: 1 }),
  monitored('bare', {}, { policy: null }),
]
const namesIn = (domains: readonly MonitoredDomain[]) => domains.map(({ domain }) => domain.split('.')[0]).join(' ')

describe('the list of domains', () => {
  it.each<[Order['by'], boolean, string]>([
    ['added', false, 'b a new xn--mnchen-3ya bare'],
    ['domain', true, 'xn--mnchen-3ya new bare b a'],
    // Where nothing is known, a domain comes last in either direction.
    ['dmarc', true, 'a b xn--mnchen-3ya bare new'],
    ['dmarc', false, 'bare b xn--mnchen-3ya a new'],
    ['policy', true, 'b xn--mnchen-3ya a new bare'],
    ['features', true, 'b a new xn--mnchen-3ya bare'],
  ])('ordered by %s, descending %s', (by, descending, names) => {
    expect(namesIn(sortDomains(DOMAINS, { by, descending }, new Map()))).toBe(names)
    expect(readOrder(writeOrder({ by, descending }))).toEqual({ by, descending })
  })

  it.each<[Partial<Wanted>, string]>([
    [{ search: ' A.EX ' }, 'a xn--mnchen-3ya'],
    [{ search: 'münchen.example' }, 'xn--mnchen-3ya'],
    [{ policy: 'no record' }, 'new bare'],
    [{ profile: 'parked', policy: 'reject' }, ''],
  ])('filtered by %o', (wanted, names) => {
    expect(namesIn(filterDomains(DOMAINS, { search: '', policy: '', profile: '', ...wanted }))).toBe(names)
  })
})

import { describe, expect, it } from 'vitest'
import { divideNames, readNames } from '../../src/dashboard/domains/name-list.ts'
import { filterDomains, type Order, sortDomains, type Wanted } from '../../src/dashboard/domains/selection.ts'
import { compareLines } from '../../src/dashboard/requests/line-difference.ts'
import type { DmarcRecord, MonitoredDomain } from '../../src/dashboard/responses.ts'

describe('the difference of two texts', () => {
  it.each([
    ['abc', 'axc', ' a-b+x c'],
    ['ac', 'abc', ' a+b c'],
    ['a', '', '-a'],
    ['abcd', 'bdd', '-a b-c+d d'],
    ['aa', 'a', ' a-a'],
  ])('%s → %s', (sent, accepted, lines) => {
    const signs = { same: ' ', sent: '-', accepted: '+' }
    const found = compareLines(sent.split(''), accepted.split(''))
    expect(found.map(({ kind, text }) => signs[kind] + text).join('')).toBe(lines)
  })
})

describe('the names that a user types', () => {
  it.each([
    ['a.example\nB.Example.\n', ['1 a.example', '2 B.Example.']],
    ['a.example, b.example;c.example\r\n\n  d.example\t', ['1 a.example', '1 b.example', '1 c.example', '3 d.example']],
    ['<b>x</b>\nשלום.example', ['1 <b>x</b>', '2 שלום.example']],
    [' ,;\n\u00a0', []],
  ])('in %j are those of the lines', (text, expected) => {
    expect(readNames(text).map(({ name, line }) => `${line} ${name}`)).toEqual(expected)
  })

  it.each<[count: number, length: number, limit: number | null, sizes: number[]]>([
    [120, 10, 50, [50, 50, 20]],
    [2_500, 10, null, [1_000, 1_000, 500]],
    // A body has a limit, too.
    [1_000, 253, null, [197, 197, 197, 197, 197, 15]],
    [2, 1_000_000, null, [1, 1]],
  ])('are sent as the limit needs: %i of %i characters with the limit %s', (count, length, limit, sizes) => {
    const names = Array.from({ length: count }, (_, index) => `${index}`.padEnd(length, 'x'))
    const parts = divideNames(names, limit, (name) => name)
    expect(parts.map((part) => part.length)).toEqual(sizes)
    expect(parts.flat()).toEqual(names)
  })
})

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

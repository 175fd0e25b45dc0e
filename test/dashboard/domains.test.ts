import { describe, expect, it } from 'vitest'
import { divideNames, placeIn, readNames } from '../../src/dashboard/domains/name-list.ts'
import { type DomainChange, PIN_FIELDS, readChange, valueToday } from '../../src/dashboard/domains/pin.ts'
import { lastRecordText, layOut } from '../../src/dashboard/domains/record-text.ts'
import { filterDomains, type Order, policyOf, sortDomains, type Wanted } from '../../src/dashboard/domains/selection.ts'
import type { DmarcRecord, Group, MonitoredDomain } from '../../src/dashboard/responses.ts'

/** A domain as the control plane reports it; a test overrides what it is about. */
function monitoredDomain(
  domain: string,
  record: Partial<DmarcRecord> | null = {},
  others: Partial<MonitoredDomain> = {},
): MonitoredDomain {
  const policies = { p: 'none', sp: 'none', np: 'none', pct: 100, testing: 'n' } as const
  const usual = { ...policies, dmarc: 0, dkim: 0, spf: 0, count: 0 }
  return {
    ...{ domain, added_at: '2026-01-01T00:00:00Z', features: [], profile: 'enforced', policy: { p: 'none' } },
    ...{ inherits_from: null, volume: 0, reports: 'received', pinned: {}, pinned_at: null, events: [] },
    record: record === null ? null : { domain, ...usual, ...record },
    ...others,
  }
}

describe('the names of a text', () => {
  it.each([
    ['a.example', ['1 a.example']],
    ['a.example\nB.Example.\n', ['1 a.example', '2 B.Example.']],
    ['a.example, b.example;c.example\r\n\n  d.example\t', ['1 a.example', '1 b.example', '1 c.example', '3 d.example']],
    ['<b>x</b>\nשלום.example', ['1 <b>x</b>', '2 שלום.example']],
    [' ,;\n\u00a0', []],
  ])('%j', (text, expected) => {
    expect(readNames(text).map(({ name, line }) => `${line} ${name}`)).toEqual(expected)
  })
})

describe('the requests for names', () => {
  const names = (count: number, length = 10) =>
    Array.from({ length: count }, (_, index) => `${index}`.padEnd(length, 'x'))
  const sizes = (list: readonly string[], limit: number | null) =>
    divideNames(list, limit, (name) => name).map((part) => part.length)

  it('have as many as the service permits, and without a limit a thousand', () => {
    expect(sizes(names(120), 50)).toEqual([50, 50, 20])
    expect(sizes(names(50), 50)).toEqual([50])
    expect(sizes(names(2_500), null)).toEqual([1_000, 1_000, 500])
    expect(sizes([], 50)).toEqual([])
  })

  it('have fewer where the names are long, because a body has a limit, too', () => {
    expect(sizes(names(1_000, 253), null)).toEqual([197, 197, 197, 197, 197, 15])
    expect(sizes(names(2, 1_000_000), null)).toEqual([1, 1])
  })

  it('lose no name and change no order', () => {
    const list = names(777, 100)
    expect(divideNames(list, 50, (name) => name).flat()).toEqual(list)
  })
})

describe('the place that a problem is about', () => {
  it.each([
    ['/domains/0', 0],
    ['/domains/12', 12],
    ['/domains', undefined],
    ['/name', undefined],
    [null, undefined],
    [undefined, undefined],
  ])('%s → %s', (pointer, expected) => {
    expect(placeIn(pointer)).toBe(expected)
  })
})

/** What is asked for when a user changes these fields of the form. */
function changeOf(pinned: MonitoredDomain['pinned'], edits: Readonly<Record<string, string>>): DomainChange {
  const record = { dmarc: 97.5, dkim: 95, spf: 90, count: 1200, ...pinned }
  const domain = monitoredDomain('a.example', record, { features: ['bimi', 'mta-sts'], pinned })
  const shown = Object.fromEntries(PIN_FIELDS.map((field) => [field, valueToday(domain, field)]))
  const form: Record<string, string> = { ...shown, profile: 'enforced', features: 'bimi, mta-sts', ...edits }
  return readChange(domain, (field) => form[field] ?? '')
}

describe('the change of a domain', () => {
  it.each<[string, MonitoredDomain['pinned'], Record<string, string>, DomainChange]>([
    ['is none where nothing was touched', {}, {}, {}],
    ['is none where nothing that is pinned was touched', { p: 'reject' }, {}, {}],
    ['pins only what was touched', {}, { count: '7' }, { pin: { count: 7 } }],
    ['keeps the other pins', { p: 'reject' }, { dmarc: '50.5' }, { pin: { p: 'reject', dmarc: 50.5 } }],
    ['unpins what was emptied', { p: 'reject', count: 5 }, { count: '' }, { pin: { p: 'reject' } }],
    ['removes the pins with the last one', { count: 5 }, { count: '' }, { pin: 'none' }],
    ['ignores what was emptied and is not pinned', {}, { count: '' }, {}],
    ['has another profile', {}, { profile: 'parked' }, { pin: { profile: 'parked' } }],
    ['has another profile and the pins', { p: 'none' }, { profile: 'new' }, { pin: { profile: 'new', p: 'none' } }],
    [
      'has only the profile where the last pin goes',
      { count: 5 },
      { profile: 'new', count: '' },
      { pin: { profile: 'new' } },
    ],
    ['leaves a bad number to the control plane', {}, { count: 'many' }, { pin: { count: 'many' } }],
    ['leaves a policy as it is', {}, { np: 'reject', testing: 'y' }, { pin: { np: 'reject', testing: 'y' } }],
    ['has other features', {}, { features: ' bimi ,, x, x' }, { features: ['bimi', 'x'] }],
    ['frees a domain', {}, { features: ' ' }, { features: [] }],
  ])('%s', (_, pinned, edits, expected) => {
    expect(changeOf(pinned, edits)).toEqual(expected)
  })
})

const RECORD = '{"domain":"a.example","p":"reject","pct":100,"dmarc":100.0,"note":"a \\"b\\": {c}, d"}'
const answer = (...records: string[]) =>
  `{"success":true,"data":{"days":[${records.map((text, index) => `{"date":"2026-01-1${index}","records":[${text}]}`).join(',')}]}}`

describe('the text of a record', () => {
  it('is that of the last day, with its decimals', () => {
    expect(lastRecordText(answer('{"domain":"a.example","dmarc":1.0}', RECORD))).toBe(RECORD)
  })

  it('is absent where there is no record on the last day', () => {
    expect(lastRecordText(answer(RECORD, ''))).toBeUndefined()
    expect(lastRecordText(answer())).toBeUndefined()
  })

  it('is laid out in lines without a change of any value', () => {
    expect(layOut(RECORD).split('\n')).toEqual([
      '{',
      '  "domain": "a.example",',
      '  "p": "reject",',
      '  "pct": 100,',
      '  "dmarc": 100.0,',
      '  "note": "a \\"b\\": {c}, d"',
      '}',
    ])
    expect(JSON.parse(layOut(RECORD))).toEqual(JSON.parse(RECORD))
  })
})

const DOMAINS = [
  monitoredDomain('b.example', { p: 'reject', dmarc: 50, count: 3 }, { features: ['bimi'] }),
  monitoredDomain('a.example', { p: 'none', dmarc: 99.5, count: 20 }, { profile: 'parked' }),
  monitoredDomain('new.example', null, { profile: 'new' }),
  monitoredDomain('xn--mnchen-3ya.example', { p: 'reject', testing: 'y', dmarc: 50, count: 1 }),
  monitoredDomain('bare.example', {}, { policy: null }),
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
    expect(policyOf(monitoredDomain('a.example', { p: 'reject' }))).toBe('reject')
    expect(policyOf(monitoredDomain('a.example', { p: 'none' }, bare))).toBe('no record')
    expect(policyOf(monitoredDomain('a.example', { p: 'reject' }, { ...bare, inherits_from: 'example' }))).toBe(
      'reject',
    )
    expect(policyOf(monitoredDomain('a.example', { p: 'reject' }, { ...bare, pinned: { p: 'reject' } }))).toBe('reject')
    expect(policyOf(monitoredDomain('a.example', { p: '' }))).toBe('no record')
    expect(policyOf(monitoredDomain('a.example', null))).toBe('no record')
  })
})

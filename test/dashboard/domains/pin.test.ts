import { describe, expect, it } from 'vitest'
import { type DomainChange, PIN_FIELDS, readChange, valueToday } from '../../../src/dashboard/domains/pin.ts'
import type { MonitoredDomain, Pin } from '../../../src/dashboard/responses.ts'

function domainWith(pinned: Pin): MonitoredDomain {
  const record = {
    p: 'none',
    sp: 'none',
    np: 'none',
    pct: 100,
    testing: 'n',
    dmarc: 97.5,
    dkim: 95,
    spf: 90,
    count: 1200,
  }
  return {
    domain: 'a.example',
    added_at: '2026-01-01T00:00:00Z',
    features: ['bimi', 'mta-sts'],
    profile: 'enforced',
    policy: null,
    inherits_from: null,
    volume: 0,
    pinned,
    record: { domain: 'a.example', ...record, ...pinned },
    events: [],
  }
}

/** What is asked for when a user changes these fields of the form. */
function changeOf(pinned: Pin, edits: Readonly<Record<string, string>>): DomainChange {
  const domain = domainWith(pinned)
  const shown = Object.fromEntries(PIN_FIELDS.map((field) => [field, valueToday(domain, field)]))
  const form: Record<string, string> = { ...shown, profile: 'enforced', features: 'bimi, mta-sts', ...edits }
  return readChange(domain, (field) => form[field] ?? '')
}

describe('the change of a domain', () => {
  it.each<[string, Pin, Record<string, string>, DomainChange]>([
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

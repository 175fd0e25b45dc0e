import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { canonicalHostname, type HostnameSettings, settingsAgainst } from '../../src/contract/hostname.ts'
import { budget } from '../support/budget.ts'

const CHOSEN: HostnameSettings = {
  finalDot: 'dropped',
  internationalNames: 'a-label',
  underscores: 'refused',
  singleLabels: 'refused',
  ipv4Addresses: 'refused',
  numericLastLabels: 'refused',
  wildcards: 'refused',
  publicSuffixes: 'accepted',
  spaceAroundHostnames: 'refused',
  invisibleInHostnames: 'refused',
}
const ASCII_ONLY: HostnameSettings = { ...CHOSEN, internationalNames: 'refused' }
const NO_FINAL_DOT: HostnameSettings = { ...CHOSEN, finalDot: 'refused' }
const WITH_UNDERSCORES: HostnameSettings = { ...CHOSEN, underscores: 'accepted' }
const WITH_INVISIBLE: HostnameSettings = { ...CHOSEN, invisibleInHostnames: 'dropped' }
const EVERY_SETTING = [CHOSEN, ASCII_ONLY, NO_FINAL_DOT, WITH_UNDERSCORES, WITH_INVISIBLE]

const SEED = 20260115
const label63 = 'a'.repeat(63)
/** A name of exactly so many octets, at least 192. */
const nameOf = (octets: number) => `${label63}.${label63}.${label63}.${'b'.repeat(octets - 192)}`
const visible = (text: string) => (text.length > 60 ? `${text.length} × ${text.slice(0, 12)}…` : JSON.stringify(text))

type Row = readonly [text: string, canonical: string | undefined]
const named = (rows: readonly Row[]) =>
  rows.map(
    ([text, canonical]) =>
      [visible(text), canonical === undefined ? 'refused' : visible(canonical), text, canonical] as const,
  )

describe('a hostname', () => {
  it.each(
    named([
      ['example.com', 'example.com'],
      ['EXAMPLE.Com', 'example.com'],
      ['mail.example.co.uk', 'mail.example.co.uk'],
      ['a.b', 'a.b'],
      ['3com.com', '3com.com'],
      ['1.example', '1.example'],
      ['1.2.3.4.example', '1.2.3.4.example'],
      ['co.uk', 'co.uk'],
      ['foo.notatld', 'foo.notatld'],
      ['foo.test', 'foo.test'],
      ['ab--cd.com', 'ab--cd.com'],
      ['a-b.c-d.com', 'a-b.c-d.com'],
      ['example.c0m', 'example.c0m'],
      ['example.1a', 'example.1a'],
      ['cafe.0xyz', 'cafe.0xyz'],
    ]),
  )('%s is kept as %s', (_, __, text, canonical) => {
    expect(canonicalHostname(text, CHOSEN)).toBe(canonical)
  })

  it.each(
    named([
      ['example.com.', 'example.com'],
      ['EXAMPLE.COM.', 'example.com'],
      ['münchen.de.', 'xn--mnchen-3ya.de'],
      ['example.com..', undefined],
      ['.example.com', undefined],
      ['a..b.com', undefined],
      ['.', undefined],
      ['..', undefined],
      ['', undefined],
      ['com.', undefined],
    ]),
  )('with dots at the edges, %s, is %s', (_, __, text, canonical) => {
    expect(canonicalHostname(text, CHOSEN)).toBe(canonical)
  })

  it.each(
    named([
      ['localhost', undefined],
      ['com', undefined],
      ['a', undefined],
      ['münchen', undefined],
    ]),
  )('of a single label, %s, is %s', (_, __, text, canonical) => {
    expect(canonicalHostname(text, CHOSEN)).toBe(canonical)
  })

  it.each(
    named([
      [`${label63}.com`, `${label63}.com`],
      [`a.${label63}`, `a.${label63}`],
      [`${label63}a.com`, undefined],
      [`a.${label63}a`, undefined],
      [nameOf(253), nameOf(253)],
      [`${nameOf(253)}.`, nameOf(253)],
      [nameOf(253).toUpperCase(), nameOf(253)],
      [nameOf(254), undefined],
      [`${nameOf(254)}.`, undefined],
      [nameOf(254).toUpperCase(), undefined],
      // 60 letters in Unicode, more than 63 as an A-label.
      [`${'ü'.repeat(60)}.de`, undefined],
      // Fewer than 253 letters in Unicode, more than 253 octets in A-labels.
      [`${Array(30).fill('münchen').join('.')}.de`, undefined],
      [`${'a'.repeat(1_000_000)}.com`, undefined],
      [`${'a.'.repeat(500_000)}com`, undefined],
    ]),
  )('at the limits of 63 octets a label and 253 in all, %s, is %s', (_, __, text, canonical) => {
    expect(canonicalHostname(text, CHOSEN)).toBe(canonical)
  })

  it.each(
    named([
      ['-a.example.com', undefined],
      ['a-.example.com', undefined],
      ['example.-com', undefined],
      ['example.com-', undefined],
      ['-.com', undefined],
      ['_dmarc.example.com', undefined],
      ['a_b.example.com', undefined],
      ['*.example.com', undefined],
      ['*', undefined],
      ['a*.example.com', undefined],
    ]),
  )('of other characters than letters, digits and inner hyphens, %s, is %s', (_, __, text, canonical) => {
    expect(canonicalHostname(text, CHOSEN)).toBe(canonical)
  })

  it.each(
    named([
      ['192.0.2.1', undefined],
      ['192.0.2.1.', undefined],
      ['127.1', undefined],
      ['0x7f.1', undefined],
      ['0x7f.0x0.0x0.0x1', undefined],
      ['0177.0.0.1', undefined],
      ['１９２.0.2.1', undefined],
      ['example.123', undefined],
      ['example.0x1', undefined],
      ['123.456', undefined],
      ['2130706433', undefined],
      ['256.256.256.256', undefined],
      ['[::1]', undefined],
      ['::1', undefined],
      ['2001:db8::1', undefined],
    ]),
  )('that reads as an address, %s, is %s', (_, __, text, canonical) => {
    expect(canonicalHostname(text, CHOSEN)).toBe(canonical)
  })

  it.each(
    named([
      ['münchen.de', 'xn--mnchen-3ya.de'],
      ['MÜNCHEN.de', 'xn--mnchen-3ya.de'],
      ['mu\u0308nchen.de', 'xn--mnchen-3ya.de'],
      ['xn--mnchen-3ya.de', 'xn--mnchen-3ya.de'],
      ['XN--MNCHEN-3YA.DE', 'xn--mnchen-3ya.de'],
      ['faß.de', 'xn--fa-hia.de'],
      ['例え.テスト', 'xn--r8jz45g.xn--zckzah'],
      ['例え。テスト', 'xn--r8jz45g.xn--zckzah'],
      ['مثال.إختبار', 'xn--mgbh0fb.xn--kgbechtv'],
      ['😀.com', 'xn--e28h.com'],
      ['ｅｘａｍｐｌｅ.com', 'example.com'],
      ['نامه\u200cای.com', 'xn--mgba3gch31f060k.com'],
      ['exa\u00admple.com', undefined],
      ['exa\u200bmple.com', undefined],
      ['example.com\u200b', undefined],
      ['exa\u2060mple.com', undefined],
      ['\ufeffexample.com', undefined],
      ['exa\ufe0fmple.com', undefined],
      ['example．com', 'example.com'],
      ['xn--a.com', undefined],
      ['xn--zzzzzz.com', undefined],
      ['xn--.com', undefined],
      ['xn--example-.com', undefined],
      ['a\u200db.com', undefined],
      ['a\u200cb.com', undefined],
      ['a\u00a0b.com', undefined],
      ['\u0301a.com', undefined],
      ['a\ud800.com', undefined],
      ['\udc00.com', undefined],
      ['\ufffd.com', undefined],
    ]),
  )('in other scripts, %s, is %s', (_, __, text, canonical) => {
    expect(canonicalHostname(text, CHOSEN)).toBe(canonical)
  })

  it.each(
    named([
      ['example.com\n', undefined],
      ['\nexample.com', undefined],
      ['exam\nple.com', undefined],
      ['exam\tple.com', undefined],
      [' example.com', undefined],
      ['example.com ', undefined],
      ['exam ple.com', undefined],
      ['example.com\u0000', undefined],
      ['example.com\u007f', undefined],
      ['example.com/x', undefined],
      ['example.com/', undefined],
      ['example.com?x', undefined],
      ['example.com#x', undefined],
      ['example.com\\x', undefined],
      ['ex%61mple.com', undefined],
      ['https://example.com/', undefined],
      ['//example.com', undefined],
      ['a@example.com', undefined],
      ['example.com:443', undefined],
      ['host:443', undefined],
      ['<script>.com', undefined],
      ['a,b.com', undefined],
      ["o'hara.com", undefined],
      ['"a".com', undefined],
      ['a;b.com', undefined],
      ['a|b.com', undefined],
      ['a^b.com', undefined],
      ['$(id).com', undefined],
    ]),
  )('that a URL parser would mend, %s, is %s', (_, __, text, canonical) => {
    expect(canonicalHostname(text, CHOSEN)).toBe(canonical)
  })
})

describe('a setting', () => {
  it.each(
    named([
      ['_dmarc.example.com', '_dmarc.example.com'],
      ['_DMARC.Example.com.', '_dmarc.example.com'],
      ['a_b.example.com', 'a_b.example.com'],
      ['a_.example.com', 'a_.example.com'],
      ['_.example.com', '_.example.com'],
      [`_${'a'.repeat(62)}.com`, `_${'a'.repeat(62)}.com`],
      [`_${label63}.com`, undefined],
      ['_-a.example.com', '_-a.example.com'],
      ['-_a.example.com', undefined],
      ['_localhost', undefined],
      ['*.example.com', undefined],
      ['192.0.2.1', undefined],
    ]),
  )('that accepts underscores takes %s: %s', (_, __, text, canonical) => {
    expect(canonicalHostname(text, WITH_UNDERSCORES)).toBe(canonical)
  })

  it.each(
    named([
      ['münchen.de', undefined],
      ['ｅｘａｍｐｌｅ.com', undefined],
      ['exa\u00admple.com', undefined],
      ['例え。テスト', undefined],
      ['xn--mnchen-3ya.de', 'xn--mnchen-3ya.de'],
      ['xn--zzzzzz.com', undefined],
      ['EXAMPLE.com.', 'example.com'],
    ]),
  )('that refuses international names takes %s: %s', (_, __, text, canonical) => {
    expect(canonicalHostname(text, ASCII_ONLY)).toBe(canonical)
  })

  it.each(
    named([
      ['example.com.', undefined],
      ['münchen.de.', undefined],
      ['münchen.de。', undefined],
      ['example.com', 'example.com'],
      ['münchen.de', 'xn--mnchen-3ya.de'],
    ]),
  )('that refuses a final dot takes %s: %s', (_, __, text, canonical) => {
    expect(canonicalHostname(text, NO_FINAL_DOT)).toBe(canonical)
  })

  it.each<[setting: Partial<HostnameSettings>, rows: Row[]]>([
    [
      { singleLabels: 'accepted' },
      [
        ['localhost', 'localhost'],
        ['COM.', 'com'],
        ['münchen', 'xn--mnchen-3ya'],
        ['2130706433', undefined],
        ['', undefined],
        ['.', undefined],
        ['-', undefined],
      ],
    ],
    [
      { ipv4Addresses: 'accepted' },
      [
        ['192.0.2.1', '192.0.2.1'],
        ['192.0.2.1.', '192.0.2.1'],
        ['127.1', undefined],
        ['0x7f.1', undefined],
        ['192.0.2.256', undefined],
        ['192.0.02.1', undefined],
        ['::1', undefined],
        ['[::1]', undefined],
      ],
    ],
    [
      { numericLastLabels: 'accepted' },
      [
        ['example.123', 'example.123'],
        ['EXAMPLE.0X1', 'example.0x1'],
        ['123.456', '123.456'],
        ['münchen.123', 'xn--mnchen-3ya.123'],
        ['127.1', '127.1'],
        ['192.0.2.1', undefined],
        ['123', undefined],
      ],
    ],
    [
      { wildcards: 'accepted' },
      [
        ['*.example.com', '*.example.com'],
        ['*.MÜNCHEN.de.', '*.xn--mnchen-3ya.de'],
        [`*.${nameOf(251)}`, `*.${nameOf(251)}`],
        [`*.${nameOf(252)}`, undefined],
        ['*.com', undefined],
        ['*', undefined],
        ['*.', undefined],
        ['*.*.example.com', undefined],
        ['a*.example.com', undefined],
        ['mail.*.example.com', undefined],
      ],
    ],
    [
      { wildcards: 'accepted', ipv4Addresses: 'accepted' },
      [
        ['*.192.0.2.1', undefined],
        ['192.0.2.1', '192.0.2.1'],
      ],
    ],
    [
      { spaceAroundHostnames: 'trimmed' },
      [
        [' example.com', 'example.com'],
        ['\t\u00a0EXAMPLE.com.\r\n', 'example.com'],
        ['exam ple.com', undefined],
        ['\u200bexample.com', undefined],
        [' ', undefined],
      ],
    ],
    [
      { invisibleInHostnames: 'dropped' },
      [
        ['exa\u00admple.com', 'example.com'],
        ['exa\u200bmple.com', 'example.com'],
        ['example.com\u2060', 'example.com'],
        ['a\u200db.com', undefined],
        ['\u200b.com', undefined],
        ['a\u3164b.com', 'ab.com'],
      ],
    ],
    [
      { internationalNames: 'u-label' },
      [
        ['münchen.de', 'münchen.de'],
        ['MÜNCHEN.de.', 'münchen.de'],
        ['xn--mnchen-3ya.de', 'münchen.de'],
        ['faß.de', 'faß.de'],
        ['例え。テスト', '例え.テスト'],
        ['xn--zzzzzz.com', undefined],
        ['example.com', 'example.com'],
        [`${'ü'.repeat(60)}.de`, undefined],
      ],
    ],
  ])('%j decides', (setting, rows) => {
    for (const [text, canonical] of rows) {
      expect(canonicalHostname(text, { ...CHOSEN, ...setting }), visible(text)).toBe(canonical)
    }
  })

  it('asks whether a name is a public suffix only where that decides', () => {
    const asked: string[] = []
    const isSuffix = (name: string) => asked.push(name) > 0 && name === 'co.uk'
    expect(canonicalHostname('CO.uk', CHOSEN, isSuffix)).toBe('co.uk')
    expect(asked).toEqual([])
    const strict: HostnameSettings = { ...CHOSEN, publicSuffixes: 'refused' }
    expect(canonicalHostname('CO.uk', strict, isSuffix)).toBeUndefined()
    expect(canonicalHostname('example.CO.uk', strict, isSuffix)).toBe('example.co.uk')
    expect(asked).toEqual(['co.uk', 'example.co.uk'])
  })

  it.each<[text: string, names: string[]]>([
    ['localhost', ['singleLabels']],
    ['192.0.2.1', ['ipv4Addresses']],
    ['example.123', ['numericLastLabels']],
    ['*.example.com', ['wildcards']],
    ['_dmarc.example.com', ['underscores']],
    [' example.com', ['spaceAroundHostnames']],
    ['exa\u200bmple.com', ['invisibleInHostnames']],
    ['no host', []],
    [' localhost', []],
    ['example.com', []],
  ])('that alone keeps %j from being a hostname is known: %j', (text, names) => {
    expect(settingsAgainst(text, CHOSEN)).toEqual(names)
  })

  it('of the contract is what it is called with', async () => {
    const { canonicalHostname: canonical } = await loadContract()
    expect(canonical('MÜNCHEN.de.')).toBe('xn--mnchen-3ya.de')
    expect(canonical('_dmarc.example.com')).toBeUndefined()
  })
})

/** Texts near a hostname: labels of letters, digits and hyphens, A-labels true and bogus, other scripts, odd dots. */
function nearlyHostname(): fc.Arbitrary<string> {
  const unit = fc.constantFrom(...'abcxyzABCXYZ0123456789--__üßΣσ例\u0301\u200d\u00ad')
  const plain = fc.string({ unit: fc.constantFrom(...'abcxyzABCXYZ019-'), minLength: 1, maxLength: 64 })
  const word = fc.constantFrom('example', 'Mail', 'b2', 'a-b', 'münchen', 'faß', '例え', 'xn--mnchen-3ya', 'XN--FA-HIA')
  const label = fc.oneof(
    { arbitrary: word, weight: 4 },
    plain,
    fc.string({ unit, maxLength: 12 }),
    plain.map((tail) => `xn--${tail}`),
    fc.nat(300).map(String),
  )
  const dot = fc.constantFrom('.', '.', '.', '.', '.', '.', '。', '．', '..')
  return fc
    .tuple(fc.array(fc.tuple(label, dot), { maxLength: 5 }), label, fc.constantFrom('', '', '', '.', ' '))
    .map(([front, last, end]) => front.map(([text, mark]) => text + mark).join('') + last + end)
}

/** Any text, be it whole characters or single UTF-16 units. */
function anyText(): fc.Arbitrary<string> {
  const units = fc.array(fc.nat(0xffff), { maxLength: 40 }).map((codes) => String.fromCharCode(...codes))
  return fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), units, { arbitrary: nearlyHostname(), weight: 4 })
}

describe(`of all texts (seed ${SEED})`, () => {
  const settings = fc.constantFrom(...EVERY_SETTING)
  const options = { seed: SEED, numRuns: budget({ quick: 500, full: 3000 }) }

  it('each is judged without throwing', () => {
    const judge = (text: string, each: HostnameSettings) => void canonicalHostname(text, each)
    fc.assert(fc.property(anyText(), settings, judge), options)
  })

  it('the canonical form of a canonical form is itself', () => {
    fc.assert(
      fc.property(anyText(), settings, (text, each) => {
        const canonical = canonicalHostname(text, each)
        if (canonical !== undefined) expect(canonicalHostname(canonical, each)).toBe(canonical)
      }),
      options,
    )
  })

  it('a canonical form is a hostname of RFC 1123 and no address, however it came about', () => {
    fc.assert(
      fc.property(anyText(), settings, (text, each) => {
        const canonical = canonicalHostname(text, each)
        if (canonical === undefined) return
        const letters = each.underscores === 'accepted' ? /^[a-z0-9_-]+$/ : /^[a-z0-9-]+$/
        const labels = canonical.split('.')
        expect(canonical.length).toBeLessThanOrEqual(253)
        expect(labels.length).toBeGreaterThan(1)
        for (const label of labels) {
          expect(label).toMatch(letters)
          expect(label.length).toBeLessThanOrEqual(63)
          expect(label.startsWith('-') || label.endsWith('-')).toBe(false)
        }
        expect(labels.at(-1)).not.toMatch(/^[0-9]+$/)
        expect(new URL(`http://${canonical}/`).hostname).toBe(canonical)
      }),
      options,
    )
  })

  it('a canonical form obeys the format `hostname` of the contract, and no other text does', async () => {
    const { operations } = await loadContract()
    const { success } = operations.find(({ id }) => id === 'listDomains') ?? {}
    fc.assert(
      fc.property(anyText(), (text) => {
        const isCanonical = canonicalHostname(text, CHOSEN) === text
        expect(success?.check({ success: true, data: { domains: [text] } })).toHaveLength(isCanonical ? 0 : 1)
      }),
      options,
    )
  })

  it('a name in capitals is the same name', () => {
    const ascii = (text: string, change: (letter: string) => string) => text.replaceAll(/[A-Za-z]/g, change)
    fc.assert(
      fc.property(anyText(), settings, (text, each) => {
        const upper = ascii(text, (letter) => letter.toUpperCase())
        const lower = ascii(text, (letter) => letter.toLowerCase())
        expect(canonicalHostname(upper, each)).toBe(canonicalHostname(lower, each))
      }),
      options,
    )
  })

  it('a hostname with one final dot is the same name', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const canonical = canonicalHostname(text, CHOSEN)
        if (canonical === undefined || text.endsWith('.')) return
        expect(canonicalHostname(`${text}.`, CHOSEN)).toBe(canonical)
        expect(canonicalHostname(`${text}.`, NO_FINAL_DOT)).toBeUndefined()
      }),
      options,
    )
  })

  it('many are hostnames, so that the properties above are not empty', () => {
    const texts = fc.sample(anyText(), { seed: SEED, numRuns: 3000 })
    expect(texts.filter((text) => canonicalHostname(text, CHOSEN) !== undefined).length).toBeGreaterThan(300)
  })
})

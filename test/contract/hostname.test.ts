import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { canonicalHostname, comparableHostname } from '../../src/contract/hostname.ts'
import type { Settings } from '../../src/domain/settings.ts'

type Reading = Settings['internationalNames']
const EVERY_READING: readonly Reading[] = ['a-label', 'refused', 'u-label']

const SEED = 20260115
const label63 = 'a'.repeat(63)
/** A name of exactly so many octets, at least 192. */
const nameOf = (octets: number) => `${label63}.${label63}.${label63}.${'b'.repeat(octets - 192)}`
const visible = (text: string) => (text.length > 60 ? `${text.length} × ${text.slice(0, 12)}…` : JSON.stringify(text))

const words = (text: string) => text.split(' ')
/** Each name, which is canonical as it is. */
const unchanged = (text: string) => Object.fromEntries(words(text).map((name) => [name, name]))

function expectRefused(texts: readonly string[], read: (text: string) => string | undefined = canonicalHostname): void {
  for (const text of texts) expect(read(text), visible(text)).toBeUndefined()
}

/** `kept` has the canonical form of each text. */
function expectKept(
  kept: Readonly<Record<string, string>>,
  read: (text: string) => string | undefined = canonicalHostname,
): void {
  for (const [text, canonical] of Object.entries(kept)) expect(read(text), visible(text)).toBe(canonical)
}

describe('a hostname', () => {
  it.each<[what: string, refused: string[], kept: Record<string, string>]>([
    ['as it is', [], unchanged('a.b 3com.com 1.2.3.4.example foo.test ab--cd.com a-b.c-d.com example.1a cafe.0xyz')],
    [
      'with dots at the edges',
      ['', ...words('example.com.. .example.com a..b.com . .. com.')],
      { 'example.com.': 'example.com', 'EXAMPLE.COM.': 'example.com', 'münchen.de.': 'xn--mnchen-3ya.de' },
    ],
    [
      'at the limits of 63 octets a label and 253 in all',
      [
        ...[`${label63}a.com`, `a.${label63}a`, nameOf(254), `${nameOf(254)}.`, nameOf(254).toUpperCase()],
        ...[`${'ü'.repeat(60)}.de`, `${Array(30).fill('münchen').join('.')}.de`],
        ...[`${'a'.repeat(1_000_000)}.com`, `${'a.'.repeat(500_000)}com`],
      ],
      {
        ...unchanged(`${label63}.com a.${label63} ${nameOf(253)}`),
        [`${nameOf(253)}.`]: nameOf(253),
        [nameOf(253).toUpperCase()]: nameOf(253),
      },
    ],
    [
      'of other characters than letters, digits and inner hyphens',
      words(
        '-a.example.com a-.example.com example.-com example.com- -.com _a.example.com a_b.com *.example.com * a*.com',
      ),
      {},
    ],
    [
      'that reads as an address',
      [
        ...words('192.0.2.1. 127.1 0x7f.0x0.0x0.0x1 0177.0.0.1 １９２.0.2.1 example.0x1'),
        ...words('123.456 2130706433 256.256.256.256 [::1] ::1 2001:db8::1'),
      ],
      {},
    ],
    [
      'in other scripts',
      [
        ...words('exa\u00admple.com exa\u200bmple.com example.com\u200b exa\u2060mple.com \ufeffexample.com'),
        ...words('exa\ufe0fmple.com xn--a.com xn--zzzzzz.com xn--.com xn--example-.com a\u200db.com a\u200cb.com'),
        ...words('a\u00a0b.com \u0301a.com a\ud800.com \udc00.com \ufffd.com'),
      ],
      {
        ...unchanged('xn--mnchen-3ya.de'),
        'münchen.de': 'xn--mnchen-3ya.de',
        'MÜNCHEN.de': 'xn--mnchen-3ya.de',
        'mu\u0308nchen.de': 'xn--mnchen-3ya.de',
        'XN--MNCHEN-3YA.DE': 'xn--mnchen-3ya.de',
        'faß.de': 'xn--fa-hia.de',
        '例え.テスト': 'xn--r8jz45g.xn--zckzah',
        'مثال.إختبار': 'xn--mgbh0fb.xn--kgbechtv',
        '😀.com': 'xn--e28h.com',
        'نامه\u200cای.com': 'xn--mgba3gch31f060k.com',
        'example．com': 'example.com',
      },
    ],
    [
      'that a URL parser would mend',
      [
        ...words('example.com/x example.com/ example.com?x example.com#x ex%61mple.com https://example.com/'),
        ...words('//example.com <script>.com a,b.com "a".com a;b.com'),
        ...words("a|b.com a^b.com $(id).com example.com\n \nexample.com exam\nple.com exam\tple.com o'hara.com"),
        ...words('example.com\u0000 example.com\u007f example.com\\x'),
        ...[' example.com', 'example.com ', 'exam ple.com'],
      ],
      {},
    ],
  ])('%s is kept in its canonical form, or refused', (_, refused, kept) => {
    expectRefused(refused)
    expectKept(kept)
  })
})

describe('the setting international-names', () => {
  it.each<[Reading, kept: Record<string, string>, refused: string[]]>([
    [
      'refused',
      { ...unchanged('xn--mnchen-3ya.de'), 'EXAMPLE.com.': 'example.com' },
      words('exa\u00admple.com münchen.de ｅｘａｍｐｌｅ.com 例え。テスト xn--zzzzzz.com'),
    ],
    [
      'u-label',
      {
        ...unchanged('münchen.de faß.de example.com'),
        'MÜNCHEN.de.': 'münchen.de',
        'xn--mnchen-3ya.de': 'münchen.de',
        '例え。テスト': '例え.テスト',
      },
      [`${'ü'.repeat(60)}.de`, 'xn--zzzzzz.com'],
    ],
  ])('%s decides about names in other scripts', (reading, kept, refused) => {
    expectKept(kept, (text) => canonicalHostname(text, reading))
    expectRefused(refused, (text) => canonicalHostname(text, reading))
  })
})

describe('the form for comparing hostnames', () => {
  it.each<[what: string, kept: Record<string, string>, refused: string[]]>([
    [
      'with underscores',
      {
        ...unchanged('_dmarc.example.com a_b.example.com a_.example.com _.example.com _-a.example.com'),
        ...unchanged(`_${'a'.repeat(62)}.com`),
        '_DMARC.Example.com.': '_dmarc.example.com',
      },
      [`_${label63}.com`, ...words('-_a.example.com')],
    ],
    ['of one label', { ...unchanged('localhost'), 'COM.': 'com', münchen: 'xn--mnchen-3ya' }, ['', ...words('. -')]],
    [
      'that reads as an address or ends with a number',
      {
        ...unchanged('192.0.2.1 example.123 123.456 127.1 2130706433'),
        '192.0.2.1.': '192.0.2.1',
        'EXAMPLE.0X1': 'example.0x1',
        'münchen.123': 'xn--mnchen-3ya.123',
      },
      words('::1 [::1]'),
    ],
    [
      'after a wildcard',
      { ...unchanged(`*.example.com *.com *.${nameOf(251)}`), '*.MÜNCHEN.de.': '*.xn--mnchen-3ya.de' },
      words(`*.${nameOf(252)} * *. *.*.example.com *.192.0.2.1 a*.example.com mail.*.example.com`),
    ],
    [
      'with white space around it, or with invisible characters in it',
      {
        ' example.com': 'example.com',
        '\t\u00a0EXAMPLE.com.\r\n': 'example.com',
        'exa\u00admple.com': 'example.com',
        'exa\u200bmple.com': 'example.com',
        'example.com\u2060': 'example.com',
        'a\u3164b.com': 'ab.com',
      },
      ['exam ple.com', ' ', ...words('a\u200db.com')],
    ],
  ])('is that of a name %s, which another service may accept', (_, kept, refused) => {
    expectKept(kept, comparableHostname)
    expectRefused(refused, comparableHostname)
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
  const readings = fc.constantFrom(...EVERY_READING)
  const options = { seed: SEED, numRuns: 300 }
  const ofAll = (expectIt: (text: string, reading: Reading) => void) =>
    fc.assert(fc.property(anyText(), readings, expectIt), options)
  const ofCanonical = (expectIt: (canonical: string, reading: Reading) => void) =>
    ofAll((text, reading) => {
      const canonical = canonicalHostname(text, reading)
      if (canonical !== undefined) expectIt(canonical, reading)
    })

  it('the canonical form of a canonical form is itself', () => {
    let hostnames = 0
    ofCanonical((canonical, reading) => {
      hostnames++
      expect(canonicalHostname(canonical, reading)).toBe(canonical)
      if (reading === 'a-label') expect(comparableHostname(canonical)).toBe(canonical)
    })
    expect(hostnames).toBeGreaterThan(30)
  })

  it('a canonical form is a hostname of RFC 1123 and no address, however it came about', () => {
    ofCanonical((canonical, reading) => {
      if (reading === 'u-label') return
      const labels = canonical.split('.')
      expect(canonical.length).toBeLessThanOrEqual(253)
      expect(labels.length).toBeGreaterThan(1)
      for (const each of labels) expect(each).toMatch(/^(?!-)[a-z0-9-]{1,63}(?<!-)$/)
      expect(labels.at(-1)).not.toMatch(/^[0-9]+$/)
      expect(new URL(`http://${canonical}/`).hostname).toBe(canonical)
    })
  })

  it('a canonical form obeys the format `hostname` of the contract, and no other text does', async () => {
    const { operations } = await loadContract()
    const { success } = operations.find(({ id }) => id === 'listDomains') ?? {}
    ofAll((text) => {
      const isCanonical = canonicalHostname(text) === text
      expect(success?.check({ success: true, data: { domains: [text] } })).toHaveLength(isCanonical ? 0 : 1)
    })
  })
})

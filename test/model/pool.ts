/**
 * What the random requests are made of. The pools are small, so that requests meet each other; and every verdict on a
 * text is written by hand, so that the model decides without any of the server's code.
 */

const LABEL_OF_63 = 'l'.repeat(63)
const NAME_OF_253 = `${'l.'.repeat(95)}${'x'.repeat(55)}.example`
const NAME_OF_254 = `l${NAME_OF_253}`

/** Spellings of hostnames by the form in which each is kept. */
const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  'a.example': ['a.example', 'A.Example', 'a.example.'],
  'b.example': ['b.example', 'ｂ.example', 'b。example', 'B.EXAMPLE.'],
  'c.a.example': ['c.a.example'],
  'just.example': ['just.example'],
  'late.example': ['late.example'],
  'locked.example': ['locked.example', 'LOCKED.example'],
  'xn--mnchen-3ya.example': ['münchen.example', 'MÜNCHEN.example', 'mu\u0308nchen.example', 'xn--mnchen-3ya.example'],
  'xn--fa-hia.example': ['faß.example', 'xn--fa-hia.example.'],
  'fass.example': ['fass.example'],
  '1.2.3.4.example': ['1.2.3.4.example'],
  [`${LABEL_OF_63}.example`]: [`${LABEL_OF_63}.example`],
  [NAME_OF_253]: [NAME_OF_253, `${NAME_OF_253}.`],
}

/** The names that most requests are about. */
export const USUAL_DOMAINS = ['a.example', 'A.Example', 'a.example.', 'b.example', 'ｂ.example', 'c.a.example']
export const ALL_DOMAINS = Object.values(SPELLINGS).flat()

/** Texts that are no hostnames. */
export const BAD_DOMAINS = [
  ...['', '.', ' a.example', 'a.example\n', 'a\u200b.example', 'a b.example'],
  ...['a.example..', '.a.example', 'a..example', 'localhost', 'a.example.1'],
  ...['192.0.2.1', '0x7f.1', '::1', 'a@b.example', 'a.example:443', 'https://a.example', 'a.example/', 'a%2eexample'],
  ...['a_b.example', '*.example', '-a.example', 'a-.example', 'xn--zzzzzz.example'],
  ...[`${LABEL_OF_63}l.example`, NAME_OF_254],
]

/** So many names that one request is full, and one more. */
export const CROWD = Array.from({ length: 50 }, (_, index) => `n${index}.example`)
export const CROWD_AND_ONE = [...CROWD, 'n50.example']

const KEPT = new Map<string, string | null>([
  ...Object.entries(SPELLINGS).flatMap(([kept, spellings]) => spellings.map((spelling) => [spelling, kept] as const)),
  ...[...Object.keys(SPELLINGS), ...CROWD_AND_ONE].map((name) => [name, name] as const),
  ...BAD_DOMAINS.map((text) => [text, null] as const),
])

/** The form in which a hostname of the pool is kept and compared; `null` when the text is none. */
export function keptForm(text: string): string | null {
  const kept = KEPT.get(text)
  if (kept === undefined) throw new Error(`The pool has no verdict on ${JSON.stringify(text)}.`)
  return kept
}

/** Group names; those in one row are the same name. */
const NAMES = [
  ['Web', 'web', 'WEB'],
  [' Web'],
  ['Straße', 'STRASSE', 'strasse'],
  ['Caf\u00e9', 'cafe\u0301', 'CAF\u00c9'],
  ['Cafe'],
  ['ΟΔΟΣ', 'οδος', 'οδοσ'],
  ['__proto__'],
  ['a\tb'],
  ['a\u200bb'],
  ['👨‍👩‍👧'],
  ['x'.repeat(100), 'X'.repeat(100)],
  ['😀'.repeat(100)],
]

export const USUAL_NAMES = ['Web', 'WEB', 'Straße', 'STRASSE', 'Caf\u00e9', 'cafe\u0301']
export const ALL_NAMES = NAMES.flat()
export const BAD_NAMES = [
  ...['', ' ', '\t\n', '\u00a0\u3000', ' \u200b', 'a\0', '\ud83d'],
  ...['x'.repeat(101), '😀'.repeat(101)],
]

/** Whether two names of the pool cannot stand beside each other in an account. */
export function isSameName(one: string, other: string): boolean {
  const row = NAMES.find((names) => names.includes(one))
  if (row === undefined) throw new Error(`The pool has no verdict on ${JSON.stringify(one)}.`)
  return row.includes(other)
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Where the machine's clock stands at the beginning. */
export const BEGINNING = Date.parse('2026-01-15T09:30:00Z')
/** The end of the young key's grace period. */
export const GRACE_END = BEGINNING + 45 * MINUTE

interface KeyOfPool {
  name: string
  /** Milliseconds since the Unix epoch, on the account's clock. */
  createdAt: number
  disabled: boolean
}

export interface AccountOfPool {
  plan: string
  seed: number
  /** Milliseconds that the account's clock is ahead of the machine's. */
  ahead: number
  /** The first is the one that the account was made with. */
  keys: readonly [KeyOfPool, ...KeyOfPool[]]
  domains: readonly { name: string; addedAt: number; features: readonly string[] }[]
}

/** The accounts at the beginning. The second lives in other hours and on another day than the first. */
export const ACCOUNTS = {
  default: {
    plan: 'stone',
    seed: 42,
    ahead: 0,
    keys: [
      { name: 'main', createdAt: BEGINNING - 30 * DAY, disabled: false },
      { name: 'spare', createdAt: BEGINNING - 7 * DAY, disabled: false },
      { name: 'young', createdAt: GRACE_END - 7 * DAY, disabled: false },
      { name: 'disabled', createdAt: BEGINNING - 30 * DAY, disabled: true },
    ],
    domains: [
      { name: 'a.example', addedAt: BEGINNING - 400 * DAY, features: [] },
      { name: 'b.example', addedAt: BEGINNING - 400 * DAY, features: [] },
      { name: 'locked.example', addedAt: BEGINNING - 400 * DAY, features: ['mta-sts'] },
      // Processed at the moment at which the figures of the 15th appeared, and a millisecond too late for them.
      { name: 'just.example', addedAt: Date.parse('2026-01-14T23:59:00Z'), features: [] },
      { name: 'late.example', addedAt: Date.parse('2026-01-14T23:59:00.001Z'), features: [] },
    ],
  },
  other: {
    plan: 'above-stone',
    seed: 7,
    ahead: 15 * HOUR + 17 * MINUTE + 123,
    keys: [{ name: 'other', createdAt: BEGINNING - 30 * DAY, disabled: false }],
    domains: [{ name: 'b.example', addedAt: BEGINNING - 400 * DAY, features: [] }],
  },
  small: {
    plan: 'below-stone',
    seed: 7,
    ahead: 0,
    keys: [{ name: 'small', createdAt: BEGINNING - 30 * DAY, disabled: false }],
    domains: [],
  },
} satisfies Readonly<Record<string, AccountOfPool>>

/** The secret of a key of the pool. */
export function secretOf(key: string): string {
  return `key_${key.padEnd(8, '0')}.${'0'.repeat(48)}`
}

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashKey } from '../../../src/ground/secrets.ts'
import type { Entry } from '../../../src/journal/entry.ts'
import { redactorFor, redactWithin } from '../../../src/journal/redaction/redaction.ts'
import { Secrets } from '../../../src/journal/redaction/secrets.ts'

const SECRET = 'Correct-Horse+Battery/Staple'
const TOKEN = 'a-token-for-the-control-plane'

function request(given: Partial<Entry> = {}) {
  return { account: 'acme', headers: [], key: undefined, target: '/', ...given }
}

function secretsOf(account: string, ...secrets: string[]): Secrets {
  const all = new Secrets([TOKEN])
  all.update(account, { held: secrets.map(hashKey) }, secrets)
  return all
}

const unicode = (text: string) =>
  [...text].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
const percent = (text: string) => [...text].map((each) => `%${each.charCodeAt(0).toString(16)}`).join('')
const base64 = (text: string) => Buffer.from(text).toString('base64')
const base64url = (text: string) => Buffer.from(text).toString('base64url')

/** How a text is shown of a request of the account `acme`, which has the secret. */
const shown = (text: string) => redactorFor(request(), secretsOf('acme', SECRET))(text)

describe('A secret is hidden', () => {
  it.each<[how: string, text: string, shown: string]>([
    ['as it is', `"${SECRET}"`, '"[redacted]"'],
    ['in other letters', SECRET.toLowerCase(), '[redacted]'],
    ['within a longer word', `my${SECRET}s`, 'my[redacted]s'],
    ['with a \\u escape', `{"a":"\\u0043${SECRET.slice(1)}"}`, '{"a":"[redacted]"}'],
    ['in \\u escapes alone', unicode(SECRET), '[redacted]'],
    ['with an escaped slash', SECRET.replace('/', '\\/'), '[redacted]'],
    ['percent-encoded', `x=${encodeURIComponent(SECRET)}&y=1`, 'x=[redacted]&y=1'],
    ['in a JSON pointer', `/${SECRET.replace('/', '~1')}/0`, '/[redacted]/0'],
    ['with each character percent-encoded', percent(SECRET), '[redacted]'],
    ['percent-encoded in JSON', `{"url":"\\u0025${percent(SECRET).slice(1)}"}`, '{"url":"[redacted]"}'],
    ['in JSON in a query', percent(`{"a":"${unicode(SECRET)}"}`), `${percent('{"a":"')}[redacted]${percent('"}')}`],
    [
      'in JSON in JSON',
      JSON.stringify(JSON.stringify({ a: SECRET }).replace('/', '\\/')),
      '"{\\"a\\":\\"[redacted]\\"}"',
    ],
    ['at the end of a cut text', `${SECRET.slice(0, 9)}…`, '[redacted]…'],
    ['escaped at the end of a cut text', `${unicode(SECRET.slice(0, 9))}\\u00…`, '[redacted]…'],
    ['but not what is cut before eight letters', 'Correct…', 'Correct…'],
    ['twice', `${SECRET}${SECRET}`, '[redacted][redacted]'],
  ])('%s', (_, text, expected) => {
    expect(shown(text)).toBe(expected)
  })

  it.each(['', 'u', 'us', 'user:', 'user1:', 'someone:'])('in base64 behind %j', (before) => {
    const redact = redactorFor(request(), secretsOf('acme', SECRET))
    for (const encode of [base64, base64url]) {
      for (const after of ['', '>', '>>', '>>>', ' and more']) {
        const text = encode(before + SECRET + after)
        const [head = '', tail = ''] = redact(text).split('[redacted]')
        expect([text.startsWith(head), text.endsWith(tail)]).toEqual([true, true])
        // Of six bits each: which characters hold a part of the secret. One more at each end may be hidden.
        const first = Math.floor((before.length * 8) / 6)
        const last = Math.ceil(((before.length + SECRET.length) * 8) / 6)
        expect([first, first - 1]).toContain(head.length)
        expect([text.length - last, text.length - last - 1]).toContain(tail.length)
      }
    }
  })

  it.each(['', 'x', 'xy'])('in base64 behind %j where it is a sandbox of somebody', (before) => {
    const text = base64(`${before}sandbox_checkout`)
    const shown = redactorFor(request(), new Secrets())(text)
    expect(Buffer.from(shown, 'base64').toString()).not.toContain('checkout')
    expect(shown).toContain('[redacted]')
  })

  it('where it is the password of Basic credentials', () => {
    const headers = ['Authorization', `Basic ${base64('user:northern-lamps')}`]
    const redact = redactorFor(request({ headers }), new Secrets())
    expect(redact('/northern-lamps?x=1')).toBe('/[redacted]?x=1')
  })

  it('in the names of fields as well', () => {
    const redact = redactorFor(request(), secretsOf('acme', SECRET))
    expect(redactWithin({ [SECRET]: [{ a: SECRET }], b: null }, redact)).toEqual({
      '[redacted]': [{ a: '[redacted]' }],
      b: null,
    })
  })

  it('for its account alone', () => {
    const secrets = secretsOf('acme', 'northern-lamps.example')
    const text = '{"domains":["northern-lamps.example"]}'
    expect(redactorFor(request({ account: 'acme' }), secrets)(text)).toBe('{"domains":["[redacted]"]}')
    expect(redactorFor(request({ account: 'other' }), secrets)(text)).toBe(text)
  })

  it('where it is the token of the control plane, for everybody', () => {
    const secrets = secretsOf('acme', SECRET)
    for (const account of ['acme', 'other', undefined]) {
      expect(redactorFor(request({ account }), secrets)(`/${TOKEN}/x`)).toBe('/[redacted]/x')
    }
  })
})

describe('The secrets of an account are hidden', () => {
  it.each<[words: string[], text: string, shown: string]>([
    [['northern', 'northern-lamps'], 'northern-lamps northern-lights', '[redacted] [redacted]-lights'],
    [['northern-lamps', 'northern-lights'], 'northern-l', 'northern-l'],
    [['abcdefgh', 'efghijkl'], 'abcdefghijkl', '[redacted]'],
    [['lamp', 'lamps-of-the-north'], 'lamp lamps lamps-of-the-south', '[redacted] lamps lamps-of-the-south'],
    [['abc'], 'abc abcd xabc a.abc abc, "abc"', '[redacted] abcd xabc a.abc [redacted], "[redacted]"'],
    [['schlüssel', '€€€€€€€€'], 'der schlüssel €€€€€€€€', 'der [redacted] [redacted]'],
  ])('%j in %j', (words, text, expected) => {
    expect(redactorFor(request(), secretsOf('acme', ...words))(text)).toBe(expected)
  })

  it('wherever they are in a text of few letters (seed 11)', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'C'), minLength: 8, maxLength: 12 })
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'A', '-'), maxLength: 60 })
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), text, (words, searched) => {
        const redact = redactorFor(request(), secretsOf('acme', ...words))
        const shown = redact(searched)
        for (const each of words) expect(shown.toLowerCase()).not.toContain(each.toLowerCase())
        const isHidden = words.some((each) => searched.toLowerCase().includes(each.toLowerCase()))
        expect(shown.includes('[redacted]')).toBe(isHidden)
      }),
      { seed: 11 },
    )
  })

  it('in a text that was made to be expensive, with many that are alike', () => {
    const alike = Array.from({ length: 1_000 }, (_, length) => `${'a'.repeat(length + 8)}0`)
    expect(redactorFor(request(), secretsOf('acme', ...alike))(`${'a'.repeat(10_000)}0`)).toMatch(/^a*\[redacted\]$/)
  })
})

describe('A request of no account shows no secret of any account', () => {
  it.each<[where: string, given: Partial<Entry>, text: string, shown: string]>([
    ['in the path', { target: '/domains/hunter2' }, '/domains/hunter2', '/domains/[redacted]'],
    ['encoded in the path', { target: '/domains/%68unter2' }, '/domains/%68unter2', '/domains/[redacted]'],
    ['with a slash', { target: `/x/${SECRET}` }, `/x/${SECRET}`, '/x/[redacted]'],
    ['in the query', { target: `/?a=${encodeURIComponent(SECRET)}` }, `a=${SECRET}`, 'a=[redacted]'],
    ['in a field', { headers: ['x-note', `my ${SECRET}`] }, `my ${SECRET}`, 'my [redacted]'],
    ['in a list', { headers: ['x-note', 'a=hunter2;b="c"'] }, 'a=hunter2;b="c"', 'a=[redacted];b="c"'],
    ['as the name of a field', { headers: ['hunter2', '1'] }, 'hunter2', '[redacted]'],
  ])('%s', (_, given, text, shown) => {
    const secrets = secretsOf('acme', 'hunter2', SECRET)
    expect(redactorFor(request({ account: undefined, ...given }), secrets)(text)).toBe(shown)
  })

  it('and what is only a part of a word is shown', () => {
    const secrets = secretsOf('acme', 'northern')
    const redact = redactorFor(request({ account: undefined, target: '/northern-lamps' }), secrets)
    expect(redact('/northern-lamps')).toBe('/northern-lamps')
  })
})

describe('The secrets of an account', () => {
  const text = 'northern-lamps southern-lamps'

  it('are forgotten with their keys, and come back with a key that may come back', () => {
    const secrets = secretsOf('acme', 'northern-lamps', 'southern-lamps')
    const shown = () => redactorFor(request(), secrets)(text)
    expect(shown()).toBe('[redacted] [redacted]')
    secrets.update('acme', { held: [hashKey('southern-lamps')], recoverable: () => [hashKey('northern-lamps')] })
    expect(shown()).toBe('northern-lamps [redacted]')
    expect(secrets.has('northern-lamps')).toBe(false)
    secrets.update('acme', { held: [hashKey('northern-lamps')] })
    expect(shown()).toBe('[redacted] southern-lamps')
    secrets.update('acme', { held: [hashKey('northern-lamps'), hashKey('southern-lamps')] })
    expect(shown()).toBe('[redacted] southern-lamps')
    secrets.forget('acme')
    expect(shown()).toBe(text)
    expect(secrets.concerns('acme', [])).toBe(false)
  })

  it('do not include what the account did not get, nor the keys of sandboxes', () => {
    const secrets = new Secrets()
    secrets.update('acme', { held: [] }, ['northern-lamps'])
    for (let number = 0; number < 100; number++) {
      const key = `sandbox_${number}`
      secrets.update(key, { held: [hashKey(key)] }, [key])
    }
    expect(secrets.concerns('acme', [])).toBe(false)
    expect(secrets.has('northern-lamps')).toBe(false)
  })

  it('are still hidden for one account when another one has lost the same', () => {
    const secrets = secretsOf('acme', 'northern-lamps')
    secrets.update('other', { held: [hashKey('Northern-Lamps')] }, ['Northern-Lamps'])
    secrets.forget('other')
    expect(secrets.has('northern-lamps')).toBe(true)
    expect(redactorFor(request(), secrets)(text)).toBe('[redacted] southern-lamps')
  })
})

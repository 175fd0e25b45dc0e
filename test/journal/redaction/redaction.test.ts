import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashKey } from '../../../src/ground/secrets.ts'
import { bytesOf } from '../../../src/journal/entry.ts'
import { hideSecrets, redactField, redactorForAll, redactWithin } from '../../../src/journal/redaction/redaction.ts'
import { RequestRedactions } from '../../../src/journal/redaction/request-redaction.ts'
import { Secrets } from '../../../src/journal/redaction/secrets.ts'

const SECRET = 'Correct-Horse+Battery/Staple'
const TOKEN = 'a-token-for-the-control-plane'
/** In bytes, how much of a body is kept. */
const LIMIT = 100

const unicode = (text: string) =>
  [...text].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
const percent = (text: string) => [...text].map((each) => `%${each.charCodeAt(0).toString(16)}`).join('')
const base64 = (text: string) => Buffer.from(text).toString('base64')

/** The redaction of a request to a server with a token. */
function redactionOf(headers: readonly string[] = [], target = '/', key?: string) {
  return new RequestRedactions(new Secrets([TOKEN]), LIMIT).of({ headers, target, key })
}

/** How a text is shown of a request with the secret as its key. */
const shown = (text: string) => redactionOf(['Authorization', `Bearer ${SECRET}`]).redact(text)

describe('A secret is hidden', () => {
  it.each<[how: string, text: string, shown: string]>([
    ['as it is', `"${SECRET}"`, '"[redacted]"'],
    ['in other letters', SECRET.toLowerCase(), '[redacted]'],
    ['within a longer word', `my${SECRET}s`, 'my[redacted]s'],
    ['with a \\u escape', `{"a":"\\u0043${SECRET.slice(1)}"}`, '{"a":"[redacted]"}'],
    ['with each character percent-encoded', percent(SECRET), '[redacted]'],
    ['percent-encoded', `x=${encodeURIComponent(SECRET)}&y=1`, 'x=[redacted]&y=1'],
    ['in a JSON pointer', `/${SECRET.replace('/', '~1')}/0`, '/[redacted]/0'],
    ['where it is a key of the service with an escape', '/%6bey_0a1b2c3d.xYz', '/[redacted]'],
    ['where it is the token of the control plane', `/${TOKEN}/x`, '/[redacted]/x'],
    ['where it is a sandbox of somebody', '{"a":"sandbox_checkout"}', '{"a":"[redacted]"}'],
  ])('%s', (_, text, expected) => {
    expect(shown(text)).toBe(expected)
  })

  it.each(['"quoted" secret', 'schlüssel-des-nordens', "it's (a) secret!", 'a\\backslash'])(
    'as programs write it: %s',
    (secret) => {
      const redact = redactorForAll(new Secrets([secret]))
      const ascii = JSON.stringify(secret).replaceAll(/[^ -~]/g, (each) => `\\u00${each.charCodeAt(0).toString(16)}`)
      const texts = [
        JSON.stringify(secret),
        ascii,
        encodeURIComponent(secret),
        new URLSearchParams({ a: secret }).toString(),
      ]
      for (const text of texts) expect(redact(text)).toMatch(/^(?:"\[redacted\]"|(?:a=)?\[redacted\])$/)
    },
  )

  it('in the names of fields as well', () => {
    expect(redactWithin({ [SECRET]: [{ a: SECRET }], b: null }, redactorForAll(new Secrets([SECRET])))).toEqual({
      '[redacted]': [{ a: '[redacted]' }],
      b: null,
    })
  })
})

describe('Several secrets are hidden', () => {
  it.each<[words: string[], text: string, shown: string]>([
    [['northern', 'northern-lamps'], 'northern-lamps northern-lights', '[redacted] [redacted]-lights'],
    [['northern-lamps', 'northern-lights'], 'northern-l', 'northern-l'],
    [['lamp', 'lamps-of-the-north'], 'lamp lamps lamps-of-the-south', '[redacted] lamps lamps-of-the-south'],
    [['northern-lamps', 'thern-lam'], 'a northern-lamps b', 'a [redacted] b'],
    [['northern-lamps', 'lamps-southern'], 'a northern-lamps-southern b', 'a [redacted] b'],
    [['abc'], 'abc abcd xabc a.abc abc, "abc"', '[redacted] abcd xabc a.abc [redacted], "[redacted]"'],
    [['schlüssel', '€€€€€€€€'], 'der schlüssel €€€€€€€€', 'der [redacted] [redacted]'],
  ])('%j in %j', (words, text, expected) => {
    expect(hideSecrets(text, [new Secrets(words)])).toBe(expected)
  })

  it('wherever they are in a text of few letters (seed 11)', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'C'), minLength: 8, maxLength: 12 })
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'A', '-'), maxLength: 60 })
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), text, (words, searched) => {
        const hidden = hideSecrets(searched, [new Secrets(words)])
        for (const each of words) expect(hidden.toLowerCase()).not.toContain(each.toLowerCase())
        const isHidden = words.some((each) => searched.toLowerCase().includes(each.toLowerCase()))
        expect(hidden.includes('[redacted]')).toBe(isHidden)
      }),
      { seed: 11 },
    )
  })
})

describe('What a request presents as a credential is hidden everywhere in it', () => {
  it.each<[where: string, headers: string[], target: string]>([
    ['as its key', ['Authorization', 'Bearer northern-lamps'], '/'],
    ['in another field', ['X-Api-Key', 'northern-lamps'], '/'],
    ['in a cookie', ['cookie', 'a=b; session=northern-lamps'], '/'],
    ['in the query', [], '/?access_token=northern-lamps'],
    ['as the password of Basic credentials', ['Authorization', `Basic ${base64('user:northern-lamps')}`], '/'],
  ])('%s', (_, headers, target) => {
    const { redact } = redactionOf(headers, target)
    expect(redact('/northern-lamps?x=1')).toBe('/[redacted]?x=1')
  })

  it('and that of another request is not looked for', () => {
    const redactions = new RequestRedactions(new Secrets(), LIMIT)
    const of = (secret: string, target = '/') => {
      const headers = ['Host', 'x', 'Authorization', `Bearer ${secret}`]
      const hidden = redactions.of({ headers, target })
      expect(hidden.headers(headers)).toEqual(['Host', 'x', 'Authorization', 'Bearer [redacted]'])
      return hidden
    }
    expect(of('northern-lamps').redact('northern-lamps')).toBe('[redacted]')
    expect(of('southern-lamps').redact('northern-lamps')).toBe('northern-lamps')
    expect(of('northern-lamps', '/?token=eastern-lamps').redact('eastern-lamps northern-lamps')).toMatch(
      /^\[.*\] \[.*\]$/,
    )
    expect(of('northern-lamps').redact('eastern-lamps')).toBe('eastern-lamps')
    expect(of('northern-lamps').presented).toBe(hashKey('northern-lamps'))
  })

  it('and so are the 300 keys that it learned last, beside those of the server', () => {
    const redactions = new RequestRedactions(new Secrets(['of-the-server']), LIMIT)
    expect(redactions.of({ headers: [], target: '/' }).redact('lamps-1-lamps')).toBe('lamps-1-lamps')
    redactions.learn(Array.from({ length: 301 }, (_, index) => `lamps-${index}-lamps`))
    const shown = redactions
      .of({ headers: [], target: '/' })
      .redact('of-the-server lamps-0-lamps lamps-1-lamps lamps-300-lamps')
    expect(shown).toBe('[redacted] lamps-0-lamps [redacted] [redacted]')
  })

  it('with the id of the key, where it is the key', () => {
    const hidden = redactionOf(['Authorization', 'Bearer northern-lamps', 'X-Token', 'other-lamps'], '/', 'key_1')
    expect(hidden.redact('northern-lamps other-lamps')).toBe('key_1.[redacted] [redacted]')
  })
})

it('Header fields that differ in one from those of the last message are shown as they are', () => {
  const hidden = redactionOf(['Authorization', `Bearer ${SECRET}`])
  const headers = (...fields: string[]) => hidden.headers(fields)
  expect(headers('A', '1', 'B', SECRET)).toEqual(['A', '1', 'B', '[redacted]'])
  expect(headers('A', SECRET, 'B', SECRET)).toEqual(['A', '[redacted]', 'B', '[redacted]'])
  expect(headers('A', '2')).toEqual(['A', '2'])
  expect(headers('X-Token', '2')).toEqual(['X-Token', '[redacted]'])
  expect(hidden.responseHeaders(['A', 1, 'B', SECRET])).toEqual(['A', 1, 'B', '[redacted]'])
  // A fault may give the response a field of the service.
  expect(hidden.responseHeaders(['X-Request-Id', SECRET], true)).toEqual(['X-Request-Id', '[redacted]'])
})

describe('Of a header field with credentials is shown', () => {
  it.each<[name: string, value: string, shown: string]>([
    ['Authorization', 'Bearer northern-lamps', 'Bearer key_1.[redacted]'],
    ['Authorization', 'Bearer  northern-lamps', 'Bearer  key_1.[redacted]'],
    ['Authorization', 'Bearer two words', 'Bearer [redacted] [redacted]'],
    ['authorization', 'northern-lamps', '[redacted]'],
    ['Authorization', 'Bearer', 'Bearer'],
    ['Authorization', 'Bearer <key>', 'Bearer <[redacted]>'],
    ['X-Api-Key', 'abc', '[redacted]'],
    ['WWW-Authenticate', 'Bearer', 'Bearer'],
    ['X-Note', 'abc', 'abc'],
  ])('%s: %s', (name, value, expected) => {
    const { redact } = redactionOf(['Authorization', 'Bearer northern-lamps'], '/', 'key_1')
    expect(redactField(name, value, redact)).toBe(expected)
  })
})

describe('A body', () => {
  const record = (body: string | Buffer, secret = SECRET) => {
    const held = Buffer.from(body as string)
    return redactionOf(['Authorization', `Bearer ${secret}`]).body({ held, size: held.length })
  }

  it('is whole up to the limit, and cut after it', () => {
    expect(record('x'.repeat(LIMIT))).toEqual({ text: 'x'.repeat(LIMIT), size: LIMIT })
    expect(record('x'.repeat(LIMIT + 1))).toEqual({ text: 'x'.repeat(LIMIT), size: LIMIT + 1, isCut: true })
    expect(record(`${'x'.repeat(LIMIT - 1)}ü`)).toEqual({ text: 'x'.repeat(LIMIT - 1), size: LIMIT + 1, isCut: true })
    expect(record(`${'x'.repeat(LIMIT)}${SECRET}`).text).toBe('x'.repeat(LIMIT))
    expect(record('')).toEqual({ size: 0 })
  })

  it('shows no part of a secret that the limit would cut, wherever it stands and however many stand before it', () => {
    const place = fc.integer({ min: LIMIT - 40, max: LIMIT + 4 })
    const secret = fc.constantFrom(SECRET, TOKEN, 'key_0a1b2c3d.abcdefghijkl', 'sandbox_northern-lamps')
    fc.assert(
      fc.property(
        fc.nat({ max: 3 }),
        place,
        secret,
        fc.constantFrom(String, percent, unicode),
        fc.boolean(),
        (before, start, each, write, isBinary) => {
          const text = `${`${each} `.repeat(before)}`.padEnd(start, '-') + write(each) + '-'.repeat(200)
          const body = record(isBinary ? Buffer.concat([Buffer.from(text), Buffer.from([0xff])]) : text)
          const kept = bytesOf(body).toString('latin1')
          expect(kept).not.toContain(write(each.slice(0, 8)))
          expect(body.isCut).toBe(true)
        },
      ),
      { seed: 5 },
    )
  })

  it('shows no part of the longest secret that a header can have, written in escapes', () => {
    const longest = 'northern-lamps-'.repeat(1_000)
    const start = '-'.repeat(LIMIT - 60)
    expect(record(start + unicode(longest), longest).text).not.toContain(unicode('north'))
  })

  it('of bytes that are no text is kept in base64, without its secrets', () => {
    const body = record(Buffer.concat([Buffer.from([0xff, 0]), Buffer.from(SECRET), Buffer.from([0x80])]))
    expect(body.text).toBeUndefined()
    expect(bytesOf(body)).toEqual(
      Buffer.concat([Buffer.from([0xff, 0]), Buffer.from('[redacted]'), Buffer.from([0x80])]),
    )
  })
})

it('A problem shows no secret, and of a long body only the beginning of its value', () => {
  const hidden = redactionOf(['Authorization', `Bearer ${SECRET}`])
  const problem = {
    code: 'invalid_name',
    field: `/${SECRET.replace('/', '~1')}`,
    value: { [SECRET]: 1 },
    about: { a: SECRET },
  }
  expect(hidden.problems([problem], 0)).toEqual([
    { code: 'invalid_name', field: '/[redacted]', value: { '[redacted]': 1 }, about: { a: '[redacted]' } },
  ])
  const value = `${'x'.repeat(490)}${SECRET}${'y'.repeat(100)}`
  const long = hidden.problems(
    [
      { code: 'invalid_name', value },
      { code: 'invalid_name', value: [1] },
    ],
    LIMIT + 1,
  )
  expect(long.map((each) => each.value)).toEqual([`${'x'.repeat(490)}[redacted]…`, '[…]'])
})

it('An object that is kept in an account shows no secret, also when it comes again', () => {
  const hidden = redactionOf(['Authorization', `Bearer ${SECRET}`])
  const group = { name: SECRET }
  expect([hidden.withinKept(group), hidden.withinKept(group)]).toEqual([{ name: '[redacted]' }, { name: '[redacted]' }])
})

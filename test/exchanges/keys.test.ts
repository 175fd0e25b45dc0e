import { describe, expect, it } from 'vitest'
import { KnownBody } from '../../src/exchanges/exchange.ts'
import {
  type HeaderFields,
  Keys,
  REDACTED,
  readFields,
  redactBody,
  writeCredentials,
} from '../../src/exchanges/keys.ts'
import { redactTarget } from '../../src/journal/redaction/redaction.ts'

/** What takes the keys out of an exchange with these fields. */
function redactorOf(target: string, fields: HeaderFields) {
  const keys = new Keys()
  const credentials = keys.credentialsOf(fields)
  return { credentials, redact: keys.redactorFor({ target, fields }) }
}

describe('A key', () => {
  it.each<[field: string | undefined, credentials: object, written: string]>([
    ['Bearer abcdefgh', { scheme: 'Bearer', key: 'key 1', isWord: true }, 'Bearer [key 1]'],
    ['Bearer two words', { scheme: 'Bearer', key: 'key 1', isWord: false }, 'Bearer [key 1: several words]'],
    ['Bearer', { scheme: 'Bearer', key: '', isWord: false }, 'Bearer'],
    ['abcdefgh', { scheme: '', key: 'key 1', isWord: true }, '[key 1]'],
  ])('that was sent as %j has a name, which can be written and read', (field, credentials, written) => {
    const keys = new Keys()
    const named = keys.credentialsOf([['AUTHORIZATION', field ?? '']])
    expect(named).toEqual({ kind: 'sent', ...credentials })
    expect(writeCredentials(named)).toBe(written)
    expect(new Keys().credentialsOf([['authorization', written]], 'a.har')).toEqual(named)
  })

  it('that a recording names is another one in each recording, and unknown where the recording hides it', () => {
    const keys = new Keys()
    const read = (written: string, recording: string) => keys.credentialsOf([['Authorization', written]], recording)
    const [one, same, other] = ['a.har', 'a.har', 'b.har'].map((recording) => read('Bearer [key 7]', recording))
    expect([one, same, other]).toMatchObject([{ key: 'key 1' }, { key: 'key 1' }, { key: 'key 2' }])
    expect(read(writeCredentials({ kind: 'unknown' }), 'a.har')).toEqual({ kind: 'unknown' })
  })

  it('is taken out of a message, and makes any other JSON unknown; what a cookie is told besides is no secret', () => {
    const { redact } = redactorOf('/', [
      ['Authorization', 'Bearer my-own-secret'],
      ['Set-Cookie', 'session=cookie-secret; Domain=shop.example; SameSite=Lax'],
    ])
    const seen = (text: string) => redactBody(new KnownBody(text), redact)
    expect(seen('["shop.example", "ü"]')).toMatchObject({ text: '["shop.example", "ü"]' })
    const told = '{"success":false,"error":{"code":"unauthorized","message":"No key \\"my-own-secret\\"."}}'
    for (const text of [told, 'a my-own-secret b']) {
      expect(seen(text)).toMatchObject({ text: text.replace('my-own-secret', '[key 1]') })
    }
    for (const text of ['"cookie-secret"', '{"name":"my-own-secret","message":"x"}']) {
      expect(seen(text)).toEqual({ isKnown: false, reason: REDACTED })
    }
  })

  it.each(['domains', 'reject', 'k'])(
    'that may be an ordinary word, such as %s, leaves everything else alone',
    (key) => {
      const fields: HeaderFields = [['Authorization', `Bearer ${key}`]]
      const { redact, credentials } = redactorOf('/domains', fields)
      expect(credentials).toEqual({ kind: 'sent', scheme: 'Bearer', key: 'key 1', isWord: true })
      expect(redactTarget('/domains?id=k', redact)).toBe('/domains?id=k')
      const body = new KnownBody('{"domains":["k"],"p":"reject"}')
      expect(redactBody(body, redact)).toBe(body)
      expect(Object.keys(readFields(fields, redact))).toEqual([])
    },
  )

  it('is taken out of an address, in any form', () => {
    const { redact } = redactorOf('/', [['Authorization', 'Bearer my-own-secret']])
    for (const text of ['/domains?id=my-own-secret', '/domains?id=my%2Down%2dsecret']) {
      expect(redactTarget(text, redact)).toBe('/domains?id=[key 1]')
    }
  })
})

describe('The header fields of an exchange', () => {
  it('have neither credentials nor cookies', () => {
    const fields: HeaderFields = [
      ['Authorization', 'Bearer abcdefgh'],
      ['Cookie', 'a=bcdefghijk'],
      ['Set-Cookie', 'a=bcdefghijk'],
      ['X-Api-Key', 'abcdefgh'],
      ['WWW-Authenticate', 'Bearer'],
      ['Accept', 'a'],
      ['accept', 'b'],
    ]
    expect(Object.entries(readFields(fields, redactorOf('/', fields).redact))).toEqual([
      ['x-api-key', '[redacted]'],
      ['www-authenticate', 'Bearer'],
      ['accept', 'a, b'],
    ])
  })
})

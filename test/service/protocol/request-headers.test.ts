import { gzipSync } from 'node:zlib'
import { describe, expect } from 'vitest'
import { ask, it } from '../../support/example-service.ts'
import { API_KEY } from '../../support/service.ts'
import { AUTHORIZED, codeOf, exchange, type Header, headerOf, messageOf } from '../../support/wire.ts'
import { DOMAINS, post } from './requests.ts'

describe('The header Authorization', () => {
  const UNKNOWN: Header = ['Authorization', 'Bearer unknown']
  const given = (value: string): Header[] => [['Authorization', value]]

  it.for<[what: string, headers: Header[]]>([
    ['as it should be', [AUTHORIZED]],
    ['in lower case', [['authorization', `Bearer ${API_KEY}`]]],
    ['with white space around its value', given(` \t Bearer ${API_KEY} \t `)],
    ['before another one', [AUTHORIZED, UNKNOWN]],
    ['behind a thousand small headers', [...Array<Header>(1_000).fill(['A', '']), AUTHORIZED]],
  ])('is accepted %s', async ([, headers], { empty }) => {
    expect((await exchange(empty, { target: DOMAINS, headers })).status).toBe(200)
  })

  it('is refused in every other form, and a header of another name, too', async ({ empty }) => {
    const values = [
      ...['', 'Bearer', 'Bearer ', API_KEY, `bearer ${API_KEY}`, `BEARER ${API_KEY}`, `Bearer\t${API_KEY}`],
      ...[`Bearer  ${API_KEY}`, `Bearer${API_KEY}`, `Bearer: ${API_KEY}`, `Token ${API_KEY}`, `Bearer "${API_KEY}"`],
      ...[`Basic ${Buffer.from(`${API_KEY}:`).toString('base64')}`, `Bearer ${API_KEY}, Bearer ${API_KEY}`],
      ...[`Bearer ${API_KEY.toLowerCase()}`, `Bearer ${API_KEY.slice(0, -1)}`, `Bearer ${'x'.repeat(8000)}`],
      'Bearer schlüssel',
    ]
    const others: Header[][] = [
      ...[[], [UNKNOWN, AUTHORIZED], [['X-API-Key', API_KEY] as const]],
      [['Proxy-Authorization', `Bearer ${API_KEY}`]],
    ]
    for (const headers of [...values.map(given), ...others]) {
      const response = await exchange(empty, { target: DOMAINS, headers })
      expect([response.status, codeOf(response)], JSON.stringify(headers)).toEqual([401, 'unauthorized'])
      expect(headerOf(response, 'WWW-Authenticate')).toBe('Bearer')
    }
  })

  it('cannot be replaced by the query', async ({ empty }) => {
    const target = `${DOMAINS}?api_key=${API_KEY}&access_token=${API_KEY}`
    expect((await exchange(empty, { target, headers: [] })).status).toBe(401)
  })
})

describe('The header Content-Type', () => {
  const body = '{"domains":["new.example"]}'

  const TYPE = 'application/json'

  const SAME = [
    TYPE,
    'Application/JSON',
    `${TYPE};charset=utf-8`,
    `${TYPE}; charset="UTF-8"`,
    `${TYPE} ; Charset=utf-8`,
  ]
  it.for(SAME)('may be %s', async (type, { empty }) => {
    const headers: Header[] = [AUTHORIZED, ['Content-Type', type]]
    expect((await exchange(empty, { method: 'POST', target: DOMAINS, headers, body })).status).toBe(200)
  })

  it('may not be another', async ({ empty }) => {
    for (const type of [
      ...['', 'json', 'text/json', 'text/plain', `${TYPE}x`, `${TYPE}5`, 'application/vnd.api+json', '*/*'],
      ...['application/merge-patch+json', `${TYPE}, text/plain`, `${TYPE}; charset=latin1`, `${TYPE}; charset=utf-16`],
      ...['multipart/form-data; boundary=x', 'application/x-www-form-urlencoded'],
    ]) {
      const headers: Header[] = [AUTHORIZED, ['Content-Type', type]]
      const response = await exchange(empty, { method: 'POST', target: DOMAINS, headers, body })
      expect(codeOf(response), type).toBe('invalid_request_body')
      expect(messageOf(response)).toContain('Content-Type')
    }
  })

  it('is no matter without a body to read', async ({ service }) => {
    const headers: Header[] = [AUTHORIZED, ['Content-Type', 'text/plain']]
    expect((await exchange(service, { target: DOMAINS, headers })).status).toBe(200)
    expect(
      (await ask(service, 'DELETE /domaingroups?id={Sales}', undefined, { 'content-type': 'text/plain' })).status,
    ).toBe(200)
  })
})

describe('The header Content-Encoding', () => {
  const body = '{"domains":["new.example"]}'

  it.for([
    ['gzip', 'of what is compressed so', gzipSync(body)],
    ['gzip', 'of what is not', Buffer.from(body)],
    ['GZIP', 'in upper case', gzipSync(body)],
    ['br', 'of what is not', Buffer.from(body)],
    ['x-unknown', 'of anything', Buffer.from(body)],
    ['identity, gzip', 'in two steps', gzipSync(body)],
  ] as const)('may not be %s %s', async ([coding, , bytes], { empty }) => {
    const response = await post(empty, DOMAINS, bytes, ['Content-Encoding', coding])
    expect(codeOf(response)).toBe('invalid_request_body')
    expect(messageOf(response)).toContain(`Content-Encoding, which "${coding}" is`)
  })

  it('may be identity, which is none', async ({ empty }) => {
    expect((await post(empty, DOMAINS, body, ['Content-Encoding', 'identity'])).status).toBe(200)
  })
})

describe('The header Expect', () => {
  it.for(['nonsense', '200-ok', ''])('%j changes nothing', async (expectation, { empty }) => {
    const response = await post(empty, DOMAINS, '{"domains":["new.example"]}', ['Expect', expectation])
    expect(response.status).toBe(200)
    const read = await exchange(empty, { target: DOMAINS, headers: [AUTHORIZED, ['Expect', expectation]] })
    expect(read.status).toBe(200)
  })
})

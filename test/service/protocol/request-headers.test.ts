import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { ACCOUNT, pathOf } from '../../support/account.ts'
import { API_KEY, startService } from '../../support/service.ts'
import {
  AUTHORIZED,
  Connection,
  codeOf,
  exchange,
  type Header,
  headerOf,
  JSON_BODY,
  messageOf,
  requestBytes,
} from '../../support/wire.ts'
import { DOMAINS, GROUPS, post } from './requests.ts'

describe('The header Authorization', () => {
  const UNKNOWN: Header = ['Authorization', 'Bearer unknown']

  it.each<[what: string, headers: Header[]]>([
    ['as it should be', [AUTHORIZED]],
    ['in lower case', [['authorization', `Bearer ${API_KEY}`]]],
    ['with white space around its value', [['Authorization', ` \t Bearer ${API_KEY} \t `]]],
    ['before another one', [AUTHORIZED, UNKNOWN]],
  ])('is accepted %s', async (_, headers) => {
    const service = await startService()
    expect((await exchange(service, { target: DOMAINS, headers })).status).toBe(200)
  })

  it.each<[what: string, headers: Header[]]>([
    ['absent', []],
    ['empty', [['Authorization', '']]],
    ['without a key', [['Authorization', 'Bearer']]],
    ['with a blank key', [['Authorization', 'Bearer ']]],
    ['without a scheme', [['Authorization', API_KEY]]],
    ['with the scheme in lower case', [['Authorization', `bearer ${API_KEY}`]]],
    ['with the scheme in upper case', [['Authorization', `BEARER ${API_KEY}`]]],
    ['with a tab behind the scheme', [['Authorization', `Bearer\t${API_KEY}`]]],
    ['with two spaces behind the scheme', [['Authorization', `Bearer  ${API_KEY}`]]],
    ['with no space behind the scheme', [['Authorization', `Bearer${API_KEY}`]]],
    ['with a colon behind the scheme', [['Authorization', `Bearer: ${API_KEY}`]]],
    ['with the scheme Basic', [['Authorization', `Basic ${Buffer.from(`${API_KEY}:`).toString('base64')}`]]],
    ['with the scheme Token', [['Authorization', `Token ${API_KEY}`]]],
    ['with a key in quotes', [['Authorization', `Bearer "${API_KEY}"`]]],
    ['with two keys', [['Authorization', `Bearer ${API_KEY}, Bearer ${API_KEY}`]]],
    ['with a key in other case', [['Authorization', `Bearer ${API_KEY.toLowerCase()}`]]],
    ['with half a key', [['Authorization', `Bearer ${API_KEY.slice(0, -1)}`]]],
    ['with a key of 8 KB', [['Authorization', `Bearer ${'x'.repeat(8000)}`]]],
    ['with bytes that are not ASCII', [['Authorization', 'Bearer schlüssel']]],
    ['behind another one', [UNKNOWN, AUTHORIZED]],
    ['in a header of another name', [['X-API-Key', API_KEY]]],
    ['in Proxy-Authorization', [['Proxy-Authorization', `Bearer ${API_KEY}`]]],
  ])('is refused %s', async (_, headers) => {
    const service = await startService()
    const response = await exchange(service, { target: DOMAINS, headers })
    expect([response.status, codeOf(response)]).toEqual([401, 'unauthorized'])
    expect(headerOf(response, 'WWW-Authenticate')).toBe('Bearer')
  })

  it('cannot be replaced by the query', async () => {
    const service = await startService()
    const target = `${DOMAINS}?api_key=${API_KEY}&access_token=${API_KEY}`
    expect((await exchange(service, { target, headers: [] })).status).toBe(401)
  })
})

describe('The header Content-Type', () => {
  const body = '{"domains":["new.example"]}'

  it.each([
    'application/json',
    'Application/JSON',
    'application/json;charset=utf-8',
    'application/json; charset=UTF-8',
    'application/json; charset="UTF-8"',
    'application/json ; Charset=utf-8',
  ])('may be %s', async (type) => {
    const service = await startService()
    const headers: Header[] = [AUTHORIZED, ['Content-Type', type]]
    expect((await exchange(service, { method: 'POST', target: DOMAINS, headers, body })).status).toBe(200)
  })

  it.each([
    '',
    'json',
    'text/json',
    'text/plain',
    'application/jsonx',
    'application/json5',
    'application/vnd.api+json',
    'application/merge-patch+json',
    'application/json, text/plain',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    '*/*',
  ])('may not be %j', async (type) => {
    const service = await startService()
    const headers: Header[] = [AUTHORIZED, ['Content-Type', type]]
    const response = await exchange(service, { method: 'POST', target: DOMAINS, headers, body })
    expect(codeOf(response)).toBe('invalid_request_body')
    expect(messageOf(response)).toContain('Content-Type')
  })

  it('may not be absent', async () => {
    const service = await startService()
    const response = await exchange(service, { method: 'POST', target: DOMAINS, body })
    expect(codeOf(response)).toBe('invalid_request_body')
  })

  it('is no matter without a body to read', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const headers: Header[] = [AUTHORIZED, ['Content-Type', 'text/plain']]
    expect((await exchange(service, { target: DOMAINS, headers })).status).toBe(200)
    const target = `/api/v1${await pathOf(service, 'Sales')}`
    expect((await exchange(service, { method: 'DELETE', target, headers })).status).toBe(200)
  })

  it('is application/json in every answer', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const headers: Header[] = [AUTHORIZED, ['Accept', 'text/html']]
    for (const target of [DOMAINS, '/api/v1/dmarc', GROUPS, `${GROUPS}?id=0`, '/nothing']) {
      expect(headerOf(await exchange(service, { target, headers }), 'Content-Type')).toBe('application/json')
    }
  })
})

describe('The header Content-Encoding', () => {
  const body = '{"domains":["new.example"]}'

  it.each([
    ['gzip', 'of what is compressed so', gzipSync(body)],
    ['gzip', 'of what is not', Buffer.from(body)],
    ['GZIP', 'in upper case', gzipSync(body)],
    ['br', 'of what is not', Buffer.from(body)],
    ['x-unknown', 'of anything', Buffer.from(body)],
    ['identity, gzip', 'in two steps', gzipSync(body)],
  ])('may not be %s %s', async (coding, _, bytes) => {
    const service = await startService()
    const response = await post(service, DOMAINS, bytes, ['Content-Encoding', coding])
    expect(codeOf(response)).toBe('invalid_request_body')
    expect(messageOf(response)).toContain(`Content-Encoding, which "${coding}" is`)
  })

  it('may be identity, which is none', async () => {
    const service = await startService()
    expect((await post(service, DOMAINS, body, ['Content-Encoding', 'identity'])).status).toBe(200)
  })

  it('is never in an answer, whatever the client would accept', async () => {
    const service = await startService({ fixture: 'demo' })
    const headers: Header[] = [AUTHORIZED, ['Accept-Encoding', 'gzip, br']]
    const response = await exchange(service, { target: '/api/v1/dmarc', headers })
    expect(headerOf(response, 'Content-Encoding')).toBeUndefined()
  })
})

describe('The header Expect', () => {
  it('100-continue is answered 100 before the body is sent', async () => {
    const service = await startService()
    const connection = await Connection.open(service)
    const body = '{"domains":["new.example"]}'
    const headers: Header[] = [AUTHORIZED, JSON_BODY, ['Content-Length', `${body.length}`], ['Expect', '100-continue']]
    await connection.write(requestBytes({ method: 'POST', target: DOMAINS, headers }))
    expect((await connection.next()).status).toBe(100)
    await connection.write(body)
    expect((await connection.next()).status).toBe(200)
    await connection.destroy()
  })

  it.each(['nonsense', '200-ok', ''])('%j changes nothing', async (expectation) => {
    const service = await startService()
    const response = await post(service, DOMAINS, '{"domains":["new.example"]}', ['Expect', expectation])
    expect(response.status).toBe(200)
    const read = await exchange(service, { target: DOMAINS, headers: [AUTHORIZED, ['Expect', expectation]] })
    expect(read.status).toBe(200)
  })
})

import { describe, expect, it } from 'vitest'
import { ACCOUNT, pathOf, stateOf } from '../../support/account.ts'
import { startService } from '../../support/service.ts'
import {
  AUTHORIZED,
  bodyOf,
  CLOSE,
  chunked,
  codeOf,
  exchange,
  type Header,
  JSON_BODY,
  messageOf,
  readResponses,
  requestBytes,
} from '../../support/wire.ts'
import { DOMAINS, expectHealthy, GROUPS, post } from './requests.ts'

describe('The body', () => {
  it.each([
    ['a byte that begins nothing', Buffer.from([0xff])],
    ['half a character', Buffer.from([0xc3])],
    ['an overlong character', Buffer.from([0xc0, 0xaf])],
    ['a surrogate', Buffer.from([0xed, 0xa0, 0x80])],
    ['a character beyond Unicode', Buffer.from([0xf4, 0x90, 0x80, 0x80])],
  ])('is no JSON with %s, which is not UTF-8', async (_, bytes) => {
    const service = await startService()
    const body = Buffer.concat([Buffer.from('{"name":"'), bytes, Buffer.from('"}')])
    expect(codeOf(await post(service, GROUPS, body))).toBe('invalid_json')
  })

  it.each([
    ['a byte order mark', Buffer.from('\ufeff{"name":"Sales"}')],
    ['UTF-16', Buffer.from('{"name":"Sales"}', 'utf16le')],
    ['NUL behind it', Buffer.from('{"name":"Sales"}\0')],
    ['a line feed in a string', Buffer.from('{"name":"Sa\nles"}')],
    ['a comment', Buffer.from('{"name":"Sales"} // x')],
    ['hexadecimal numbers', Buffer.from('{"name":0x5}')],
    ['a single opening bracket', Buffer.from('{')],
    ['100,000 opening brackets', Buffer.from('['.repeat(100_000))],
  ])('is no JSON with %s', async (_, body) => {
    const service = await startService()
    expect(codeOf(await post(service, GROUPS, body))).toBe('invalid_json')
  })

  it('may be surrounded by the white space of JSON', async () => {
    const service = await startService()
    expect((await post(service, GROUPS, '\r\n\t {"name":"Sales"} \r\n')).status).toBe(200)
  })

  it('may spell characters as escapes', async () => {
    const service = await startService()
    const response = await post(service, GROUPS, '{"n\\u0061me":"\\u0053ales \\ud83d\\ude00"}')
    expect(bodyOf(response)?.data).toMatchObject({ group: { name: 'Sales 😀' } })
  })

  it('means the last of several fields with one name', async () => {
    const service = await startService()
    const response = await post(service, GROUPS, '{"name":"One","name":5,"name":"Two"}')
    expect(bodyOf(response)?.data).toMatchObject({ group: { name: 'Two' } })
    expect(codeOf(await post(service, GROUPS, '{"name":"Three","name":5}'))).toBe('invalid_field_type')
  })

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'length', ''])(
    'may not have the field %j, and nothing comes of it',
    async (field) => {
      const service = await startService({ fixture: ACCOUNT })
      const before = await stateOf(service)
      for (const value of [{ polluted: true }, null, 1]) {
        const response = await post(service, GROUPS, `{"name":"x",${JSON.stringify(field)}:${JSON.stringify(value)}}`)
        expect(codeOf(response)).toBe('unknown_field')
        expect(messageOf(response)).toBe(`The field \`${field}\` is not supported.`)
      }
      expect(await stateOf(service)).toEqual(before)
      expect('polluted' in {}).toBe(false)
    },
  )

  it('does not find a required field in a prototype', async () => {
    const service = await startService()
    expect(codeOf(await post(service, GROUPS, '{"__proto__":{"name":"x"}}'))).toBe('unknown_field')
    expect((await stateOf(service)).groups).toEqual([])
  })

  it.each([
    ['of 100,000 arrays', 'invalid_request_body', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['of 100,000 objects', 'unknown_field', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['in a field', 'invalid_field_type', `{"domains":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['in another', 'unknown_field', `{"domains":["x"],"notes":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ])('may be as deep as it likes, %s, and is answered `%s`', async (_, code, body) => {
    const service = await startService()
    expect(codeOf(await post(service, DOMAINS, body))).toBe(code)
    await expectHealthy(service)
  })

  it.each([
    ['beyond the largest', '1e999'],
    ['beyond the smallest', '-1e999'],
    ['of 1000 digits', '9'.repeat(1000)],
    ['next to nothing', '1e-999'],
    ['that is minus zero', '-0'],
  ])('may hold a number %s', async (_, number) => {
    const service = await startService()
    const response = await post(service, DOMAINS, `{"domains":[${number}]}`)
    expect(messageOf(response)).toBe('`domains[0]` must be of type string, not number.')
  })

  it('may hold a field whose name has the characters of a JSON pointer', async () => {
    const service = await startService()
    const response = await post(service, GROUPS, '{"name":"x","a/b~c":1}')
    expect(messageOf(response)).toBe('The field `a/b~c` is not supported.')
  })

  it('may hold a thousand unsupported fields, of which one is named', async () => {
    const service = await startService()
    const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x${index}`, index]))
    const response = await post(service, GROUPS, JSON.stringify(fields))
    expect(messageOf(response)).toBe('The field `x0` is not supported.')
  })

  it('may hold lone surrogates where any text may be, and as a pair in a name', async () => {
    const service = await startService()
    const created = await post(service, GROUPS, '{"name":"\\ud83d\\ude00"}')
    expect(created.text).toContain('"name":"😀"')
    const refused = await post(service, GROUPS, '{"name":"\\ud83d x \\ude00"}')
    expect(messageOf(refused)).toBe('`name` must be Unicode text, and U+D83D is only half of a surrogate pair.')
    const { status } = await service.send('PATCH', await pathOf(service, '😀'), '{"remove_domains":["\\ud83d"]}')
    expect(status).toBe(200)
  })

  it('may hold any text in a name, which comes back as it was', async () => {
    const service = await startService({ enforceQuotas: false })
    for (const name of [
      '"\\/',
      '\b\f\n\r\tx',
      '\u0001\u001f\u007f',
      '<b>&amp;',
      '\u2028\u2029x',
      '$& {field}',
      '__proto__',
    ]) {
      expect((await service.send('POST', '/domaingroups', { name })).body.data.group.name).toBe(name)
      expect((await service.get(await pathOf(service, name))).body.data.group.name).toBe(name)
    }
  })

  it.each(['nonsense', '{"domains":5}', ''])('of GET is ignored: %j', async (body) => {
    const service = await startService({ fixture: ACCOUNT })
    for (const target of ['/api/v1/dmarc', DOMAINS, GROUPS]) {
      expect((await exchange(service, { target, body })).status).toBe(200)
    }
  })

  it.each(['nonsense', '{"id":"00000000"}', ''])('of DELETE /domaingroups is ignored: %j', async (body) => {
    const service = await startService({ fixture: ACCOUNT })
    const target = `/api/v1${await pathOf(service, 'Sales')}`
    expect((await exchange(service, { method: 'DELETE', target, body })).status).toBe(200)
    expect(codeOf(await exchange(service, { method: 'DELETE', target: GROUPS, body: '{"id":"x"}' }))).toBe('missing_id')
  })

  it('may come in chunks, with extensions and a trailer', async () => {
    const service = await startService()
    const body = '5;x=1\r\n{"nam\r\nb\r\ne":"Sales"}\r\n0\r\nX-Trailer: x\r\n\r\n'
    expect((await post(service, GROUPS, body, ['Transfer-Encoding', 'chunked'])).status).toBe(200)
  })

  it('may come byte by byte', async () => {
    const service = await startService()
    const body = chunked('{"name":"Café 😀"}', 1)
    const response = await post(service, GROUPS, body, ['Transfer-Encoding', 'chunked'])
    expect(bodyOf(response)?.data).toMatchObject({ group: { name: 'Café 😀' } })
  })

  it.each<[how: string, headers: Header[], body: string]>([
    ['of no length', [['Content-Length', '0']], ''],
    ['of no chunk', [['Transfer-Encoding', 'chunked']], '0\r\n\r\n'],
    ['that nothing announces', [], ''],
  ])('%s is empty', async (_, headers, body) => {
    const service = await startService()
    const request = { method: 'POST', target: GROUPS, headers: [AUTHORIZED, JSON_BODY, ...headers, CLOSE], body }
    const bytes = Buffer.from(
      requestBytes(request)
        .toString()
        .replace(/^Content-Length: 0\r\n/m, headers[0] ? '$&' : ''),
    )
    const [response] = readResponses(await service.sendRaw(bytes))
    expect(response && messageOf(response)).toBe('Request body must not be empty.')
  })
})

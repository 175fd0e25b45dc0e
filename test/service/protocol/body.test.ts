import { describe, expect } from 'vitest'
import { pathOf, stateOf } from '../../support/account.ts'
import { ask, it } from '../../support/example-service.ts'
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
  const named = (...bytes: number[]) => Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bytes), Buffer.from('"}')])

  const NO_JSON = 'Request body must contain valid JSON.'
  const NO_OBJECT = 'Request body must be a JSON object.'
  const NO_STRING = '`domains[0]` must be of type string, not number.'
  const deep = (open: string, close: string) => open.repeat(100_000) + close.repeat(100_000)
  const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x${index}`, index]))

  it.for<[what: string, body: string | Buffer, answer: string]>([
    ['a byte that begins nothing', named(0xff), NO_JSON],
    ['half a character', named(0xc3), NO_JSON],
    ['an overlong character', named(0xc0, 0xaf), NO_JSON],
    ['a surrogate', named(0xed, 0xa0, 0x80), NO_JSON],
    ['a character beyond Unicode', named(0xf4, 0x90, 0x80, 0x80), NO_JSON],
    ['a byte order mark', '\ufeff{"name":"Sales"}', NO_JSON],
    ['UTF-16', Buffer.from('{"name":"Sales"}', 'utf16le'), NO_JSON],
    ['NUL behind it', '{"name":"Sales"}\0', NO_JSON],
    ['a line feed in a string', '{"name":"Sa\nles"}', NO_JSON],
    ['a comment', '{"name":"Sales"} // x', NO_JSON],
    ['hexadecimal numbers', '{"name":0x5}', NO_JSON],
    ['a single opening bracket', '{', NO_JSON],
    ['100,000 opening brackets', '['.repeat(100_000), NO_JSON],
    ['100,000 arrays', deep('[', ']'), NO_OBJECT],
    ['100,000 objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, 'The field `a` is not supported.'],
    ['100,000 arrays in a field', `{"name":${deep('[', ']')}}`, '`name` must be of type string, not array.'],
    ['100,000 arrays in another', `{"name":"x","notes":${deep('[', ']')}}`, 'The field `notes` is not supported.'],
    ['the white space of JSON around it', '\r\n\t {"name":"Sales"} \r\n', 'Sales'],
    ['characters as escapes', '{"n\\u0061me":"\\u0053ales \\ud83d\\ude00"}', 'Sales 😀'],
    ['fields of one name, the last of which counts', '{"name":"One","name":5,"name":"Two"}', 'Two'],
    ['a bad field last', '{"name":"Three","name":5}', '`name` must be of type string, not number.'],
    [
      'half of a pair',
      '{"name":"\\ud83d x"}',
      '`name` must be Unicode text, and U+D83D is only half of a surrogate pair.',
    ],
    ['the characters of a JSON pointer', '{"name":"x","a/b~c":1}', 'The field `a/b~c` is not supported.'],
    [
      'a thousand unsupported fields, of which one is named',
      JSON.stringify(fields),
      'The field `x0` is not supported.',
    ],
    ...['1e999', '-1e999', '9'.repeat(1000), '1e-999', '-0'].map(
      (number) => ['any number', `{"name":"x","domains":[${number}]}`, NO_STRING] as [string, string, string],
    ),
  ])('is read, or refused with a reason: %s', async ([, body, answer], { empty }) => {
    const response = await post(empty, GROUPS, body)
    const data = bodyOf(response)?.data as { group: { name: string } } | undefined
    expect(messageOf(response) ?? data?.group.name).toBe(answer)
    await expectHealthy(empty)
  })

  const INHERITED = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'length', '']
  it.for(INHERITED)('may not have the field %j, and nothing comes of it', async (field, { service }) => {
    const before = await stateOf(service)
    for (const value of [{ polluted: true }, null, 1]) {
      const response = await post(service, GROUPS, `{"name":"x",${JSON.stringify(field)}:${JSON.stringify(value)}}`)
      expect(codeOf(response)).toBe('unknown_field')
      expect(messageOf(response)).toBe(`The field \`${field}\` is not supported.`)
    }
    expect(await stateOf(service)).toEqual(before)
    expect('polluted' in {}).toBe(false)
  })

  it('may hold lone surrogates where any text may be', async ({ service }) => {
    expect((await ask(service, 'PATCH /domaingroups?id={Sales}', '{"remove_domains":["\\ud83d"]}')).status).toBe(200)
  })

  it('may hold any text in a name, which comes back as it was', async () => {
    const service = await startService({ enforceQuotas: false })
    const [control, separators] = ['\b\f\n\r\tx', '\u2028\u2029x']
    for (const name of ['"\\/', control, '\u0001\u001f\u007f', '<b>&amp;', separators, '$& {field}', '__proto__']) {
      expect((await service.send('POST', '/domaingroups', { name })).body.data.group.name).toBe(name)
      expect((await service.get(await pathOf(service, name))).body.data.group.name).toBe(name)
    }
  })

  it('of GET and of DELETE /domaingroups is ignored', async ({ service }) => {
    const large = ' '.repeat(1_048_577)
    for (const body of ['nonsense', '{"domains":5}', '', large]) {
      for (const target of ['/api/v1/dmarc', DOMAINS, GROUPS]) {
        expect((await exchange(service, { target, body })).status).toBe(200)
      }
    }
    const removal = { method: 'DELETE', target: GROUPS, body: '{"id":"x"}' }
    expect(codeOf(await exchange(service, removal))).toBe('missing_id')
    expect((await ask(service, 'DELETE /domaingroups?id={Sales}', large)).status).toBe(200)
  })

  it('may come in chunks, with extensions and a trailer', async ({ empty }) => {
    const body = '5;x=1\r\n{"nam\r\nb\r\ne":"Sales"}\r\n0\r\nX-Trailer: x\r\n\r\n'
    expect((await post(empty, GROUPS, body, ['Transfer-Encoding', 'chunked'])).status).toBe(200)
  })

  it('may come byte by byte', async ({ empty }) => {
    const body = chunked('{"name":"Café 😀"}', 1)
    const response = await post(empty, GROUPS, body, ['Transfer-Encoding', 'chunked'])
    expect(bodyOf(response)?.data).toMatchObject({ group: { name: 'Café 😀' } })
  })

  it.for<[how: string, headers: Header[], body: string]>([
    ['of no length', [['Content-Length', '0']], ''],
    ['of no chunk', [['Transfer-Encoding', 'chunked']], '0\r\n\r\n'],
    ['that nothing announces', [], ''],
  ])('%s is empty', async ([, headers, body], { empty }) => {
    const request = { method: 'POST', target: GROUPS, headers: [AUTHORIZED, JSON_BODY, ...headers, CLOSE], body }
    const text = requestBytes(request).toString()
    const bytes = headers.length > 0 ? text : text.replace(/^Content-Length: 0\r\n/m, '')
    const [response] = readResponses(await empty.sendRaw(bytes))
    expect(response && messageOf(response)).toBe('Request body must not be empty.')
  })
})

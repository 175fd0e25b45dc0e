import { describe, expect } from 'vitest'
import { it } from '../../support/example-service.ts'
import {
  AUTHORIZED,
  bodyOf,
  CLOSE,
  Connection,
  chunked,
  codeOf,
  expectLawful,
  type Header,
  JSON_BODY,
  messageOf,
  readResponses,
  requestBytes,
} from '../../support/wire.ts'
import { expectHealthy, GROUPS, post } from './requests.ts'

const MEBIBYTE = 1_048_576

describe('The body', () => {
  const named = (...bytes: number[]) => Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bytes), Buffer.from('"}')])

  const NO_JSON = 'Request body must contain valid JSON.'
  const NO_STRING = '`domains[0]` must be of type string, not number.'
  const deep = (open: string, close: string) => open.repeat(100_000) + close.repeat(100_000)
  const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x${index}`, index]))

  it.for<[what: string, body: string | Buffer, answer: string]>([
    ['a byte that begins nothing', named(0xff), NO_JSON],
    ['NUL behind it', '{"name":"Sales"}\0', NO_JSON],
    ['a line feed in a string', '{"name":"Sa\nles"}', NO_JSON],
    ['100,000 objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, 'The field `a` is not supported.'],
    ['100,000 arrays in a field', `{"name":${deep('[', ']')}}`, '`name` must be of type string, not array.'],
    ['the white space of JSON around it', '\r\n\t {"name":"Sales"} \r\n', 'Sales'],
    ['characters as escapes', '{"n\\u0061me":"\\u0053ales \\ud83d\\ude00"}', 'Sales 😀'],
    ['a bad field last of two', '{"name":"Three","name":5}', '`name` must be of type string, not number.'],
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

describe('The size of a body', () => {
  it.for([
    ['exactly 1 MiB passes', MEBIBYTE, undefined],
    ['a byte more is refused', MEBIBYTE + 1, 'request_too_large'],
  ] as const)(
    'may be unknown until the last chunk: %s, and the connection goes on',
    async ([, size, code], { empty }) => {
      const connection = await Connection.open(empty)
      const body = chunked('{"domains":["one.example"]}'.padEnd(size))
      const headers = [AUTHORIZED, JSON_BODY, ['Transfer-Encoding', 'chunked'] as const]
      const request = { method: 'POST', target: '/api/v1/domains', headers, body }
      await connection.write(requestBytes(request))
      const response = await connection.next()
      expectLawful(empty, request, response)
      expect(codeOf(response)).toBe(code)
      await connection.write(requestBytes({ target: '/api/v1/domains' }))
      expect((await connection.next()).status).toBe(200)
      await connection.destroy()
    },
  )
})

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HarError } from '../../../src/exchanges/har/file.ts'
import type { Json } from '../../../src/ground/json.ts'
import { type EntryOptions, entryOf, harOf } from '../../support/recorded.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { BODY, expectBody, fieldsOf, readEntries, readEntry, readFiles, readText, withKey } from './reading.ts'

const kindsOf = async (...values: (string | undefined)[]) => {
  const { read, secrets } = await readEntries(...values.map((value, index) => withKey(100 * index, value)))
  return { kinds: read.map(({ request }) => request.credentials.kind), secrets }
}
const REAL = 'Bearer abcdefghijklmnop1234'

describe('A key', () => {
  it('that was replaced is unknown', async () => {
    const replaced = [
      ...['[REDACTED]', 'REDACTED', '[Authorization redacted]', '<removed>', '***', 'xxxx', '', ' ', 'Bearer', '-'],
      ...['Bearer <removed>', 'Bearer ***', 'Bearer [REDACTED]', 'Bearer xxxxxxxxxxxx', 'Bearer REDACTED', 'Bearer …'],
      ...['Bearer <token>', 'Bearer {{api_key}}', 'Bearer $TOKEN', 'Bearer YOUR_API_KEY', 'Bearer abc***xyz'],
      ...['Bearer abcd...wxyz', '[sanitized]', '__REDACTED__', '*** removed ***', 'Header value removed', '"masked"'],
      ...[
        '5f4dcc3b5aa765d61d8327deb882cf99',
        'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      ],
      ...['Bearer REDACTED_BY_HAR_SANITIZER', 'Basic [redacted]', '•••••••', 'bearer '],
    ]
    const unknown = replaced.map(() => 'unknown')
    expect(await kindsOf(...replaced, 'null')).toEqual({ kinds: [...unknown, 'unknown'], secrets: ['null'] })
    expect((await kindsOf(...replaced, REAL)).kinds).toEqual([...unknown, 'sent'])
  })

  it('that is missing is known to be missing only where the recording shows another one', async () => {
    expect((await kindsOf(undefined, REAL)).kinds).toEqual(['none', 'sent'])
    expect((await kindsOf(undefined, 'abcdef')).kinds).toEqual(['unknown', 'unknown'])
    expect((await kindsOf(undefined, '[REDACTED]')).kinds).toEqual(['unknown', 'unknown'])
  })

  it('is not taken for a replacement', async () => {
    const keys = [
      'Bearer 5f4dcc3b5aa765d61d8327deb882cf99',
      'Bearer Redwood-1234',
      'Bearer two words',
      'Token abcdefgh',
    ]
    expect((await kindsOf(...keys, REAL)).kinds).toEqual([...keys, REAL].map(() => 'sent'))
  })
})

describe('A header field', () => {
  it.each(['[REDACTED]', '***', 'xxxxxxxx-xxxx', '00000000-0000-0000-0000-000000000000', '<hidden>', 'redacted'])(
    'that was replaced by %j is hidden, and names no exchange',
    async (value) => {
      const replaced = value === 'xxxxxxxx-xxxx' ? 'xxxxxxxx' : value
      const fields = { 'Content-Type': 'application/json', 'X-Request-Id': replaced, 'X-RateLimit-Limit': replaced }
      const request = fieldsOf({ a: 'b', Origin: replaced, 'X-Api-Key': replaced })
      const exchange = await readEntry({ response: fieldsOf(fields), request })
      expect(exchange).toMatchObject({
        id: 'entry 1',
        request: { headers: { a: 'b' }, hidden: ['origin', 'x-api-key'] },
        response: { hidden: ['x-request-id', 'x-ratelimit-limit'] },
      })
      expect({ ...exchange?.response?.headers }).toEqual({ 'content-type': 'application/json' })
    },
  )

  it('with an ordinary value is shown, and without any value, too', async () => {
    const fields = { Accept: '*/*', 'X-Request-Id': '', Vary: '*', Age: '000', Remaining: 29 }
    const exchange = await readEntry({ response: fieldsOf(fields) })
    const shown = { accept: '*/*', 'x-request-id': '', vary: '*', age: '000', remaining: '29' }
    expect({ ...exchange?.response?.headers }).toEqual(shown)
    expect(exchange?.response).not.toHaveProperty('hidden')
  })

  it.each<[how: string, ...pairs: [name: string, value: string][]]>([
    ['two fields', ['X-RateLimit-Limit', '30'], ['x-ratelimit-limit', '30']],
    ['lines of one', ['X-RateLimit-Limit', '30\n30']],
  ])('that came twice, as %s, is shown as it came', async (_, ...pairs) => {
    const headers = pairs.map(([name, value]) => ({ name, value }))
    expect((await readEntry({ response: { headers } }))?.response?.headers['x-ratelimit-limit']).toBe('30, 30')
  })

  it('may be the property of an object, and its name that of one of all objects', async () => {
    const exchange = await readEntry({ response: { headers: JSON.parse('{"__proto__":"a","constructor":"b"}') } })
    expect(Object.entries(exchange?.response?.headers ?? {})).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ])
  })

  it('of the service is hidden in a recording that has only those that a browser shows to the script of a page', async () => {
    const response = fieldsOf({ 'content-type': 'application/json', 'Content-Length': '49', Expires: '0' })
    const hidden = ['x-request-id', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']
    expect((await readEntries({ response }, { response, after: 9 })).read.map((each) => each.response?.hidden)).toEqual(
      [hidden, hidden],
    )
    const dated = fieldsOf({ 'content-type': 'application/json', Date: 'Thu, 15 Jan 2026 09:30:00 GMT' })
    const { read } = await readEntries({ response }, { response: dated, after: 9 })
    for (const each of read) expect(each.response).not.toHaveProperty('hidden')
  })

  it('that a browser sent for a new version is hidden where only the answer tells that it was sent', async () => {
    const hidden = ['if-none-match', 'if-modified-since']
    const response = { status: 304 }
    expect((await readEntry({ response }))?.request.hidden).toEqual(hidden)
    const asked = await readEntry({ response, request: fieldsOf({ 'If-None-Match': '"a"' }) })
    expect(asked?.request).not.toHaveProperty('hidden')
    expect((await readEntry({}))?.request).not.toHaveProperty('hidden')
  })

  it('about the type of a body is that of the body where it is hidden', async () => {
    const postData = { mimeType: 'application/json', text: '{}' }
    const request = { ...fieldsOf({ 'content-type': '[REDACTED]' }), postData }
    expect((await readEntry({ method: 'POST', request }))?.request.headers['content-type']).toBe('application/json')
  })
})

describe('A body', () => {
  it('of which the recording hides how it was read is unknown', async () => {
    const request = { ...fieldsOf({ 'content-encoding': '[REDACTED]' }), postData: { text: '{}' } }
    expectBody((await readEntry({ method: 'POST', request }))?.request.body, /hides the type/)
  })

  it.each([
    ...['[REDACTED]', '***', '[application/json redacted]', '<body removed>', '{"name": [REDACTED]}'],
    ...['{"name":"[REDACTED]"}', '{"domains":["a.example","***"]}', '{"id":"xxxx"}', '{"a":{"b":"[name redacted]"}}'],
    ...['{"name":"REDACTED"}', '{"id":"<masked>"}', '{"name":"__REDACTED__"}'],
  ])('that is %s is unknown, in a request and in a response', async (text) => {
    const size = Buffer.byteLength(text)
    const request = { ...fieldsOf({ 'content-type': 'application/json' }), postData: { mimeType: 'a', text } }
    const exchange = await readEntry({ method: 'POST', request, content: { text, size } })
    expectBody(exchange?.request.body, /was blacked out/)
    expectBody(exchange?.response?.body, /was blacked out/)
  })

  it.each([
    ...['{"message":"The domain was removed."}', '{"name":"xxx"}', '{"name":"Removed"}', '{"id":"0000"}', '{"*":"**"}'],
    ...['{"message":"No redacted key, such as ***abc."}', '{"domains":["hidden.example"]}'],
  ])('that is %s is known', async (text) => {
    expectBody((await readEntry({ content: { text, size: Buffer.byteLength(text) } }))?.response?.body, text)
  })

  const chunked = fieldsOf({ 'transfer-encoding': 'chunked' })
  const NOTHING = { text: '', size: 0 }
  const gzipped = fieldsOf({ 'Content-Encoding': 'gzip', 'Content-Length': '60' })
  const base64 = (bytes: Buffer) => ({ size: bytes.length, text: bytes.toString('base64'), encoding: 'base64' })

  it.each<[what: string, content: Json, response: Json | undefined, body: string | RegExp]>([
    ['an empty text of a chunked response', NOTHING, chunked, /does not have the body/],
    ['an empty text without a length', NOTHING, undefined, /does not have the body/],
    ['an empty text of a failed response', NOTHING, { _error: 'net::ERR_FAILED' }, /broken off/],
    ['half a text of a failed response', { text: '{"a', size: 3 }, { _failureText: 'x' }, /broken off/],
    ['an empty text of the length 0', NOTHING, fieldsOf({ 'content-length': '0' }), ''],
    ['JSON that is called base64', { text: BODY, size: 50, encoding: 'base64' }, undefined, BODY],
    ['gzip that was taken for text', { text: gzipSync(BODY).toString(), size: 50 }, undefined, /lost characters/],
    ['base64', base64(Buffer.from(BODY)), undefined, BODY],
    ['a text that was gzip', { size: 50, text: BODY }, gzipped, BODY],
    ['base64 that is gzip', base64(gzipSync(BODY)), gzipped, BODY],
    ['half of the text', { size: 50, text: BODY.slice(0, 20) }, undefined, /does not have all bytes/],
    ['half of the text and dots', { size: 23, text: `${BODY.slice(0, 20)}...` }, undefined, /does not have all bytes/],
    ['half of the text and an ellipsis', { text: `${BODY.slice(0, 20)} …\n` }, undefined, /does not have all bytes/],
    ['a text with dots at its end', { size: 9, text: 'Wait a bit...' }, undefined, 'Wait a bit...'],
    ['base64 that is not called so', { size: 50, text: Buffer.from(BODY).toString('base64') }, undefined, BODY],
    ['a word that looks like base64', { size: 8, text: 'eyelines' }, undefined, 'eyelines'],
    ['no body by its status', { text: undefined }, { status: 204 }, ''],
    ['JSON in place of its text', { text: { success: true }, size: 50 }, undefined, /does not have the body/],
    ['nothing at all', { text: undefined, size: undefined }, { content: null }, /does not have the body/],
  ])('of a response is read from %s', async (_, content, response, body) => {
    expectBody((await readEntry({ content, response: response ?? {} }))?.response?.body, body)
  })

  it('of a request is unknown where the text is empty and its length is not 0', async () => {
    const request = {
      ...fieldsOf({ 'content-type': 'application/json', 'content-length': '20' }),
      postData: { text: '' },
    }
    expectBody((await readEntry({ method: 'POST', request }))?.request.body, /does not have the body/)
  })
})

it('A method is spelled by the recorder, but for PATCH, which clients send as it is written', async () => {
  const written = ['get', 'Delete', 'options', 'patch', 'PATCH']
  const { read } = await readEntries(...written.map((method, index) => ({ method, after: index })))
  expect(read.map(({ request }) => request.method)).toEqual(['GET', 'DELETE', 'OPTIONS', 'patch', 'PATCH'])
})

it('An answer that no service gave is left out, but not one that a service worker has from the network', async () => {
  const worker = (source: string) => ({ _fetchedViaServiceWorker: true, _serviceWorkerResponseSource: source })
  const { size, tally } = await readEntries(
    { after: 1, more: { _fromCache: 'memory' } },
    { after: 2, more: { _fetchType: 'Disk Cache' } },
    { after: 3, more: { _wasFulfilled: true } },
    { after: 4, response: worker('fallback-code') },
    { after: 5, response: worker('network') },
  )
  expect({ size, ...tally }).toMatchObject({ size: 1, cache: 2, fulfilled: 2 })
})

describe('An answer that a browser had already', () => {
  const PLAYWRIGHT = { _transferSize: 0, headersSize: 427, bodySize: -427 }
  const FIREFOX = { cache: { afterRequest: {} } }
  const FIREBUG = { cache: { beforeRequest: { lastAccess: '', eTag: '', hitCount: 1 } } }

  it.each<[what: string, entry: EntryOptions, isCached?: boolean]>([
    ['Playwright', { response: PLAYWRIGHT }, true],
    ['Firefox', { more: FIREFOX }, true],
    ['Firebug', { more: FIREBUG }, true],
    ['that was asked whether it is still right', { response: { status: 304 }, more: FIREBUG }],
    ['no state of a cache', { more: { cache: { beforeRequest: null, afterRequest: null } } }],
    ['to a write', { method: 'POST', response: PLAYWRIGHT }],
    ['to HEAD', { method: 'HEAD', response: PLAYWRIGHT, content: { size: 0 } }],
    ['of only a header', { response: { ...PLAYWRIGHT, status: 204 }, content: { size: 0, text: '' } }],
    ['a size that is not known', { response: { _transferSize: -1 } }],
    ['a size of the body alone', { response: { _transferSize: 0, bodySize: 49 } }],
    ['a worker that asked for it', { response: { ...PLAYWRIGHT, _fetchedViaServiceWorker: true } }],
  ])('is left out only where that is certain: %s', async (_, entry, isCached = false) => {
    const { tally } = await readEntries({ response: { _transferSize: 500 } }, { ...entry, after: 50 })
    expect(tally.cache).toBe(isCached ? 1 : 0)
  })

  it.each([{ response: PLAYWRIGHT }, { more: FIREFOX }])(
    'is not known where a recorder writes the same for every entry: %j',
    async (entry) => {
      expect(await readEntries(entry, { ...entry, after: 50 })).toMatchObject({ size: 2, tally: { cache: 0 } })
    },
  )
})

describe('An exchange that is recorded twice', () => {
  const id = fieldsOf({ 'content-type': 'application/json', 'x-request-id': 'one' })
  const counted = (left: number) => ({ headers: [...id.headers, { name: 'X-RateLimit-Remaining', value: left }] })
  const dated = (second: number) => ({ headers: [...id.headers, { name: 'Date', value: `second ${second}` }] })
  const worker = { _serviceWorkerRef: 'worker@1' }
  const empty = { text: '', size: 0 }
  const page = { _fetchedViaServiceWorker: true }

  it.each<[what: string, ...entries: [EntryOptions, EntryOptions]]>([
    ['by the page and its worker', { response: id }, { after: 20, response: id, content: empty, more: worker }],
    ['by its worker first', { response: id, content: empty, more: worker }, { after: 1, response: id }],
    ['by Chrome', { response: { ...id, ...page }, time: 90 }, { after: 20, response: id }],
    ['twice in a file', { response: id }, { response: id }],
    ['by two recorders a few milliseconds apart', { response: id, time: 2 }, { after: 3, response: id, time: 2 }],
    ['by a recorder around another one', { response: id }, { after: 9, response: id, time: 2 }],
  ])('counts once, with its body: %s', async (_, one, other) => {
    const { read, tally } = await readEntries(one, other)
    expect(tally).toMatchObject({ repeated: 1, elsewhere: 0 })
    expect(read.map(({ response }) => response?.body.isKnown)).toEqual([true])
  })

  it.each<[what: string, ...entries: [EntryOptions, EntryOptions]]>([
    ['one observer has seen it twice', { response: id }, { after: 20, response: id }],
    ['one observer has seen it twice at once', { response: counted(29) }, { after: 3, response: counted(28) }],
    ['another second of the service', { response: dated(1) }, { after: 3, response: dated(2) }],
    ['another address', { response: id }, { after: 20, url: '/dmarc', response: id, more: worker }],
    ['another status', { response: id }, { after: 20, response: { ...id, status: 400 }, more: worker }],
    ['another id', { response: id }, { after: 20, more: worker }],
    ['much later', { response: id }, { after: 60_000, response: id, more: worker }],
    ['no id', { response: fieldsOf({ a: 'b' }) }, { response: fieldsOf({ a: 'b' }) }],
  ])('is two exchanges with %s', async (_, one, other) => {
    expect(await readEntries(one, other)).toMatchObject({ size: 2, tally: { repeated: 0 } })
  })

  const readAll = (...files: EntryOptions[][]) => {
    const folder = temporaryFolder()
    const paths = files.map((_, index) => join(folder, `${index}.har`))
    for (const [index, entries] of files.entries()) writeFileSync(paths[index] ?? '', harOf(entries.map(entryOf)))
    return readFiles(paths)
  }
  const unnamed = { response: fieldsOf({ 'content-type': 'application/json' }) }

  it('counts once in all files: two exports of one recording, and two recorders', async () => {
    const later = { ...unnamed, after: 500 }
    const files = [
      [{ response: id }, later],
      [{ response: id }, later, { ...later, url: '/dmarc' }],
      [{ after: 3, time: 10, response: id }],
    ]
    expect(await readAll(...files)).toMatchObject({ size: 3, tally: { repeated: 3 } })
    expect(await readAll([unnamed], [unnamed])).toMatchObject({ size: 1, tally: { repeated: 1 } })
  })

  it('is not known by its time in a file in which all entries have the same', async () => {
    const timeless = [unnamed, { ...unnamed, method: 'POST' }]
    expect(await readAll(timeless, timeless)).toMatchObject({ size: 4, tally: { repeated: 0 } })
    expect(await readAll(timeless, [unnamed])).toMatchObject({ size: 3, tally: { repeated: 0 } })
  })
})

describe('A recording of this program', () => {
  const own = (...entries: EntryOptions[]) =>
    readText(harOf(entries.map(entryOf), { creator: { name: 'dmarc-understudy', version: '1' } }))

  it('shows what was sent: nothing in it was replaced, and methods are as they were', async () => {
    const { read } = await own(
      { method: 'get', request: fieldsOf({ 'x-a': '***' }), content: { text: '"***"', size: 5 } },
      { after: 9, request: fieldsOf({ Authorization: 'Bearer' }), content: { text: '', size: 0 } },
    )
    expect(read[0]?.request).toMatchObject({ method: 'get', headers: { 'x-a': '***' }, credentials: { kind: 'none' } })
    expectBody(read[0]?.response?.body, '"***"')
    expect(read[1]?.request.credentials).toMatchObject({ kind: 'sent', scheme: 'Bearer' })
    expectBody(read[1]?.response?.body, '')
    const [unasked] = (await own({ response: { status: 304, ...fieldsOf({ expires: '0' }) } })).read
    expect(unasked?.request).not.toHaveProperty('hidden')
    expect(unasked?.response).not.toHaveProperty('hidden')
  })

  it('has each exchange once: what is in it twice was sent twice', async () => {
    const response = fieldsOf({ 'x-request-id': 'one' })
    expect(await own({ response }, { after: 1, response })).toMatchObject({ size: 2, tally: { repeated: 0 } })
  })
})

describe('Any text', () => {
  const BASE = [
    entryOf({ more: { serverIPAddress: '192.0.2.1', _fetchType: 'Network Load' } }),
    entryOf({
      after: 40,
      method: 'POST',
      request: { postData: { mimeType: 'application/json', text: '{"domains":[]}' } },
    }),
    entryOf({ after: 80, response: fieldsOf({ 'content-encoding': 'gzip' }), content: { encoding: 'base64' } }),
    entryOf({ after: 90, request: fieldsOf({ authorization: '[REDACTED]' }), more: { _serviceWorkerRef: 'a' } }),
  ]
  const anything = fc.oneof(
    fc.constantFrom<unknown>(
      undefined,
      null,
      0,
      -1,
      1e308,
      '',
      '***',
      'get',
      true,
      [],
      {},
      [null],
      'x'.repeat(300),
      '\ud800',
    ),
    fc.constantFrom(JSON.parse('{"__proto__":{"headers":[],"name":"a"}}'), [{ name: 'content-length', value: 5 }]),
    fc.jsonValue(),
  )

  it('becomes exchanges, or a sentence of one line: nothing in it is believed', async () => {
    const path = join(temporaryFolder(), 'a.har')
    const whole = harOf(BASE)
    const part = fc.constantFrom('', '"', '}', ']', '{', '\\', '\0', ',')
    const change = fc.tuple(fc.nat(400), anything)
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 4 }), fc.nat(9000), part, async (changes, at, instead) => {
        const text = changes.reduce((former, [place, value]) => {
          let left = place
          return JSON.stringify(JSON.parse(former, (_, each) => (left-- === 0 ? value : each)) ?? null)
        }, whole)
        writeFileSync(path, text.slice(0, at) + instead + (instead && text.slice(at + 1)))
        const outcome = await readFiles([path]).catch((error: unknown) => error)
        if (outcome instanceof HarError) expect(outcome.message).not.toContain('\n')
        else expect(outcome).toMatchObject({ read: expect.any(Array), tally: { lost: expect.any(Number) } })
      }),
      { numRuns: 200 },
    )
    expect(Object.keys(Object.prototype)).toEqual([])
  })
})

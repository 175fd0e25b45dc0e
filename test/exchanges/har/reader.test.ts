import { spawnSync } from 'node:child_process'
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type EntryOptions, entryOf, harOf, RECORDED_AT } from '../../support/recorded.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { BODY, expectBody, fieldsOf, readEntries, readEntry, readFiles, readText, refusal, withKey } from './reading.ts'

describe('A HAR file', () => {
  it('becomes exchanges in the order of time, with the base path of the contract', async () => {
    const { read, baseUrl, size, tally } = await readEntries(
      { url: 'https://dmarc.example/v2/api/v1/domaingroups?id=%41', after: 900, method: 'DELETE' },
      { url: 'https://dmarc.example/v2/api/v1/domains#top', after: 100 },
      { url: 'https://dmarc.example/v2/api/v1/', after: 500 },
    )
    expect({ baseUrl, size }).toEqual({ baseUrl: 'https://dmarc.example/v2/api/v1', size: 3 })
    expect(read.map(({ at, request }) => [at - RECORDED_AT, request.target])).toEqual([
      [100, '/api/v1/domains'],
      [500, '/api/v1/'],
      [900, '/api/v1/domaingroups?id=%41'],
    ])
    expect(tally).toMatchObject({ elsewhere: 0, lost: 0, problems: [], broken: [] })
  })

  it('can be written anyhow: a mark of UTF-8, spaces, fields of other tools, escapes, entries before the creator', async () => {
    const entry = JSON.stringify(entryOf({ more: { _initiator: { stack: [[['"}]\\']]] } } }), undefined, 2)
    const other = JSON.stringify(entryOf({ after: 50 }))
    const text = `\ufeff\r\n{ "a\\"]": [{"log": {"entries": [1]}}], "log" : {"pages":[{"id":"}"}],\n"entries" :\t[\n${entry} , ${other}\n],"creator":{"name":"x"}}, "z": null }\n`
    for (const bytes of [text, Buffer.from(text, 'utf16le'), Buffer.from(text, 'utf16le').swap16()]) {
      const { read } = await readText(bytes)
      expect(read.map(({ request }) => request.method)).toEqual(['GET', 'GET'])
    }
  })

  it('leaves out and counts what was not sent to the service by the client', async () => {
    const asks = fieldsOf({ 'Access-Control-Request-Method': 'POST' })
    const others = [{ url: 'https://cdn.example/a.js' }, { url: 'wss://dmarc.example/api/v1/domains' }]
    const { size, tally } = await readEntries({}, ...others, { method: 'OPTIONS', request: asks })
    expect(size).toBe(1)
    expect(tally).toMatchObject({ elsewhere: 2, preflight: 1, lost: 0 })
  })

  it.each<[damage: string, bad: readonly string[], problems: readonly string[]]>([
    [
      'which are no entries',
      ['null', '"entry"', '{}', JSON.stringify(entryOf({ request: { method: 'G ET' } }))],
      ['3 is no object.', '4 is no object.', '5 has no request with a method and a URL.'],
    ],
    [
      'without a time',
      [undefined, null, 'yesterday', 5].map((startedDateTime) =>
        JSON.stringify(entryOf({ more: { startedDateTime } })),
      ),
      [
        '3 has no startedDateTime.',
        '4 has a startedDateTime that is no date and time: null.',
        '5 has a startedDateTime that is no date and time: "yesterday".',
      ],
    ],
    [
      'of which the group is blacked out',
      ['%5Bredacted%5D', '***'].map((id) => JSON.stringify(entryOf({ url: `/domaingroups?id=${id}` }))),
      [3, 4].map((number) => `${number} has an address of which a part was blacked out.`),
    ],
  ])('loses those in the middle %s, and marks the gap', async (_, bad, problems) => {
    const good = (after: number) => JSON.stringify(entryOf({ after }))
    const text = `{"log":{"entries":[${[good(1), good(2), ...bad, good(3), good(4)].join(',')}]}}`
    const { read, gaps, tally } = await readText(text)
    expect(read).toHaveLength(4)
    expect(gaps.slice(2)).toEqual([true, false])
    expect(tally.lost).toBe(bad.length)
    expect(tally.problems.map((problem) => problem.replace(/^.*?: Entry /, ''))).toEqual(problems)
  })

  it('loses only the entries after the place where it breaks off, wherever that is', async () => {
    const entries = [0, 50, 90].map((after) => JSON.stringify(entryOf({ after, content: { text: '"}]{\\' } })))
    const text = `{"log":{"pages":[{}],"entries":[${entries.join(',\n')}]}}`
    const ends = entries.map((entry) => text.indexOf(entry) + entry.length)
    const [first = 0, second = 0, third = 0] = ends
    for (const length of [first, first + 1, second - 1, second, second + 9, second + 700, third, third + 2]) {
      const { read, tally } = await readText(text.slice(0, length))
      const whole = ends.filter((end) => end <= length).length
      expect([length, read.length]).toEqual([length, whole])
      expect(tally.broken).toEqual([
        expect.stringMatching(new RegExp(`a\\.har breaks off: only its ${whole} whole entries are judged\\.$`)),
      ])
    }
  })

  it.each<[what: string, content: string | Buffer, reason: string]>([
    ['nothing', '', 'The file is empty.'],
    ['HTML', '\n<!doctype html>', 'This is no HAR file: it is HTML or XML.'],
    ['gzip', gzipSync('{}'), 'This is no HAR file: it is compressed with gzip; unpack it first.'],
    ['a log without entries', '{"log":{}}', 'This is no HAR file: it has no list log.entries.'],
    ['a list', '[{"log":{"entries":[]}}]', 'This is no HAR file: it has no list log.entries.'],
    ['another text', 'GET / HTTP/1.1', 'This is no HAR file: it is not JSON, or breaks off'],
    [
      'half of an entry',
      harOf([entryOf()]).slice(0, 300),
      'This is no HAR file: it is not JSON, or breaks off before its first entry ends.',
    ],
  ])('with %s is refused in one line', async (_, content, reason) => {
    expect(await refusal(readText(content))).toContain(reason)
  })

  it('has at most 256 MiB', async () => {
    const path = join(temporaryFolder(), 'a.har')
    writeFileSync(path, '{')
    truncateSync(path, (256 << 20) + 1)
    expect(await refusal(readFiles([path]))).toMatch(
      /a\.har: The file has 257 MiB; at most 256 MiB can be read; record/,
    )
  })

  it('is a regular file', async () => {
    const folder = temporaryFolder()
    const pipe = join(folder, 'pipe')
    spawnSync('mkfifo', [pipe])
    expect(await refusal(readFiles([folder]))).toContain('This is a folder; give the HAR files in it.')
    expect(await refusal(readFiles([pipe]))).toContain('This is no regular file')
    expect(await refusal(readFiles([join(folder, 'x')]))).toContain('The file cannot be read (ENOENT).')
  })
})

describe('The service', () => {
  it('is not guessed where there are two', async () => {
    const urls = ['https://a.example/api/v1/domains', 'https://b.example/api/v1/dmarc', '/domains', '/dmarc']
    expect(await refusal(readEntries(...urls.map((url) => ({ url }))))).toBe(
      'requests of the service went to https://dmarc.example/api/v1 (2 requests), https://a.example/api/v1 (1 request) and https://b.example/api/v1 (1 request); say with --base-url which one is meant',
    )
  })

  it.each([
    ['https://a.example/gateway', 'https://a.example/gateway/domains?id=1', '/api/v1/domains?id=1'],
    ['https://A.example:443/', 'https://a.example/domains', '/api/v1/domains'],
  ] as const)('%s is found in %s', async (baseUrl, url, target) => {
    const others = ['https://b.example/gateway/domains', `${baseUrl.replace(/\/$/, '')}2/domains`]
    const entries = [...others, url].map((each) => entryOf({ url: each }))
    const { read } = await readText(harOf(entries), baseUrl)
    expect(read.map(({ request }) => request.target)).toEqual([target])
  })
})

describe('The key', () => {
  it('has a name, which is the same in all files', async () => {
    const folder = temporaryFolder()
    const files = [
      [withKey(0, 'Bearer first-key'), withKey(1, 'Bearer second-key')],
      [withKey(2, 'bearer first-key'), withKey(3), withKey(4, 'first-key')],
    ]
    const paths = files.map((_, index) => join(folder, `${index}.har`))
    for (const [index, entries] of files.entries()) writeFileSync(paths[index] ?? '', harOf(entries.map(entryOf)))
    const { read } = await readFiles(paths)
    expect(read.map(({ request }) => request.credentials)).toEqual([
      { kind: 'sent', scheme: 'Bearer', key: 'key 1', isWord: true },
      { kind: 'sent', scheme: 'Bearer', key: 'key 2', isWord: true },
      { kind: 'sent', scheme: 'bearer', key: 'key 1', isWord: true },
      { kind: 'none' },
      { kind: 'sent', scheme: '', key: 'key 1', isWord: true },
    ])
  })

  it('is nowhere in an exchange, also not in one that came before it was first used', async () => {
    const secret = 'secret-of-mine'
    const first: EntryOptions = {
      url: `/domains?x=${secret}`,
      method: 'POST',
      request: {
        headers: [{ name: 'referer', value: `https://a.example/${encodeURIComponent(secret)}` }],
        postData: { mimeType: 'a', text: JSON.stringify({ name: secret }) },
      },
      response: fieldsOf({ x: secret }),
      content: { text: JSON.stringify({ key: secret }) },
    }
    const { read, secrets } = await readEntries(first, { after: 100 })
    expect(secrets).toEqual([secret])
    const text = JSON.stringify(read, (_, value) =>
      value?.type === 'Buffer' ? Buffer.from(value.data).toString() : value,
    )
    expect(text).not.toContain('secret')
    expect(text).toContain('[key 1]')
  })
})

describe('An exchange', () => {
  it.each<[what: string, started: unknown, time: unknown, more: EntryOptions['more'], span: [number, number]]>([
    ['a zone', '2026-01-15T10:00:00.5+01:00', 20, {}, [500, 520]],
    ['no zone', '2026-01-15T09:00:00', 20, {}, [0, 20]],
    ['no time', '2026-01-15T09:00:00Z', undefined, { timings: { blocked: -1, connect: 5, ssl: 3, wait: 10 } }, [0, 15]],
  ])('was sent at a time with %s', async (_, startedDateTime, time, more, [at, until]) => {
    const exchange = await readEntry({ more: { startedDateTime, time, ...more } })
    expect((exchange?.at ?? 0) - RECORDED_AT).toBeCloseTo(at, 3)
    expect((exchange?.until ?? 0) - RECORDED_AT).toBeCloseTo(until, 3)
  })

  const POST = { time: 100, method: 'POST' }

  it.each<[what: string, overlaps: boolean[], ...entries: EntryOptions[]]>([
    ['reads', [false, false], { time: 100 }, { after: 50, time: 100 }],
    ['a write during a read', [true, false], { time: 100 }, { after: 50, method: 'POST' }],
    ['one after the other', [false, false], POST, { after: 100 }],
    [
      'a long one around others',
      [false, true, true, false],
      ...[{ time: 900, method: 'DELETE' }, { after: 10 }, { after: 800 }, { after: 950 }],
    ],
    ['a write that ends a millisecond later', [false, true], { ...POST, time: 4 }, { after: 3 }],
  ])('overlaps where there are %s: %j', async (_, overlaps, ...entries) => {
    const { read } = await readEntries(...entries)
    expect(read.map((each) => each.overlaps)).toEqual(overlaps)
  })

  it.each<[what: string, response: EntryOptions['response']]>([
    ['the status 0 of an aborted request', { status: 0, headers: [] }],
    ['no header field, because the recorder left them out', { headers: [] }],
  ])('has no response with %s', async (_, response) => {
    expect(await readEntry({ response })).toMatchObject({ response: undefined })
  })

  it('is called by its request id, or by its place', async () => {
    const unnamed = { response: fieldsOf({ a: 'b' }) }
    const empty = { response: fieldsOf({ 'X-Request-Id': '' }) }
    const { read } = await readEntries({}, { ...unnamed, after: 1 }, { ...empty, after: 2 })
    expect(read.map(({ id }) => id)).toEqual(['00000000-0000-4000-8000-000000000000', 'entry 2', 'entry 3'])
  })

  const TYPE = { 'content-type': 'application/json' }

  it.each<[what: string, request: EntryOptions['request'], body: string | RegExp]>([
    ['a text', { postData: { mimeType: 'a', text: BODY } }, BODY],
    ['no body', { bodySize: 0, ...fieldsOf({ 'content-length': '0' }) }, ''],
    ['a body that is missing', { bodySize: -1, ...fieldsOf(TYPE) }, /does not have the body/],
  ])('has a request with %s', async (_, request, body) => {
    expectBody((await readEntry({ method: 'POST', request }))?.request.body, body)
  })
})

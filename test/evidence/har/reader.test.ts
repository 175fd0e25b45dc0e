import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect } from 'vitest'
import { loadContract } from '../../../src/contract/contract.ts'
import type { Exchange } from '../../../src/evidence/exchange.ts'
import { openRecording, type RecordedStep, type Recording } from '../../../src/evidence/har/reader.ts'
import { HarError } from '../../../src/evidence/har/service.ts'
import { it } from '../../support/program.ts'
import { type EntryOptions, entryOf, harOf, RECORDED_AT } from '../../support/recorded.ts'

const contract = await loadContract()
const BODY = '{"success":true,"data":{"domains":["ü.example"]}}'

interface Read extends Recording {
  read: readonly Exchange[]
  gaps: readonly boolean[]
}

async function readFiles(paths: readonly string[], baseUrl?: string): Promise<Read> {
  const recording = await openRecording(paths, { contract, baseUrl })
  try {
    const steps: RecordedStep[] = []
    for await (const step of recording.exchanges()) steps.push(step)
    return {
      ...recording,
      read: steps.map(({ exchange }) => exchange),
      gaps: steps.map(({ isAfterGap }) => isAfterGap),
    }
  } finally {
    await recording.close()
  }
}

async function readText(folder: string, text: string | Buffer, baseUrl?: string): Promise<Read> {
  const path = join(folder, 'a.har')
  writeFileSync(path, text)
  return readFiles([path], baseUrl)
}

async function readEntry(folder: string, options: EntryOptions): Promise<Exchange | undefined> {
  return (await readText(folder, harOf([entryOf(options)]))).read[0]
}

/** What is wrong with a file. */
function refusal(reading: Promise<unknown>): Promise<string> {
  return reading.then(
    () => 'nothing',
    (error) => {
      expect(error).toBeInstanceOf(HarError)
      expect(error.message).not.toContain('\n')
      return error.message
    },
  )
}

describe('A HAR file', () => {
  it('becomes exchanges in the order of time, with the base path of the contract', async ({ folder }) => {
    const entries = [
      entryOf({ url: 'https://dmarc.example/v2/api/v1/domaingroups?id=%41', after: 900, method: 'DELETE' }),
      entryOf({ url: 'https://dmarc.example/v2/api/v1/domains#top', after: 100 }),
      entryOf({ url: 'https://dmarc.example/v2/api/v1/', after: 500 }),
    ]
    const { read, baseUrl, size, tally } = await readText(folder, harOf(entries))
    expect({ baseUrl, size }).toEqual({ baseUrl: 'https://dmarc.example/v2/api/v1', size: 3 })
    expect(read.map(({ at, request }) => [at - RECORDED_AT, request.target])).toEqual([
      [100, '/api/v1/domains'],
      [500, '/api/v1/'],
      [900, '/api/v1/domaingroups?id=%41'],
    ])
    expect(tally).toMatchObject({ elsewhere: 0, lost: 0, problems: [], broken: [] })
  })

  it('can be written anyhow: a mark of UTF-8, spaces, fields of other tools, escapes, entries before the creator', async ({
    folder,
  }) => {
    const entry = JSON.stringify(entryOf({ more: { _initiator: { stack: [[['"}]\\']]] } } }), undefined, 2)
    const text = `\ufeff\r\n{ "a\\"]": [{"log": {"entries": [1]}}], "log" : {"pages":[{"id":"}"}],\n"entries" :\t[\n${entry} , ${entry}\n],"creator":{"name":"x"}}, "z": null }\n`
    const { read } = await readText(folder, text)
    expect(read).toHaveLength(2)
  })

  it('is read when an entry lies across the pieces in which it is read', async ({ folder }) => {
    const filler = 'é"\\'.repeat(100_000)
    const entries = Array.from({ length: 5 }, (_, index) => entryOf({ after: index, more: { _filler: filler } }))
    const { read } = await readText(folder, harOf(entries))
    expect(read.map(({ at }) => at - RECORDED_AT)).toEqual([0, 1, 2, 3, 4])
  })

  it('leaves out and counts what was not sent to the service by the client', async ({ folder }) => {
    const asks = { headers: [{ name: 'Access-Control-Request-Method', value: 'POST' }] }
    const { size, tally } = await readText(
      folder,
      harOf([
        entryOf(),
        entryOf({ url: 'https://cdn.example/a.js' }),
        entryOf({ url: 'https://dmarc.example/api/v10/domains' }),
        entryOf({ url: 'wss://dmarc.example/api/v1/domains' }),
        entryOf({ method: 'OPTIONS', request: asks }),
        entryOf({ method: 'OPTIONS' }),
        entryOf({ more: { _fromCache: 'disk' } }),
        entryOf({ more: { _wasFulfilled: true } }),
      ]),
    )
    expect(size).toBe(2)
    expect(tally).toMatchObject({ elsewhere: 3, preflight: 1, cache: 1, fulfilled: 1, lost: 0 })
  })

  it('loses an entry that cannot be read, and marks the gap', async ({ folder }) => {
    const deep = JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`)
    const good = (after: number) => JSON.stringify(entryOf({ after }))
    const bad = [
      'null',
      '"entry"',
      '{"a": nope}',
      '{}',
      JSON.stringify(entryOf({ more: { _deep: deep } })),
      JSON.stringify(entryOf({ more: { startedDateTime: 'yesterday' } })),
    ]
    const text = `{"log":{"entries":[${[good(1), good(2), ...bad, good(3), good(4)].join(',')}]}}`
    const { read, gaps, tally } = await readText(folder, text)
    expect(read).toHaveLength(4)
    expect(gaps.slice(2)).toEqual([true, false])
    expect(tally.lost).toBe(6)
    expect(tally.problems.map((problem) => problem.replace(/^.*?: /, ''))).toEqual([
      'Entry 3 is no object.',
      'Entry 4 is no object.',
      'Entry 5 is not valid JSON.',
    ])
  })

  it('is judged up to the byte where it breaks off', async ({ folder }) => {
    const whole = harOf([entryOf(), entryOf({ after: 50 }), entryOf({ after: 90 })])
    const { read, tally } = await readText(folder, whole.slice(0, -300))
    expect(read).toHaveLength(2)
    expect(tally.broken).toEqual([
      expect.stringMatching(
        /a\.har is broken at byte \d+: the file ends within an entry\. What comes behind is not judged\.$/,
      ),
    ])
    for (const [text, reason] of [
      [whole.slice(0, -1), 'the end of the file is missing'],
      [`${whole}${whole}`, 'there is more after the end of the document'],
      [whole.replace(/\]\}\}$/, '}]}'), 'a bracket closes what was not opened'],
    ] as const) {
      const cut = await readText(folder, text)
      expect(cut.read).toHaveLength(3)
      expect(cut.tally.broken[0]).toContain(reason)
    }
  })

  it.for<[what: string, content: string | Buffer, reason: string]>([
    ['nothing', '', 'The file is empty.'],
    ['spaces', ' \n ', 'This is no HAR file: it is not JSON.'],
    ['HTML', '\n<!doctype html>', 'This is no HAR file: it is HTML or XML.'],
    ['a PDF', '%PDF-1.7', 'This is no HAR file: it is a PDF document.'],
    ['gzip', gzipSync('{}'), 'This is no HAR file: it is compressed with gzip; unpack it first.'],
    ['a ZIP archive', 'PK\u0003\u0004..', 'it is a ZIP archive; unpack it first, and give the .har file in it.'],
    ['UTF-16', Buffer.from('\ufeff{}', 'utf16le'), 'it is written in UTF-16; save it in UTF-8.'],
    ['a list', '[]', 'This is no HAR file: it is a list, not an object with a log.'],
    ['an object', '{}', 'This is no HAR file: it has no list log.entries.'],
    ['a log without entries', '{"log":{}}', 'This is no HAR file: it has no list log.entries.'],
    ['entries elsewhere', '{"entries":[]}', 'This is no HAR file: it has no list log.entries.'],
    ['a half of an entry', '{"log":{"entries":[{"a":', 'the file ends within an entry (byte 25).'],
  ])('with %s is refused in one line', async ([, content, reason], { folder }) => {
    expect(await refusal(readText(folder, content))).toContain(reason)
  })

  it('is a regular file', async ({ folder }) => {
    const pipe = join(folder, 'pipe')
    spawnSync('mkfifo', [pipe])
    expect(await refusal(readFiles([folder]))).toContain('This is a folder; give the HAR files in it.')
    expect(await refusal(readFiles([pipe]))).toContain('This is no regular file')
    expect(await refusal(readFiles([join(folder, 'x')]))).toContain('The file cannot be read (ENOENT).')
  })

  it('without any request has no exchange', async ({ folder }) => {
    const { size, hosts, baseUrl } = await readText(folder, harOf([]))
    expect({ size, hosts, baseUrl }).toEqual({ size: 0, hosts: 'There is no request at all.', baseUrl: undefined })
  })
})

describe('The service', () => {
  const to = (url: string) => entryOf({ url })

  it('is not guessed where there are two', async ({ folder }) => {
    const entries = [
      to('https://a.example/api/v1/domains'),
      to('https://b.example/api/v1/dmarc'),
      to('/domains'),
      to('/dmarc'),
    ]
    expect(await refusal(readText(folder, harOf(entries)))).toBe(
      'requests of the service went to https://dmarc.example/api/v1 (2 requests), https://a.example/api/v1 (1 request) and https://b.example/api/v1 (1 request); say with --base-url which one is meant',
    )
  })

  it.for([
    ['https://a.example/gateway', 'https://a.example/gateway/domains?id=1', '/api/v1/domains?id=1'],
    ['https://A.example:443/', 'https://a.example/domains', '/api/v1/domains'],
    ['http://[::1]:80', 'http://[::1]', '/api/v1/'],
    ['https://a.example/gateway/', 'https://a.example/gateway?x', '/api/v1?x'],
  ] as const)('%s is found in %s', async ([baseUrl, url, target], { folder }) => {
    const { read } = await readText(folder, harOf([to('https://b.example/gateway/domains'), to(url)]), baseUrl)
    expect(read.map(({ request }) => request.target)).toEqual([target])
  })

  it('has no paths that only begin like its own', async ({ folder }) => {
    const { size, tally } = await readText(folder, harOf([to('https://a.example/apis')]), 'https://a.example/api')
    expect({ size, elsewhere: tally.elsewhere }).toEqual({ size: 0, elsewhere: 1 })
  })

  it('says where the requests went when none went to it', async ({ folder }) => {
    const entries = ['a', 'b', 'c', 'd', 'e', 'f', 'a'].map((name) => to(`https://${name}.example/`))
    const { size, hosts } = await readText(folder, harOf(entries))
    expect(size).toBe(0)
    expect(hosts).toMatch(/^The requests went to https:\/\/a\.example \(2 requests\), .* and 1 more\.$/)
  })
})

describe('The key', () => {
  const withKey = (value: string | undefined, after: number): EntryOptions => ({
    after,
    request: {
      headers: [{ name: 'host', value: 'x' }, ...(value === undefined ? [] : [{ name: 'authorization', value }])],
    },
  })

  it('has a name, which is the same in all files', async ({ folder }) => {
    const [one, two] = [join(folder, '1.har'), join(folder, '2.har')]
    writeFileSync(one, harOf([withKey('Bearer first-key', 0), withKey('Bearer second-key', 1)].map(entryOf)))
    writeFileSync(
      two,
      harOf([withKey('bearer first-key', 2), withKey(undefined, 3), withKey('first-key', 4)].map(entryOf)),
    )
    const { read } = await readFiles([one, two])
    expect(read.map(({ request }) => request.credentials)).toEqual([
      { kind: 'sent', scheme: 'Bearer', key: 'key 1', isWord: true },
      { kind: 'sent', scheme: 'Bearer', key: 'key 2', isWord: true },
      { kind: 'sent', scheme: 'bearer', key: 'key 1', isWord: true },
      { kind: 'none' },
      { kind: 'sent', scheme: '', key: 'key 1', isWord: true },
    ])
  })

  it('is unknown where the recorder has taken out all of them', async ({ folder }) => {
    const { read } = await readText(folder, harOf([withKey(undefined, 0), withKey(undefined, 1)].map(entryOf)))
    expect(read.map(({ request }) => request.credentials)).toEqual([{ kind: 'unknown' }, { kind: 'unknown' }])
  })

  it('is nowhere in an exchange, also not in one that came before it was first used', async ({ folder }) => {
    const secret = 'secret-of-mine'
    const { read, secrets } = await readText(
      folder,
      harOf([
        entryOf({
          url: `/domains?api_key=other-secret&x=${secret}`,
          method: 'POST',
          request: {
            headers: [
              { name: 'cookie', value: 'session=cookie-secret' },
              { name: 'x-api-key', value: 'third-secret' },
              { name: 'referer', value: `https://a.example/${encodeURIComponent(secret)}` },
            ],
            postData: { mimeType: 'a', text: JSON.stringify({ name: secret, other: 'cookie-secret' }) },
          },
          response: {
            headers: [
              { name: 'Set-Cookie', value: 'session=new-secret' },
              { name: 'x', value: secret },
            ],
          },
          content: { text: JSON.stringify({ key: secret }) },
        }),
        entryOf({ after: 100 }),
      ]),
    )
    expect(secrets).toEqual([secret])
    const text = JSON.stringify(read, (_, value) =>
      value?.type === 'Buffer' ? Buffer.from(value.data).toString() : value,
    )
    expect(text).not.toContain('secret')
    expect(text).toContain('[key 1]')
  })
})

describe('An exchange', () => {
  it.for<[what: string, started: unknown, time: unknown, more: EntryOptions['more'], span: [number, number]]>([
    ['a zone', '2026-01-15T10:00:00.5+01:00', 20, {}, [500, 520]],
    ['a zone without a colon', '2026-01-15T08:00:00.000-0100', 20, {}, [0, 20]],
    ['no zone', '2026-01-15T09:00:00', 20, {}, [0, 20]],
    ['microseconds', '2026-01-15T09:00:00.000250Z', 0.5, {}, [0.25, 0.75]],
    ['no time', '2026-01-15T09:00:00Z', undefined, { timings: { blocked: -1, connect: 5, ssl: 3, wait: 10 } }, [0, 15]],
    ['a time of -1', '2026-01-15T09:00:00Z', -1, { timings: {} }, [0, 0]],
  ])('was sent at a time with %s', async ([, startedDateTime, time, more, [at, until]], { folder }) => {
    const exchange = await readEntry(folder, { more: { startedDateTime, time, ...more } })
    expect((exchange?.at ?? 0) - RECORDED_AT).toBeCloseTo(at, 3)
    expect((exchange?.until ?? 0) - RECORDED_AT).toBeCloseTo(until, 3)
  })

  it.for<[what: string, entries: EntryOptions[], overlaps: boolean[]]>([
    ['reads', [{ time: 100 }, { after: 50, time: 100 }], [false, false]],
    ['a write during a read', [{ time: 100 }, { after: 50, method: 'POST' }], [true, false]],
    ['a read during a write', [{ time: 100, method: 'POST' }, { after: 50 }], [false, true]],
    [
      'writes',
      [
        { time: 100, method: 'POST' },
        { after: 50, method: 'PATCH' },
      ],
      [true, true],
    ],
    ['one after the other', [{ time: 100, method: 'POST' }, { after: 100 }], [false, false]],
    [
      'a long one around others',
      [{ time: 900, method: 'DELETE' }, { after: 10 }, { after: 800 }, { after: 950 }],
      [false, true, true, false],
    ],
    [
      'less time than the clock can tell',
      [
        { time: 0.4, method: 'POST' },
        { after: 1, time: 0.4 },
      ],
      [false, true],
    ],
    ['an unknown time', [{ time: -1, method: 'POST', more: { timings: {} } }, { after: 5000 }], [false, true]],
  ])('overlaps where there are %s', async ([, entries, overlaps], { folder }) => {
    const { read } = await readText(folder, harOf(entries.map(entryOf)))
    expect(read.map((each) => each.overlaps)).toEqual(overlaps)
  })

  it.for<[what: string, response: EntryOptions['response']]>([
    ['the status 0 of an aborted request', { status: 0, headers: [] }],
    ['the status -1', { status: -1 }],
    ['no number as status', { status: 'failed' }],
    ['no header field, because the recorder left them out', { headers: [] }],
  ])('has no response with %s', async ([, response], { folder }) => {
    expect(await readEntry(folder, { response })).toMatchObject({ response: undefined })
  })

  it('may have had any field where the recorder has left out all of a request', async ({ folder }) => {
    const request = { headers: [], postData: { mimeType: 'application/json', text: '{}' } }
    const { read } = await readText(folder, harOf([entryOf(), entryOf({ after: 50, method: 'POST', request })]))
    expect(read[1]?.request).toMatchObject({ credentials: { kind: 'unknown' }, body: { isKnown: true } })
    expect({ ...read[1]?.request.headers }).toEqual({ 'content-type': 'application/json' })
  })

  it('joins fields of one name, and knows neither pseudo-fields nor fields without a name', async ({ folder }) => {
    const headers = [
      { name: ':status', value: '200' },
      { name: 'Vary', value: 'a' },
      { name: 'vary', value: 'b' },
      { name: '__proto__', value: 'c' },
      { name: '', value: 'd' },
      { name: 'x' },
      null,
    ]
    const exchange = await readEntry(folder, { response: { headers } })
    expect(Object.entries(exchange?.response?.headers ?? {})).toEqual([
      ['vary', 'a, b'],
      ['__proto__', 'c'],
    ])
  })

  it('is called by its request id, or by its place', async ({ folder }) => {
    const unnamed = { response: { headers: [{ name: 'a', value: 'b' }] } }
    const { read } = await readText(folder, harOf([entryOf(), entryOf({ ...unnamed, after: 1 })]))
    expect(read.map(({ id }) => id)).toEqual(['00000000-0000-4000-8000-000000000000', 'entry 2'])
  })

  const gzipped = {
    headers: [
      { name: 'Content-Encoding', value: 'gzip' },
      { name: 'Content-Length', value: '60' },
    ],
  }
  const base64 = (bytes: Buffer) => ({ size: bytes.length, text: bytes.toString('base64'), encoding: 'base64' })
  const length = (bytes: number) => ({ headers: [{ name: 'content-length', value: `${bytes}` }] })

  it.for<[what: string, content: EntryOptions['content'], response: EntryOptions['response'], body: string | RegExp]>([
    ['a text', { size: 50, text: BODY }, {}, BODY],
    ['base64', base64(Buffer.from(BODY)), {}, BODY],
    ['a text that was gzip', { size: 50, text: BODY }, gzipped, BODY],
    ['base64 that was gzip', base64(Buffer.from(BODY)), gzipped, BODY],
    ['base64 that is gzip', base64(gzipSync(BODY)), gzipped, BODY],
    [
      'base64 that is brotli',
      base64(brotliCompressSync(BODY)),
      { headers: [{ name: 'content-encoding', value: 'br' }] },
      BODY,
    ],
    ['no text', { size: 50, text: undefined }, {}, /does not have the body/],
    ['an empty text for a body that there was', { size: 50, text: '' }, {}, /does not have the body/],
    ['an empty text and an empty body', { size: 0, text: '' }, {}, ''],
    ['no text, and a length of 0', { size: 0, text: undefined }, length(0), ''],
    ['no text, a size of 0 and no length', { size: 0, text: undefined }, {}, /does not have the body/],
    ['half of the text', { size: 50, text: BODY.slice(0, 20) }, {}, /does not have all bytes/],
    ['fewer bytes than were announced', { size: 50, text: BODY }, length(60), /does not have all bytes/],
    ['characters that were lost', { size: 50, text: BODY.replace('ü', '\ufffd') }, {}, /lost characters/],
    ['a file that is there', { size: -1, text: undefined, _file: 'bodies/1.json' }, {}, BODY],
    [
      'a file that is not there',
      { text: undefined, _file: 'bodies/2.json' },
      {},
      /"bodies\/2\.json", which is not beside/,
    ],
    [
      'a file elsewhere',
      { text: undefined, _file: '../../../../../../etc/hostname' },
      {},
      /is not beside the recording/,
    ],
    ['an absolute path', { text: undefined, _file: '/etc/hostname' }, {}, /is not beside the recording/],
    ['no body by its status', { text: undefined }, { status: 204 }, ''],
  ])('has a response with %s', async ([, content, response, body], { folder }) => {
    mkdirSync(join(folder, 'bodies'))
    writeFileSync(join(folder, 'bodies/1.json'), BODY)
    const exchange = await readEntry(folder, { content, response })
    const seen = exchange?.response?.body
    if (typeof body === 'string') expect(seen?.isKnown && seen.bytes.toString()).toBe(body)
    else expect(seen).toEqual({ isKnown: false, reason: expect.stringMatching(body) })
  })

  const typed = (...more: { name: string; value: string }[]) => [
    { name: 'content-type', value: 'application/json' },
    ...more,
  ]

  it.for<[what: string, request: EntryOptions['request'], body: string | RegExp]>([
    ['a text', { postData: { mimeType: 'a', text: BODY } }, BODY],
    ['an empty text', { postData: { mimeType: 'a', text: '' } }, ''],
    ['base64', { postData: { mimeType: 'a', text: Buffer.from(BODY).toString('base64'), encoding: 'base64' } }, BODY],
    ['parameters alone', { postData: { mimeType: 'a', params: [{ name: 'a' }] } }, /has the parameters/],
    ['no body', { bodySize: 0, headers: [{ name: 'content-length', value: '0' }] }, ''],
    ['no body and no sign of one', { bodySize: -1 }, ''],
    ['a body that is missing', { bodySize: -1, headers: typed() }, /does not have the body/],
    [
      'a size of 0 and a length of 9',
      { bodySize: 0, headers: typed({ name: 'content-length', value: '9' }) },
      /does not have the body/,
    ],
    [
      'another number of bytes than were sent',
      { headers: typed({ name: 'content-length', value: '9' }), postData: { mimeType: 'a', text: '{ }' } },
      /does not have all bytes/,
    ],
    ['characters that were lost', { postData: { mimeType: 'a', text: '\ufffd' } }, /lost characters/],
  ])('has a request with %s', async ([, request, body], { folder }) => {
    const exchange = await readEntry(folder, { method: 'POST', request })
    const seen = exchange?.request.body
    if (typeof body === 'string') expect(seen?.isKnown && seen.bytes.toString()).toBe(body)
    else expect(seen).toEqual({ isKnown: false, reason: expect.stringMatching(body) })
  })
})

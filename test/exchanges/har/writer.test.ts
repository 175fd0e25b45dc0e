import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { loadContract } from '../../../src/contract/contract.ts'
import type { Exchange } from '../../../src/exchanges/exchange.ts'
import type { RecordedExchange } from '../../../src/exchanges/har/entry-writer.ts'
import { HarRecording } from '../../../src/exchanges/har/reader.ts'
import { HarWriter } from '../../../src/exchanges/har/writer.ts'
import { type HeaderFields, Keys, REDACTED } from '../../../src/exchanges/keys.ts'
import type { Json } from '../../../src/ground/json.ts'
import { expectHar } from '../../support/har-schema.ts'
import { it as test } from '../../support/program.ts'
import { RECORDED_AT, RECORDED_BASE } from '../../support/recorded.ts'

const it = test.extend<{ path: string }>({
  path: async ({ folder }, use) => use(join(folder, 'a.har')),
})
const contract = await loadContract()
const KEY = 'the-secret-of-this-test'

interface Passed {
  method?: string
  path?: string
  after?: number
  time?: number
  fields?: HeaderFields
  body?: string | Buffer
  status?: number
  answerFields?: HeaderFields
  answer?: string | Buffer
  /** How long the answer was, if it was not kept. */
  answerSize?: number
}

/** An exchange as a proxy would see it. */
function passedOn(keys: Keys, passed: Passed = {}): RecordedExchange {
  const { method = 'GET', path = '/domains', after = 0, time = 2.5, body = '', answer = '{}' } = passed
  const fields: HeaderFields = passed.fields ?? [['Authorization', `Bearer ${KEY}`]]
  const answerFields: HeaderFields = passed.answerFields ?? [['X-Request-Id', `id-${after}`]]
  const [sent, received] = [Buffer.from(body as string), Buffer.from(answer as string)]
  const at = RECORDED_AT + after
  const message = { httpVersion: 'HTTP/1.1' }
  return {
    at,
    until: at + time,
    url: RECORDED_BASE + path,
    request: { ...message, method, fields, body: { bytes: sent, size: sent.length } },
    response: {
      ...message,
      status: passed.status ?? 200,
      statusText: 'OK',
      fields: answerFields,
      body: { bytes: received, size: passed.answerSize ?? received.length },
    },
    credentials: keys.credentialsOf(fields),
    redact: keys.redactorFor({ target: path, fields: [...fields, ...answerFields] }),
  }
}

async function readBack(path: string): Promise<Exchange[]> {
  const recording = await HarRecording.open([path], { contract })
  const exchanges: Exchange[] = []
  for (const { exchange } of recording.exchanges()) exchanges.push(exchange)
  return exchanges
}

const open = (path: string, limits = {}) => HarWriter.open(path, '0.1.0', limits)

/** Records exchanges, and gives the entries of the file. */
async function record(path: string, exchanges: readonly RecordedExchange[], limits = {}): Promise<readonly Json[]> {
  const writer = await open(path, limits)
  for (const exchange of exchanges) writer.add(exchange)
  await writer.close()
  return expectHar(readFileSync(path, 'utf8'))
}

describe('The writer', () => {
  it('loses nothing that the reader needs', async ({ path }) => {
    const keys = new Keys()
    const binary = Buffer.from([0xff, 0, 0x80, 0x7f])
    await record(path, [
      passedOn(keys, { after: 0.25, method: 'POST', path: '/domaingroups?id=%20a', body: '{"name":"ü"}' }),
      passedOn(keys, { after: 3, body: binary, method: 'PATCH', answer: binary, status: 500 }),
      passedOn(keys, { after: 5.5, fields: [['authorization', 'bearer two words']] }),
      passedOn(keys, { after: 13, fields: [], answer: '' }),
      { ...passedOn(keys, { after: 20, method: 'DELETE' }), response: undefined, problem: 'ECONNRESET' },
    ])
    const exchanges = await readBack(path)
    const [first, second, , fourth] = exchanges
    expect(first).toMatchObject({ id: 'id-0.25', overlaps: false })
    expect((first?.at ?? 0) - RECORDED_AT).toBeCloseTo(0.25, 3)
    expect((first?.until ?? 0) - RECORDED_AT).toBeCloseTo(2.75, 3)
    expect(first?.request).toMatchObject({ method: 'POST', target: '/api/v1/domaingroups?id=%20a' })
    expect(first?.request.body).toMatchObject({ text: '{"name":"ü"}' })
    expect(second?.request.body).toMatchObject({ bytes: binary })
    expect(second?.response?.body).toMatchObject({ bytes: binary })
    expect(exchanges.map(({ response }) => response?.status)).toEqual([200, 500, 200, 200, undefined])
    expect(exchanges.map(({ request }) => request.credentials)).toEqual([
      { kind: 'sent', scheme: 'Bearer', key: 'key 1', isWord: true },
      { kind: 'sent', scheme: 'Bearer', key: 'key 1', isWord: true },
      { kind: 'sent', scheme: 'bearer', key: 'key 2', isWord: false },
      { kind: 'none' },
      { kind: 'sent', scheme: 'Bearer', key: 'key 1', isWord: true },
    ])
    expect(fourth?.response?.body).toMatchObject({ text: '' })
  })

  it('appends to a file that is whole between two writes, and loses only the torn line of a write', async ({
    path,
  }) => {
    const keys = new Keys()
    const writer = await open(path)
    expect(expectHar(readFileSync(path, 'utf8'))).toEqual([])
    for (let count = 1; count <= 4; count++) {
      writer.add(passedOn(keys, { after: count }))
      await expect.poll(() => writer.entries).toBe(count)
      expect(expectHar(readFileSync(path, 'utf8'))).toHaveLength(count)
    }
    await writer.close()
    const text = readFileSync(path, 'utf8')
    expect(text.trimEnd().split('\n')).toHaveLength(6)
    writeFileSync(path, text.slice(0, text.lastIndexOf('"request"')))
    expect((await readBack(path)).map(({ id }) => id)).toEqual(['id-1', 'id-2', 'id-3'])
  })

  it('writes no key, wherever it stands', async ({ path }) => {
    const keys = new Keys()
    const fields: HeaderFields = [
      ['Authorization', `Bearer ${KEY}`],
      ['Referer', `https://a.example/?token=${KEY}`],
    ]
    const answerFields: HeaderFields = [['Location', `/x?key=${KEY}`]]
    const body = JSON.stringify({ name: KEY, other: 'key_AAAAAAAA.bbbbbbbb' })
    const target = `/domains?x=${KEY}`
    const [entry] = await record(path, [
      passedOn(keys, { method: 'POST', path: target, fields, body, answer: body, answerFields }),
      passedOn(keys, { answer: Buffer.from(`\xff${KEY}`, 'latin1') }),
      { ...passedOn(keys), response: undefined, problem: `refused ${KEY}` },
    ])
    const text = readFileSync(path, 'utf8')
    expect(text).not.toContain(KEY)
    expect(text).not.toContain('bbbbbbbb')
    expect(text).not.toContain(Buffer.from(KEY).toString('base64').slice(2, 20))
    expect(entry).toMatchObject({
      request: { headers: [{ name: 'Authorization', value: 'Bearer [key 1]' }, {}] },
    })
    const [first] = await readBack(path)
    expect(first?.request.body).toEqual({ isKnown: false, reason: REDACTED })
  })

  it('cuts off a large body, which is unknown when it is read, as one is that was not kept', async ({ path }) => {
    const answer = '"'.concat('ü'.repeat(600), '"')
    const entries = await record(
      path,
      [passedOn(new Keys(), { answer }), passedOn(new Keys(), { answer: '', answerSize: 20, after: 9 })],
      { body: 100 },
    )
    const [cut, missing] = entries.map((entry) => (entry as { response: { content: Json } }).response.content)
    const { text, ...content } = cut ?? {}
    expect(content).toMatchObject({ size: 1202, _truncated: true })
    expect(missing).toMatchObject({ size: 20, text: '', _truncated: true })
    expect(Buffer.byteLength(String(text))).toBeLessThanOrEqual(103)
    const reason = 'The recording has only the beginning of the body of the response.'
    const [first, second] = await readBack(path)
    expect(first?.response?.body).toEqual({ isKnown: false, reason })
    expect(second?.response?.body.isKnown).toBe(false)
  })

  it.for([
    ['short', KEY],
    ['long', `${KEY}-`.repeat(200)],
  ] as const)('writes no part of a %s key that stands at its limit', async ([, key], { path }) => {
    const fields: HeaderFields = [['Authorization', `Bearer ${key}`]]
    const answer = 'a'.repeat(90) + key + 'b'.repeat(90)
    await record(path, [passedOn(new Keys(), { fields, answer })], { body: 100 })
    const text = readFileSync(path, 'utf8')
    expect(text).not.toContain(KEY.slice(0, 8))
    expect(text).toContain('aaaaaaaa')
  })

  it('leaves out what waits for the disk too long, and counts it', async ({ path }) => {
    const keys = new Keys()
    const writer = await open(path, { waiting: 1 })
    for (let after = 0; after < 5; after++) writer.add(passedOn(keys, { after }))
    await expect.poll(() => writer.entries).toBe(1)
    writer.add(passedOn(keys, { after: 9 }))
    await writer.close()
    expect(writer.dropped).toBe(4)
    expectHar(readFileSync(path, 'utf8'))
    const recording = await HarRecording.open([path], { contract })
    expect(recording.tally).toMatchObject({ lost: 4 })
  })

  it.for<[what: string, make: (path: string) => void, reason: RegExp]>([
    ['a file that is there', (path) => writeFileSync(path, ''), /The file is there already/],
    ['a folder', (path) => mkdirSync(path), /This is a folder/],
  ])('refuses %s, and leaves it as it is', async ([, make, reason], { folder, path }) => {
    make(path)
    await expect(open(path)).rejects.toThrow(reason)
    expect(readdirSync(folder)).toEqual(['a.har'])
  })
})

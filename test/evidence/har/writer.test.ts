import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { loadContract } from '../../../src/contract/contract.ts'
import type { Exchange } from '../../../src/evidence/exchange.ts'
import { openRecording } from '../../../src/evidence/har/reader.ts'
import type { RecordedExchange } from '../../../src/evidence/har/recorded-exchange.ts'
import { HarWriter } from '../../../src/evidence/har/writer.ts'
import { type Fields, Keys, REDACTED } from '../../../src/evidence/keys.ts'
import type { Json } from '../../../src/ground/json.ts'
import { budget } from '../../support/budget.ts'
import { bundle } from '../../support/bundle.ts'
import { expectHar } from '../../support/har-schema.ts'
import { it } from '../../support/program.ts'
import { RECORDED_AT, RECORDED_BASE } from '../../support/recorded.ts'

const contract = await loadContract()
const recorder = await bundle(new URL('endless-recorder.ts', import.meta.url))
const KEY = 'the-secret-of-this-test'

interface Passed {
  method?: string
  path?: string
  after?: number
  time?: number
  fields?: Fields
  body?: string | Buffer
  status?: number
  answerFields?: Fields
  answer?: string | Buffer
  answerSize?: number
}

/** An exchange as a proxy would see it. */
function passedOn(keys: Keys, passed: Passed = {}): RecordedExchange {
  const { method = 'GET', path = '/domains', after = 0, time = 2.5, body = '', answer = '{}' } = passed
  const fields: Fields = passed.fields ?? [['Authorization', `Bearer ${KEY}`]]
  const answerFields: Fields = passed.answerFields ?? [['X-Request-Id', `id-${after}`]]
  const [sent, received] = [Buffer.from(body as string), Buffer.from(answer as string)]
  const at = RECORDED_AT + after
  const message = { httpVersion: 'HTTP/1.1' }
  const credentials = keys.credentialsOf(fields)
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
    credentials,
    redact: keys.redactorFor({ target: path, fields: [...fields, ...answerFields] }),
  }
}

async function readBack(path: string): Promise<Exchange[]> {
  const recording = await openRecording([path], { contract })
  const exchanges: Exchange[] = []
  for await (const { exchange } of recording.exchanges()) exchanges.push(exchange)
  await recording.close()
  return exchanges
}

/** Records exchanges, and gives the entries of the file. */
async function record(path: string, exchanges: readonly RecordedExchange[], limits = {}): Promise<readonly Json[]> {
  const writer = await HarWriter.open(path, { version: '0.1.0', limits })
  for (const exchange of exchanges) writer.add(exchange)
  await writer.close()
  return expectHar(readFileSync(path, 'utf8'))
}

describe('A recording', () => {
  it('is whole before the first exchange, after each one and at the end, and only its owner can read it', async ({
    folder,
  }) => {
    const path = join(folder, 'a.har')
    const writer = await HarWriter.open(path, { version: '0.1.0' })
    const keys = new Keys()
    expect(expectHar(readFileSync(path, 'utf8'))).toEqual([])
    for (let count = 1; count <= 3; count++) {
      writer.add(passedOn(keys))
      await expect.poll(() => writer.entries).toBe(count)
      expect(expectHar(readFileSync(path, 'utf8'))).toHaveLength(count)
      expect(statSync(path).mode & 0o777).toBe(0o600)
    }
    await writer.close()
    expect(expectHar(readFileSync(path, 'utf8'))).toHaveLength(3)
    expect(readdirSync(folder)).toEqual(['a.har'])
  })

  it('is whole whenever the program is killed', async ({ folder, onTestFinished }) => {
    const path = join(folder, 'a.har')
    let largest = 0
    for (let kill = 0; kill < budget({ quick: 4, full: 40 }); kill++) {
      const child = spawn(process.execPath, [recorder, path], { stdio: ['ignore', 'pipe', 'inherit'] })
      onTestFinished(() => void child.kill('SIGKILL'))
      await once(child.stdout, 'data')
      if (kill === 0) await expect.poll(() => statSync(path).size).toBeGreaterThan(10_000)
      await wait(Math.random() * 120)
      child.kill('SIGKILL')
      await once(child, 'exit')
      const { log } = JSON.parse(readFileSync(path, 'utf8')) as { log: { entries: { request: { url: string } }[] } }
      const urls = log.entries.map(({ request }) => request.url)
      expect(urls).toEqual(urls.map((_, index) => `http://127.0.0.1/api/v1/${index}`))
      largest = Math.max(largest, urls.length)
    }
    expect(largest).toBeGreaterThan(0)
  }, 120_000)

  it('stops when the disk is full, is whole, and says so', async ({ folder }) => {
    const path = join(folder, 'a.har')
    // In blocks of 512 bytes, or of 1024 in some shells.
    const limited = `ulimit -f 2000; exec "${process.execPath}" "${recorder}" "${path}" 400`
    const child = spawn('sh', ['-c', limited], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    const [code] = await once(child, 'close')
    expect(code).toBe(0)
    const { entries, problem } = JSON.parse(said.split('\n')[1] ?? '') as { entries: number; problem: string }
    expect(problem).toBe('The recording ends early, because its file cannot be written any more (EFBIG).')
    expect(expectHar(readFileSync(path, 'utf8'))).toHaveLength(entries)
    expect(readdirSync(folder)).toEqual(['a.har'])
  })
})

describe('The writer', () => {
  it('loses nothing that the reader needs', async ({ folder }) => {
    const keys = new Keys()
    const binary = Buffer.from([0xff, 0, 0x80, 0x7f])
    const path = join(folder, 'a.har')
    await record(path, [
      passedOn(keys, { after: 0.25, method: 'POST', path: '/domaingroups?id=%20a', body: '{"name":"ü"}' }),
      passedOn(keys, { after: 3, body: binary, method: 'PATCH', answer: binary, status: 500 }),
      passedOn(keys, { after: 5.5, fields: [['authorization', 'bearer two words']] }),
      passedOn(keys, { after: 9, fields: [['Authorization', 'Bearer']] }),
      passedOn(keys, { after: 13, fields: [], answer: '' }),
      { ...passedOn(keys, { after: 20, method: 'DELETE' }), response: undefined, problem: 'ECONNRESET' },
    ])
    const exchanges = await readBack(path)
    const [first, second, third, fourth, fifth, last] = exchanges
    expect(first).toMatchObject({ id: 'id-0.25', overlaps: false })
    expect((first?.at ?? 0) - RECORDED_AT).toBeCloseTo(0.25, 3)
    expect((first?.until ?? 0) - RECORDED_AT).toBeCloseTo(2.75, 3)
    expect(first?.request).toMatchObject({ method: 'POST', target: '/api/v1/domaingroups?id=%20a' })
    expect(first?.request.body).toEqual({ isKnown: true, bytes: Buffer.from('{"name":"ü"}') })
    expect(second?.request.body).toEqual({ isKnown: true, bytes: binary })
    expect(second?.response).toMatchObject({ status: 500, body: { isKnown: true, bytes: binary } })
    expect(exchanges.map(({ request }) => request.credentials)).toEqual([
      { kind: 'sent', scheme: 'Bearer', key: 'key 1', isWord: true },
      { kind: 'sent', scheme: 'Bearer', key: 'key 1', isWord: true },
      { kind: 'sent', scheme: 'bearer', key: 'key 2', isWord: false },
      { kind: 'sent', scheme: 'Bearer', key: '', isWord: false },
      { kind: 'none' },
      { kind: 'sent', scheme: 'Bearer', key: 'key 1', isWord: true },
    ])
    expect(fifth?.response?.body).toEqual({ isKnown: true, bytes: Buffer.alloc(0) })
    expect([third, fourth].map((each) => each?.response?.status)).toEqual([200, 200])
    expect(last?.response).toBeUndefined()
  })

  it('writes no key, wherever it stands', async ({ folder }) => {
    const keys = new Keys()
    const fields: Fields = [
      ['Authorization', `Bearer ${KEY}`],
      ['Cookie', 'session=cookie-secret-1; theme=dark'],
      ['X-Api-Key', 'other-secret-2'],
      ['Referer', `https://a.example/?token=${KEY}`],
    ]
    const answerFields: Fields = [
      ['Set-Cookie', 'session=cookie-secret-3; Path=/'],
      ['Location', `/x?key=${KEY}`],
    ]
    const body = JSON.stringify({ name: KEY, other: 'cookie-secret-1', third: 'key_AAAAAAAA.bbbbbbbb' })
    const path = join(folder, 'a.har')
    const [entry] = await record(path, [
      passedOn(keys, {
        method: 'POST',
        path: `/domains?api_key=query-secret-4&x=${KEY}`,
        fields,
        body,
        answer: body,
        answerFields,
      }),
      passedOn(keys, { answer: Buffer.from(`\xff${KEY}`, 'latin1') }),
      { ...passedOn(keys), response: undefined, problem: `refused ${KEY}` },
    ])
    const text = readFileSync(path, 'utf8')
    for (const secret of [KEY, 'cookie-secret', 'other-secret', 'query-secret', 'bbbbbbbb'])
      expect(text).not.toContain(secret)
    expect(text).not.toContain(Buffer.from(KEY).toString('base64').slice(2, 20))
    expect(entry).toMatchObject({
      request: { headers: [{ name: 'Authorization', value: 'Bearer [key 1]' }, {}, {}, {}] },
    })
    const [first] = await readBack(path)
    expect(first?.request.body).toEqual({ isKnown: false, reason: REDACTED })
  })

  it('cuts off a large body, which is unknown when it is read', async ({ folder }) => {
    const path = join(folder, 'a.har')
    const answer = '"'.concat('ü'.repeat(600), '"')
    const [entry] = await record(path, [passedOn(new Keys(), { answer })], { body: 100 })
    const { text, size, _truncated } = (entry as { response: { content: Json } }).response.content
    expect({ length: Buffer.byteLength(String(text)) <= 103, size, _truncated }).toEqual({
      length: true,
      size: 1202,
      _truncated: true,
    })
    const [exchange] = await readBack(path)
    expect(exchange?.response?.body).toEqual({
      isKnown: false,
      reason: 'The recording has only the beginning of the body of the response.',
    })
  })

  it.for<[what: string, limits: Json]>([
    ['waits for the disk', { waiting: 1 }],
    ['makes the file too large', { file: 1000 }],
  ])('leaves out what %s, and counts it', async ([, limits], { folder }) => {
    const path = join(folder, 'a.har')
    const keys = new Keys()
    const writer = await HarWriter.open(path, { version: '0.1.0', limits })
    for (let after = 0; after < 5; after++) writer.add(passedOn(keys, { after }))
    await expect.poll(() => writer.entries).toBe(1)
    if ('waiting' in limits) writer.add(passedOn(keys, { after: 9 }))
    await writer.close()
    expect(writer.dropped).toBe(4)
    const text = readFileSync(path, 'utf8')
    expectHar(text)
    expect(text).toContain(
      '"comment":"4 exchanges were left out, because the disk was too slow or the file too large."',
    )
    if (!('waiting' in limits)) return
    const recording = await openRecording([path], { contract })
    expect(recording.tally).toMatchObject({ lost: 4 })
    await recording.close()
  })

  it.for<[what: string, make: (path: string) => void, options: { replaces: boolean }, reason: RegExp]>([
    ['a file that is there', (path) => writeFileSync(path, ''), { replaces: false }, /The file is there already/],
    [
      'a file that is no recording',
      (path) => writeFileSync(path, '{"a":1}'),
      { replaces: true },
      /no recording of this/,
    ],
    ['a folder', (path) => mkdirSync(path), { replaces: true }, /This is a folder/],
    ['a device', (path) => symlinkSync('/dev/null', path), { replaces: true }, /no regular file/],
  ])('refuses %s, and leaves it as it is', async ([, make, options, reason], { folder }) => {
    const path = join(folder, 'a.har')
    make(path)
    await expect(HarWriter.open(path, { version: '0.1.0', ...options })).rejects.toThrow(reason)
    expect(existsSync(path)).toBe(true)
    expect(readdirSync(folder)).toEqual(['a.har'])
  })

  it('removes the copy that a killed program has left, and no other file', async ({ folder }) => {
    const path = join(folder, 'a.har')
    await record(path, [passedOn(new Keys())])
    renameSync(path, `${path}.next`)
    await record(path, [])
    expect(readdirSync(folder)).toEqual(['a.har'])
    writeFileSync(`${path}.last`, 'mine')
    const opening = HarWriter.open(path, { version: '0.1.0', replaces: true })
    await expect(opening).rejects.toThrow(/a\.har\.last: This name is needed for a copy/)
    expect(readFileSync(`${path}.last`, 'utf8')).toBe('mine')
  })

  it('refuses a folder that is not there', async ({ folder }) => {
    await expect(HarWriter.open(join(folder, 'b/a.har'), { version: '0.1.0' })).rejects.toThrow(
      /cannot be written \(ENOENT\)/,
    )
  })

  it('replaces its own recording where it may', async ({ folder }) => {
    const path = join(folder, 'a.har')
    await record(path, [passedOn(new Keys())])
    const writer = await HarWriter.open(path, { version: '0.1.0', replaces: true })
    await writer.close()
    expect(expectHar(readFileSync(path, 'utf8'))).toEqual([])
  })

  it('does not touch a file that has taken its name', async ({ folder }) => {
    const path = join(folder, 'a.har')
    const writer = await HarWriter.open(path, { version: '0.1.0' })
    writeFileSync(`${path}.mine`, 'mine')
    renameSync(`${path}.mine`, path)
    writer.add(passedOn(new Keys()))
    await writer.close()
    expect(readFileSync(path, 'utf8')).toBe('mine')
    expect(writer.problem).toContain('replaced by another file')
  })
})

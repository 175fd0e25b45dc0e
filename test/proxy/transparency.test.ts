import { once } from 'node:events'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { API_KEY, openService, type TestService } from '../support/service.ts'
import { chunked } from '../support/wire.ts'
import { openRelay, type TestRelay } from './open-relay.ts'

/** Two that answer alike, because they have the same seed and the same clock. One is asked through a relay. */
let direct: TestService
let behind: TestService
let proxied: TestRelay

beforeAll(async () => {
  const options = { fixture: 'demo', seed: 5, now: '2026-01-15T09:30:00Z', frozen: true, enforceQuotas: false } as const
  direct = await openService(options)
  behind = await openService(options)
  proxied = await openRelay(behind.baseUrl)
  return async () => {
    await proxied.relay.stop()
    await direct.stop()
    await behind.stop()
  }
})

afterAll(() => {
  expect(proxied.failures.filter((each) => !each.includes('ECONNRESET'))).toEqual([])
})

/** All that comes back for these bytes, in which the time of day is left out: the machine's clock goes on. */
async function ask(origin: string, pieces: readonly (string | Buffer)[], halfCloses: boolean): Promise<string> {
  const { port } = new URL(origin)
  const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'connect')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('error', () => {})
  socket.on('end', () => socket.end())
  for (const piece of pieces) {
    await new Promise((resolve) => socket.write(piece, resolve))
    if (pieces.length > 1) await new Promise((resolve) => setImmediate(resolve))
  }
  if (halfCloses) socket.end()
  await closed
  return Buffer.concat(chunks)
    .toString('latin1')
    .replaceAll(/^Date: .*$/gm, 'Date: …')
}

async function expectAlike(pieces: readonly (string | Buffer)[], halfCloses = false): Promise<string> {
  const origins = [direct.baseUrl, proxied.origin]
  const [one = '', other] = await Promise.all(origins.map((origin) => ask(origin, pieces, halfCloses)))
  expect(other).toBe(one)
  return one
}

const KEY = `Authorization: Bearer ${API_KEY}`
const HOST = 'Host: localhost'
const CLOSE = 'Connection: close'

function request(line: string, ...fields: string[]): string {
  return [`${line} HTTP/1.1`, HOST, ...fields, '', ''].join('\r\n')
}

const LIST = 'GET /api/v1/domains'
const READ = request(LIST, KEY)
const LAST = request('GET /api/v1/domaingroups', KEY, CLOSE)
const HEAD = request('HEAD /api/v1/dmarc', KEY)
const BODY = JSON.stringify({ name: 'a group', domains: [] })
const PACKED = gzipSync(BODY)
const post = (path: string, ...fields: string[]) =>
  request(`POST /api/v1${path}`, KEY, 'Content-Type: application/json', ...fields)
const lengthOf = (body: string | Buffer) => `Content-Length: ${body.length}`
const WRITE = post('/domaingroups', lengthOf(BODY)) + BODY
const IN_CHUNKS = [
  post('/domaingroups', 'Transfer-Encoding: chunked'),
  chunked(JSON.stringify({ name: 'in chunks' }), 3),
]
const LARGE = Buffer.alloc(2 << 20, ' ')

/** Requests of every kind, each of which ends its connection. */
const SESSIONS: Readonly<Record<string, readonly (string | Buffer)[]>> = {
  'a read': [LAST],
  'many on one connection': [READ, WRITE, HEAD, READ, LAST],
  'a pipeline': [READ + WRITE + HEAD + READ + LAST],
  'a large response': [request('GET /api/v1/dmarc', KEY, CLOSE)],
  chunks: [...IN_CHUNKS, LAST],
  'a body in a content coding': [post('/domains', 'Content-Encoding: gzip', lengthOf(PACKED), CLOSE), PACKED],
  'a client that waits for 100': [post('/domaingroups', 'Expect: 100-continue', lengthOf(BODY), CLOSE), BODY],
  'another expectation': [request(LIST, KEY, 'Expect: nothing', CLOSE)],
  'HTTP/1.0': [`${LIST} HTTP/1.0\r\n\r\n`],
  'HTTP/1.0 that stays': [`${LIST} HTTP/1.0\r\n${KEY}\r\nConnection: keep-alive\r\n\r\n`, LAST],
  'no key': [request(LIST, CLOSE)],
  'no host': [`${LIST} HTTP/1.1\r\n${KEY}\r\n${CLOSE}\r\n\r\n`],
  'two hosts': [request(LIST, HOST, KEY, CLOSE)],
  'a foreign host': [request(LIST, KEY, CLOSE).replace('localhost', 'evil.example')],
  'a malformed host': [request(LIST, KEY, CLOSE).replace('localhost', 'a b')],
  'the absolute form': [request('GET http://localhost/api/v1/domains', KEY, CLOSE)],
  'another path': [request('GET /elsewhere?a=b', CLOSE)],
  'OPTIONS *': [request('OPTIONS *', CLOSE)],
  'an upgrade': [request(LIST, KEY, 'Upgrade: websocket', 'Connection: upgrade, close')],
  'empty lines before a request': [`\r\n\r\n${LAST}`],
  'a body that is too large': [post('/domains', lengthOf(LARGE), CLOSE), LARGE],
}

it.each(Object.entries(SESSIONS))('%s: every byte comes back as without a proxy', async (_, pieces) => {
  expect(await expectAlike(pieces)).toMatch(/^HTTP\/1\.1 \d{3} /)
})

it.each(['a read', 'a pipeline', 'chunks'])('%s: a client may close its side at once', async (name) => {
  await expectAlike(SESSIONS[name] ?? [], true)
})

import { once } from 'node:events'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { budget } from '../../support/budget.ts'
import { API_KEY, openService, type TestService } from '../../support/service.ts'
import { chunked } from '../../support/wire.ts'
import { openRelay, type TestRelay } from './open-relay.ts'

const SEED = 20_260_115

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
  const [one, other] = await Promise.all([
    ask(direct.baseUrl, pieces, halfCloses),
    ask(proxied.origin, pieces, halfCloses),
  ])
  expect(other).toBe(one)
  return one
}

const KEY = `Authorization: Bearer ${API_KEY}`
const HOST = 'Host: localhost'
const CLOSE = 'Connection: close'

function request(line: string, ...fields: string[]): string {
  return [line, HOST, ...fields, '', ''].join('\r\n')
}

const READ = request('GET /api/v1/domains HTTP/1.1', KEY)
const LAST = request('GET /api/v1/domaingroups HTTP/1.1', KEY, CLOSE)
const BODY = JSON.stringify({ name: 'a group', domains: [] })
const JSON_TYPE = 'Content-Type: application/json'
const WRITE = request('POST /api/v1/domaingroups HTTP/1.1', KEY, JSON_TYPE, `Content-Length: ${BODY.length}`) + BODY
const IN_CHUNKS = Buffer.concat([
  Buffer.from(request('POST /api/v1/domaingroups HTTP/1.1', KEY, JSON_TYPE, 'Transfer-Encoding: chunked')),
  chunked(JSON.stringify({ name: 'in chunks' }), 3),
])
const HEAD = request('HEAD /api/v1/dmarc HTTP/1.1', KEY)
const PACKED = gzipSync(BODY)

/** Requests of every kind, each of which ends its connection. */
const SESSIONS: Readonly<Record<string, readonly (string | Buffer)[]>> = {
  'a read': [LAST],
  'many on one connection': [READ, WRITE, HEAD, READ, LAST],
  'a pipeline': [READ + WRITE + HEAD + READ + LAST],
  'a large response': [request('GET /api/v1/dmarc HTTP/1.1', KEY, CLOSE)],
  chunks: [IN_CHUNKS, LAST],
  'a body in a content coding': [
    request(
      'POST /api/v1/domains HTTP/1.1',
      KEY,
      JSON_TYPE,
      'Content-Encoding: gzip',
      `Content-Length: ${PACKED.length}`,
      CLOSE,
    ),
    PACKED,
  ],
  'a client that waits for 100': [
    request(
      'POST /api/v1/domaingroups HTTP/1.1',
      KEY,
      JSON_TYPE,
      'Expect: 100-continue',
      `Content-Length: ${BODY.length}`,
      CLOSE,
    ),
    BODY,
  ],
  'another expectation': [request('GET /api/v1/domains HTTP/1.1', KEY, 'Expect: nothing', CLOSE)],
  'HTTP/1.0': ['GET /api/v1/domains HTTP/1.0\r\n\r\n'],
  'HTTP/1.0 that stays': [`GET /api/v1/domains HTTP/1.0\r\n${KEY}\r\nConnection: keep-alive\r\n\r\n`, LAST],
  'no key': [request('GET /api/v1/domains HTTP/1.1', CLOSE)],
  'no host': [`GET /api/v1/domains HTTP/1.1\r\n${KEY}\r\n${CLOSE}\r\n\r\n`],
  'two hosts': [request('GET /api/v1/domains HTTP/1.1', HOST, KEY, CLOSE)],
  'a foreign host': [`GET /api/v1/domains HTTP/1.1\r\nHost: evil.example\r\n${KEY}\r\n${CLOSE}\r\n\r\n`],
  'a malformed host': [`GET /api/v1/domains HTTP/1.1\r\nHost: a b\r\n${KEY}\r\n${CLOSE}\r\n\r\n`],
  'the absolute form': [request('GET http://localhost/api/v1/domains HTTP/1.1', KEY, CLOSE)],
  'another path': [request('GET /elsewhere?a=b HTTP/1.1', CLOSE)],
  'another method': [request('BREW /api/v1/domains HTTP/1.1', KEY, CLOSE)],
  'OPTIONS *': [request('OPTIONS * HTTP/1.1', CLOSE)],
  CONNECT: ['CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n'],
  'an upgrade': [request('GET /api/v1/domains HTTP/1.1', KEY, 'Upgrade: websocket', 'Connection: upgrade, close')],
  'empty lines before a request': [`\r\n\r\n${LAST}`],
  'a bare LF': ['GET /api/v1/domains HTTP/1.1\nHost: localhost\n\n'],
  'a folded field': ['GET /api/v1/domains HTTP/1.1\r\nHost: localhost\r\nA: b\r\n c\r\n\r\n'],
  'a control character': ['GET /api/v1/domains HTTP/1.1\r\nHost: localhost\r\nA: \u0001\r\n\r\n'],
  'two lengths': [request('POST /api/v1/domains HTTP/1.1', KEY, 'Content-Length: 1', 'Content-Length: 2')],
  'both framings': [
    request('POST /api/v1/domains HTTP/1.1', KEY, JSON_TYPE, 'Content-Length: 5', 'Transfer-Encoding: chunked'),
    '0\r\n\r\n',
  ],
  'a chunk without a size': [
    request('POST /api/v1/domains HTTP/1.1', KEY, JSON_TYPE, 'Transfer-Encoding: chunked'),
    'zz\r\n',
  ],
  'a header that is too large': [request('GET /api/v1/domains HTTP/1.1', `A: ${'a'.repeat(100_000)}`)],
  'no HTTP': ['hello\r\n\r\n'],
  TLS: [Buffer.from('16030100a5010000a10303', 'hex')],
  'HTTP/2': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  'a body that is too large': [
    request('POST /api/v1/domains HTTP/1.1', KEY, JSON_TYPE, `Content-Length: ${2 << 20}`, CLOSE),
    Buffer.alloc(2 << 20, ' '),
  ],
}

it.each(Object.entries(SESSIONS))('%s: every byte comes back as without a proxy', async (_, pieces) => {
  expect(await expectAlike(pieces)).toMatch(/^HTTP\/1\.1 \d{3} /)
})

it.each(['a read', 'a pipeline', 'chunks'])('%s: a client may close its side at once', async (name) => {
  await expectAlike(SESSIONS[name] ?? [], true)
})

it('a request that breaks off is as broken as without a proxy', async () => {
  await expectAlike([WRITE.slice(0, -5)], true)
  await expectAlike(['GET /api/v1/dom'], true)
})

it(`Bytes come back alike in whatever pieces they are sent (seed ${SEED})`, async () => {
  const names = fc.constantFrom('many on one connection', 'chunks', 'a foreign host', 'a bare LF', 'no HTTP')
  const cuts = fc.array(fc.nat(2_000), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(names, cuts, async (name, places) => {
      const bytes = Buffer.concat((SESSIONS[name] ?? []).map((piece) => Buffer.from(piece)))
      const ends = [...new Set(places.map((place) => place % bytes.length))].sort((one, other) => one - other)
      const pieces = [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
      await expectAlike(pieces)
    }),
    { seed: SEED, numRuns: budget({ quick: 30, full: 500 }) },
  )
})

import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, vi } from 'vitest'
import { ACCOUNT, stateOf } from '../../support/account.ts'
import { it } from '../../support/example-service.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { startService } from '../../support/service.ts'
import {
  AUTHORIZED,
  bodyOf,
  CLOSE,
  Connection,
  expectLawful,
  type Header,
  JSON_BODY,
  readResponses,
  requestBytes,
  type WireRequest,
  type WireResponse,
} from '../../support/wire.ts'
import { ADDITION, DOMAINS, expectHealthy, half } from './requests.ts'

const IN_CHUNKS: Header[] = [AUTHORIZED, JSON_BODY, ['Transfer-Encoding', 'chunked']]

const NONE: WireResponse = { status: 0, headers: [], text: '' }

describe('A connection', () => {
  it('answers pipelined requests in their order', async ({ empty }) => {
    const requests: WireRequest[] = [
      { target: DOMAINS },
      { ...ADDITION, body: '{"domains":["one.example"]}' },
      { target: '/api/v1/nothing' },
      { method: 'HEAD', target: DOMAINS },
      { target: DOMAINS, headers: [] },
      { ...ADDITION, body: '{"domains":["two.example"]}' },
      { target: DOMAINS, headers: [AUTHORIZED, CLOSE] },
    ]
    const bytes = await empty.sendRaw(Buffer.concat(requests.map(requestBytes)))
    const responses = readResponses(
      bytes,
      requests.map(({ method = 'GET' }) => method),
    )
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 404, 200, 401, 200, 200])
    for (const [index, response] of responses.entries()) {
      expectLawful(empty, requests[index] ?? { target: '' }, response)
    }
    expect(bodyOf(responses[5] ?? NONE)?.data).toMatchObject({ domains: ['two.example'] })
    // RFC 9112 §9.3.2: only requests with safe methods may be processed in parallel.
    expect(bodyOf(responses[6] ?? NONE)?.data).toEqual({ domains: ['one.example', 'two.example'] })
  })

  it('is kept for the next request after every kind of refusal', async ({ service }) => {
    const connection = await Connection.open(service)
    const body = '{"x":'
    for (const [status, request] of [
      [400, { method: 'POST', target: DOMAINS, headers: [AUTHORIZED, JSON_BODY], body }],
      [401, { method: 'POST', target: DOMAINS, headers: [], body }],
      [404, { method: 'POST', target: '/nothing', headers: [], body }],
      [405, { method: 'PUT', target: DOMAINS, headers: [], body }],
      [413, { method: 'POST', target: DOMAINS, headers: [AUTHORIZED, JSON_BODY], body: ' '.repeat(2_000_000) }],
      [200, { target: DOMAINS }],
    ] as const) {
      await connection.write(requestBytes(request))
      expect((await connection.next()).status).toBe(status)
    }
    await connection.destroy()
  })
})

describe('A connection beyond --max-connections', () => {
  it('is closed at once with one line in the log, and those that are there go on', async () => {
    const log = recordingLog()
    const service = await startService({ maxConnections: 2, log })
    const connections = await Promise.all([1, 2].map(() => Connection.open(service)))
    for (let round = 0; round < 3; round++) await (await Connection.open(service)).closed
    for (const connection of connections) {
      await connection.write(requestBytes({ target: DOMAINS }))
      expect((await connection.next()).status).toBe(200)
    }
    expect(log.warnings).toEqual([{ limit: 2 }])
    await connections[0]?.destroy()
    await vi.waitFor(async () => {
      const connection = await Connection.open(service)
      await connection.write(requestBytes({ target: DOMAINS }))
      expect((await connection.next()).status).toBe(200)
    })
  })
})

describe('A client that leaves', () => {
  it.for<[when: string, bytes: Buffer]>([
    ['in the first line', Buffer.from('POST /api')],
    ['in the header', Buffer.from(`POST ${DOMAINS} HTTP/1.1\r\nHost: x\r\nContent-`)],
    ['in the body', half(ADDITION)],
    ['in the body of a request without a key', half({ method: 'POST', target: DOMAINS, headers: [], body: '{}' })],
    ['in the body of GET', half({ target: DOMAINS, body: '{"domains":["new.example"]}' })],
    ['in a chunk', half({ ...ADDITION, headers: IN_CHUNKS, body: '1b\r\n{"domains":["new.example"]}\r\n' })],
    ['after a chunk that is none', requestBytes({ ...ADDITION, headers: IN_CHUNKS, body: 'ZZ\r\n' })],
    ['without waiting for an answer', requestBytes({ target: '/api/v1/dmarc' })],
  ])('%s leaves the service in order, and is no error in the log', async ([, bytes]) => {
    const log = recordingLog()
    const service = await startService({ fixture: ACCOUNT, log })
    const before = await stateOf(service)
    for (let round = 0; round < 5; round++) {
      const connection = await Connection.open(service)
      await connection.write(bytes)
      await connection.destroy()
    }
    // By the time this is answered, the service has seen the end of the other connections and what comes of it.
    await expectHealthy(service)
    expect(await stateOf(service)).toEqual(before)
    expect(log.errors).toEqual([])
  })

  it('does not undo a change that was made', async ({ empty }) => {
    const connection = await Connection.open(empty)
    await connection.write(requestBytes(ADDITION))
    await once(connection.socket, 'data')
    await connection.destroy()
    expect((await empty.get('/domains')).body.data.domains).toEqual(['new.example'])
  })
})

describe('A client that closes its side at once', () => {
  it.each([
    // More than the quota of the path, which is not enforced.
    [100, 0],
    [1, 70_000],
    [1, 100_000],
  ])('gets the answers to its %d requests with bodies of %d bytes', async (count, padding) => {
    const service = await startService({ enforceQuotas: false })
    const names = Array.from({ length: count }, (_, index) => `${' '.repeat(padding)}"new-${index}.example"`)
    const requests = names.map((name) => requestBytes({ ...ADDITION, body: `{"domains":[${name}]}` }))
    const { hostname, port } = new URL(service.baseUrl)
    const socket = connect(Number(port), hostname)
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.end(Buffer.concat(requests))
    await once(socket, 'close')
    expect(readResponses(received).map(({ status }) => status)).toEqual(names.map(() => 200))
  })
})

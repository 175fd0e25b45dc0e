import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { ACCOUNT, stateOf } from '../../support/account.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { API_KEY, startService } from '../../support/service.ts'
import {
  AUTHORIZED,
  bodyOf,
  CLOSE,
  Connection,
  expectLawful,
  type Header,
  headerOf,
  JSON_BODY,
  readResponses,
  requestBytes,
  type WireRequest,
  type WireResponse,
} from '../../support/wire.ts'
import { ADDITION, DOMAINS, expectHealthy, GROUPS, half, UUID } from './requests.ts'

const IN_CHUNKS: Header[] = [AUTHORIZED, JSON_BODY, ['Transfer-Encoding', 'chunked']]

const NONE: WireResponse = { status: 0, headers: [], text: '' }

describe('A connection', () => {
  it('answers pipelined requests in their order', async () => {
    const service = await startService()
    const requests: WireRequest[] = [
      { target: DOMAINS },
      { ...ADDITION, body: '{"domains":["one.example"]}' },
      { target: '/api/v1/nothing' },
      { method: 'HEAD', target: DOMAINS },
      { target: DOMAINS, headers: [] },
      { ...ADDITION, body: '{"domains":["two.example"]}' },
      { target: '/api/v1/dmarc', headers: [AUTHORIZED, CLOSE] },
    ]
    const bytes = await service.sendRaw(Buffer.concat(requests.map(requestBytes)))
    const responses = readResponses(
      bytes,
      requests.map(({ method = 'GET' }) => method),
    )
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 404, 200, 401, 200, 200])
    for (const [index, response] of responses.entries()) {
      expectLawful(service, requests[index] ?? { target: '' }, response)
    }
    expect(bodyOf(responses[5] ?? NONE)?.data).toMatchObject({ domains: ['two.example'] })
  })

  // RFC 9112 §9.3.2: only requests with safe methods may be processed in parallel.
  it('carries out a pipelined change before it reads for the next request', async () => {
    const service = await startService()
    const requests = [ADDITION, { target: DOMAINS, headers: [AUTHORIZED, CLOSE] }]
    const [, read] = readResponses(await service.sendRaw(Buffer.concat(requests.map(requestBytes))))
    expect(bodyOf(read ?? NONE)?.data).toEqual({ domains: ['new.example'] })
  })

  it('answers a hundred pipelined requests, each with a count less', async () => {
    const service = await startService()
    const requests = Array.from({ length: 100 }, (_, index) => ({
      target: GROUPS,
      headers: index === 99 ? [AUTHORIZED, CLOSE] : [AUTHORIZED],
    }))
    const responses = readResponses(await service.sendRaw(Buffer.concat(requests.map(requestBytes))))
    const left = responses.map((response) => Number(headerOf(response, 'X-RateLimit-Remaining')))
    expect(left).toEqual(Array.from({ length: 100 }, (_, index) => 99 - index))
  })

  it('is kept for the next request after every kind of refusal', async () => {
    const service = await startService({ fixture: ACCOUNT })
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

  it('of HTTP/1.0 is answered and closed', async () => {
    const service = await startService()
    const [response] = readResponses(
      await service.sendRaw(`GET ${DOMAINS} HTTP/1.0\r\nAuthorization: Bearer ${API_KEY}\r\n\r\n`),
    )
    expect(response?.status).toBe(200)
  })

  it('whose client has closed its side after the request is answered', async () => {
    const service = await startService()
    const connection = await Connection.open(service)
    connection.socket.end(requestBytes({ target: DOMAINS }))
    expect((await connection.next()).status).toBe(200)
    await connection.closed
  })

  it('is not upgraded', async () => {
    const service = await startService()
    const headers: Header[] = [AUTHORIZED, ['Connection', 'Upgrade'], ['Upgrade', 'websocket']]
    const connection = await Connection.open(service)
    await connection.write(requestBytes({ target: DOMAINS, headers }))
    expect((await connection.next()).status).toBe(200)
    await connection.destroy()
  })

  it('without the header Host is refused in the envelope', async () => {
    const service = await startService()
    const [response] = readResponses(
      await service.sendRaw(`GET ${DOMAINS} HTTP/1.1\r\nAuthorization: Bearer ${API_KEY}\r\nConnection: close\r\n\r\n`),
    )
    expect(response && bodyOf(response)).toMatchObject({ success: false })
    expect(response && headerOf(response, 'X-Request-Id')).toMatch(UUID)
  })
})

describe('A client that leaves', () => {
  it.each<[when: string, bytes: Buffer]>([
    ['in the first line', Buffer.from('POST /api')],
    ['in the header', Buffer.from(`POST ${DOMAINS} HTTP/1.1\r\nHost: x\r\nContent-`)],
    ['in the body', half(ADDITION)],
    ['in the body of a request without a key', half({ method: 'POST', target: DOMAINS, headers: [], body: '{}' })],
    ['in the body of GET', half({ target: DOMAINS, body: '{"domains":["new.example"]}' })],
    ['in a chunk', half({ ...ADDITION, headers: IN_CHUNKS, body: '1b\r\n{"domains":["new.example"]}\r\n' })],
    ['without waiting for an answer', requestBytes({ target: '/api/v1/dmarc' })],
  ])('%s leaves the service in order', async (_, bytes) => {
    const service = await startService({ fixture: ACCOUNT })
    const before = await stateOf(service)
    for (let round = 0; round < 5; round++) {
      const connection = await Connection.open(service)
      await connection.write(bytes)
      await connection.destroy()
    }
    await expectHealthy(service)
    expect(await stateOf(service)).toEqual(before)
  })

  it.each([
    ['leaves in the body', half(ADDITION)],
    ['leaves in a chunk', half({ ...ADDITION, headers: IN_CHUNKS, body: '1b\r\n{"domains":["new.example"]}\r\n' })],
    ['sends a chunk that is none', requestBytes({ ...ADDITION, headers: IN_CHUNKS, body: 'ZZ\r\n' })],
  ])('who %s is no failure of the stand-in, so the log has no error', async (_, bytes) => {
    const log = recordingLog()
    const service = await startService({ log })
    const connection = await Connection.open(service)
    await connection.write(bytes)
    await connection.destroy()
    // By the time this is answered, the service has seen the end of the other connection and what comes of it.
    await expectHealthy(service)
    expect(log.errors).toEqual([])
  })

  it('does not undo a change that was made', async () => {
    const service = await startService()
    const connection = await Connection.open(service)
    await connection.write(requestBytes(ADDITION))
    await once(connection.socket, 'data')
    await connection.destroy()
    expect((await service.get('/domains')).body.data.domains).toEqual(['new.example'])
  })
})

describe('A client that closes its side at once', () => {
  it.each([
    [1, 0],
    [11, 0],
    [100, 0],
    [1, 70_000],
    [1, 100_000],
  ])('gets the answers to its %d requests with bodies of %d bytes', async (count, padding) => {
    const service = await startService({ enforceQuotas: false })
    const names = Array.from({ length: count }, (_, index) => `${' '.repeat(padding)}"new-${index}.example"`)
    const requests = names.map((name) =>
      requestBytes({
        method: 'POST',
        target: DOMAINS,
        headers: [AUTHORIZED, JSON_BODY],
        body: `{"domains":[${name}]}`,
      }),
    )
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

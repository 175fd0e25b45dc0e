import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, vi } from 'vitest'
import { OPERATIONS } from '../../../src/behaviour/operations/operations.ts'
import { ACCOUNT, stateOf } from '../../support/account.ts'
import { it } from '../../support/example-service.ts'
import { recordingLog } from '../../support/recording-log.ts'
import { startService } from '../../support/service.ts'
import { AUTHORIZED, Connection, type Header, JSON_BODY, readResponses, requestBytes } from '../../support/wire.ts'
import { ADDITION, DOMAINS, expectHealthy, half } from './requests.ts'

const IN_CHUNKS: Header[] = [AUTHORIZED, JSON_BODY, ['Transfer-Encoding', 'chunked']]

describe('A connection', () => {
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

describe('A connection beyond the maximum', () => {
  it('is closed at once with one line in the log, and those that are there go on', async () => {
    const log = recordingLog()
    const service = await startService({ log }, OPERATIONS, { maxConnections: 2 })
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
    ['in the body', half(ADDITION)],
    ['in a chunk', half({ ...ADDITION, headers: IN_CHUNKS, body: '1b\r\n{"domains":["new.example"]}\r\n' })],
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
})

describe('A client that closes its side at once', () => {
  it.each([
    // More than the quota of the path, which is not enforced.
    [100, 0],
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

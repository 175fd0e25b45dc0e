import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { startService } from '../support/service.ts'
import { AUTHORIZED, CLOSE, Connection, type Header, JSON_BODY, readResponses, requestBytes } from '../support/wire.ts'

const DOMAINS = '/api/v1/domains'
const POST = { method: 'POST', target: DOMAINS, headers: [AUTHORIZED, JSON_BODY] }

describe('A refused upload', () => {
  const BODY = Buffer.alloc(20_000_000, ' ')

  it.each<[what: string, status: number, headers: readonly Header[], body: Buffer]>([
    ['of 20 MB', 413, [AUTHORIZED, JSON_BODY], BODY],
    ['of 20 MB without a key', 401, [JSON_BODY, CLOSE], BODY],
  ])('%s gets its answer and is not reset', async (_, status, headers, body) => {
    const service = await startService()
    const connection = await Connection.open(service)
    const errors: Error[] = []
    connection.socket.on('error', (error) => errors.push(error))
    const sent = connection.write(requestBytes({ method: 'POST', target: DOMAINS, headers, body }))
    expect((await connection.next()).status).toBe(status)
    await sent
    expect(errors).toEqual([])
    connection.socket.destroy()
  })

  it.each([
    ['breaks off', requestBytes({ ...POST, headers: [['Content-Length', '100']], body: '{' })],
    [
      'has a chunk that is none',
      requestBytes({ ...POST, headers: [['Transfer-Encoding', 'chunked']], body: '5\r\n{"do' }),
    ],
  ])('that %s gets one answer', async (_, bytes) => {
    const service = await startService()
    const { hostname, port } = new URL(service.baseUrl)
    const socket = connect(Number(port), hostname)
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.end(bytes)
    await once(socket, 'close')
    expect(readResponses(received).map(({ status }) => status)).toEqual([401])
  })
})

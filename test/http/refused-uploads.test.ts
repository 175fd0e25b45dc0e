import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { replaceTime } from '../support/replaced-time.ts'
import { startService } from '../support/service.ts'
import {
  AUTHORIZED,
  CLOSE,
  Connection,
  chunked,
  type Header,
  JSON_BODY,
  readResponses,
  requestBytes,
} from '../support/wire.ts'

const DOMAINS = '/api/v1/domains'
const POST = { method: 'POST', target: DOMAINS, headers: [AUTHORIZED, JSON_BODY] }

describe('A refused upload', () => {
  const BODY = Buffer.alloc(20_000_000, ' ')

  it.each<[what: string, status: number, headers: readonly Header[], body: Buffer]>([
    ['of 20 MB', 413, [AUTHORIZED, JSON_BODY], BODY],
    ['of 20 MB on a connection that is to be closed', 413, [AUTHORIZED, JSON_BODY, CLOSE], BODY],
    [
      'of 20 MB in chunks',
      413,
      [AUTHORIZED, JSON_BODY, ['Transfer-Encoding', 'chunked'], CLOSE],
      chunked(BODY.toString()),
    ],
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

  it('is read past for ten seconds and no longer', async () => {
    const service = await startService()
    const connection = await Connection.open(service)
    const goOn = replaceTime(['setTimeout', 'clearTimeout'])
    try {
      await connection.write(
        requestBytes({ ...POST, headers: [...POST.headers, ['Content-Length', '9999999999']], body: '{' }),
      )
      expect((await connection.next()).status).toBe(413)
      vi.advanceTimersByTime(9_000)
      await connection.write('more')
      expect(connection.socket.destroyed).toBe(false)
      vi.advanceTimersByTime(2_000)
      await connection.closed
    } finally {
      goOn()
    }
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

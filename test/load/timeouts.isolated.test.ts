import type * as Http from 'node:http'
import type { RequestListener, ServerOptions } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { startService } from '../support/service.ts'
import { AUTHORIZED, bodyOf, Connection, JSON_BODY, requestBytes } from '../support/wire.ts'

/** Everything that a server waits for is over so many times sooner. */
const SOONER = 100
const given: ServerOptions = {}

vi.mock('node:http', async (importOriginal) => {
  const http = await importOriginal<typeof Http>()
  function createServer(options: ServerOptions, listener: RequestListener) {
    Object.assign(given, options)
    const { headersTimeout = 0, requestTimeout = 0, keepAliveTimeout = 0, connectionsCheckingInterval = 0 } = options
    return http.createServer(
      {
        ...options,
        headersTimeout: headersTimeout / SOONER,
        requestTimeout: requestTimeout / SOONER,
        keepAliveTimeout: keepAliveTimeout / SOONER,
        connectionsCheckingInterval: connectionsCheckingInterval / SOONER,
      },
      listener,
    )
  }
  return { ...http, createServer }
})

const MINUTE = 60_000
const UPLOAD = { method: 'POST', target: '/api/v1/domains', headers: [AUTHORIZED, JSON_BODY] }

/** Sends a byte now and then, which must not give the client more time. */
function drip({ socket }: Connection): void {
  const timer = setInterval(() => socket.write('x'), 5)
  socket.once('close', () => clearInterval(timer))
}

it('gives a client ten seconds for a header, a minute for a request, and keeps an idle connection for five', async () => {
  await startService()
  expect(given).toMatchObject({ headersTimeout: 10_000, requestTimeout: 60_000, keepAliveTimeout: 5_000 })
})

it.each([
  ['a header', 'GET /api/v1/domains HTTP/1.1\r\nHost: localhost\r\nX-Slow: '],
  ['a first line', 'GET /'],
  ['a body', requestBytes({ ...UPLOAD, headers: [...UPLOAD.headers, ['Content-Length', '100000']], body: '{' })],
  [
    'a chunk',
    requestBytes({ ...UPLOAD, headers: [...UPLOAD.headers, ['Transfer-Encoding', 'chunked']], body: 'ffff\r\n' }),
  ],
])('answers 408 to a client that sends %s byte by byte, and closes the connection', async (_, beginning) => {
  const service = await startService()
  const connection = await Connection.open(service)
  await connection.write(beginning)
  drip(connection)
  const response = await connection.next()
  expect([response.status, bodyOf(response)?.error?.code]).toEqual([408, 'invalid_request_body'])
  await connection.closed
})

it('answers 408 to a client that connects and sends nothing', async () => {
  const service = await startService()
  const connection = await Connection.open(service)
  expect((await connection.next()).status).toBe(408)
  await connection.closed
})

// Here, its first request must come within a tenth of a second.
it('closes a connection on which no further request comes', { retry: 2 }, async () => {
  const service = await startService()
  const connection = await Connection.open(service)
  await connection.write(requestBytes({ target: '/api/v1/domains' }))
  expect((await connection.next()).status).toBe(200)
  await connection.closed
})

it('sends no second answer to a refused upload that never ends, and closes the connection', { retry: 2 }, async () => {
  const service = await startService()
  const connection = await Connection.open(service)
  await connection.write(requestBytes({ ...UPLOAD, headers: [['Content-Length', '100000']], body: '{' }))
  expect((await connection.next()).status).toBe(401)
  drip(connection)
  await expect(connection.next()).rejects.toThrow('closed after 0 bytes')
})

it.each<[how: string, leave: (connection: Connection) => void]>([
  ['closes', ({ socket }) => socket.destroy()],
  ['resets', ({ socket }) => socket.resetAndDestroy()],
])('frees within seconds a connection that its client %s while one of many requests is held', async (_, leave) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const service = await startService()
    const connection = await Connection.open(service)
    const held = requestBytes({ target: '/api/v1/domains', headers: [AUTHORIZED, ['Prefer', 'delay=60000']] })
    await connection.write(Buffer.concat([held, ...Array(50).fill(requestBytes({ target: '/api/v1/domains' }))]))
    for (let turns = 0; turns < 20; turns++) await setImmediate()
    leave(connection)
    await connection.closed
    let seconds = 0
    for (; seconds < 60 && countConnections() >= 0; seconds++) {
      vi.advanceTimersByTime(1_000)
      for (let turns = 0; turns < 5; turns++) await setImmediate()
    }
    expect(seconds).toBeLessThan(10)
  } finally {
    vi.useRealTimers()
  }
})

it('closes a connection whose client never reads its answers, two minutes later', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const service = await startService({ fixture: 'agency', enforceQuotas: false })
    const connection = await Connection.open(service)
    connection.socket.pause()
    connection.socket.write(Buffer.concat(Array(2_000).fill(requestBytes({ target: '/api/v1/dmarc' }))))
    let minutes = 0
    // Until the buffers of the system are full, something passes.
    for (; minutes < 1_000 && countConnections() > 0; minutes++) {
      vi.advanceTimersByTime(MINUTE)
      await setImmediate()
    }
    expect(countConnections()).toBe(0)
    expect(minutes).toBeGreaterThan(1)
    connection.socket.resume()
    await connection.closed
  } finally {
    vi.useRealTimers()
  }
})

/** Of this process, those of the server; the client's own is one of them as well. */
function countConnections(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length - 1
}

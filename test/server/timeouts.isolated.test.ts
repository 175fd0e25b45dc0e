import type * as Http from 'node:http'
import type { RequestListener, ServerOptions } from 'node:http'
import { beforeEach, expect, it, vi } from 'vitest'
import { startService } from '../support/service.ts'
import { AUTHORIZED, bodyOf, Connection, JSON_BODY, requestBytes } from '../support/wire.ts'

/** How many times sooner what a server waits for is over. */
const usual = { headersTimeout: 200, requestTimeout: 200, keepAliveTimeout: 200, connectionsCheckingInterval: 200 }
const { sooner, given } = vi.hoisted(() => ({ sooner: {} as Record<string, number>, given: {} as ServerOptions }))
beforeEach(() => Object.assign(sooner, usual))

vi.mock('node:http', async (importOriginal) => {
  const http = await importOriginal<typeof Http>()
  function createServer(options: ServerOptions, listener: RequestListener) {
    Object.assign(given, options)
    const times = Object.entries(sooner).map(([name, factor]) => [name, Number(Reflect.get(options, name)) / factor])
    return http.createServer({ ...options, ...Object.fromEntries(times) }, listener)
  }
  return { ...http, createServer }
})

const UPLOAD = { method: 'POST', target: '/api/v1/domains', headers: [AUTHORIZED, JSON_BODY] }

/** Sends a byte now and then, which must not give the client more time. */
function drip({ socket }: Connection): void {
  const timer = setInterval(() => socket.write('x'), 5)
  socket.once('close', () => clearInterval(timer))
}

it('gives a client ten seconds for a header, a minute for a request, and five for the next one', async () => {
  await startService()
  expect(given).toMatchObject({ headersTimeout: 10_000, requestTimeout: 60_000, keepAliveTimeout: 5_000 })
})

const SLOW_CLIENTS: (string | Buffer)[] = [
  'GET /api/v1/domains HTTP/1.1\r\nHost: localhost\r\nX-Slow: ',
  'GET /',
  requestBytes({ ...UPLOAD, headers: [...UPLOAD.headers, ['Content-Length', '100000']], body: '{' }),
  requestBytes({ ...UPLOAD, headers: [...UPLOAD.headers, ['Transfer-Encoding', 'chunked']], body: 'ffff\r\n' }),
]

it('answers 408 to clients that send a header, a first line, a body or a chunk byte by byte, and closes the connections', async () => {
  const service = await startService()
  await Promise.all(
    SLOW_CLIENTS.map(async (beginning) => {
      const connection = await Connection.open(service)
      await connection.write(beginning)
      drip(connection)
      const response = await connection.next()
      expect([response.status, bodyOf(response)?.error?.code]).toEqual([408, 'invalid_request_body'])
      await connection.closed
    }),
  )
})

it('closes a connection on which no further request comes', async () => {
  Object.assign(sooner, { headersTimeout: 1, requestTimeout: 1 })
  const service = await startService()
  const connection = await Connection.open(service)
  await connection.write(requestBytes({ target: '/api/v1/domains' }))
  expect((await connection.next()).status).toBe(200)
  await connection.closed
})

it('sends no second answer to a refused upload that never ends, and closes the connection', async () => {
  Object.assign(sooner, { headersTimeout: 10, requestTimeout: 40 })
  const service = await startService()
  const connection = await Connection.open(service)
  await connection.write(requestBytes({ ...UPLOAD, headers: [['Content-Length', '100000']], body: '{' }))
  expect((await connection.next()).status).toBe(401)
  drip(connection)
  await expect(connection.next()).rejects.toThrow('closed after 0 bytes')
})

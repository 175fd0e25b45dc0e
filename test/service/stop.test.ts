import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, vi } from 'vitest'
import { it } from '../support/example-service.ts'
import { holdTime, someoneWaits } from '../support/held-time.ts'
import type { TestService } from '../support/service.ts'
import { AUTHORIZED, bodyOf, Connection, expectLawful, type Header, JSON_BODY, requestBytes } from '../support/wire.ts'

/** In milliseconds, how long a request that is under way may still take. */
const STOP_PATIENCE = 1500
const READ = requestBytes({ target: '/api/v1/domaingroups' })
const BODY = '{"domains":["new.example"]}'
const HEADERS: Header[] = [AUTHORIZED, JSON_BODY, ['Content-Length', `${BODY.length}`], ['Expect', '100-continue']]
const WRITE = { method: 'POST', target: '/api/v1/domains', headers: HEADERS }

/** A connection whose request is with the service but for its body. */
async function beginRequest(service: TestService): Promise<Connection> {
  const connection = await Connection.open(service)
  await connection.write(requestBytes(WRITE))
  expect((await connection.next()).status).toBe(100)
  return connection
}

/** How a new connection ends: `connected`, or the code of its error. */
async function tryToConnect({ baseUrl }: TestService): Promise<string> {
  const { hostname, port } = new URL(baseUrl)
  const socket = connect(Number(port), hostname)
  try {
    await once(socket, 'connect')
    return 'connected'
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code)
  } finally {
    socket.destroy()
  }
}

it('stops at once when every connection is idle, silent or in the middle of a header, and closes them', async ({
  empty,
}) => {
  const [idle, silent, slow] = [
    await Connection.open(empty),
    await Connection.open(empty),
    await Connection.open(empty),
  ]
  await idle.write(READ)
  expect((await idle.next()).status).toBe(200)
  await slow.write('GET /api/v1/domains HTTP/1.1\r\nHost: ')
  holdTime()
  await empty.stop()
  await Promise.all([idle.closed, silent.closed, slow.closed])
})

it('answers a request whose body is half sent when the stop begins, and then stops; new connections are refused', async ({
  empty,
}) => {
  expect(await tryToConnect(empty)).toBe('connected')
  const connection = await beginRequest(empty)
  await connection.write(BODY.slice(0, 10))
  let stopped = false
  const stopping = empty.stop().then(() => {
    stopped = true
  })
  expect(await tryToConnect(empty)).toBe('ECONNREFUSED')
  expect(stopped).toBe(false)
  await connection.write(BODY.slice(10))
  const response = await connection.next()
  expectLawful(empty, WRITE, response)
  expect(bodyOf(response)?.data).toMatchObject({ domains: ['new.example'] })
  await Promise.all([stopping, connection.closed])
  expect(await tryToConnect(empty)).toBe('ECONNREFUSED')
})

it('cuts off a request that never ends, after as long as it may wait', async ({ empty }) => {
  const connection = await beginRequest(empty)
  holdTime()
  let stopped = false
  const stopping = empty.stop().then(() => {
    stopped = true
  })
  await someoneWaits()
  await vi.advanceTimersByTimeAsync(STOP_PATIENCE - 1)
  expect(stopped).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  await Promise.all([stopping, connection.closed])
})

import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { arrivalOf } from '../../src/doors/direct-arrival.ts'
import { listenOn } from '../support/listening.ts'

const REPEATED = [
  ...['Authorization', 'Content-Type', 'Host', 'User-Agent', 'Referer', 'If-None-Match', 'If-Modified-Since'],
  ...['Cookie', 'Set-Cookie', 'Accept', 'X-Request-Id', 'Origin', 'Prefer', 'constructor', 'Retry-After'],
  ...['Expires', 'Etag', 'Age', 'From', 'Location', 'Server', 'Last-Modified', 'Max-Forwards', 'If-Unmodified-Since'],
]

it('has its header fields as a request on a connection has them, repeated ones included', async () => {
  const headers = REPEATED.flatMap((name) => [name, 'one', name.toLowerCase(), 'two'])
  const server = createServer({ requireHostHeader: false })
  const asked = once(server, 'request') as Promise<[IncomingMessage, unknown]>
  const fields = REPEATED.map((name) => `${name}: one\r\n${name.toLowerCase()}: two\r\n`).join('')
  connect(await listenOn(server), '127.0.0.1').write(`GET / HTTP/1.1\r\n${fields}\r\n`)
  const [request] = await asked
  const arrival = arrivalOf({ method: 'GET', target: '/', headers })
  expect({ ...arrival.headers }).toEqual({ ...request.headers })
  expect(arrival.rawHeaders).toEqual(request.rawHeaders)
})

it('waits as long as it is told, unless everything stops', async () => {
  const arrival = arrivalOf({ method: 'GET', target: '/', headers: [] })
  const stopping = new AbortController()
  await arrival.wait(1, stopping.signal)
  const endless = arrival.wait(undefined, stopping.signal)
  stopping.abort()
  await endless
})

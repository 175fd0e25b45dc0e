import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { nextTurn } from '../../../src/ground/timers.ts'
import { contentOf } from '../../../src/http/content.ts'
import type { Delivery } from '../../../src/http/delivery.ts'
import { type CarrierDeps, createCarrier } from '../../../src/http/engine/carrier.ts'
import { closeServer, createHttpServer, listen, STOP_PATIENCE } from '../../../src/http/engine/http-server.ts'
import { ServerArrival } from '../../../src/http/engine/server-arrival.ts'
import { holdTime, someoneWaits } from '../../support/held-time.ts'
import { recordingLog } from '../../support/recording-log.ts'

const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`

function deliver(text: string, headers: string[] = []): Delivery {
  const body = contentOf(text)
  return { status: 200, headers: ['Content-Length', body.size, ...headers], body, transmission: undefined }
}

/** Starts a server with this service until the test is over. `ask` sends requests on a new connection. */
async function open(answer: CarrierDeps['answer']) {
  const log = recordingLog()
  const serve = createCarrier({ answer, stopping: new AbortController().signal, log })
  const server = createHttpServer({
    handle: (request, response) => serve(new ServerArrival(request), request, response),
    refuseMalformed: (_, socket) => socket.destroy(),
    maxConnections: 100,
    dropped() {},
  })
  await listen(server, 0, '127.0.0.1')
  let closing: Promise<void> | undefined
  const close = () => (closing ??= closeServer(server))
  onTestFinished(close)
  const { port } = server.address() as AddressInfo
  return {
    log,
    port,
    close,
    ask(...targets: string[]): Promise<string> {
      return receive(connect(port, '127.0.0.1').end(targets.map(get).join('')))
    },
    hold(...targets: string[]): Socket {
      const socket = connect(port, '127.0.0.1')
      socket.write(targets.map(get).join(''))
      return socket
    },
  }
}

/** All that a connection brings until it is closed. */
async function receive(socket: Socket): Promise<string> {
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  socket.on('error', () => {})
  await once(socket, 'close')
  return received
}

it('A request waits for those before it on its connection, and for no others', async () => {
  const seen: string[] = []
  let release: (delivery: Delivery) => void = () => {}
  const { ask, hold } = await open(({ url }) => {
    seen.push(`${url}`)
    return url === '/held' ? new Promise((resolve) => (release = resolve)) : deliver('done')
  })
  const socket = hold('/first', '/held', '/behind')
  await once(socket, 'data')
  expect(await ask('/other')).toContain('done')
  expect(seen).toEqual(['/first', '/held', '/other'])
  release(deliver('late'))
  await once(socket, 'data')
  await expect.poll(() => seen).toEqual(['/first', '/held', '/other', '/behind'])
  socket.destroy()
})

it.each([
  ['of a known length', 'Content-Length: 2\r\n\r\n{}'],
  ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n'],
  ['in chunks of which there are none', 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
])('A request with a body %s is not overtaken by those that come with it', async (_, body) => {
  const seen: string[] = []
  let release: (delivery: Delivery) => void = () => {}
  const { port } = await open(({ url }) => {
    seen.push(`${url}`)
    return url === '/held' ? new Promise((resolve) => (release = resolve)) : deliver('done')
  })
  const socket = connect(port, '127.0.0.1')
  socket.write(`POST /held HTTP/1.1\r\nHost: x\r\n${body}${get('/behind')}`)
  await expect.poll(() => seen).toContain('/held')
  await nextTurn()
  expect(seen).toEqual(['/held'])
  release(deliver('late'))
  await expect.poll(() => seen).toEqual(['/held', '/behind'])
  socket.destroy()
})

it('A server closes although a request never ends', async () => {
  const seen: string[] = []
  const { hold, close } = await open(({ url }) => {
    seen.push(`${url}`)
    return new Promise(() => {})
  })
  const socket = hold('/never')
  await expect.poll(() => seen).toEqual(['/never'])
  holdTime()
  const closing = close()
  for (const _ of ['for the answer', 'for the record']) {
    await someoneWaits()
    await vi.advanceTimersByTimeAsync(STOP_PATIENCE)
  }
  await closing
  socket.destroy()
})

it.each<[what: string, answer: () => ReturnType<CarrierDeps['answer']>]>([
  ['throws', () => expect.unreachable('a bug')],
  ['rejects', () => Promise.reject(new Error('a bug'))],
  ['has a field that cannot be sent', () => deliver('never', ['X', 'a\nb'])],
  ['has such a field after a while', async () => deliver('never', ['X', 'a\nb'])],
])(
  'A request whose answer %s ends with its connection and a line in the log, and takes no other with it',
  async (_, answer) => {
    const { ask, log } = await open(({ url }) => (url === '/bug' ? answer() : deliver('done')))
    expect(await ask('/bug')).toBe('')
    expect(log.errors).toHaveLength(1)
    expect(await ask('/other')).toContain('done')
  },
)

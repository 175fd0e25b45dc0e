import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, Socket } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { Arrival } from '../../../src/http/body.ts'
import { contentOf } from '../../../src/http/content.ts'
import type { Deal } from '../../../src/http/engine/connection.ts'
import { closeServer, createHttpServer, listen } from '../../../src/http/engine/http-server.ts'
import { post } from '../../../src/http/engine/outbox.ts'

// What makes the server fast rests on Node's and Express' inner life. These fail when that changes.

type ExpressRequest = IncomingMessage & Partial<Arrival> & { app?: { enabled(setting: string): boolean } }

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const POST = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n'

async function open(deal: Deal): Promise<Socket> {
  const server = createHttpServer(deal, (_, socket) => socket.destroy())
  const origin = await listen(server, 0, '127.0.0.1')
  onTestFinished(() => closeServer(server))
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

function answer(response: ServerResponse, text = 'done'): void {
  const body = contentOf(text)
  post(
    response,
    { status: 200, headers: ['Content-Length', body.size], written: { entries: 2, text: '' }, body },
    false,
  )
}

it('Express changes the prototype of no request and no response, because they have the right one', async () => {
  const socket = await open((_, response) => answer(response))
  const set = vi.spyOn(Object, 'setPrototypeOf')
  onTestFinished(() => set.mockRestore())
  let changed = 0
  set.mockImplementation((object, prototype) => {
    if (Object.getPrototypeOf(object) === prototype) return object
    changed++
    return Reflect.setPrototypeOf(object, prototype) && object
  })
  socket.write(GET)
  await once(socket, 'data')
  expect(set).toHaveBeenCalledTimes(2)
  expect(changed).toBe(0)
})

it('What is dealt with is a request of Express, routed by nobody but us', async () => {
  const seen: unknown[] = []
  const socket = await open((request: ExpressRequest, response) => {
    seen.push(request.app?.enabled('x-powered-by'), Object.hasOwn(request, '_parsedUrl'))
    answer(response)
  })
  socket.write(GET)
  await once(socket, 'data')
  expect(seen).toEqual([false, false])
})

it('All requests that have arrived are received before one is dealt with, and dealt with before one is answered', async () => {
  const seen: string[] = []
  const responses: ServerResponse[] = []
  const socket = await open((request, response) => {
    seen.push(
      `${request.method} ${(request as ExpressRequest).arrived ?? ''} ended ${responses.some((each) => each.writableEnded)}`,
    )
    responses.push(response)
    answer(response)
  })
  socket.write(`${GET}${POST}abcdef${GET}`)
  await vi.waitUntil(() => responses.length === 3 && responses.every(({ writableEnded }) => writableEnded))
  expect(seen).toEqual(['GET  ended false', 'POST abcdef ended false', 'GET  ended false'])
})

it('A short answer is one string to the system, header and body', async () => {
  const socket = await open((_, response) => answer(response))
  const write = vi.spyOn(Socket.prototype, 'write')
  onTestFinished(() => write.mockRestore())
  socket.write(GET)
  const [bytes] = await once(socket, 'data')
  const [asked, answered, ...more] = write.mock.calls.map(([chunk]) => chunk)
  expect([asked, more]).toEqual([GET, []])
  expect(answered).toBe(bytes.toString())
  expect(answered).toMatch(/^HTTP\/1\.1 200 OK\r\nContent-Length: 4\r\n(?:.*\r\n)*\r\ndone$/)
})

it('A body that is there already is no stream to anybody, and Node has nothing to read past', async () => {
  const requests: ExpressRequest[] = []
  const socket = await open((request, response) => {
    requests.push(request)
    answer(response)
  })
  for (const bytes of [GET, `${POST}abcdef`]) {
    socket.write(bytes)
    await once(socket, 'data')
  }
  expect(requests.map(({ isWhole, arrived }) => [isWhole, arrived?.toString()])).toEqual([
    [true, undefined],
    [true, 'abcdef'],
  ])
  for (const request of requests) expect([request.readableFlowing, request.readableLength]).toEqual([null, 0])
})

it.each<[how: string, pieces: string[]]>([
  ['at once', [`${POST}abcdef`]],
  ['in pieces', [`${POST}ab`, 'cd', 'ef']],
  ['after its header', [POST, 'abcdef']],
  [
    'in chunks',
    ['POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n', '3\r\ndef\r\n0\r\n\r\n'],
  ],
])('A body that comes %s is a stream as any other to those who want one', async (_, pieces) => {
  const socket = await open(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    answer(response, Buffer.concat(chunks).toString())
  })
  socket.setNoDelay()
  for (const piece of pieces) {
    socket.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const [bytes] = await once(socket, 'data')
  expect(bytes.toString()).toMatch(/abcdef$/)
  // The connection is good for another one.
  socket.write(`${POST}uvwxyz`)
  expect((await once(socket, 'data'))[0].toString()).toMatch(/uvwxyz$/)
})

it('A connection is not taken for stalled because it is new', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const socket = await open((_, response) => answer(response))
  vi.advanceTimersByTime(30 * 60_000)
  socket.write(GET)
  expect((await once(socket, 'data'))[0].toString()).toContain('200 OK')
})

it('A request that fails in a way that nobody expects takes no other with it', async () => {
  const socket = await open((request, response) => {
    if (request.method === 'POST') throw new Error('a bug')
    answer(response)
  })
  const other = connect(socket.remotePort ?? 0, '127.0.0.1')
  await once(other, 'connect')
  socket.write(`${POST}abcdef`)
  other.write(GET)
  await Promise.all([once(other, 'data'), once(socket, 'close')])
  other.destroy()
})

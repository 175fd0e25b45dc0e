import { once } from 'node:events'
import { request, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer, Socket } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { contentOf } from '../../../src/http/content.ts'
import { Connection } from '../../../src/http/engine/connection.ts'
import {
  announcedLength,
  flushHeader,
  interceptClose,
  isReading,
  passedOn,
  responseOn,
  sendInterim,
  sendRequestHeader,
  setResponseHeader,
  unsentOn,
} from '../../../src/http/engine/node-internals.ts'
import { post } from '../../../src/http/engine/outbox.ts'
import { type ArrivedRequest, answer, GET, open, POST, receive, send } from './open-server.ts'

const CHUNKED = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'

// The server relies on parts of Node.js that are not documented. These tests fail when one changes.

it('A body that has already arrived is not read as a stream, neither by us nor by Node', async () => {
  const requests: ArrivedRequest[] = []
  const socket = await open((request, response) => {
    requests.push(request)
    answer(response)
  })
  for (const bytes of [GET, `${POST}abcdef`]) await send(socket, bytes)
  expect(requests.map(({ isWhole }) => isWhole)).toEqual([true, true])
  expect(requests.map(({ arrived }) => arrived?.toString())).toEqual([undefined, 'abcdef'])
  for (const request of requests) expect([request.readableFlowing, request.readableLength]).toEqual([null, 0])
})

it.each<[how: string, pieces: string[]]>([
  ['at once', [`${POST}abcdef`]],
  ['in pieces', [`${POST}ab`, 'cd', 'ef']],
  ['after its header', [POST, 'abcdef']],
  ['in chunks', [`${CHUNKED}3\r\nabc\r\n`, '3\r\ndef\r\n0\r\n\r\n']],
])('A body that comes %s can be read as a stream like any other', async (_, pieces) => {
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
  expect(await send(socket, `${POST}uvwxyz`)).toMatch(/uvwxyz$/)
})

it('A short answer is one string to the system, header and body', async () => {
  const socket = await open((_, response) => answer(response))
  const write = vi.spyOn(Socket.prototype, 'write')
  onTestFinished(() => write.mockRestore())
  const text = await send(socket)
  const [asked, answered, ...more] = write.mock.calls.map(([chunk]) => chunk)
  expect([asked, more]).toEqual([GET, []])
  expect(answered).toBe(text)
  expect(answered).toMatch(/^HTTP\/1\.1 200 OK\r\nContent-Length: 4\r\n(?:.*\r\n)*\r\ndone$/)
})

it('A header to which fields are added as text has the lines that Node writes for these fields', async () => {
  const fields = ['Content-Length', 4, 'X-One', 'a', 'X-Two', 2, 'X-Three', 'c']
  const body = contentOf('done')
  const ways = [undefined, { entries: 6, text: 'X-One: a\r\nX-Two: 2\r\n' }]
  const socket = await open((_, response) => {
    response.sendDate = false
    post(response, { status: 200, headers: fields, written: ways.shift(), body, transmission: undefined }, false)
  })
  const seen: string[] = []
  for (let round = 0; round < 2; round++) {
    let bytes = await send(socket)
    while (!bytes.endsWith('done')) bytes += String((await once(socket, 'data'))[0])
    seen.push(bytes)
  }
  const [examined, added] = seen.map((bytes) => bytes.split('\r\n').filter((line) => !line.startsWith('Keep-Alive')))
  expect(added?.toSorted()).toEqual(examined?.toSorted())
  expect(added).toContain('X-Three: c')
})

it('The response that is being sent on a connection is known, until the next one begins', async () => {
  const seen: [own: ServerResponse, during: ServerResponse | undefined][] = []
  let after: ServerResponse | undefined
  const socket = await open(({ socket: connection }, response) => {
    seen.push([response, responseOn(connection)])
    response.once('close', () => {
      after = responseOn(connection)
    })
    answer(response)
  })
  for (let round = 0; round < 2; round++) await send(socket)
  for (const [own, during] of seen) expect(during).toBe(own)
  expect([seen.length, after]).toEqual([2, undefined])
})

it('A response is told of when it is out, once, with its request and its connection', async () => {
  const finished = vi.spyOn(Connection.prototype, 'finish')
  onTestFinished(() => finished.mockRestore())
  const requests: unknown[] = []
  const socket = await open((request, response) => {
    requests.push(request)
    answer(response)
  })
  for (let round = 0; round < 2; round++) await send(socket)
  expect(finished.mock.calls).toEqual(requests.map((request) => [request]))
})

it('A connection is closed as was decided when its last response is out', async () => {
  const closed: boolean[] = []
  const socket = await open(({ socket: connection }, response) => {
    interceptClose(connection, (destroySoon) => {
      closed.push(response.writableFinished)
      destroySoon()
    })
    answer(response)
  })
  await send(socket)
  expect(closed).toEqual([])
  socket.write(GET.replace('Host', 'Connection: close\r\nHost'))
  await once(socket, 'close')
  expect(closed).toEqual([true])
})

it('The length of a response is known once its header is written, and a response without a body has none', async () => {
  const lengths: number[] = []
  const socket = await open((_, response) => {
    lengths.push(announcedLength(response))
    answer(response)
    lengths.push(announcedLength(response))
  })
  for (const bytes of [GET, GET.replace('GET', 'HEAD')]) await send(socket, bytes)
  expect(lengths).toEqual([0, 4, 0, 0])
})

it('What has passed on a connection is known, and what its client has not read', async () => {
  const seen: number[] = []
  const sockets: Socket[] = []
  const body = 'x'.repeat(16 * 2 ** 20)
  const client = await open(({ socket }, response) => {
    seen.push(passedOn(socket), unsentOn(socket))
    sockets.push(socket)
    answer(response, body)
  })
  client.pause()
  client.write(GET)
  await expect.poll(() => sockets).toHaveLength(1)
  const connection = sockets[0] as Socket
  await expect.poll(() => unsentOn(connection)).toBeGreaterThan(0)
  expect(seen).toEqual([GET.length, 0])
  expect(unsentOn(connection)).toBeLessThan(body.length)
  expect(passedOn(connection) + unsentOn(connection)).toBeGreaterThan(body.length)
  client.resume()
  await expect.poll(() => unsentOn(connection)).toBe(0)
  expect(passedOn(connection)).toBeGreaterThan(body.length)
  client.destroy()
  await new Promise((resolve) => connection.once('close', resolve))
  expect(unsentOn(connection)).toBe(0)
})

it('A header is sent exactly as it is given, without fields of Node, and before the body is there', async () => {
  const service = createServer()
  const seen: string[] = []
  service.on('connection', (socket) => {
    socket.on('data', (chunk) => {
      seen.push(chunk.toString('latin1'))
      socket.write('HTTP/1.1 200 Fine\r\nb: 1\r\nA: \xe9\r\nB: 2\r\nContent-Length: 0\r\n\r\n', 'latin1')
    })
  })
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  const { port } = service.address() as AddressInfo
  onTestFinished(() => void service.close())
  const client = await open((_, response) => {
    const outgoing = request({ port, host: '127.0.0.1', method: 'POST', setHost: false, agent: false })
    onTestFinished(() => void outgoing.destroy())
    sendRequestHeader(outgoing, 'POST /a HTTP/1.0', ['b', '1', 'A', '\xe9', 'B', '2', 'Content-Length', '3'])
    outgoing.on('error', () => {})
    outgoing.on('response', (answered) => {
      sendInterim(response, 'HTTP/1.1 103 Early\r\nx: y\r\n\r\n')
      setResponseHeader(response, answered)
      flushHeader(response)
    })
  })
  const received = receive(client)
  client.setEncoding('latin1')
  client.write(GET)
  await expect
    .poll(received)
    .toBe('HTTP/1.1 103 Early\r\nx: y\r\n\r\nHTTP/1.1 200 Fine\r\nb: 1\r\nA: \xe9\r\nB: 2\r\nContent-Length: 0\r\n\r\n')
  expect(seen).toEqual(['POST /a HTTP/1.0\r\nb: 1\r\nA: \xe9\r\nB: 2\r\nContent-Length: 3\r\n\r\n'])
})

it('A paused connection is not read, and a write of nothing tells that its client has reset it', async () => {
  const sockets: Socket[] = []
  const client = await open(({ socket }, response) => {
    sockets.push(socket)
    answer(response)
  })
  client.on('error', () => {})
  await send(client)
  const connection = sockets[0] as Socket
  expect(isReading(connection)).toBe(true)
  connection.pause()
  expect(isReading(connection)).toBe(false)
  client.resetAndDestroy()
  const isGone = () => {
    connection.write('')
    return connection.destroyed
  }
  await expect.poll(isGone).toBe(true)
  expect(isReading(connection)).toBe(false)
})

import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Reception } from '../../src/http/reception.ts'

const LIMIT = 1_000
const LONGEST = 900

describe('Bodies that are being received', () => {
  it('share a memory: each may be as long as what is still free, so a short one always fits', async () => {
    const { begin } = await open()
    const first = await begin(LONGEST)
    expect(await first.send(500)).toBe(500)
    const second = await begin(LONGEST)
    expect(await second.send(260)).toBe('full')
    const third = await begin(LONGEST)
    expect(await third.send(250)).toBe(750)
    const fourth = await begin(100)
    expect(await fourth.send(100)).toBe('whole')
  })

  it.each<[ending: string, length: number | undefined, end: (client: Client) => Promise<unknown>]>([
    ['is whole', 500, (client) => client.send(400)],
    ['is too long', undefined, (client) => client.send(LONGEST)],
    ['has no room', 501, (client) => client.send(401)],
    ['is broken off', 500, async (client) => client.socket.destroy()],
    ['is reset', 500, async (client) => client.socket.resetAndDestroy()],
  ])('take none of it any more when one %s', async (_, length, end) => {
    const { begin, reception } = await open()
    const client = await begin(length)
    expect(await client.send(100)).toBe(100)
    await end(client)
    await expect.poll(() => reception.held).toBe(0)
  })
})

interface Client {
  socket: Socket
  /** Sends so many bytes more; what is held then, or how the body has ended. */
  send(bytes: number): Promise<unknown>
}

async function open() {
  const reception = new Reception(LIMIT)
  let tell: ((what: unknown) => void) | undefined
  const server = createServer((request, response) => {
    request.on('data', () => setImmediate(() => tell?.(reception.held)))
    const { headers } = request
    Promise.resolve(reception.read({ headers, isWhole: false, arrived: undefined, rest: request }, LONGEST))
      .then((bytes) => tell?.(bytes === undefined ? 'too long' : 'whole'))
      .catch((error) => tell?.(error.problem ?? error.name))
      .finally(() => response.end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })

  /** Without a length, the body is sent in chunks. */
  async function begin(length: number | undefined): Promise<Client> {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    const framing = length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
    socket.write(`POST / HTTP/1.1\r\nHost: here\r\n${framing}\r\n\r\n`)
    await once(server, 'request')
    return {
      socket,
      send(bytes) {
        const text = 'x'.repeat(bytes)
        return new Promise((resolve) => {
          tell = resolve
          socket.write(length === undefined ? `${bytes.toString(16)}\r\n${text}\r\n` : text)
        })
      },
    }
  }

  return { reception, begin }
}

import { once } from 'node:events'
import { createServer as createHttp } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startRelay } from './open-relay.ts'
import { closing, open, relayTo, urlOf } from './raw-service.ts'

const REQUEST = 'GET /api/v1/domains HTTP/1.1\r\nHost: localhost\r\n\r\n'
const CHANGE = 'POST /api/v1/domains HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n'
const EMPTY = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'

/** So many turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}

describe('A relay', () => {
  it('says of each exchange whether another one that may change the account was under way', {}, async () => {
    const services: Socket[] = []
    const relay = await relayTo((socket) => services.push(socket))
    const clients = await Promise.all([open(relay), open(relay), open(relay)])
    for (const [index, text] of [REQUEST, REQUEST, CHANGE].entries()) {
      clients[index]?.write(text)
      await expect.poll(() => relay.traffic.open).toBe(index + 1)
    }
    await expect.poll(() => services.length).toBe(3)
    // The second read is answered while the change is under way; the first one, too, but it began before all others.
    for (const service of services) {
      service.write(EMPTY)
      await expect.poll(() => relay.traffic.open).toBe(2 - services.indexOf(service))
    }
    clients[0]?.write(REQUEST)
    await expect.poll(() => relay.traffic.open).toBe(1)
    services[0]?.write(EMPTY)
    await expect.poll(() => relay.exchanges().length).toBe(4)
    const seen = relay.exchanges().map(({ request, overlaps }) => `${request.method} ${overlaps}`)
    expect(seen).toEqual(['GET true', 'GET true', 'POST false', 'GET false'])
  })

  it('says of a change whose response was lost that there is none, and that what comes next may meet it', async () => {
    const relay = await relayTo((socket) => socket.once('data', () => socket.resetAndDestroy()))
    const client = await open(relay)
    client.write(CHANGE)
    await closing(client)
    const other = await open(relay)
    other.write(REQUEST)
    await expect.poll(() => relay.exchanges().length).toBe(2)
    expect(relay.exchanges()).toMatchObject([
      { response: undefined, broken: expect.stringContaining('ECONNRESET') },
      { overlaps: true },
    ])
    expect(relay.failures).toEqual(['ECONNRESET true', 'ECONNRESET true'])
  })

  it('does not let a client that does not read fill the memory, nor lose what it reads later', {}, async () => {
    const size = 32 << 20
    let left = size
    const waiting = vi.fn()
    const http = createHttp((_, response) => {
      response.writeHead(200, { 'Content-Length': size })
      const block = Buffer.alloc(1 << 20)
      const more = () => {
        while (left > 0) {
          left -= block.length
          if (!response.write(block)) return waiting()
        }
        response.end()
      }
      response.on('drain', more)
      more()
    })
    http.listen(0, '127.0.0.1')
    await once(http, 'listening')
    onTestFinished(() => void http.close())
    const relay = await startRelay(urlOf(http))
    const client = await open(relay)
    client.pause()
    client.write(REQUEST)
    await expect.poll(() => waiting.mock.calls.length).toBeGreaterThan(0)
    // What the sockets hold is taken; then the service waits, because nobody takes more.
    const taken = () => waiting.mock.calls.length
    for (let seen = -1; seen !== taken(); ) {
      seen = taken()
      await turns(50)
    }
    expect(left).toBeGreaterThan(size / 2)
    let length = 0
    client.on('data', (chunk) => {
      length += chunk.length
    })
    client.resume()
    await expect.poll(() => relay.exchanges().length, { timeout: 50_000 }).toBe(1)
    await expect.poll(() => length).toBeGreaterThan(size)
    expect(relay.exchanges()).toMatchObject([
      { response: { body: { size, missing: 'The body is longer than 16 MiB.' } } },
    ])
    expect(relay.traffic.budget.used).toBe(0)
  })

  it('closes a connection on which nothing is sent for too long', async () => {
    const relay = await relayTo(() => {}, { idle: 300 })
    const client = await open(relay)
    client.write(REQUEST)
    await closing(client)
    expect(relay.exchanges()).toMatchObject([{ response: undefined, broken: 'Nothing was sent for too long.' }])
  })

  it('finds out that the service is the relay itself', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const url = urlOf(taken)
    await new Promise((resolve) => taken.close(resolve))
    const relay = await startRelay(url.replace('127.0.0.1', 'localhost'), { port: Number(new URL(url).port) })
    await relay.relay.probe(30_000)
    expect(relay.relay.isLoop).toBe(true)
    const client = await open(relay)
    client.write(REQUEST)
    await closing(client)
  })
})

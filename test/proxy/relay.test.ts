import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { targetAt } from '../../src/proxy/target.ts'
import { listenOn } from '../support/listening.ts'
import { http, open, relayTo, startRelay } from './raw-service.ts'

const REQUEST = http('GET /api/v1/domains HTTP/1.1\nHost: localhost\n\n')
const CHANGE = http('POST /api/v1/domains HTTP/1.1\nHost: localhost\nContent-Length: 0\n\n')
const EMPTY = http('HTTP/1.1 200 OK\nContent-Length: 0\n\n')

/** So many turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}

describe('A relay', () => {
  it('says of each exchange whether another one that may change the account was under way', async () => {
    const services: Socket[] = []
    const relay = await relayTo((socket) => socket.once('data', () => services.push(socket)))
    const clients = await Promise.all([open(relay), open(relay), open(relay)])
    for (const [index, text] of [REQUEST, REQUEST, CHANGE].entries()) {
      clients[index]?.write(text)
      await expect.poll(() => services.length).toBe(index + 1)
    }
    // The first two are answered while the change is under way. The last one begins after it.
    for (const [index, service] of services.entries()) {
      service.write(EMPTY)
      await expect.poll(() => relay.exchanges.length).toBe(index + 1)
    }
    for (const service of services) service.on('data', () => service.write(EMPTY))
    clients[0]?.write(REQUEST)
    await expect.poll(() => relay.exchanges.length).toBe(4)
    const seen = relay.exchanges.map(({ request, overlaps }) => `${request.method} ${overlaps}`)
    expect(seen).toEqual(['GET true', 'GET true', 'POST false', 'GET false'])
  })

  it('says of a change whose response was lost that there is none, and that what comes next may meet it', async () => {
    const relay = await relayTo((socket) => socket.once('data', () => socket.resetAndDestroy()))
    const client = await open(relay)
    client.write(CHANGE)
    await expect.poll(() => relay.exchanges.length).toBe(1)
    client.write(REQUEST)
    await expect.poll(() => relay.exchanges.length).toBe(2)
    const broken = expect.stringContaining('ECONNRESET')
    expect(relay.exchanges).toMatchObject([{ response: undefined, broken, overlaps: false }, { overlaps: true }])
    expect(relay.failures).toEqual([broken, broken])
  })

  it('does not let a client that does not read fill the memory, nor lose what it reads later', async () => {
    const size = 32 << 20
    let left = size
    const waiting = vi.fn()
    const server = createServer((_, response) => {
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
    const relay = await startRelay(`http://127.0.0.1:${await listenOn(server)}`)
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
    await expect.poll(() => relay.exchanges.length, { timeout: 50_000 }).toBe(1)
    await expect.poll(() => length).toBeGreaterThan(size)
    expect(relay.exchanges).toMatchObject([
      { response: { body: { size, missing: 'The body is longer than 16 MiB.' } } },
    ])
    expect(relay.traffic.budget.used).toBe(0)
  })

  it('takes a long body no faster than the service does, and all of it', async () => {
    const size = 32 << 20
    let length = 0
    const relay = await relayTo((service) => {
      service.pause()
      services.push(service)
      service.on('data', (chunk) => {
        length += chunk.length
        if (length > size) service.write(EMPTY)
      })
      service.pause()
    })
    const services: Socket[] = []
    const client = await open(relay)
    client.write(http(`PUT /a HTTP/1.1\nHost: localhost\nContent-Length: ${size}\n\n`))
    const sent = vi.fn()
    client.write(Buffer.alloc(size), sent)
    await expect.poll(() => services.length).toBe(1)
    const taken = () => client.bytesWritten - client.writableLength
    for (let seen = -1; seen !== taken(); ) {
      seen = taken()
      await turns(50)
    }
    expect(sent).not.toHaveBeenCalled()
    services[0]?.resume()
    await expect.poll(() => relay.exchanges.length, { timeout: 50_000 }).toBe(1)
    expect(relay.exchanges).toMatchObject([{ broken: undefined, request: { body: { size } } }])
  })

  it('answers 502 with a sentence while nothing listens at the service, and passes on as soon as it does', async () => {
    const service = createServer((_, response) => response.end('here')).listen(0, '127.0.0.1')
    await once(service, 'listening')
    const { port } = service.address() as { port: number }
    await new Promise((resolve) => service.close(resolve))
    const relay = await startRelay(`http://127.0.0.1:${port}`)
    const refused = await fetch(`${relay.origin}/a`)
    const reason = `http://127.0.0.1:${port} cannot be reached: nothing listens there (ECONNREFUSED).`
    expect([refused.status, await refused.text()]).toEqual([502, `dmarc-understudy proxy: ${reason}\n`])
    expect(relay.failures).toEqual([reason])
    service.listen(port, '127.0.0.1')
    await once(service, 'listening')
    expect(await (await fetch(`${relay.origin}/a`)).text()).toBe('here')
    service.closeAllConnections()
    service.close()
  })

  it('says why a service with TLS cannot be reached, or is not trusted', async () => {
    const plain = createServer().on('clientError', (_, socket) => socket.end('no TLS\r\n\r\n'))
    const without = await startRelay(`https://127.0.0.1:${await listenOn(plain)}`)
    const { target } = await relayTo(() => {}, { secure: true })
    const wary = await startRelay(target.url, { target: targetAt(target.url, '/api/v1') })
    for (const [{ origin }, reason] of [
      [without, 'there is no TLS at this port ('],
      [wary, 'its certificate is not trusted'],
    ] as const) {
      const answer = await fetch(`${origin}/a`)
      expect([answer.status, await answer.text()]).toEqual([502, expect.stringContaining(reason)])
    }
  })
})

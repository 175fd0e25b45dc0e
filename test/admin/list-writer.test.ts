import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { sendParts } from '../../src/admin/list-writer.ts'
import { holdTime, someoneWaits } from '../support/held-time.ts'

const PART = 'x'.repeat(100_000)
const MANY = 2_000

/** Parts of a long text, which count how many were taken and note when nobody wants more. */
class Parts {
  taken = 0
  left = false;

  *[Symbol.iterator](): Generator<string> {
    try {
      while (this.taken < MANY) {
        this.taken++
        yield PART
      }
    } finally {
      this.left = true
    }
  }
}

/** Asks a server that sends parts to whoever asks, and reads nothing; `sending` resolves when the server sends no more. */
async function ask(parts: Iterable<string>, method = 'GET') {
  let settle: (outcome: unknown) => void = () => {}
  const sending = new Promise((resolve) => {
    settle = resolve
  })
  const server = createServer((incoming, response) => {
    const head = () => void response.writeHead(200, { 'Content-Type': 'text/plain' })
    const send = (text: string) => void response.writeHead(200, { 'Content-Length': text.length }).end(text)
    sendParts(incoming, response, parts, { head, send }).then(settle, (error) => {
      response.destroy()
      settle(error)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.closeAllConnections())
  onTestFinished(() => void server.close())
  const asking = request({ port: (server.address() as AddressInfo).port, method })
  asking.on('error', () => {})
  asking.end()
  const [response] = await once(asking, 'response')
  return { response, sending }
}

/** Waits until a number does not change any more. */
async function settled(read: () => number): Promise<number> {
  for (let last = -1; ; last = read()) {
    for (let round = 0; round < 50; round++) await new Promise((resolve) => setImmediate(resolve))
    if (read() === last) return last
  }
}

describe('a long answer', () => {
  it('is not made further than its reader takes it, and no more when the reader leaves', async () => {
    const parts = new Parts()
    const { response, sending } = await ask(parts)
    // The system keeps a few megabytes of a connection.
    expect(await settled(() => parts.taken)).toBeLessThan(MANY / 4)
    expect(parts.left).toBe(false)
    response.destroy()
    await sending
    expect(parts.left).toBe(true)
    expect(parts.taken).toBeLessThan(MANY / 4)
  })

  it('is cut off after a minute in which its reader takes nothing', async () => {
    holdTime()
    const parts = new Parts()
    const { response, sending } = await ask(parts)
    response.on('error', () => {})
    await someoneWaits()
    await settled(() => parts.taken)
    await vi.advanceTimersByTimeAsync(59_000)
    expect(parts.left).toBe(false)
    await vi.advanceTimersByTimeAsync(1_000)
    await sending
    expect(parts.left).toBe(true)
  })

  it('has no body for HEAD, and is not made further', async () => {
    const parts = new Parts()
    const { response } = await ask(parts, 'HEAD')
    expect([response.statusCode, response.headers['content-type'], parts.taken]).toEqual([200, 'text/plain', 1])
  })

  it('that turns out to be short has a length', async () => {
    const { response } = await ask(['a', 'b'])
    expect(response.headers['content-length']).toBe('2')
    response.resume()
  })

  it('ends without its end when an item cannot be made', async () => {
    function* parts() {
      yield PART
      throw new Error('A bug.')
    }
    const { response } = await ask(parts())
    response.resume()
    const [error] = await once(response, 'error')
    expect(error.code).toBe('ECONNRESET')
  })

  it('lets others have their turn while it is made', async () => {
    let turns = 0
    function* parts() {
      // Only an answer that gives nobody a turn goes on so far.
      for (let taken = 0; turns < 3 && taken < 30_000_000; taken++) yield ''
    }
    const counting = setInterval(() => turns++, 1)
    onTestFinished(() => clearInterval(counting))
    const { response } = await ask(parts())
    response.resume()
    expect(turns).toBeGreaterThanOrEqual(3)
  })
})

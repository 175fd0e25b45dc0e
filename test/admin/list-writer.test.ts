import { once } from 'node:events'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { sendParts, writeList } from '../../src/admin/list-writer.ts'

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

/** A server that sends parts to whoever asks. */
async function serve(parts: Iterable<string>): Promise<{ server: Server; url: string; sending: Promise<unknown> }> {
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
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sending }
}

/** A client that reads nothing until it is told to. */
async function ask(url: string, method = 'GET') {
  const asking = request(url, { method })
  asking.on('error', () => {})
  asking.end()
  const [response] = await once(asking, 'response')
  return response
}

/** Waits until a number does not change any more. */
async function settled(read: () => number): Promise<number> {
  for (let last = -1; ; last = read()) {
    for (let round = 0; round < 50; round++) await new Promise((resolve) => setImmediate(resolve))
    if (read() === last) return last
  }
}

describe('a long answer', () => {
  it('is sent whole to a reader who takes it, in chunks', async () => {
    const parts = new Parts()
    const { url } = await serve(parts)
    const response = await ask(url)
    let bytes = 0
    for await (const chunk of response) bytes += chunk.length
    expect([bytes, response.headers['transfer-encoding']]).toEqual([MANY * PART.length, 'chunked'])
  })

  it('is not made further than its reader takes it, and no more when the reader leaves', async () => {
    const parts = new Parts()
    const { url, sending } = await serve(parts)
    const response = await ask(url)
    // The system keeps a few megabytes of a connection.
    expect(await settled(() => parts.taken)).toBeLessThan(MANY / 4)
    expect(parts.left).toBe(false)
    response.destroy()
    await sending
    expect(parts.left).toBe(true)
    expect(parts.taken).toBeLessThan(MANY / 4)
  })

  it('is cut off after a minute in which its reader takes nothing', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const parts = new Parts()
    const { url, sending } = await serve(parts)
    const response = await ask(url)
    response.on('error', () => {})
    while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve))
    await settled(() => parts.taken)
    await vi.advanceTimersByTimeAsync(59_000)
    expect(parts.left).toBe(false)
    await vi.advanceTimersByTimeAsync(1_000)
    await sending
    expect(parts.left).toBe(true)
  })

  it('has no body for HEAD, and is not made further', async () => {
    const parts = new Parts()
    const { url } = await serve(parts)
    const response = await ask(url, 'HEAD')
    expect([response.statusCode, response.headers['content-type'], parts.taken]).toEqual([200, 'text/plain', 1])
  })

  it('that turns out to be short has a length', async () => {
    const { url } = await serve(['a', 'b'])
    const response = await ask(url)
    expect(response.headers['content-length']).toBe('2')
    response.resume()
  })

  it('ends without its end when an item cannot be made', async () => {
    function* parts() {
      yield PART
      throw new Error('A bug.')
    }
    const { url } = await serve(parts())
    const response = await ask(url)
    response.resume()
    const [error] = await once(response, 'error')
    expect(error.code).toBe('ECONNRESET')
  })

  it('lets others have their turn while it is made', async () => {
    let turns = 0
    function* parts() {
      // Only an answer that gives nobody a turn goes on until this time is over.
      const end = performance.now() + 10_000
      while (turns < 3 && performance.now() < end) yield ''
    }
    const counting = setInterval(() => turns++, 1)
    onTestFinished(() => clearInterval(counting))
    const { url } = await serve(parts())
    const response = await ask(url)
    response.resume()
    expect(turns).toBeGreaterThanOrEqual(3)
  })
})

describe('the text of a list', () => {
  const check = () => {}

  it.each([
    [[], {}, '{"success":true,"data":{"items":[]}}'],
    [[], { count: 0, next: null }, '{"success":true,"data":{"items":[],"count":0,"next":null}}'],
    [[1, { a: '\u0001' }], { count: 2 }, '{"success":true,"data":{"items":[1,{"a":"\\u0001"}],"count":2}}'],
  ])('of %j with %j', (items, rest, text) => {
    expect([...writeList({ name: 'items', items, rest }, check)].join('')).toBe(text)
  })

  it('is checked item by item, each with the other fields', () => {
    const checked: object[] = []
    const parts = writeList({ name: 'items', items: [1, 2], rest: { count: 2 } }, (data) => checked.push(data))
    expect([...parts].join('')).toContain('[1,2]')
    expect(checked).toEqual([
      { items: [1], count: 2 },
      { items: [2], count: 2 },
    ])
  })
})

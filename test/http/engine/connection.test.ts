import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type CONNECTION_LIMITS, Connection } from '../../../src/http/engine/connection.ts'
import { answer, GET, open, POST, receive, send } from './open-server.ts'

/** Shorter than the real limits, so that a test need not wait. */
const SOON = { inspectEvery: 10, stuck: 100, halfClosed: 50 }

/** A client whose first request is held until its connection is closed. `closed` resolves when the server has done that. */
async function holdFirst(limits: Partial<typeof CONNECTION_LIMITS>) {
  let handled = 0
  let tellReceived: (socket: Socket) => void = () => {}
  const received = new Promise<Socket>((resolve) => {
    tellReceived = resolve
  })
  const client = await open(({ socket }, response) => {
    if (++handled > 1) return answer(response)
    tellReceived(socket)
    return new Promise((resolve) => socket.once('close', () => resolve()))
  }, limits)
  client.on('error', () => {})
  return { client, received, count: () => handled }
}

/** `once` would reject where the connection was reset. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => (socket.destroyed ? resolve() : socket.once('close', () => resolve())))
}

/** Counts how often the server has inspected its connections. */
function watchInspections() {
  const inspect = vi.spyOn(Connection.prototype, 'inspect')
  onTestFinished(() => inspect.mockRestore())
  const count = () => inspect.mock.calls.length
  return { count, wait: (inspections: number) => expect.poll(count).toBeGreaterThanOrEqual(count() + inspections) }
}

describe('A client that is gone', () => {
  it.each([
    ['closes its connection', (client: Socket) => client.destroy()],
    ['resets its connection', (client: Socket) => client.resetAndDestroy()],
  ])('and %s is noticed although a request is held and others wait behind it', async (_, leave) => {
    const { client, received } = await holdFirst(SOON)
    client.write(GET.repeat(3))
    const socket = await received
    await setImmediate()
    expect(socket.isPaused()).toBe(true)
    leave(client)
    await closed(socket)
  })

  it.each([
    ['closes its connection', (client: Socket) => client.end()],
    ['resets its connection', (client: Socket) => client.resetAndDestroy()],
  ])('and %s is noticed although it has sent more than is read', { tags: ['slow'] }, async (_, leave) => {
    const { client, received, count } = await holdFirst({ ...SOON, readAhead: 1_000 })
    client.write(GET)
    const socket = await received
    await new Promise((resolve) => client.write(GET.repeat(20_000), resolve))
    leave(client)
    await closed(socket)
    expect(count()).toBe(1)
  })

  it('is noticed by a reset although nobody reads the body of its request', async () => {
    const { client, received } = await holdFirst(SOON)
    client.write(POST.replace('Length: 6', 'Length: 10000000'))
    const socket = await received
    await new Promise((resolve) => client.write(Buffer.alloc(400_000), resolve))
    client.resetAndDestroy()
    await closed(socket)
  })
})

describe('A client that closes its side', () => {
  it.each([1, 3, 30])('gets the answers to its %d requests, also where each of them takes time', async (count) => {
    const client = await open(async (_, response) => {
      await setImmediate()
      await setImmediate()
      answer(response)
    }, SOON)
    const received = receive(client)
    client.end(GET.repeat(count))
    await once(client, 'close')
    expect(received().split('done')).toHaveLength(count + 1)
  })

  it('gets the rest of an answer that has begun as before, and no more time', async () => {
    const client = await open(({ socket }, response) => {
      response.write('begun')
      return new Promise((resolve) => socket.once('close', () => resolve()))
    }, {})
    await send(client)
    client.end()
    await once(client, 'close')
  })
})

describe('A client that waits', () => {
  it('for a response that is held is not cut off, however long that takes', async () => {
    let answerNow = () => {}
    const client = await open(
      (_, response) =>
        new Promise<void>((resolve) => {
          answerNow = () => {
            answerNow = () => {}
            resolve(answer(response))
          }
        }),
      { inspectEvery: 5, stuck: 10 },
    )
    client.write(GET.repeat(3))
    await watchInspections().wait(10)
    const received = receive(client)
    while (received().split('done').length < 4) {
      answerNow()
      await setImmediate()
    }
  })

  it('has only so many requests read behind one that is held', { tags: ['slow'] }, async () => {
    const { client, received } = await holdFirst({ ...SOON, readAhead: 1_000, stuck: 60_000 })
    client.write(GET)
    const socket = await received
    client.write(GET.repeat(20_000))
    await watchInspections().wait(5)
    // Node reads 64 KiB at a time: one such piece, and another because of the reading ahead.
    expect(socket.bytesRead).toBeLessThanOrEqual(GET.length + 2 * 65_536)
    client.resetAndDestroy()
    await closed(socket)
  })
})

describe('A client that does not read its responses', () => {
  it('has no further request handled while too many bytes wait for it', async () => {
    let unsent = 0
    let most = 0
    let handled = 0
    const client = await open(
      (_, response) => {
        most = Math.max(most, ++unsent)
        handled++
        response.once('finish', () => unsent--)
        answer(response, 'x'.repeat(600))
      },
      { unsent: 1_000 },
    )
    client.write(GET.repeat(10))
    let received = 0
    while (received < 6_000) received += (await once(client, 'data'))[0].toString().split('x').length - 1
    expect([handled, most]).toEqual([10, 2])
  })

  it('is cut off when it has read nothing for a while', async () => {
    const body = 'x'.repeat(16 * 2 ** 20)
    const sockets: Socket[] = []
    const client = await open(({ socket }, response) => {
      sockets.push(socket)
      answer(response, body)
    }, SOON)
    client.pause()
    client.write(GET)
    while (sockets.length === 0) await setImmediate()
    await closed(sockets[0] as Socket)
    client.destroy()
  })

  it('is not cut off as long as it reads, however slowly', { tags: ['slow'] }, async () => {
    const body = 'x'.repeat(4 * 2 ** 20)
    const inspections = watchInspections()
    const client = await open((_, response) => answer(response, body), { inspectEvery: 5, stuck: 200 })
    client.write(GET)
    let received = 0
    client.on('data', (chunk: Buffer) => {
      received += chunk.length
      client.pause()
      const seen = inspections.count()
      const resume = () => void (inspections.count() > seen ? client.resume() : setImmediate().then(resume))
      resume()
    })
    while (received < body.length) await once(client, 'data')
  })
})

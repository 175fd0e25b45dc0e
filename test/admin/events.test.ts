import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MOST_WAITING } from '../../src/admin/events.ts'
import type { RequestReport } from '../../src/journal/description.ts'
import { withKey } from '../support/account.ts'
import { addFault } from '../support/control-plane.ts'
import { expectEntry, type ObservedService, startObserved } from '../support/observed-service.ts'

interface Event {
  id: string
  entry: RequestReport
}

/** A reader of a stream of events. */
class Reader {
  readonly events: AsyncGenerator<Event>
  readonly #leaving: AbortController

  private constructor(events: AsyncGenerator<Event>, leaving: AbortController) {
    this.events = events
    this.#leaving = leaving
  }

  static async open({ adminUrl }: ObservedService, path = '/events', lastEventId?: string): Promise<Reader> {
    const leaving = new AbortController()
    onTestFinished(() => leaving.abort())
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
    const response = await fetch(adminUrl + path, { headers, signal: leaving.signal })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    if (response.body === null) throw new Error('There is no stream.')
    // Locked at once: what is unread is cancelled when the response is collected as garbage.
    return new Reader(eventsOf(response.body.pipeThrough(new TextDecoderStream())), leaving)
  }

  /** The next events, each held to the document of the control plane. */
  async take(count: number): Promise<Event[]> {
    const events: Event[] = []
    while (events.length < count) {
      const { value, done } = await this.events.next()
      if (done) throw new Error(`The stream ended after ${events.length} events.`)
      expectEntry(value.entry)
      events.push(value)
    }
    return events
  }

  leave(): void {
    this.#leaving.abort()
  }
}

async function* eventsOf(stream: ReadableStream<string>): AsyncGenerator<Event> {
  let rest = ''
  for await (const chunk of stream) {
    const blocks = (rest + chunk).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      if (block.startsWith(':')) continue
      const [, id = '', data = ''] = /^id: (\d+)\nevent: request\ndata: (.*)$/.exec(block) ?? []
      yield { id, entry: JSON.parse(data) }
    }
  }
}

const queries = (events: Event[]) => events.map(({ entry }) => entry.query)

describe('a stream of events', () => {
  it('brings each request of all accounts once, in order', async () => {
    const service = await startObserved()
    const reader = await Reader.open(service)
    for (const number of [0, 1, 2, 3]) {
      await service.send('GET', `/domains?n=${number}`, undefined, number % 2 === 0 ? {} : withKey('sandbox_other'))
    }
    const events = await reader.take(4)
    expect(queries(events)).toEqual(['n=0', 'n=1', 'n=2', 'n=3'])
    expect(events.map(({ id }) => Number(id))).toEqual(events.map(({ entry }) => entry.ordinal))
  })

  it('brings those of one account alone, also to a wrong path, as they are listed', async () => {
    const service = await startObserved()
    const reader = await Reader.open(service, '/accounts/default/events')
    await service.send('GET', '/domains', undefined, withKey('sandbox_other'))
    await service.get('/nothing')
    const [event] = await reader.take(1)
    expect([event?.entry]).toEqual(await service.requests())
  })

  it('resumes after the event that a reader saw last, and begins now where there was no such event', async () => {
    const service = await startObserved({ enforceQuotas: false })
    for (let number = 0; number < 5; number++) await service.get(`/domains?n=${number}`)
    const resumed = await Reader.open(service, '/accounts/default/events', '3')
    const opened = await Promise.all(['', 'x', '-1', '1e999', '99999'].map((id) => Reader.open(service, '/events', id)))
    await service.get('/domains?n=5')
    expect(queries(await resumed.take(3))).toEqual(['n=3', 'n=4', 'n=5'])
    for (const reader of opened) expect(queries(await reader.take(1))).toEqual(['n=5'])
  })

  it('ends for a reader for whom megabytes wait, and brings it the rest when it resumes, a part at a time', async () => {
    const service = await startObserved({ enforceQuotas: false })
    const { hostname, port } = new URL(service.adminUrl)
    const socket = connect(Number(port), hostname)
    onTestFinished(() => void socket.destroy())
    socket.write(`GET /__admin/events HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`)
    await once(socket, 'data')
    socket.pause()
    // In JSON, each byte of such a body takes six.
    await addFault(service, { respond: { status: 500, body: '\u0001'.repeat(10_240) } })
    const count = Math.ceil((4 * MOST_WAITING) / (6 * 10_240))
    // The answers are no JSON, which is the business of no one here.
    const ask = () => service.get('/domains').catch(() => undefined)
    for (let sent = 0; sent < count; sent += 50) await Promise.all(Array.from({ length: 50 }, ask))
    let text = ''
    socket.on('data', (chunk) => (text += chunk))
    socket.on('error', () => {})
    await once(socket, 'close')
    expect(text.split('event: request').length).toBeLessThan(count)
    const resumed = await Reader.open(service, '/events', '0')
    let last = 0
    for await (const { id } of resumed.events) last = Number(id)
    expect(last).toBeGreaterThan(10)
    expect(last).toBeLessThan(count)
    expect((await (await Reader.open(service, '/events', String(last))).take(1))[0]?.entry.ordinal).toBe(last + 1)
  })

  it('brings what happened before the stop when the server stops, and ends', async () => {
    const service = await startObserved()
    const reader = await Reader.open(service)
    await service.get('/domains?n=1')
    await service.stop()
    expect(queries(await reader.take(1))).toEqual(['n=1'])
    await expect(reader.events.next()).resolves.toMatchObject({ done: true })
  })
})

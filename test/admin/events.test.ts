import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { readLimits } from '../../src/admin/document.ts'
import { EventFeed } from '../../src/admin/event-feed.ts'
import type { RequestReport } from '../../src/journal/description.ts'
import { Journal } from '../../src/journal/journal.ts'
import { withKey } from '../support/account.ts'
import { budget } from '../support/budget.ts'
import { controlApi } from '../support/control-plane.ts'
import { expectEntry, type ObservedService, startObserved } from '../support/observed-service.ts'
import { replaceTime } from '../support/replaced-time.ts'
import { sendRequest } from '../support/request.ts'
import { API_KEY } from '../support/service.ts'

/** How many requests a full journal has. */
const FULL = budget({ quick: 500, full: 1_000 })

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
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
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

/** Opens a stream that nobody reads, with another header field perhaps; that takes less time than a reader. */
function openIdle({ adminUrl }: ObservedService, field = ''): Socket {
  const { hostname, port } = new URL(adminUrl)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  socket.write(`GET /__admin/events HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${field}\r\n`)
  return socket
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe('a stream of events', () => {
  it('brings each request of all accounts once, in order', async () => {
    const service = await startObserved({ enforceQuotas: false })
    const reader = await Reader.open(service)
    for (let number = 0; number < 20; number++) {
      await service.send('GET', `/domains?n=${number}`, undefined, number % 2 === 0 ? {} : withKey('sandbox_other'))
    }
    const events = await reader.take(20)
    expect(queries(events)).toEqual(Array.from({ length: 20 }, (_, number) => `n=${number}`))
    expect(events.map(({ id }) => Number(id))).toEqual(events.map(({ entry }) => entry.ordinal))
  })

  it('brings those of one account alone, as they are listed', async () => {
    const service = await startObserved()
    const reader = await Reader.open(service, '/accounts/default/events')
    await service.send('GET', '/domains', undefined, withKey('sandbox_other'))
    await service.get('/domains')
    const [event] = await reader.take(1)
    expect([event?.entry]).toEqual(await service.requests())
  })

  it('resumes after the event that a reader saw last', async () => {
    const service = await startObserved({ enforceQuotas: false })
    for (let number = 0; number < 5; number++) await service.get(`/domains?n=${number}`)
    const reader = await Reader.open(service, '/accounts/default/events', '3')
    await service.get('/domains?n=5')
    expect(queries(await reader.take(3))).toEqual(['n=3', 'n=4', 'n=5'])
  })

  it('begins now where its reader names no event that there was', async () => {
    const service = await startObserved()
    await service.get('/domains?n=0')
    const readers = ['', 'x', '-1', '1e999', '99999'].map((id) => Reader.open(service, '/events', id))
    const opened = await Promise.all(readers)
    await service.get('/domains?n=1')
    for (const reader of opened) expect(queries(await reader.take(1))).toEqual(['n=1'])
  })

  it('goes on beside many others, which come and go', async () => {
    const service = await startObserved()
    const warnings: Error[] = []
    const note = (warning: Error) => warnings.push(warning)
    process.on('warning', note)
    onTestFinished(() => void process.off('warning', note))
    const readers = await Promise.all(Array.from({ length: 30 }, () => Reader.open(service)))
    for (const reader of readers.slice(0, 15)) reader.leave()
    await service.get('/domains?n=1')
    for (const reader of readers.slice(15)) expect(queries(await reader.take(1))).toEqual(['n=1'])
    expect(warnings).toEqual([])
  })

  it('brings what happened before the stop when the server stops, and ends', async () => {
    const service = await startObserved()
    const reader = await Reader.open(service)
    await service.get('/domains?n=1')
    await service.stop()
    expect(queries(await reader.take(1))).toEqual(['n=1'])
    await expect(reader.events.next()).resolves.toMatchObject({ done: true })
  })

  it('ends when the server stops, whatever the requests come to that are under way', async () => {
    const service = await startObserved()
    const reader = await Reader.open(service)
    const held = service.send('GET', '/domains', undefined, { prefer: 'delay=30000' }).catch(() => undefined)
    await service.get('/domains')
    await reader.take(1)
    await service.stop()
    await held
    for await (const { entry } of reader.events) expectEntry(entry)
  })

  it('reads a full journal as fast as its reader does, and brings what comes meanwhile, in order', {}, async () => {
    const service = await startObserved({ enforceQuotas: false, journal: FULL })
    const body = '\u0001'.repeat(10_240)
    const send = (number: number, key = API_KEY) =>
      sendRequest('POST', `${service.baseUrl}/domains?n=${number}`, body, { ...withKey(key), connection: 'close' })
    for (let number = 1; number <= FULL * 0.8; number++) await send(number)
    const described = vi.spyOn(Journal.prototype, 'redactorFor')
    onTestFinished(() => described.mockRestore())
    const reader = await Reader.open(service, '/events', '0')
    await turns(1_000)
    // The rest is still in the journal, which nobody has copied.
    expect(described.mock.calls.length).toBeLessThan(FULL / 2)
    for (let number = FULL * 0.8 + 1; number <= FULL; number++) {
      await send(number, number % 2 === 0 ? 'sandbox_late' : API_KEY)
    }
    const expected = Array.from({ length: FULL }, (_, index) => `n=${index + 1}`)
    expect(queries(await reader.take(FULL))).toEqual(expected)
    await send(FULL + 1)
    expect(queries(await reader.take(1))).toEqual([`n=${FULL + 1}`])
  })

  it('is cut when its feed says so', async () => {
    const taken = vi.spyOn(EventFeed.prototype, 'take')
    onTestFinished(() => taken.mockRestore())
    const idle = openIdle(await startObserved())
    await once(idle, 'data')
    taken.mock.calls[0]?.[1].cut()
    await once(idle, 'close')
  })

  it('is cut for a reader who takes nothing for a minute, however much it has missed', async () => {
    const service = await startObserved({ enforceQuotas: false })
    const name = 'x'.repeat(10_000)
    for (let number = 0; number < 1_000; number++) await service.send('POST', '/domaingroups', { name })
    replaceTime(['setInterval', 'clearInterval'])
    const idle = openIdle(service, 'Last-Event-ID: 0\r\n')
    await once(idle, 'readable')
    await turns(1_000)
    await vi.advanceTimersByTimeAsync(45_000)
    await vi.advanceTimersByTimeAsync(15_000)
    let bytes = 0
    idle.on('data', (chunk) => {
      bytes += chunk.length
    })
    await once(idle, 'close')
    expect(bytes).toBeLessThan(1_000 * 20_000)
  })

  it('is refused when there are as many as there may be, until one ends', async () => {
    const { eventStreams } = readLimits(controlApi)
    const service = await startObserved()
    const readers = [await Reader.open(service)]
    for (let opened = 1; opened < eventStreams; opened++) {
      expect(`${await once(openIdle(service), 'data')}`).toMatch(/^HTTP\/1\.1 200 /)
    }
    const refusal = await service.ask('GET', '/events')
    expect(refusal).toMatchObject({ status: 507, error: { code: 'insufficient_storage' } })
    expect(refusal.error.message).toBe('There are 1000 streams of events, which is the maximum.')
    expect((await service.ask('GET', '/accounts/default/events')).status).toBe(507)
    readers[0]?.leave()
    await expect.poll(async () => (await fetch(`${service.adminUrl}/events`)).status).toBe(200)
  })
})

import { describe, expect, it } from 'vitest'
import type { FaultRule, RequestReport } from '../../src/index.ts'
import { type Door, openBothDoors, openDirectDoor } from './both-doors.ts'

const DOMAINS = '/api/v1/domains'
const POST = { method: 'POST', headers: { 'content-type': 'application/json' } }

/** A body that begins, and of which the rest never comes. `begun` resolves when the rest is asked for. */
function endless(first = '{"domains":') {
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  let pieces = 0
  let cancelled: unknown
  const body = new ReadableStream({
    pull(controller) {
      if (pieces++ === 0) return controller.enqueue(Buffer.from(first))
      begin()
      return new Promise<void>(() => {})
    },
    cancel(reason) {
      cancelled = reason
    },
  })
  return { body, begun, reason: () => cancelled }
}

/** The one request that was recorded. */
async function recorded({ service }: Door): Promise<RequestReport | undefined> {
  await expect.poll(() => service.requests.list()).toHaveLength(1)
  return (await service.requests.list())[0]
}

/** Resolves when a rule has struck. */
async function hasStruck({ service }: Door): Promise<void> {
  await expect.poll(async () => (await service.account.faults.list())[0]?.hits).toBe(1)
}

const nothing = { status: null, response: { body: null } }

describe('A client of `fetch` that leaves', () => {
  it('before it has asked, leaves no trace', async () => {
    const direct = await openDirectDoor()
    const { error } = await direct.ask(DOMAINS, { signal: AbortSignal.abort(new Error('early')) })
    expect(error?.message).toBe('early')
    expect(await direct.service.requests.list()).toEqual([])
  })

  it('while it sends its body, has not asked anything', async () => {
    const direct = await openDirectDoor()
    const leaving = new AbortController()
    const { body, begun, reason } = endless('{"domains":["half.example"]}')
    const asked = direct.ask(DOMAINS, { ...POST, body, signal: leaving.signal })
    await begun
    leaving.abort(new Error('late'))
    expect((await asked).error?.message).toBe('late')
    expect(reason()).toBeDefined()
    const { body: listed } = await direct.ask(DOMAINS)
    expect(listed).not.toContain('half.example')
    expect(await direct.service.requests.list()).toMatchObject([{ method: 'GET' }])
  })

  it.each<[when: string, rule: FaultRule]>([
    ['a delay after the work', { delay_ms: 60_000, phase: 'after' }],
    ['a hang', { connection: 'hang' }],
  ])('during %s, is recorded as on a socket', async (_, rule) => {
    const { socket, direct } = await openBothDoors()
    const entries: unknown[] = []
    for (const door of [socket, direct]) {
      await door.service.account.faults.add(rule)
      const leaving = new AbortController()
      const asked = door.ask(DOMAINS, { ...POST, body: '{"domains":["new.example"]}', signal: leaving.signal })
      await hasStruck(door)
      leaving.abort(new Error('enough'))
      expect((await asked).error?.message).toBe('enough')
      const { id: _, duration_ms: __, request, ...entry } = (await recorded(door)) as RequestReport
      entries.push([entry, await door.service.account.domains.list()])
    }
    expect(entries[1]).toEqual(entries[0])
    expect(entries[1]).toMatchObject([nothing, expect.anything()])
  })

  it('gets its reason from the body of the answer that it has begun', async () => {
    const direct = await openDirectDoor()
    const { service } = direct
    await service.account.faults.add({ connection: 'drip', delay_ms: 60_000 })
    const leaving = new AbortController()
    const { signal } = leaving
    const { body } = await service.fetch(service.baseUrl.concat('/domains'), {
      headers: service.account.headers,
      signal,
    })
    const reader = (body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    leaving.abort(new Error('enough'))
    await expect(reader.read()).rejects.toThrow('enough')
  })
})

it('The events of the control plane come through `fetch` as they happen, until the reader leaves or the stop', async () => {
  const direct = await openDirectDoor()
  const { service, ask } = direct
  const opened = async () => {
    const response = await service.fetch(`${service.adminUrl}/accounts/default/events`)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    return (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
  }
  const [one, two] = [await opened(), await opened()]
  expect((await one.read()).value).toMatch(/^: /)
  await ask(DOMAINS)
  expect((await one.read()).value).toContain('event: request\ndata: {"ordinal":1,')
  await one.cancel()
  await two.read()
  expect((await two.read()).value).toContain('event: request\n')
  const stopped = service.stop()
  for (let read = await two.read(); !read.done; read = await two.read()) expect(read.value).toMatch(/^: /)
  await stopped
})

describe('A stand-in that stops', () => {
  it('answers what is delayed at once, and no later request', async () => {
    const direct = await openDirectDoor()
    const { service, ask } = direct
    await service.account.faults.add({ delay_ms: 60_000 })
    const asked = ask(DOMAINS)
    await hasStruck(direct)
    const stopped = service.stop()
    expect((await asked).status).toBe(200)
    await stopped
    for (const path of [DOMAINS, '/__admin/health']) {
      expect((await ask(path)).error).toEqual({
        ...{ name: 'TypeError', message: 'fetch failed', code: 'ECONNREFUSED' },
        cause: 'The stand-in has stopped, so it answers no request.',
      })
    }
  })

  it('ends a request that hangs, and one whose body does not come', async () => {
    for (const hangs of [true, false]) {
      const direct = await openDirectDoor()
      if (hangs) await direct.service.account.faults.add({ connection: 'hang' })
      const { body, begun, reason } = endless()
      const asked = direct.ask(DOMAINS, hangs ? {} : { ...POST, body })
      await (hangs ? hasStruck(direct) : begun)
      await direct.service.stop()
      expect((await asked).error).toMatchObject({ message: 'fetch failed', code: 'UND_ERR_SOCKET' })
      if (!hangs) expect(reason()).toBeDefined()
    }
  })
})

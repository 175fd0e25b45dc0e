import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { openControlConnections } from '../../src/doors/fetch/control-connection.ts'
import type { FaultRule, RequestReport } from '../../src/index.ts'
import { type Door, openBothDoors } from './both-doors.ts'

const DOMAINS = '/api/v1/domains'
const HEADERS = { 'content-type': 'application/json' }

/** A body that begins, and of which the rest never comes. `begun` resolves when the rest is asked for. */
function endless() {
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  let pieces = 0
  let cancelled: unknown
  const body = new ReadableStream({
    pull(controller) {
      if (pieces++ === 0) return controller.enqueue(Buffer.from('{"domains":'))
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

const nothing = { status: null, response: { body: null } }

describe('A client of `fetch` that leaves', () => {
  it('before it has asked, leaves no trace', async () => {
    const { socket, direct } = await openBothDoors()
    for (const { ask, service } of [socket, direct]) {
      const { error } = await ask(DOMAINS, { signal: AbortSignal.abort(new Error('early')) })
      expect(error?.message).toBe('early')
      expect(await service.requests.list()).toEqual([])
    }
  })

  it('while it sends its body, is recorded without an answer', async () => {
    const { socket, direct } = await openBothDoors()
    for (const door of [socket, direct]) {
      const leaving = new AbortController()
      const { body, begun, reason } = endless()
      const asked = door.ask(DOMAINS, { method: 'POST', headers: HEADERS, body, signal: leaving.signal })
      await begun
      // The first piece has come to a socket when the quota is used.
      await expect
        .poll(async () => (await door.service.account.quotas.list()).find(({ limit, remaining }) => remaining < limit))
        .toBeDefined()
      leaving.abort(new Error('late'))
      expect((await asked).error?.message).toBe('late')
      // On a socket, the message itself is cut off, which is no HTTP.
      if (door === socket) continue
      expect(await recorded(door)).toMatchObject(nothing)
      expect(reason()).toBeDefined()
    }
  })

  it.each<[when: string, rule: FaultRule]>([
    ['before the work', { delay_ms: 60_000 }],
    ['after the work', { delay_ms: 60_000, phase: 'after' }],
  ])('during a delay %s, is recorded as on a socket', async (_, rule) => {
    const { socket, direct } = await openBothDoors()
    const entries: unknown[] = []
    for (const door of [socket, direct]) {
      const { service, ask } = door
      await service.account.faults.add(rule)
      const leaving = new AbortController()
      const asked = ask(DOMAINS, {
        ...{ method: 'POST', headers: HEADERS, body: '{"domains":["new.example"]}' },
        signal: leaving.signal,
      })
      await expect.poll(async () => (await service.account.faults.list())[0]?.hits).toBe(1)
      leaving.abort(new Error('enough'))
      expect((await asked).error?.message).toBe('enough')
      const { duration_ms: _, request, ...entry } = (await recorded(door)) as RequestReport
      entries.push([entry, await service.account.domains.list()])
    }
    expect(entries[1]).toEqual(entries[0])
    expect(entries[1]).toMatchObject([nothing, expect.anything()])
  })

  it('during the body of the answer, gets its reason from the body', async () => {
    const { direct } = await openBothDoors()
    const { service } = direct
    await service.account.faults.add({ connection: 'drip', delay_ms: 60_000 })
    const leaving = new AbortController()
    const request = { headers: { authorization: `Bearer ${service.apiKey}` }, signal: leaving.signal }
    const response = await service.fetch(`${service.baseUrl}/domains`, request)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    leaving.abort(new Error('enough'))
    await expect(reader.read()).rejects.toThrow('enough')
  })

  it('before it reads the answer, gets its reason in place of the body', async () => {
    const { direct } = await openBothDoors()
    const leaving = new AbortController()
    const response = await direct.service.fetch(direct.service.baseUrl, { signal: leaving.signal })
    leaving.abort(new Error('enough'))
    await expect(response.text()).rejects.toThrow('enough')
  })

  it('may leave the body of the answer unread', async () => {
    const { direct } = await openBothDoors()
    const { service } = direct
    for (const path of ['/api/v1/domains', '/__admin/openapi.json']) {
      const { body } = await service.fetch(`http://any.example${path}`)
      await body?.cancel()
    }
    await service.stop()
  })
})

describe('The events of the control plane', () => {
  it('come through `fetch` as they happen, until the reader leaves', async () => {
    const { direct } = await openBothDoors()
    const { service, ask } = direct
    const opened = async () => {
      const response = await service.fetch(`${service.adminUrl}/accounts/default/events`)
      expect(response.headers.get('content-type')).toBe('text/event-stream')
      return (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
    }
    const one = await opened()
    expect((await one.read()).value).toMatch(/^: /)
    await ask(DOMAINS)
    expect((await one.read()).value).toContain('event: request\ndata: {"ordinal":1,')
    await one.cancel()
    const two = await opened()
    await two.read()
    const stopped = service.stop()
    for (let read = await two.read(); !read.done; read = await two.read()) expect(read.value).toMatch(/^: /)
    await stopped
  })

  it('end for the control plane, too, when the reader leaves', async () => {
    const sent: ServerResponse[] = []
    const ask = openControlConnections((_, response) => {
      sent.push(response.writeHead(200))
      response.write('event')
    })
    const visit = { request: new Request('http://any.example/'), leaving: new AbortController() }
    const { body } = await ask({ method: 'GET', target: '/', headers: [], body: Buffer.alloc(0) }, visit)
    const closed = once(sent[0] as ServerResponse, 'close')
    await body?.cancel()
    await closed
  })
})

describe('A stand-in that stops', () => {
  it('answers what is under way at once, and no later request', async () => {
    const { direct } = await openBothDoors()
    const { service, ask } = direct
    await service.account.faults.add({ delay_ms: 60_000 })
    const asked = ask(DOMAINS)
    await expect.poll(async () => (await service.account.faults.list())[0]?.hits).toBe(1)
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

  it('ends a request whose body does not come', async () => {
    const { direct } = await openBothDoors()
    const { service, ask } = direct
    const { body, begun, reason } = endless()
    const asked = ask(DOMAINS, { method: 'POST', headers: HEADERS, body })
    await begun
    await service.stop()
    expect((await asked).error).toMatchObject({ message: 'fetch failed', code: 'UND_ERR_SOCKET' })
    expect(reason()).toBeDefined()
  })
})

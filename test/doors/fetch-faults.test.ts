import { describe, expect, it } from 'vitest'
import type { FAULT_KINDS } from '../../src/faults/kinds.ts'
import type { FaultRule } from '../../src/index.ts'
import { type Door, type Outcome, openBothDoors } from './both-doors.ts'

type KindName = keyof typeof FAULT_KINDS

/** The rules of each kind that are tried. */
const RULES: Readonly<Record<KindName, readonly FaultRule[]>> = {
  delay: [{ delay_ms: 5 }, { delay_ms: 5, phase: 'after' }],
  respond: [
    { respond: { error: 'internal_error' } },
    { respond: { status: 204 } },
    { respond: { status: 205 } },
    { respond: { status: 304, headers: { etag: '"1"' } } },
    { respond: { status: 599, body: 'of a gateway' }, phase: 'after' },
    {
      respond: {
        status: 503,
        headers: { 'set-cookie': 'a=1; b=2', 'retry-after': '1', date: 'never' },
        body: { x: 1 },
      },
    },
    { respond: { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>' } },
    { respond: { status: 502, body: '' } },
  ],
  reset: [{ connection: 'reset' }, { connection: 'reset', phase: 'after' }],
  hang: [],
  empty: [{ connection: 'empty' }, { connection: 'empty', phase: 'after' }],
  truncate: [{ connection: 'truncate' }],
  drip: [{ connection: 'drip', delay_ms: 40 }],
  'malformed-json': [{ corrupt: 'malformed-json' }],
  'missing-field': [{ corrupt: 'missing-field' }],
  'wrong-type': [{ corrupt: 'wrong-type' }],
  'extra-field': [{ corrupt: 'extra-field' }],
  'unknown-enum': [{ corrupt: 'unknown-enum' }],
  'bad-envelope': [{ corrupt: 'bad-envelope' }],
  compatible: [{ corrupt: 'compatible' }],
  'quota-used-up': [{ event: 'quota-used-up' }],
  'window-end': [{ event: 'window-end' }],
  refresh: [{ event: 'refresh' }],
  'grace-end': [{ event: 'grace-end' }],
}

const REQUESTS: readonly [path: string, init?: RequestInit][] = [
  ['/api/v1/dmarc'],
  ['/api/v1/dmarc', { method: 'HEAD' }],
  [
    '/api/v1/domains',
    { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"domains":["new.example"]}' },
  ],
]

/** What the requests meet under a rule, and the last entries of the journal. */
async function meet({ service, ask }: Door, rule: FaultRule): Promise<unknown> {
  await service.account.reset()
  await service.account.faults.add(rule)
  const outcomes: Outcome[] = []
  for (const [path, init] of REQUESTS) outcomes.push(await ask(path, init))
  const entries = (await service.account.requests.list()).map(({ duration_ms: _, request, ordinal: __, ...entry }) => {
    return { ...entry, request: { ...request, headers: undefined } }
  })
  return {
    outcomes,
    entries,
    domains: await service.account.domains.list(),
    quotas: await service.account.quotas.list(),
  }
}

describe('A fault on the way of `fetch`', () => {
  const rows = Object.entries(RULES).flatMap(([kind, rules]) => rules.map((rule) => [kind, rule] as const))
  it('acts as on a socket, and is recorded so, whatever its kind is', async () => {
    const { socket, direct } = await openBothDoors()
    for (const [kind, rule] of rows) {
      const met = await meet(socket, rule)
      expect(await meet(direct, rule), `${kind} ${JSON.stringify(rule)}`).toEqual(met)
    }
  })

  it.each([
    ['reset', 'fetch failed', 'ECONNRESET'],
    ['empty', 'fetch failed', 'UND_ERR_SOCKET'],
    ['truncate', 'terminated', 'UND_ERR_SOCKET'],
  ] as const)('is an error of fetch: `%s`', async (connection, message, code) => {
    const { direct } = await openBothDoors()
    await direct.service.account.faults.add({ connection })
    expect((await direct.ask('/api/v1/domains')).error).toMatchObject({ name: 'TypeError', message, code })
  })

  it('lets a client read half of a body before it fails', async () => {
    const { direct } = await openBothDoors()
    const { service } = direct
    await service.account.faults.add({ connection: 'truncate' })
    const { body, headers } = await service.fetch(`${service.baseUrl}/domains`, {
      headers: { authorization: `Bearer ${service.apiKey}` },
    })
    const reader = (body as ReadableStream<Uint8Array>).getReader()
    expect((await reader.read()).value).toHaveLength(Number(headers.get('content-length')) >> 1)
    await expect(reader.read()).rejects.toThrow('terminated')
  })

  it('sends a body in pieces: `drip`', async () => {
    const { direct } = await openBothDoors()
    const { service } = direct
    await service.account.faults.add({ connection: 'drip', delay_ms: 40 })
    const { body } = await service.fetch(`${service.baseUrl}/domains`, {
      headers: { authorization: `Bearer ${service.apiKey}` },
    })
    const pieces: Uint8Array[] = []
    for await (const piece of body as ReadableStream<Uint8Array>) pieces.push(piece)
    expect(pieces.length).toBeGreaterThan(10)
    expect(JSON.parse(Buffer.concat(pieces).toString())).toMatchObject({ success: true })
  })

  it('keeps a client waiting until it leaves, or until the stop: `hang`', async () => {
    const { socket, direct } = await openBothDoors()
    const found: unknown[] = []
    for (const { ask, service } of [socket, direct]) {
      await service.account.faults.add({ connection: 'hang' })
      const leaving = new AbortController()
      const asked = ask('/api/v1/domains', { signal: leaving.signal })
      await service.account.requests.waitFor({ operation: 'listDomains' })
      leaving.abort(new Error('enough'))
      const left = await asked
      const waiting = ask('/api/v1/dmarc')
      await service.account.requests.waitFor({ operation: 'listDmarc' })
      await service.stop()
      found.push([left, await waiting])
    }
    expect(found[1]).toEqual(found[0])
    expect(found[1]).toMatchObject([{ error: { message: 'enough' } }, { error: { code: 'UND_ERR_SOCKET' } }])
  })
})

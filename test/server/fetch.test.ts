import { describe, expect, it } from 'vitest'
import { readLimits } from '../../src/contract/control-api.ts'
import { type FaultRule, startUnderstudy, type UnderstudyWithKey } from '../../src/index.ts'
import { controlApi } from '../support/control-plane.ts'
import { API_KEY } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Door, openBothDoors, openDirectDoor, recordOf } from './both-doors.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const send = (method: string, body?: RequestInit['body'], headers: Record<string, string> = JSON_TYPE): RequestInit => {
  return { method, headers, ...(body !== undefined && { body }) }
}
const adding = (...domains: string[]) => JSON.stringify({ domains })
const bytes = (text: string) => new TextEncoder().encode(text)

/** A body that comes in these pieces, each in a turn of its own. */
function inPieces(...pieces: (string | Uint8Array)[]): ReadableStream {
  const left = pieces.map((piece) => (typeof piece === 'string' ? bytes(piece) : piece))
  return new ReadableStream({
    async pull(controller) {
      await new Promise(setImmediate)
      const piece = left.shift()
      if (piece === undefined) controller.close()
      else controller.enqueue(piece)
    },
  })
}

type Row = [name: string, path: string, init?: () => RequestInit]
const DOMAINS = '/api/v1/domains'
const GROUPS = '/api/v1/domaingroups'
const { bodyLimit: CONTROL_LIMIT } = readLimits(controlApi)
/** The `bodyLimit` of the service. */
const LONGEST = 1_048_576

const SERVICE: readonly Row[] = [
  ['a path with odd characters', '/api/v1/d%6Fmains?x=ä&y=%zz&y'],
  ['a path with a fragment and dots', '/api/v1/x/../domains#part'],
  ['a method in lower case', DOMAINS, () => send('post', adding('lower.example'))],
  [
    'a preflight',
    DOMAINS,
    () => ({
      method: 'OPTIONS',
      headers: { origin: 'http://app.example', 'access-control-request-method': 'POST' },
    }),
  ],
  ['a page of another origin', DOMAINS, () => ({ headers: { origin: 'http://evil.example' } })],
  ['a blob', DOMAINS, () => send('POST', new Blob([adding('blob.example')], { type: 'application/json' }))],
  ['a form', DOMAINS, () => send('POST', new URLSearchParams({ domains: 'a.example' }), {})],
  ['a name in UTF-8', GROUPS, () => send('POST', '{"name":"Öl 🛢"}')],
  ['an empty stream', DOMAINS, () => send('POST', inPieces())],
  ['a stream', DOMAINS, () => send('POST', inPieces('{"domains":', '["stream', '.example"]}'))],
  ['a text that is too long', DOMAINS, () => send('POST', adding('a.example').padEnd(LONGEST + 1))],
]

const CONTROL: readonly Row[] = [
  ['health', '/health'],
  ['the document', '/openapi.json'],
  ['the dashboard', '/', () => ({ headers: { accept: 'text/html' } })],
  ['a new account', '/accounts', () => send('POST', '{"id":"shop","fixture":"demo"}')],
  ['a new account by a stream', '/accounts', () => send('POST', inPieces('{"id":', '"press"}'))],
  ['a body that is too long', '/accounts', () => send('POST', ' '.repeat(CONTROL_LIMIT + 1))],
  ['a page of another origin', '/accounts', () => ({ headers: { origin: 'http://evil.example' } })],
]

/** The rules that act on a connection, or answer what the service never does. `hang` never ends. */
const RULES: readonly FaultRule[] = [
  { delay_ms: 5 },
  { respond: { error: 'internal_error' } },
  ...[204, 304].map((status) => ({ respond: { status } })),
  { respond: { status: 599, body: 'of a gateway' }, phase: 'after' },
  {
    respond: { status: 503, headers: { 'set-cookie': 'a=1; b=2', 'retry-after': '1', date: 'never' }, body: { x: 1 } },
  },
  { connection: 'reset' },
  { connection: 'reset', phase: 'after' },
  { connection: 'empty' },
  { connection: 'truncate' },
  { connection: 'drip', delay_ms: 40 },
  { corrupt: 'malformed-json' },
]

/** What requests meet under a rule, and what is recorded of them. */
async function meet(door: Door, rule: FaultRule): Promise<unknown> {
  const { account } = door.service
  await account.reset()
  await account.faults.add(rule)
  const outcomes: unknown[] = []
  for (const init of [{}, { method: 'HEAD' }, send('POST', adding('new.example'))]) {
    outcomes.push(await door.ask(init.method === 'POST' ? DOMAINS : '/api/v1/dmarc', init))
  }
  return {
    outcomes,
    record: await recordOf(door),
    domains: await account.domains.list(),
    quotas: await account.quotas.list(),
  }
}

describe('What `fetch` of the stand-in answers', () => {
  it('is what a socket brings, to the byte, and so is what is recorded of it', async () => {
    const { socket, direct } = await openBothDoors({ cors: ['http://app.example'], enforceQuotas: false })
    for (const [name, path, init] of SERVICE) {
      const brought = await socket.ask(path, init?.())
      expect(await direct.ask(path, init?.()), name).toEqual(brought)
      expect(brought.error, name).toBeUndefined()
    }
    const record = await recordOf(socket)
    expect(await recordOf(direct)).toEqual(record)
    expect(record).toMatchObject({ verdict: { requests: SERVICE.length } })
  })

  it('is what a socket brings from the control plane, to the byte', async () => {
    const { socket, direct } = await openBothDoors()
    for (const [name, path, init] of CONTROL) {
      const brought = await socket.control(path, init?.())
      expect(brought.error, name).toBeUndefined()
      const answered = await direct.control(path, init?.())
      // The two are two runs.
      const alike = JSON.stringify(answered).replaceAll(direct.service.instance, socket.service.instance)
      expect(JSON.parse(alike), name).toEqual(brought)
    }
  })

  it('is what a socket brings under each fault, errors included, and is recorded so', async () => {
    const { socket, direct } = await openBothDoors()
    for (const rule of RULES) {
      expect(await meet(direct, rule), JSON.stringify(rule)).toEqual(await meet(socket, rule))
    }
  })

  it('comes in pieces where it drips, and by half where it is cut off', async () => {
    const direct = await openDirectDoor()
    const { service } = direct
    const read = () => service.fetch(service.baseUrl.concat('/domains'), { headers: service.account.headers })
    const dripping = await service.account.faults.add({ connection: 'drip', delay_ms: 40 })
    const pieces: Uint8Array[] = []
    for await (const piece of (await read()).body as ReadableStream<Uint8Array>) pieces.push(piece)
    expect(pieces.length).toBeGreaterThan(10)
    expect(JSON.parse(Buffer.concat(pieces).toString())).toMatchObject({ success: true })
    await service.account.faults.remove(dripping.id)
    await service.account.faults.add({ connection: 'truncate' })
    const { body, headers } = await read()
    const reader = (body as ReadableStream<Uint8Array>).getReader()
    expect((await reader.read()).value).toHaveLength(Number(headers.get('content-length')) >> 1)
    await expect(reader.read()).rejects.toThrow('terminated')
  })
})

it('`fetch` needs no `this`, is there beside a port, and serves as the handler of a route below any origin', async () => {
  const { socket } = await openBothDoors()
  const { fetch: handler, apiKey } = socket.service as UnderstudyWithKey
  const headers = { authorization: `Bearer ${apiKey}`, ...JSON_TYPE }
  const request = new Request('https://app.example/api/v1/domains', { ...send('POST', adding('new.example')), headers })
  const response = await handler(request)
  expect([response.status, response.url]).toEqual([200, request.url])
  expect((await handler(new URL('http://any.example/__admin/accounts'))).status).toBe(200)
})

it('What came by `fetch` is kept in a folder, with a port or without', async () => {
  const data = temporaryFolder()
  for (const [index, listen] of [false, true, false].entries()) {
    await using service = await startUnderstudy({ listen, data, fixture: 'empty', apiKey: API_KEY })
    expect(service.kept).toBe(index > 0)
    const headers = { authorization: `Bearer ${API_KEY}`, ...JSON_TYPE }
    const url = `${service.baseUrl}/domains`
    expect((await service.fetch(url, { ...send('POST', adding(`${index}.example`)), headers })).status).toBe(200)
    expect(await service.account.domains.list()).toHaveLength(index + 1)
  }
})

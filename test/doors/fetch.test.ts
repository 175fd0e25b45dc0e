import { describe, expect, it } from 'vitest'
import { readLimits } from '../../src/admin/document.ts'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { controlApi } from '../support/control-plane.ts'
import { type Door, openBothDoors, recordOf } from './both-doors.ts'

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
  ['listDomains', DOMAINS],
  ['addDomains', DOMAINS, () => send('POST', adding('new.example'))],
  ['listDmarc', '/api/v1/dmarc'],
  ['createDomainGroup', GROUPS, () => send('POST', '{"name":"Press"}')],
  ['listDomainGroups', GROUPS],
  ['one group', `${GROUPS}?id={Sales}`],
  ['updateDomainGroup', `${GROUPS}?id={Sales}`, () => send('PATCH', '{"name":"Shops"}')],
  ['deleteDomains', DOMAINS, () => send('DELETE', adding('new.example'))],
  ['deleteDomainGroup', `${GROUPS}?id={Sales}`, () => send('DELETE')],
  ['no key', DOMAINS, () => ({ headers: { authorization: '' } })],
  ['a wrong key', DOMAINS, () => ({ headers: { authorization: 'Bearer no-such-key' } })],
  ['a path that does not exist', '/api/v1/domain'],
  ['a path of no version', '/domains'],
  ['a path with odd characters', '/api/v1/d%6Fmains?x=ä&y=%zz&y'],
  ['a path with a fragment and dots', '/api/v1/x/../domains#part'],
  ['a query that is wrong', `${GROUPS}?id=nothing`],
  ['a group that does not exist', `${GROUPS}?id=3fa85f64-5717-4562-b3fc-2c963f66afa6`],
  ['a method that the path does not have', DOMAINS, () => send('PUT', '{}')],
  ['a method that nobody has', DOMAINS, () => ({ method: 'FROB' })],
  ['a header that is too large', DOMAINS, () => ({ headers: { large: 'x'.repeat(20_000) } })],
  ['a method in lower case', DOMAINS, () => send('post', adding('lower.example'))],
  ['HEAD', DOMAINS, () => ({ method: 'HEAD' })],
  ['HEAD of nothing', '/api/v1/nothing', () => ({ method: 'HEAD' })],
  ['OPTIONS', DOMAINS, () => ({ method: 'OPTIONS' })],
  [
    'a preflight',
    DOMAINS,
    () => ({
      method: 'OPTIONS',
      headers: { origin: 'http://app.example', 'access-control-request-method': 'POST' },
    }),
  ],
  ['a page of an origin that may', DOMAINS, () => ({ headers: { origin: 'http://app.example' } })],
  ['a page of another origin', DOMAINS, () => ({ headers: { origin: 'http://evil.example' } })],
  ['a preference', DOMAINS, () => ({ headers: { prefer: 'code=rate_limited' } })],
  ['bytes', DOMAINS, () => send('POST', bytes(adding('bytes.example')))],
  ['a buffer', DOMAINS, () => send('POST', bytes(adding('buffer.example')).buffer as ArrayBuffer)],
  ['a blob', DOMAINS, () => send('POST', new Blob([adding('blob.example')], { type: 'application/json' }))],
  ['a form', DOMAINS, () => send('POST', new URLSearchParams({ domains: 'a.example' }), {})],
  ['a form of parts', DOMAINS, () => send('POST', new FormData(), { 'content-type': 'multipart/form-data' })],
  ['a text', DOMAINS, () => send('POST', 'text', {})],
  ['no type', DOMAINS, () => send('POST', bytes('{}'), {})],
  ['another coding', DOMAINS, () => send('POST', '{}', { ...JSON_TYPE, 'content-encoding': 'gzip' })],
  ['no JSON', DOMAINS, () => send('POST', '{"domains":')],
  ['no UTF-8', DOMAINS, () => send('POST', Buffer.from('{"domains":["\xff"]}', 'latin1'))],
  ['a name in UTF-8', GROUPS, () => send('POST', '{"name":"Öl 🛢"}')],
  ['a field that is wrong', DOMAINS, () => send('POST', '{"domain":"a.example"}')],
  ['an empty text', DOMAINS, () => send('POST', '')],
  ['an empty stream', DOMAINS, () => send('POST', inPieces())],
  ['no body', DOMAINS, () => send('POST')],
  ['a stream', DOMAINS, () => send('POST', inPieces('{"domains":', '["stream', '.example"]}'))],
  ['a stream in one piece', DOMAINS, () => send('POST', inPieces(adding('piece.example')))],
  [
    'a stream that is refused unread',
    DOMAINS,
    () => ({ ...send('POST', inPieces('{', '}')), headers: { authorization: 'x' } }),
  ],
  ['a text that is too long', DOMAINS, () => send('POST', adding('a.example').padEnd(LONGEST + 1))],
  ['a text of the greatest length', DOMAINS, () => send('POST', adding('long.example').padEnd(LONGEST))],
  ['a stream that is too long', DOMAINS, () => send('POST', inPieces(...Array(5).fill(new Uint8Array(LONGEST / 4))))],
]

const CONTROL: readonly Row[] = [
  ['health', '/health'],
  ['readiness', '/ready'],
  ['the document', '/openapi.json'],
  ['the dashboard', '/', () => ({ headers: { accept: 'text/html' } })],
  ['the dashboard without a slash', '', () => ({ headers: { accept: 'text/html' } })],
  ['a view of the dashboard', '/accounts/default/requests', () => ({ headers: { accept: 'text/html' } })],
  ['HEAD', '/accounts', () => ({ method: 'HEAD' })],
  ['HEAD of events', '/accounts/default/events', () => ({ method: 'HEAD' })],
  ['a new account', '/accounts', () => send('POST', '{"id":"shop","fixture":"demo"}')],
  ['a new account by a stream', '/accounts', () => send('POST', inPieces('{"id":', '"press"}'))],
  ['a list', '/accounts'],
  ['a state', '/accounts/shop/state'],
  ['a state that comes back', '/accounts/press/state', () => send('PUT', '{"domains":["a.example"]}')],
  ['a clock', '/accounts/shop/clock', () => send('PATCH', '{"advance":"PT1H"}')],
  ['a deletion', '/accounts/shop', () => send('DELETE')],
  ['a path that does not exist', '/account'],
  ['a method that the path does not have', '/accounts', () => send('PATCH', '{}')],
  ['no JSON', '/accounts', () => send('POST', '{')],
  ['a query that is wrong', '/requests?limit=0'],
  ['a body that is too long', '/accounts', () => send('POST', ' '.repeat(CONTROL_LIMIT + 1))],
  ['a page of another origin', '/accounts', () => ({ headers: { origin: 'http://evil.example' } })],
  ['what has happened', '/accounts/default/coverage'],
]

/** Puts the id of a group in the place of its name. */
async function withId(path: string, { service }: Door): Promise<string> {
  const [braced, name] = /\{(\w+)\}/.exec(path) ?? []
  if (braced === undefined) return path
  const { id = 'none' } = (await service.account.groups.list()).find((group) => group.name === name) ?? {}
  return path.replace(braced, id)
}

describe('What `fetch` of the stand-in answers', () => {
  it('is what a socket brings, to the byte, and so is what is recorded of it', async () => {
    const { socket, direct } = await openBothDoors({ cors: ['http://app.example'], enforceQuotas: false })
    for (const [name, path, init] of SERVICE) {
      const brought = await socket.ask(await withId(path, socket), init?.())
      expect(await direct.ask(await withId(path, direct), init?.()), name).toEqual(brought)
      expect(brought.error, name).toBeUndefined()
    }
    const record = await recordOf(socket)
    expect(await recordOf(direct)).toEqual(record)
    expect(record).toMatchObject({ verdict: { requests: SERVICE.length } })
    const names = SERVICE.map(([name]) => name)
    expect(names).toEqual(expect.arrayContaining(Object.keys(OPERATIONS)))
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

  it('is the same with a port', async () => {
    const { socket } = await openBothDoors()
    const { service } = socket
    const response = await service.fetch('http://any.example/api/v1/domains', {
      headers: { authorization: `Bearer ${service.apiKey}` },
    })
    expect(response.status).toBe(200)
    expect((await service.fetch('http://any.example/__admin/accounts')).status).toBe(200)
  })
})

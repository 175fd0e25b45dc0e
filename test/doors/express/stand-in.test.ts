import { once } from 'node:events'
import { connect } from 'node:net'
import type { ErrorRequestHandler, RequestHandler } from 'express'
import { describe, expect, it, onTestFinished } from 'vitest'
import { standIn } from '../../../src/express.ts'
import { startUnderstudy, type UnderstudyWithKey } from '../../../src/index.ts'
import { API_KEY } from '../../support/service.ts'
import { AUTHORIZED, chunked, type Header, JSON_BODY, requestBytes, type WireRequest } from '../../support/wire.ts'
import { ask, converse, EXPRESSES, responseIn, serve } from './application.ts'

const OPTIONS = { fixture: 'empty', seed: 7, now: '2026-01-15T09:30:00Z', frozen: true, apiKey: API_KEY } as const

async function start(options = {}): Promise<UnderstudyWithKey> {
  const service = await startUnderstudy({ ...OPTIONS, ...options })
  onTestFinished(() => service.stop())
  return service
}

const portOf = ({ baseUrl }: { baseUrl: string }) => Number(new URL(baseUrl).port)
const JSON_HEADERS: readonly Header[] = [AUTHORIZED, JSON_BODY]
const ADD: WireRequest = {
  method: 'POST',
  target: '/domains',
  headers: JSON_HEADERS,
  body: '{"domains":["a.example"]}',
}

/** A response without an account has the time of the machine, and a second may pass between two of them. */
function undated(bytes: string): string {
  return bytes.replace(/^Date: .*GMT$/m, 'Date')
}

const tellError: ErrorRequestHandler = (error, _request, response, _next) =>
  void response.status(500).send(error.message)

const STORY: readonly WireRequest[] = [
  { target: '/domains', headers: [AUTHORIZED] },
  ADD,
  {
    ...ADD,
    body: chunked('{"domains":["b.example"]}', 4),
    headers: [...JSON_HEADERS, ['Transfer-Encoding', 'chunked']],
  },
  { target: '/domains', headers: [AUTHORIZED] },
  { method: 'HEAD', target: '/domains', headers: [AUTHORIZED] },
  { target: '/dmarc?domain=a.example', headers: [AUTHORIZED] },
  { ...ADD, body: '{"domains":' },
  { ...ADD, body: '{"domains":3}' },
  { ...ADD, body: '' },
  { ...ADD, headers: [AUTHORIZED, ['Content-Type', 'text/plain']] },
  { target: '/domains', headers: [] },
  { target: '/nothing', headers: [AUTHORIZED] },
  { method: 'PATCH', target: '/domains', headers: [AUTHORIZED] },
  { target: '', headers: [AUTHORIZED] },
  { target: '/domains', headers: [AUTHORIZED, ['Prefer', 'code=500']] },
  { target: '/domains', headers: [AUTHORIZED, ['Prefer', 'code=204']] },
  { ...ADD, body: '{"domains":["c.example"]}', headers: [...JSON_HEADERS, ['Expect', '100-continue']] },
]

describe.each(EXPRESSES)('standIn in %s', (_, express) => {
  it('answers with the bytes that the port of the stand-in gives', async () => {
    const [mounted, own] = await Promise.all([start({ prefer: true }), start({ prefer: true })])
    const app = express()
    app.use('/mock', standIn(mounted))
    const port = await serve(app)
    for (const request of STORY) {
      const target = `/api/v1${request.target}`
      const expected = undated(await ask(portOf(own), { ...request, target }))
      const answered = undated(await ask(port, { ...request, target: `/mock${target}` }))
      expect(answered, JSON.stringify(request).slice(0, 200)).toBe(expected)
    }
    const told = (service: UnderstudyWithKey) => service.requests.list()
    const [here, there] = await Promise.all([told(mounted), told(own)])
    expect(here.map(({ status, path }) => [status, path])).toEqual(there.map(({ status, path }) => [status, path]))
  })

  it.each<[where: string, at: string, path: string, isAnswered: boolean]>([
    ['at the root', '/', '/api/v1/domains', true],
    ['below a path', '/mock', '/mock/api/v1/domains', true],
    ['below a path in another case, as Express sees it', '/mock', '/MOCK/api/v1/domains', true],
    ['at the base path', '/api/v1', '/api/v1/domains', true],
    ['at the base path below a path', '/a/api/v1', '/a/api/v1/domains', true],
    ['at a path of the service', '/a/api/v1/domains', '/a/api/v1/domains?x=1', true],
    ['below a parameter', '/:tenant', '/one/api/v1/domains?x=1', true],
    ['elsewhere', '/mock', '/api/v1/domains', false],
    ['with a longer base', '/mock', '/mock/api/v10/domains', false],
    ['with the base path in another case', '/mock', '/mock/API/v1/domains', false],
    ['with the base path further down', '/mock', '/mock/x/api/v1/domains', false],
    ['without the base path', '/mock', '/mock/domains', false],
    ['with the control plane', '/mock', '/mock/__admin/health', false],
  ])('mounted %s answers what belongs to the service, and passes on the rest: %#', async (_, at, path, isAnswered) => {
    const app = express()
    app.use(at, standIn(await start()))
    app.use((_request, response) => void response.send('passed on'))
    const { status, text } = responseIn(await ask(await serve(app), { target: path, headers: [AUTHORIZED] }))
    expect([status, text]).toEqual([200, isAnswered ? '{"success":true,"data":{"domains":[]}}' : 'passed on'])
  })

  it('mounted twice, for two stand-ins, keeps them apart', async () => {
    const [one, other] = await Promise.all([start(), start()])
    const app = express()
    app.use('/one', standIn(one))
    app.use('/other', express.Router().use('/deep', standIn(other)))
    const port = await serve(app)
    await ask(port, { ...ADD, target: '/other/deep/api/v1/domains' })
    const list = async (at: string) =>
      responseIn(await ask(port, { target: `${at}/api/v1/domains`, headers: [AUTHORIZED] }))
    expect((await list('/one')).text).toContain('[]')
    expect((await list('/other/deep')).text).toContain('a.example')
  })

  it.each<[parser: string, parse: RequestHandler, request: object, status: number]>([
    ['express.json', express.json(), {}, 500],
    ['express.text', express.text({ type: '*/*' }), {}, 500],
    ['express.urlencoded, which leaves JSON alone', express.urlencoded({ extended: true }), {}, 200],
    ['express.raw', express.raw({ type: '*/*' }), {}, 200],
    ['express.json, without a body', express.json(), { method: 'GET', body: undefined }, 200],
    [
      'what ends the stream, without a body',
      (request, _response, next) => void request.resume().once('end', next),
      { method: 'GET', body: undefined },
      200,
    ],
    ['what has read the first piece', (request, _response, next) => void request.once('data', () => next()), {}, 500],
  ])('mounted after %s', async (_, parse, request, status) => {
    const app = express()
    app.use(parse, standIn(await start()))
    app.use(tellError)
    const response = responseIn(
      await ask(await serve(app), { ...ADD, ...request, target: '/api/v1/domains' } as WireRequest),
    )
    expect(response.status).toBe(status)
    if (status !== 500) return
    expect(response.text).toBe(
      'The stand-in cannot read the body of POST /api/v1/domains, because another middleware has read it. ' +
        'Mount standIn(service) before express.json() and other body parsers.',
    )
  })

  it.each(['reset', 'empty', 'truncate', 'drip'] as const)(
    'lets the fault `%s` act on the connection of the client',
    async (connection) => {
      const [mounted, own] = await Promise.all([start(), start()])
      const app = express()
      app.use('/mock', standIn(mounted))
      const port = await serve(app)
      for (const { account } of [mounted, own])
        await account.faults.add({
          match: { path: '/domains' },
          connection,
          ...(connection === 'drip' && { delay_ms: 20 }),
        })
      for (const { method, body } of [{ method: 'GET', body: undefined }, ADD]) {
        const bytesTo = (target: string) =>
          requestBytes({
            method,
            target,
            headers: [...JSON_HEADERS, ['Connection', 'close']],
            ...(body && { body }),
          } as WireRequest)
        const expected = await converse(portOf(own), bytesTo('/api/v1/domains'))
        expect(await converse(port, bytesTo('/mock/api/v1/domains'))).toEqual(expected)
        expect(expected.end).toBe(connection === 'reset' ? 'ECONNRESET' : 'FIN')
      }
    },
  )

  it('lets a hanging request hang until its client leaves', async () => {
    const service = await start()
    await service.account.faults.add({ match: { path: '/domains' }, connection: 'hang' })
    const app = express()
    app.use('/mock', standIn(service))
    const client = connect(await serve(app), '127.0.0.1')
    client.write(requestBytes({ target: '/mock/api/v1/domains' }))
    await expect.poll(async () => (await service.requests.list())[0]?.fault).toBeTruthy()
    client.end()
    await once(client, 'close')
    expect(client.bytesRead).toBe(0)
  })

  it('records a request whose client leaves in the middle of the body, and goes on', async () => {
    const service = await start()
    const app = express()
    app.use('/mock', standIn(service))
    const port = await serve(app)
    const client = connect(port, '127.0.0.1')
    const bytes = requestBytes({ ...ADD, target: '/mock/api/v1/domains' })
    const arrived = new Promise((resolve) => client.write(bytes.subarray(0, -5), resolve))
    await arrived
    client.destroy()
    await expect.poll(async () => (await service.requests.list()).map(({ status }) => status)).toEqual([null])
    const response = responseIn(await ask(port, { ...ADD, target: '/mock/api/v1/domains' }))
    expect(response.status).toBe(200)
  })

  it('answers whatever host its application answers, and keeps fields that others have set', async () => {
    const app = express()
    app.use((_request, response, next) => {
      response.set({ 'X-Frame-Options': 'DENY', 'X-Request-Id': 'of the application', Vary: 'Accept' })
      next()
    })
    app.use(standIn(await start()))
    const request = `GET /api/v1/domains HTTP/1.1\r\nHost: shop.example\r\nAuthorization: Bearer ${API_KEY}\r\nConnection: close\r\n\r\n`
    const { status, headers } = responseIn((await converse(await serve(app), Buffer.from(request))).bytes)
    const fields = new Map(headers.map(([name, value]) => [name, value]))
    expect(status).toBe(200)
    expect(fields.get('X-Frame-Options')).toBe('DENY')
    expect(fields.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(headers.filter(([name]) => name.toLowerCase() === 'x-request-id')).toHaveLength(1)
  })

  it('loses one response whose end a middleware does not survive, and no other', async () => {
    const app = express()
    app.use((request, response, next) => {
      if (request.url.endsWith('bug')) {
        response.end = () => {
          throw new Error('a bug')
        }
      }
      next()
    })
    app.use(standIn(await start({ listen: false })))
    const port = await serve(app)
    const read = (query: string, headers: Header[]) =>
      requestBytes({ target: `/api/v1/domains${query}`, headers: [AUTHORIZED, ...headers] })
    const before = read('?x=1', [])
    expect(responseIn((await converse(port, Buffer.concat([before, read('?bug', [])]))).bytes).status).toBe(200)
    expect(responseIn(await ask(port, { target: '/api/v1/domains', headers: [AUTHORIZED] })).status).toBe(200)
  })

  it('passes on an error after the stand-in was stopped', async () => {
    const service = await start()
    const app = express()
    app.use('/mock', standIn(service))
    app.use(tellError)
    const port = await serve(app)
    await service.stop()
    const { text } = responseIn(await ask(port, { target: '/mock/api/v1/domains?a=b', headers: [AUTHORIZED] }))
    expect(text).toBe('The stand-in was stopped before GET /mock/api/v1/domains.')
  })
})

it('refuses what is no stand-in of this process', async () => {
  const { baseUrl, stop } = await start()
  expect(() => standIn({ baseUrl, stop })).toThrow(
    new TypeError(
      'standIn(service) needs a stand-in that runs in this process. ' +
        'Start one with startUnderstudy() of dmarc-understudy, or let the client use its baseUrl.',
    ),
  )
})

it('finds the stand-in behind a copy of what its user has, and behind one that a signal stops', async () => {
  const service = await start({ signal: new AbortController().signal })
  expect(() => standIn({ ...service })).not.toThrow()
})

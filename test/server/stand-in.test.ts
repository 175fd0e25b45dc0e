import express, { type RequestHandler } from 'express'
import { describe, expect, it, onTestFinished } from 'vitest'
import { standIn } from '../../src/express.ts'
import { startUnderstudy, type UnderstudyWithKey } from '../../src/index.ts'
import { API_KEY } from '../support/service.ts'
import { AUTHORIZED, CLOSE, chunked, type Header, JSON_BODY, requestBytes, type WireRequest } from '../support/wire.ts'
import { answerTo, ask, converse, responseIn, serve, tellError } from './application.ts'

async function start(options = {}): Promise<UnderstudyWithKey> {
  const given = { fixture: 'empty', seed: 7, now: '2026-01-15T09:30:00Z', frozen: true, apiKey: API_KEY } as const
  const service = await startUnderstudy({ ...given, ...options })
  onTestFinished(() => service.stop())
  return service
}

const portOf = ({ baseUrl }: { baseUrl: string }) => Number(new URL(baseUrl).port)
const JSON_HEADERS: readonly Header[] = [AUTHORIZED, JSON_BODY]
const LIST: WireRequest = { target: '/api/v1/domains', headers: [AUTHORIZED] }
const ADD = { method: 'POST', target: '/api/v1/domains', headers: JSON_HEADERS, body: '{"domains":["a.example"]}' }
/** What only a connection has. All else is in the corpus, which is asked in Express, too. */
const STORY: readonly WireRequest[] = [
  ADD,
  {
    ...ADD,
    body: chunked('{"domains":["b.example"]}', 4),
    headers: [...JSON_HEADERS, ['Transfer-Encoding', 'chunked']],
  },
  { ...LIST, method: 'HEAD' },
  { ...LIST, headers: [AUTHORIZED, ['Prefer', 'code=204']] },
  { ...ADD, body: '{"domains":["c.example"]}', headers: [...JSON_HEADERS, ['Expect', '100-continue']] },
]

describe('standIn', () => {
  it('answers with the bytes that the port of the stand-in gives, and records the same', async () => {
    const [mounted, own] = await Promise.all([start({ prefer: true }), start({ prefer: true })])
    const port = await serve(express().use('/mock', standIn(mounted)))
    // A response without an account has the time of the machine, and a second may pass between two of them.
    const undated = (bytes: string) => bytes.replace(/^Date: .*GMT$/m, 'Date')
    for (const request of STORY) {
      const answered = undated(await ask(port, { ...request, target: `/mock${request.target}` }))
      expect(answered, JSON.stringify(request)).toBe(undated(await ask(portOf(own), request)))
    }
    const told = async (service: UnderstudyWithKey) =>
      (await service.requests.list()).map(({ status, path, code }) => [status, path, code])
    expect(await told(mounted)).toEqual(await told(own))
  })

  it.each<[where: string, at: string, path: string, isAnswered: boolean]>([
    ['at the root', '/', '/api/v1/domains', true],
    ['below a path', '/mock', '/mock/api/v1/domains', true],
    ['below a path in another case, as Express sees it', '/mock', '/MOCK/api/v1/domains', true],
    ['at the base path below a path', '/a/api/v1', '/a/api/v1/domains', true],
    ['elsewhere', '/mock', '/api/v1/domains', false],
    ['with a longer base', '/mock', '/mock/api/v10/domains', false],
    ['with the base path in another case', '/mock', '/mock/API/v1/domains', false],
    ['with the control plane', '/mock', '/mock/__admin/health', false],
  ])('mounted %s answers what belongs to the service, and passes on the rest', async (_, at, path, isAnswered) => {
    const app = express().use(at, standIn(await start()))
    app.use((_request, response) => void response.send('passed on'))
    const { status, text } = await answerTo(await serve(app), { ...LIST, target: path })
    expect([status, text]).toEqual([200, isAnswered ? '{"success":true,"data":{"domains":[]}}' : 'passed on'])
  })

  const withoutBody = { method: 'GET', body: undefined }
  it.each<[parser: string, parse: RequestHandler, request: object, status: number]>([
    ['express.json', express.json(), {}, 500],
    ['express.urlencoded, which leaves JSON alone', express.urlencoded({ extended: true }), {}, 200],
    ['express.raw', express.raw({ type: '*/*' }), {}, 200],
    [
      'what ends the stream, without a body',
      (request, _, next) => request.resume().once('end', next),
      withoutBody,
      200,
    ],
    ['what has read the first piece', (request, _, next) => request.once('data', () => next()), {}, 500],
  ])('mounted after %s answers, or says where to mount it', async (_, parse, request, status) => {
    const app = express().use(parse, standIn(await start()), tellError)
    const response = await answerTo(await serve(app), { ...ADD, ...request } as WireRequest)
    expect(response.status).toBe(status)
    if (status !== 500) return
    expect(response.text).toBe(
      'The stand-in cannot read the body of POST /api/v1/domains, because another middleware has read it. ' +
        'Mount standIn(service) before express.json() and other body parsers.',
    )
  })

  it.each([
    ['express.json', express.json()],
    ['express.raw', express.raw({ type: '*/*' })],
    ['express.text', express.text({ type: '*/*' })],
  ])('mounted after %s answers a request whose body is empty', async (_, parse) => {
    const port = await serve(express().use(parse, standIn(await start()), tellError))
    const chunks = { body: chunked(''), headers: [...JSON_HEADERS, ['Transfer-Encoding', 'chunked']] as Header[] }
    for (const request of [
      { ...ADD, body: '' },
      { ...ADD, ...chunks },
    ]) {
      expect(await answerTo(port, request)).toMatchObject({
        status: 400,
        text: '{"success":false,"error":{"code":"invalid_request_body","message":"Request body must not be empty."}}',
      })
    }
  })

  it.each(['reset', 'empty', 'truncate', 'drip'] as const)(
    'lets the fault `%s` act on the connection',
    async (connection) => {
      const [mounted, own] = await Promise.all([start(), start()])
      const port = await serve(express().use('/mock', standIn(mounted)))
      for (const { account } of [mounted, own])
        await account.faults.add({ connection, ...(connection === 'drip' && { delay_ms: 20 }) })
      for (const request of [LIST, ADD]) {
        const bytesTo = (at: string) =>
          requestBytes({ ...request, target: `${at}${request.target}`, headers: [...JSON_HEADERS, CLOSE] })
        const expected = await converse(portOf(own), bytesTo(''))
        expect(await converse(port, bytesTo('/mock'))).toEqual(expected)
        expect(expected.end).toBe(connection === 'reset' ? 'ECONNRESET' : 'FIN')
      }
    },
  )

  it('answers whatever host its application answers, and keeps fields that others have set', async () => {
    const app = express().use(
      (_request, response, next) => {
        response.set({ 'X-Frame-Options': 'DENY', 'X-Request-Id': 'of the application' })
        next()
      },
      standIn(await start()),
    )
    const head = `GET /api/v1/domains HTTP/1.1\r\nHost: shop.example\r\nAuthorization: Bearer ${API_KEY}\r\n`
    const { bytes } = await converse(await serve(app), Buffer.from(`${head}Connection: close\r\n\r\n`))
    const { status, headers } = responseIn(bytes)
    expect(status).toBe(200)
    expect(headers).toContainEqual(['X-Frame-Options', 'DENY'])
    expect(headers.filter(([name]) => /^x-request-id$/i.test(name))).toEqual([
      ['X-Request-Id', expect.stringMatching(/^[0-9a-f-]{36}$/)],
    ])
  })

  it('loses one response whose end a middleware does not survive, and no other', async () => {
    const app = express().use(
      (request, response, next) => {
        if (request.url.endsWith('bug')) {
          response.end = () => {
            throw new Error('a bug')
          }
        }
        next()
      },
      standIn(await start({ listen: false })),
    )
    const port = await serve(app)
    const read = (query: string) => requestBytes({ ...LIST, target: `/api/v1/domains?${query}` })
    expect(responseIn((await converse(port, Buffer.concat([read('x'), read('bug')]))).bytes).status).toBe(200)
    expect((await answerTo(port, LIST)).status).toBe(200)
  })

  it('passes on an error after the stand-in was stopped', async () => {
    const service = await start()
    const port = await serve(express().use('/mock', standIn(service), tellError))
    await service.stop()
    const { text } = await answerTo(port, { ...LIST, target: '/mock/api/v1/domains?a=b' })
    expect(text).toBe('The stand-in was stopped before GET /mock/api/v1/domains.')
  })

  it('refuses what is no stand-in of this process, and finds the one behind a copy', async () => {
    const service = await start({ signal: new AbortController().signal })
    expect(() => standIn({ ...service })).not.toThrow()
    const { baseUrl, stop } = service
    expect(() => standIn({ baseUrl, stop })).toThrow(
      new TypeError(
        'standIn(service) needs a stand-in that runs in this process. ' +
          'Start one with startUnderstudy() of dmarc-understudy, or let the client use its baseUrl.',
      ),
    )
  })
})

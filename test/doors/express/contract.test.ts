import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { brotliCompressSync, createGzip, gzipSync } from 'node:zlib'
import express, { type Express, type RequestHandler, type Response } from 'express'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { BODY_LIMIT } from '../../../src/exchanges/collected-body.ts'
import { type ContractOptions, type ContractViolation, contract, standIn } from '../../../src/express.ts'
import { startUnderstudy } from '../../../src/index.ts'
import { writeOverlay } from '../../support/overlay-file.ts'
import { API_KEY } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { AUTHORIZED, chunked, headerOf, JSON_BODY, requestBytes, type WireRequest } from '../../support/wire.ts'
import { answerTo, ask, serve, tellError } from './application.ts'

type Handler = (response: Response) => unknown

const BODY = '{"success":true,"data":{"domains":["a.example"]}}'
const FIELDS = {
  'X-Request-Id': '6b5bd7b8-6a8e-4c5c-9f4f-0c8d5a1f0b11',
  'X-RateLimit-Limit': '30',
  'X-RateLimit-Remaining': '29',
  'X-RateLimit-Reset': '1768471200',
}
const WRITTEN = { ...FIELDS, 'Content-Type': 'application/json' }
const LIST: WireRequest = { target: '/api/v1/domains', headers: [AUTHORIZED] }
const ADD: WireRequest = {
  ...LIST,
  method: 'POST',
  headers: [AUTHORIZED, JSON_BODY],
  body: '{"domains":["a.example"]}',
}
const inChunks = (request: WireRequest): WireRequest => ({
  ...request,
  body: chunked(`${request.body}`, 5),
  headers: [...(request.headers ?? []), ['Transfer-Encoding', 'chunked']],
})
const STRICT = { requests: 'refuse', responses: 'error' } as const
const EITHER: readonly { mode: string; options: ContractOptions }[] = [
  { mode: 'that tells', options: {} },
  { mode: 'that refuses', options: STRICT },
]

/** An application that answers each request in this way, behind the middlewares. */
function answering(handler: Handler, ...before: RequestHandler[]): Express {
  // With no field of Express, what is given to writeHead is in no list of Node.js.
  const app = express().disable('x-powered-by')
  for (const each of before) app.use(each)
  return app.use((_request, response) => {
    // The time would differ.
    response.sendDate = false
    return void handler(response)
  })
}

/** An application behind `contract`, and what it was told. */
async function checked(handler: Handler, options: ContractOptions = {}) {
  const violations: ContractViolation[] = []
  const check = contract({ onViolation: (violation) => violations.push(violation), ...options })
  return { port: await serve(answering(handler, check)), check, violations }
}

/** A middleware that codes each body, as those of packages do. */
const compressing: RequestHandler = (_request, response, next) => {
  const gzip = createGzip()
  const { write, end, writeHead } = response
  const begin = () => response.headersSent || response.writeHead(response.statusCode)
  response.writeHead = ((...values: Parameters<Response['writeHead']>) => {
    response.setHeader('Content-Encoding', 'gzip')
    response.removeHeader('Content-Length')
    return Reflect.apply(writeHead, response, values)
  }) as never
  gzip.on('data', (piece) => Reflect.apply(write, response, [piece]))
  gzip.on('end', () => Reflect.apply(end, response, []))
  response.write = ((piece: string | Buffer) => begin() && gzip.write(piece)) as never
  response.end = ((piece?: string | Buffer) => begin() && gzip.end(piece)) as never
  next()
}

const json = (response: Response) => response.set(FIELDS).type('application/json')

const FILE = join(mkdtempSync(join(tmpdir(), 'understudy-')), 'domains.json')
writeFileSync(FILE, BODY)
afterAll(() => rmSync(dirname(FILE), { recursive: true }))

const WAYS: readonly [way: string, handler: Handler, request?: WireRequest][] = [
  ['res.json', (response) => response.set(FIELDS).json(JSON.parse(BODY))],
  ['res.send of bytes', (response) => json(response).send(Buffer.from(BODY))],
  [
    'res.end with an encoding',
    (response) => json(response).end(Buffer.from(BODY).toString('base64'), 'base64', () => {}),
  ],
  [
    'pieces over time, in memory that is used again',
    async (response) => {
      const memory = Buffer.from(BODY.slice(0, 20))
      await new Promise<void>((resolve) => json(response).write(memory, () => resolve()))
      memory.fill('x')
      for (const piece of BODY.slice(20)) {
        response.write(piece)
        await new Promise(setImmediate)
      }
      response.end()
    },
  ],
  ['a stream', (response) => Readable.from([BODY.slice(0, 7), BODY.slice(7)]).pipe(json(response))],
  ['res.sendFile', (response) => response.set(FIELDS).sendFile(FILE, { lastModified: false, etag: false })],
  ['writeHead with a list', (response) => response.writeHead(200, Object.entries(WRITTEN).flat()).end(BODY)],
  ['flushHeaders', (response) => [json(response).flushHeaders(), response.end(BODY)]],
  ['a length of its own', (response) => json(response).set('Content-Length', `${BODY.length}`).end(BODY)],
  [
    'trailers',
    (response) => {
      json(response).set('Trailer', 'X-End').write(BODY)
      response.addTrailers({ 'X-End': 'yes' })
      response.end()
    },
  ],
  ['a body to HEAD that Node.js leaves out', (response) => json(response).end(BODY), { ...LIST, method: 'HEAD' }],
  ['gzip', (response) => json(response).set('Content-Encoding', 'gzip').end(gzipSync(BODY))],
  [
    'brotli in pieces',
    (response) => {
      const bytes = brotliCompressSync(BODY)
      json(response).set('Content-Encoding', 'br').write(bytes.subarray(0, 3))
      response.end(bytes.subarray(3))
    },
  ],
  [
    'an answer to a preflight request',
    (response) => response.set(FIELDS).set('Access-Control-Allow-Origin', 'https://a.example').status(204).end(),
    {
      ...{ method: 'OPTIONS', target: '/api/v1/domains' },
      headers: [
        ['Origin', 'https://a.example'],
        ['Access-Control-Request-Method', 'GET'],
      ],
    },
  ],
]

/** Without the sizes of chunks: newer versions of Node.js join pieces that are written at one time, as held ones are. */
function joinChunks(bytes: string): string {
  const begin = bytes.indexOf('\r\n\r\n') + 4
  const head = bytes.slice(0, begin)
  if (!/^transfer-encoding: chunked/im.test(head)) return bytes
  let body = ''
  for (let at = begin; ; ) {
    const start = bytes.indexOf('\r\n', at) + 2
    const size = Number.parseInt(bytes.slice(at, start), 16)
    if (size === 0) return head + body + bytes.slice(at)
    body += bytes.slice(start, start + size)
    at = start + size + 2
  }
}

const succeed: Handler = (response) => json(response).send(BODY)
/** The same, when it has read the body of the request. */
const afterReading =
  (handler: Handler): Handler =>
  (response) =>
    response.req.on('end', () => handler(response)).resume()
const refuse =
  (status: number, code: string, message = 'No.'): Handler =>
  (response) =>
    response.set(FIELDS).status(status).json({ success: false, error: { code, message } })
const list =
  (data: unknown, more = {}): Handler =>
  (response) =>
    response.set(FIELDS).json({ success: true, data, ...more })
const without =
  (name: string): Handler =>
  (response) => {
    json(response).removeHeader(name)
    response.send(BODY)
  }

describe.each(EITHER)('A contract $mode', ({ options }) => {
  const read = options === STRICT ? joinChunks : (bytes: string) => bytes

  it.each(WAYS)('changes no byte of a lawful response by %s', async (_, handler, request = LIST) => {
    const { port, check, violations } = await checked(handler, options)
    const expected = await ask(await serve(answering(handler)), request)
    expect(read(await ask(port, request))).toBe(read(expected))
    expect(violations).toEqual([])
    expect(check.report()).toEqual({
      ...{ exchanges: 1, open: 0, outside: 0, failedCalls: 0 },
      ...{ violations: { request: 0, response: 0 }, otherChoices: {}, notChecked: [] },
    })
  })

  it.each(['before', 'after'])('sees the content of a response that a middleware %s it codes', async (place) => {
    const violations: string[] = []
    const check = contract({ ...options, onViolation: ({ id }) => violations.push(id) }) as RequestHandler
    const handler: Handler = (response) => json(response).end(BODY)
    const port = await serve(answering(handler, ...(place === 'before' ? [compressing, check] : [check, compressing])))
    expect(read(await ask(port, LIST))).toBe(read(await ask(await serve(answering(handler, compressing)), LIST)))
    expect(violations).toEqual([])
  })

  it('lets a whole stand-in pass, and its requests and responses to a client', async () => {
    const start = { fixture: 'empty', seed: 7, now: '2026-01-15T09:30:00Z', frozen: true, apiKey: API_KEY } as const
    const [one, other] = await Promise.all([startUnderstudy(start), startUnderstudy(start)])
    onTestFinished(async () => void (await Promise.all([one.stop(), other.stop()])))
    const violations: ContractViolation[] = []
    const check = contract({ ...options, onViolation: (each) => violations.push(each) })
    const port = await serve(express().use(check, standIn(one)))
    const plain = await serve(express().use(standIn(other)))
    const group = { ...ADD, target: '/api/v1/domaingroups', body: '{"name":"a","domains":["a.example"]}' }
    for (const request of [ADD, LIST, { ...LIST, method: 'HEAD' }, group, inChunks(ADD)]) {
      expect(await ask(port, request)).toBe(await ask(plain, request))
    }
    expect(violations).toEqual([])
  })

  it.each<[parser: string, parse: RequestHandler]>([
    ['express.json', express.json()],
    ['express.raw', express.raw({ type: '*/*' })],
    ['express.text', express.text({ type: '*/*' })],
  ])('checks bodies before and after %s, which reads them as without it', async (_, parse) => {
    for (const place of ['before', 'after']) {
      const told: string[] = []
      const bodies: string[] = []
      const check = contract({ ...options, onViolation: ({ id }) => told.push(id) }) as RequestHandler
      const handler: Handler = (response) => {
        const { body } = response.req
        bodies.push(typeof body === 'string' || Buffer.isBuffer(body) ? `${body}` : JSON.stringify(body))
        refuse(400, 'invalid_field_type')(response)
      }
      const port = await serve(answering(handler, ...(place === 'before' ? [check, parse] : [parse, check])))
      const [right, wrong] = [ADD, { ...ADD, body: '{"domains":3}' }]
      for (const request of [right, inChunks(right), wrong, inChunks(wrong)]) await ask(port, request)
      const wrongs = told.filter((id) => id === 'contract-violation/addDomains/400/request/body/domains/type')
      expect([place, wrongs.length]).toEqual([place, 2])
      expect(bodies).toEqual([right, right, wrong, wrong].slice(0, options === STRICT ? 2 : 4).map(({ body }) => body))
    }
  })

  it('judges the status that is sent, and no later one, and lets a second header fail as Node.js does', async () => {
    let code: unknown
    const { port, violations } = await checked((response) => {
      for (const [name, value] of Object.entries(FIELDS)) response.setHeader(name, value)
      json(response).write(BODY.slice(0, 9))
      response.statusCode = 299
      try {
        response.writeHead(500)
      } catch (error) {
        code = (error as NodeJS.ErrnoException).code
      }
      response.end(BODY.slice(9))
    }, options)
    expect(await answerTo(port, LIST)).toMatchObject({ status: 200, text: BODY })
    expect([violations, code]).toEqual([[], 'ERR_HTTP_HEADERS_SENT'])
  })

  it('says that it has not checked a response that was not ended', async () => {
    const { port, check } = await checked(
      (response) => [json(response).write('{'), response.socket?.destroy()],
      options,
    )
    expect(await ask(port, LIST)).not.toContain('}')
    const reason = 'The connection was closed before the application had ended the response.'
    const notChecked = [{ part: 'response', reason, count: 1 }]
    await expect.poll(() => check.report()).toMatchObject({ exchanges: 1, open: 0, notChecked })
  })
})

describe('In a response, a contract finds', () => {
  it.each<[what: string, handler: Handler, ids: string[]]>([
    ['a missing field', list({}), ['200/response/data/domains/required']],
    ['a field that does not exist', list({ domains: [], total: 0 }), ['200/response/data/total/additionalProperties']],
    ['an undocumented status', (response) => json(response).status(418).send(BODY), ['418/response/status']],
    ['no X-Request-Id', without('X-Request-Id'), ['200/response/headers/x-request-id/required']],
    [
      'no header field at all',
      (response) => response.end(BODY),
      [
        ...['limit', 'remaining', 'reset'].map((name) => `200/response/headers/x-ratelimit-${name}/required`),
        ...['200/response/headers/content-type', '200/response/headers/x-request-id/required'],
      ],
    ],
    ['no JSON', (response) => json(response).send('[object Object]'), ['200/response/body']],
    ['an unknown code', refuse(400, 'teapot'), ['400/response/error/code/enum']],
    ['a code of another operation', refuse(409, 'duplicate_name'), ['409/response/code/duplicate_name']],
    [
      'gzip of what is no envelope',
      (response) => json(response).set('Content-Encoding', 'gzip').end(gzipSync('{"domains":[]}')),
      ['success/required', 'data/required', 'domains/additionalProperties'].map((id) => `200/response/${id}`),
    ],
  ])('%s, tells it, or sends an error in its place', async (_, handler, ids) => {
    const expected = ids.map((id) => `contract-violation/listDomains/${id}`)
    const told = await checked(handler)
    expect(await ask(told.port, LIST)).toBe(await ask(await serve(answering(handler)), LIST))
    expect(told.violations.map(({ id }) => id)).toEqual(expected)
    for (const { part, line, pointer, message, operation } of told.violations) {
      expect({ part, operation }).toEqual({ part: 'response', operation: 'listDomains' })
      expect(line).toBeGreaterThan(1)
      expect([pointer, message]).toEqual([expect.stringMatching(/^\//), expect.stringMatching(/^The response .*\.$/s)])
    }
    const replaced = await checked(handler, { responses: 'error' })
    const answer = await answerTo(replaced.port, LIST)
    expect(replaced.violations.map(({ id }) => id)).toEqual(expected)
    const message = 'The response of the service broke its contract, so it was not sent.'
    expect([answer.status, JSON.parse(answer.text).error]).toEqual([500, { code: 'internal_error', message }])
    expect(headerOf(answer, 'Content-Type')).toMatch(/^application\/json/)
    expect(headerOf(answer, 'Content-Encoding')).toBeUndefined()
    expect(headerOf(answer, 'X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  it.each<[what: string, handler: Handler, envelope?: string]>([
    [
      'an envelope',
      refuse(500, 'internal_error'),
      '{"success":false,"error":{"code":"internal_error","message":"No."}}',
    ],
    ['a page', (response) => response.status(503).send('<html>Busy</html>')],
    [
      'an error of the application',
      () => {
        throw new Error('Broken.')
      },
    ],
  ])('a failure, be it %s, of which it leaves an envelope as it is', async (_, handler, envelope) => {
    const { port, violations } = await checked(handler, { responses: 'error' })
    const answer = await answerTo(port, LIST)
    const message = expect.stringMatching(/^The service failed with 50[03]\./)
    expect(violations).toMatchObject([{ part: 'response', message }])
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([500, 'internal_error'])
    if (envelope !== undefined) expect(answer.text).toBe(envelope)
  })
})

describe('In a request, a contract finds', () => {
  it.each<[what: string, request: WireRequest, status: number, code: string, accepts?: Handler]>([
    ['an unknown path', { ...LIST, target: '/api/v1/nothing' }, 404, 'not_found'],
    ['no key', { ...LIST, headers: [] }, 401, 'unauthorized'],
    ['no key, which is not noticed', { ...LIST, headers: [] }, 401, 'unauthorized', succeed],
    ['a field of another type', { ...ADD, body: '{"domains":3}' }, 400, 'invalid_field_type'],
    [
      'a field of another type, which is not noticed',
      { ...ADD, body: '{"domains":3}' },
      ...([400, 'invalid_field_type', list({ message: 'Added.', domains: ['a.example'], count: 1 })] as const),
    ],
    ['a body that is too long', { ...ADD, body: ' '.repeat(1_048_577) }, 413, 'request_too_large'],
  ])('%s, tells it, or refuses as the stand-in', async (_, request, status, code, accepts) => {
    const handler = accepts ?? refuse(status, code)
    const told = await checked(afterReading(handler))
    await ask(told.port, request)
    expect(told.violations.map(({ part }) => part)).toEqual(
      accepts === undefined ? ['request'] : ['request', 'response'],
    )
    expect(told.violations[0]?.message).toMatch(/^The request .*\.$/s)
    let isAsked = false
    const asking: Handler = (response) => {
      isAsked = true
      handler(response)
    }
    const refusing = await checked(asking, { requests: 'refuse' })
    const answer = await answerTo(refusing.port, request)
    expect([answer.status, JSON.parse(answer.text).error.code, isAsked]).toEqual([status, code, false])
    expect(refusing.violations.map(({ part }) => part)).toEqual(['request'])
    await using service = await startUnderstudy({ fixture: 'empty', apiKey: API_KEY })
    const real = await answerTo(Number(new URL(service.baseUrl).port), request)
    const fieldsOf = ({ headers }: typeof real) =>
      headers.filter(([name]) => /^(content-.*|allow|www-authenticate)$/i.test(name)).map(String)
    expect([answer.text, fieldsOf(answer).toSorted()]).toEqual([real.text, fieldsOf(real).toSorted()])
  })
})

it('A contract judges by the overlays, counts other choices, and judges nothing outside of the base path', async () => {
  const update = { target: '$.components.x-errors.not_found', update: { status: 410 } }
  const overlays = [writeOverlay(temporaryFolder(), [update])]
  const { port, check, violations } = await checked(refuse(410, 'not_found'), { overlays })
  await ask(port, { ...LIST, method: 'DELETE', target: '/api/v1/domaingroups?id=a1b2c3d4e5' })
  await ask(port, { target: '/elsewhere', headers: [] })
  await ask(port, { target: '/api/v10/domains', headers: [] })
  expect(violations.filter(({ part }) => part === 'response')).toEqual([])
  expect(check.report()).toMatchObject({ exchanges: 1, outside: 2 })
  const other = await checked((response) => json(response).status(203).send(BODY), STRICT)
  expect((await answerTo(other.port, LIST)).status).toBe(203)
  expect(other.violations).toEqual([])
  expect(other.check.report().otherChoices).toEqual({ 'another-choice/listDomains/203/response/status': 1 })
})

it('A contract that cannot be compiled passes an error to the application, and tells it', async () => {
  const check = contract({ overlays: ['/nowhere.yaml'] })
  const message = '/nowhere.yaml: The overlay cannot be read (ENOENT).'
  await expect(check.ready()).rejects.toThrow(message)
  expect((await answerTo(await serve(express().use(check).use(tellError)), LIST)).text).toBe(message)
})

it('A body is given to the application as if nobody had read it, also as text', async () => {
  let didRead: boolean | undefined
  let text = ''
  const asText: RequestHandler = (request, _response, next) => void next(void request.setEncoding('utf8'))
  const handler: Handler = (response) => {
    didRead = response.req.readableDidRead
    response.req.on('data', (piece: string) => {
      text += piece
    })
    response.req.once('end', () => succeed(response))
  }
  const check = contract(STRICT)
  const port = await serve(answering(handler, asText, check))
  await ask(port, { ...ADD, body: '{"ä":1}' })
  expect(check.report()).toMatchObject({ open: 0, violations: { request: 2 } })
  await ask(port, ADD)
  expect([text, didRead]).toEqual([ADD.body, false])
})

it.each(['throws', 'rejects'])('A contract goes on if onViolation %s, and counts it', async (way) => {
  const error = new Error('Full.')
  const warned = once(process, 'warning')
  const onViolation = () => {
    if (way === 'throws') throw error
    return Promise.reject(error)
  }
  const { port, check } = await checked(list({}), { onViolation })
  for (let count = 0; count < 2; count++) expect((await answerTo(port, LIST)).status).toBe(200)
  expect(check.report()).toMatchObject({ violations: { response: 2 }, failedCalls: 2 })
  expect(String((await warned)[0])).toContain('onViolation of contract() failed: Error: Full.')
})

describe('A contract says that it has not checked', () => {
  it.each<[why: string, options: ContractOptions, reason: RegExp, handler: Handler, request?: WireRequest]>([
    ['a long response', {}, /longer than 16 MiB/, (response) => json(response).end(Buffer.alloc(BODY_LIMIT + 1, ' '))],
    [
      'a response that is too long to be held',
      STRICT,
      /longer than 16 MiB/,
      (response) => {
        json(response)
        for (let piece = 0; piece < 17; piece++) response.write(Buffer.alloc(1 << 20, ' '))
        response.end('{}')
      },
    ],
    ['an unknown coding', {}, /coding zip/, (response) => json(response).set('Content-Encoding', 'zip').end('abc')],
    [
      'a damaged body',
      {},
      /coding gzip, which cannot be undone/,
      (response) => json(response).set('Content-Encoding', 'gzip').end('abc'),
    ],
    ['a body that nobody reads', {}, /before it had read the body/, refuse(400, 'invalid_domain'), ADD],
  ])('%s', async (_, options, reason, handler, request = LIST) => {
    const { port, check, violations } = await checked(handler, options)
    const [answer, plain] = [await answerTo(port, request), await answerTo(await serve(answering(handler)), request)]
    expect(answer.text === plain.text).toBe(true)
    expect(violations).toEqual([])
    expect(check.report()).toMatchObject({ open: 0, notChecked: [{ reason: expect.stringMatching(reason), count: 1 }] })
  })

  it('a request whose client leaves before it is complete', async () => {
    const { port, check } = await checked(succeed, STRICT)
    await check.ready()
    const client = connect(port, '127.0.0.1')
    client.write(requestBytes(ADD).subarray(0, -3))
    await expect.poll(() => check.report().open).toBe(1)
    client.destroy()
    await expect.poll(() => check.report()).toMatchObject({ open: 0, notChecked: [{ part: 'request', count: 1 }] })
  })
})

it('A contract hides the key of a request in what it tells, whatever its form is', async () => {
  const key = 'a-key-of-another-form-0123456789'
  const { port, violations } = await checked((response) => list({ domains: key })(response))
  await ask(port, { ...LIST, target: `/api/v1/domains?token=${key}`, headers: [['Authorization', `Bearer ${key}`]] })
  expect(violations.length).toBeGreaterThan(0)
  expect(JSON.stringify(violations)).not.toContain(key)
})

it.each<[options: object, message: string]>([
  [{ onviolation() {} }, 'contract() has no option onviolation; it has onViolation, overlays, requests, responses.'],
  [{ requests: 'ignore' }, 'The option requests of contract() is tell or refuse, not ignore.'],
  [{ onViolation: true }, 'The option onViolation of contract() is a function.'],
  [{ overlays: 'a.yaml' }, 'The option overlays of contract() is a list of files.'],
])('A contract refuses the options %j', (options, message) => {
  expect(() => contract(options as ContractOptions)).toThrow(new TypeError(message))
})

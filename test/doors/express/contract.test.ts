import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { brotliCompressSync, createGzip, gzipSync } from 'node:zlib'
import type { Express, RequestHandler, Response } from 'express'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { BODY_LIMIT } from '../../../src/exchanges/collected-body.ts'
import { type ContractOptions, type ContractViolation, contract, standIn } from '../../../src/express.ts'
import { startUnderstudy } from '../../../src/index.ts'
import { writeOverlay } from '../../support/overlay-file.ts'
import { API_KEY } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { AUTHORIZED, chunked, headerOf, JSON_BODY, requestBytes, type WireRequest } from '../../support/wire.ts'
import { ask, EXPRESSES, responseIn, serve } from './application.ts'

type Make = (typeof EXPRESSES)[number][1]
type Handler = (response: Response) => unknown

const BODY = '{"success":true,"data":{"domains":["a.example"]}}'
const FIELDS = {
  'X-Request-Id': '6b5bd7b8-6a8e-4c5c-9f4f-0c8d5a1f0b11',
  'X-RateLimit-Limit': '30',
  'X-RateLimit-Remaining': '29',
  'X-RateLimit-Reset': '1768471200',
}
const LIST: WireRequest = { target: '/api/v1/domains', headers: [AUTHORIZED] }
const ADD: WireRequest = {
  ...LIST,
  method: 'POST',
  headers: [AUTHORIZED, JSON_BODY],
  body: '{"domains":["a.example"]}',
}
const STRICT = { requests: 'refuse', responses: 'error' } as const

/** An application that answers each request in this way, behind the middlewares. */
function answering(make: Make, handler: Handler, before: readonly RequestHandler[]): Express {
  // With no field of Express, what is given to writeHead is in no list of Node.js.
  const app = make().disable('x-powered-by')
  for (const each of before) app.use(each)
  app.use((_request, response) => {
    // The time would differ.
    response.sendDate = false
    return handler(response)
  })
  return app
}

/** An application behind `contract`, and what it was told. */
async function checked(make: Make, handler: Handler, options: ContractOptions = {}) {
  const violations: ContractViolation[] = []
  const check = contract({ onViolation: (violation) => violations.push(violation), ...options })
  const port = await serve(answering(make, handler, [check]))
  return { port, check, violations }
}

/** A middleware that codes each body, as those of packages do. */
const compressing: RequestHandler = (_request, response, next) => {
  const gzip = createGzip()
  const { write, end, writeHead } = response
  response.writeHead = ((...values: Parameters<Response['writeHead']>) => {
    response.setHeader('Content-Encoding', 'gzip')
    response.removeHeader('Content-Length')
    return Reflect.apply(writeHead, response, values)
  }) as never
  gzip.on('data', (piece) => Reflect.apply(write, response, [piece]))
  gzip.on('end', () => Reflect.apply(end, response, []))
  response.write = ((piece: string | Buffer) => {
    if (!response.headersSent) response.writeHead(response.statusCode)
    return gzip.write(piece)
  }) as never
  response.end = ((piece?: string | Buffer) => {
    if (!response.headersSent) response.writeHead(response.statusCode)
    if (piece !== undefined) gzip.write(piece)
    gzip.end()
    return response
  }) as never
  next()
}

const json = (response: Response) => response.set(FIELDS).type('application/json')
const folder = mkdtempSync(join(tmpdir(), 'understudy-'))
const file = join(folder, 'domains.json')
writeFileSync(file, BODY)
afterAll(() => rmSync(folder, { recursive: true }))

const WAYS: readonly [way: string, handler: Handler, request?: WireRequest][] = [
  ['res.json', (response) => response.set(FIELDS).json(JSON.parse(BODY))],
  ['res.send', (response) => json(response).send(BODY)],
  ['res.send of bytes', (response) => json(response).send(Buffer.from(BODY))],
  ['res.end', (response) => json(response).end(BODY)],
  [
    'res.end with an encoding and a callback',
    (response) => json(response).end(Buffer.from(BODY).toString('base64'), 'base64', () => {}),
  ],
  ['two pieces', (response) => json(response).write(BODY.slice(0, 9)) && response.end(BODY.slice(9))],
  [
    'pieces over time',
    async (response) => {
      json(response)
      for (const piece of BODY) {
        response.write(piece)
        await new Promise(setImmediate)
      }
      response.end()
    },
  ],
  [
    'memory that is used again',
    async (response) => {
      const memory = Buffer.from(BODY.slice(0, 20))
      await new Promise<void>((resolve) => json(response).write(memory, () => resolve()))
      memory.fill('x')
      response.end(BODY.slice(20))
    },
  ],
  ['a stream', (response) => Readable.from([BODY.slice(0, 7), BODY.slice(7)]).pipe(json(response))],
  ['res.sendFile', (response) => response.set(FIELDS).sendFile(file, { lastModified: false, etag: false })],
  [
    'writeHead with an object',
    (response) => response.writeHead(200, { ...FIELDS, 'Content-Type': 'application/json' }).end(BODY),
  ],
  [
    'writeHead with a phrase',
    (response) => response.writeHead(200, 'Fine', { ...FIELDS, 'Content-Type': 'application/json' }).end(BODY),
  ],
  [
    'writeHead with a list',
    (response) =>
      response.writeHead(200, Object.entries({ ...FIELDS, 'Content-Type': 'application/json' }).flat()).end(BODY),
  ],
  [
    'flushHeaders',
    (response) => {
      json(response).flushHeaders()
      response.end(BODY)
    },
  ],
  ['a length of its own', (response) => json(response).set('Content-Length', String(BODY.length)).end(BODY)],
  [
    'trailers',
    (response) => {
      json(response).set('Trailer', 'X-End').write(BODY)
      response.addTrailers({ 'X-End': 'yes' })
      response.end()
    },
  ],
  ['an answer to HEAD', (response) => response.set(FIELDS).json(JSON.parse(BODY)), { ...LIST, method: 'HEAD' }],
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
    'an informational response first',
    (response) => {
      response.writeProcessing()
      json(response).end(BODY)
    },
  ],
  [
    'an answer to a preflight request',
    (response) =>
      response
        .set({ ...FIELDS, 'Access-Control-Allow-Origin': 'https://a.example', 'Access-Control-Allow-Methods': 'GET' })
        .status(204)
        .end(),
    {
      method: 'OPTIONS',
      target: '/api/v1/domains',
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

describe.each(EXPRESSES)('contract in %s', (_, make) => {
  describe.each<ContractOptions>([{}, STRICT])('with %o', (options) => {
    it.each(WAYS)('changes no byte of a lawful response by %s', async (_, handler, request = LIST) => {
      const { port, check, violations } = await checked(make, handler, options)
      const expected = await ask(await serve(answering(make, handler, [])), request)
      const read = options === STRICT ? joinChunks : (bytes: string) => bytes
      expect(read(await ask(port, request))).toBe(read(expected))
      expect(violations).toEqual([])
      expect(check.report()).toEqual({
        ...{ exchanges: 1, open: 0, outside: 0, failedCalls: 0 },
        ...{ violations: { request: 0, response: 0 }, otherChoices: {}, notChecked: [] },
      })
    })

    it.each(['before', 'after'])('sees the content of a response that a middleware %s it codes', async (place) => {
      const violations: string[] = []
      const check = contract({ ...options, onViolation: ({ id }) => violations.push(id) })
      const handler: Handler = (response) => json(response).end(BODY)
      const order = place === 'before' ? [compressing, check as RequestHandler] : [check as RequestHandler, compressing]
      const port = await serve(answering(make, handler, order))
      const expected = await ask(await serve(answering(make, handler, [compressing])), LIST)
      const read = options === STRICT ? joinChunks : (bytes: string) => bytes
      expect(read(await ask(port, LIST))).toBe(read(expected))
      expect(violations).toEqual([])
      expect(check.report().notChecked).toEqual([])
    })

    it('lets a whole stand-in pass, and its requests and responses to a client', async () => {
      const start = { fixture: 'empty', seed: 7, now: '2026-01-15T09:30:00Z', frozen: true, apiKey: API_KEY } as const
      const [one, other] = await Promise.all([startUnderstudy(start), startUnderstudy(start)])
      onTestFinished(async () => void (await Promise.all([one.stop(), other.stop()])))
      const violations: ContractViolation[] = []
      const strict = make().use(contract({ ...options, onViolation: (each) => violations.push(each) }), standIn(one))
      const [port, plain] = [await serve(strict), await serve(make().use(standIn(other)))]
      const requests = [
        ADD,
        LIST,
        { ...LIST, method: 'HEAD' },
        { ...LIST, target: '/api/v1/dmarc?domain=a.example' },
        { ...ADD, target: '/api/v1/domaingroups', body: '{"name":"a","domains":["a.example"]}' },
        {
          ...ADD,
          body: chunked('{"domains":["b.example"]}', 5),
          headers: [...(ADD.headers ?? []), ['Transfer-Encoding', 'chunked']],
        },
      ]
      for (const request of requests as WireRequest[]) expect(await ask(port, request)).toBe(await ask(plain, request))
      expect(violations).toEqual([])
    })

    it.each<[parser: string, parse: RequestHandler]>([
      ['express.json', make.json()],
      ['express.raw', make.raw({ type: '*/*' })],
      ['express.text', make.text({ type: '*/*' })],
    ])('checks bodies before and after %s, which reads them as without it', async (_, parse) => {
      const answers: unknown[] = []
      for (const place of ['before', 'after']) {
        const told: string[] = []
        const check = contract({ ...options, onViolation: ({ id }) => told.push(id) }) as RequestHandler
        const bodies: string[] = []
        const app = make()
        for (const each of place === 'before' ? [check, parse] : [parse, check]) app.use(each)
        app.use((request, response) => {
          bodies.push(
            Buffer.isBuffer(request.body)
              ? request.body.toString()
              : typeof request.body === 'string'
                ? request.body
                : JSON.stringify(request.body),
          )
          response
            .set(FIELDS)
            .status(400)
            .json({ success: false, error: { code: 'invalid_field_type', message: 'No.' } })
        })
        const port = await serve(app)
        const statuses = []
        for (const body of ['{"domains":["a.example"]}', '{"domains":3}', '{}']) {
          for (const framed of [
            { ...ADD, body },
            { ...ADD, body: chunked(body, 2), headers: [...(ADD.headers ?? []), ['Transfer-Encoding', 'chunked']] },
          ]) {
            statuses.push(responseIn(await ask(port, framed as WireRequest)).status)
          }
        }
        answers.push([...statuses, ...bodies, ...told])
      }
      const [before, after] = answers
      // A parser of JSON makes the same of an empty body and of {}.
      if (parse !== make.json() && _ !== 'express.json') expect(after).toEqual(before)
      expect(before).toContain('contract-violation/addDomains/400/request/body/domains/type')
      expect(after).toContain('contract-violation/addDomains/400/request/body/domains/type')
    })
  })

  const succeed: Handler = (response) => json(response).send(BODY)
  const refuse =
    (status: number, error: object): Handler =>
    (response) =>
      response.set(FIELDS).status(status).json({ success: false, error })
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

  it.each<[what: string, handler: Handler, ids: string[], request?: WireRequest]>([
    ['a missing field', list({}), ['200/response/data/domains/required']],
    ['a field of another type', list({ domains: 'a.example' }), ['200/response/data/domains/type']],
    ['a field that does not exist', list({ domains: [], total: 0 }), ['200/response/data/total/additionalProperties']],
    ['null', list({ domains: null }), ['200/response/data/domains/type']],
    ['a field beside the envelope', list({ domains: [] }, { page: 1 }), ['200/response/page/additionalProperties']],
    ['an undocumented status', (response) => json(response).status(418).send(BODY), ['418/response/status']],
    [
      'another type',
      (response) => response.set(FIELDS).type('text/plain').send(BODY),
      ['200/response/headers/content-type'],
    ],
    ['no X-Request-Id', without('X-Request-Id'), ['200/response/headers/x-request-id/required']],
    ['no limit', without('X-RateLimit-Limit'), ['200/response/headers/x-ratelimit-limit/required']],
    [
      'more left than the limit',
      (response) => json(response).set('X-RateLimit-Remaining', '31').send(BODY),
      ['200/response/headers/x-ratelimit-remaining/maximum'],
    ],
    [
      'no header field at all',
      (response) => response.end(BODY),
      [
        '200/response/headers/x-ratelimit-limit/required',
        '200/response/headers/x-ratelimit-remaining/required',
        '200/response/headers/x-ratelimit-reset/required',
        '200/response/headers/content-type',
        '200/response/headers/x-request-id/required',
      ],
    ],
    ['no JSON', (response) => json(response).send('[object Object]'), ['200/response/body']],
    ['an empty body', (response) => json(response).end(), ['200/response/body']],
    ['an unknown code', refuse(400, { code: 'teapot', message: 'No.' }), ['400/response/error/code/enum']],
    [
      'a code without a message',
      refuse(401, { code: 'unauthorized', message: '' }),
      ['401/response/error/message/minLength'],
    ],
    [
      'a code of another operation',
      refuse(409, { code: 'duplicate_name', message: 'No.' }),
      ['409/response/code/duplicate_name'],
    ],
    [
      'gzip of what is no envelope',
      (response) => json(response).set('Content-Encoding', 'gzip').end(gzipSync('{"domains":[]}')),
      ['200/response/success/required', '200/response/data/required', '200/response/domains/additionalProperties'],
    ],
  ])('finds %s, tells it, or sends an error in its place', async (_, handler, ids, request = LIST) => {
    const expected = ids.map((id) => `contract-violation/listDomains/${id}`)
    const told = await checked(make, handler)
    const plain = await ask(await serve(answering(make, handler, [])), request)
    expect(await ask(told.port, request)).toBe(plain)
    expect(told.violations.map(({ id }) => id)).toEqual(expected)
    for (const { part, line, pointer, message, operation } of told.violations) {
      expect({ part, operation }).toEqual({ part: 'response', operation: 'listDomains' })
      expect(line).toBeGreaterThan(1)
      expect(pointer).toMatch(/^\//)
      expect(message).toMatch(/^The response .*\.$/s)
    }
    const replaced = await checked(make, handler, { responses: 'error' })
    const answer = responseIn(await ask(replaced.port, request))
    expect(replaced.violations.map(({ id }) => id)).toEqual(expected)
    expect(answer.status).toBe(500)
    expect(JSON.parse(answer.text)).toEqual({
      success: false,
      error: { code: 'internal_error', message: 'The response of the service broke its contract, so it was not sent.' },
    })
    expect(headerOf(answer, 'Content-Type')).toMatch(/^application\/json/)
    expect(headerOf(answer, 'Content-Encoding')).toBeUndefined()
    expect(headerOf(answer, 'X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  it.each<
    [what: string, request: WireRequest, handler: Handler, parts: string[], refusal: [status: number, code: string]]
  >([
    [
      'an unknown path',
      { ...LIST, target: '/api/v1/nothing' },
      refuse(404, { code: 'not_found', message: 'No.' }),
      ['request'],
      [404, 'not_found'],
    ],
    [
      'an unknown method',
      { ...LIST, method: 'PATCH' },
      refuse(405, { code: 'not_found', message: 'No.' }),
      ['request'],
      [405, 'not_found'],
    ],
    [
      'no key',
      { ...LIST, headers: [] },
      refuse(401, { code: 'unauthorized', message: 'No.' }),
      ['request'],
      [401, 'unauthorized'],
    ],
    ['no key, which is not noticed', { ...LIST, headers: [] }, succeed, ['request', 'response'], [401, 'unauthorized']],
    [
      'another scheme',
      { ...LIST, headers: [['Authorization', 'Basic YTpi']] },
      succeed,
      ['request', 'response'],
      [401, 'unauthorized'],
    ],
    [
      'a field of another type',
      { ...ADD, body: '{"domains":3}' },
      refuse(400, { code: 'invalid_field_type', message: 'No.' }),
      ['request'],
      [400, 'invalid_field_type'],
    ],
    [
      'a field of another type, which is not noticed',
      { ...ADD, body: '{"domains":3}' },
      list({ message: 'Added.', domains: ['a.example'], count: 1 }),
      ['request', 'response'],
      [400, 'invalid_field_type'],
    ],
    [
      'an unknown field',
      { ...ADD, body: '{"domains":["a.example"],"x":1}' },
      refuse(400, { code: 'unknown_field', message: 'No.' }),
      ['request'],
      [400, 'unknown_field'],
    ],
    [
      'no JSON',
      { ...ADD, body: '{"domains"' },
      refuse(400, { code: 'invalid_json', message: 'No.' }),
      ['request'],
      [400, 'invalid_json'],
    ],
    [
      'a body that is too long',
      { ...ADD, body: ' '.repeat(1_048_577) },
      refuse(413, { code: 'request_too_large', message: 'No.' }),
      ['request'],
      [413, 'request_too_large'],
    ],
    [
      'no domain',
      { ...ADD, body: '{"domains":["-"]}' },
      refuse(400, { code: 'invalid_domain', message: 'No.' }),
      ['request'],
      [400, 'invalid_domain'],
    ],
    [
      'a missing parameter',
      { ...LIST, method: 'DELETE', target: '/api/v1/domaingroups' },
      refuse(400, { code: 'missing_id', message: 'No.' }),
      ['request'],
      [400, 'missing_id'],
    ],
  ])(
    'finds %s in a request, tells it, or refuses as the stand-in',
    async (_, request, handler, parts, [status, code]) => {
      const told = await checked(make, (response) => response.req.on('end', () => handler(response)).resume())
      await ask(told.port, request)
      expect(told.violations.map(({ part }) => part)).toEqual(parts)
      expect(told.violations[0]?.message).toMatch(/^The request .*\.$/s)
      let isAsked = false
      const refusing = await checked(
        make,
        (response) => {
          isAsked = true
          handler(response)
        },
        { requests: 'refuse' },
      )
      const answer = responseIn(await ask(refusing.port, request))
      expect([answer.status, JSON.parse(answer.text).error.code, isAsked]).toEqual([status, code, false])
      expect(refusing.violations.map(({ part }) => part)).toEqual(['request'])
      const service = await startUnderstudy({ fixture: 'empty', apiKey: API_KEY })
      onTestFinished(() => service.stop())
      const real = responseIn(await ask(Number(new URL(service.baseUrl).port), request))
      const shown = ({ status, text, headers }: typeof real) => [
        ...[status, text],
        headers
          .filter(([name]) => /^(content-.*|allow|www-authenticate)$/i.test(name))
          .map((field) => field.join(': '))
          .toSorted(),
      ]
      expect(shown(answer)).toEqual(shown(real))
    },
  )

  it('tells of a failure of the application, whatever it looks like, and leaves an envelope of it as it is', async () => {
    const failure = { code: 'internal_error', message: 'Broken.' }
    for (const [handler, text] of [
      [refuse(500, failure), JSON.stringify({ success: false, error: failure })],
      [(response: Response) => response.status(503).send('<html>Busy</html>'), undefined],
      [
        () => {
          throw new Error('Broken.')
        },
        undefined,
      ],
    ] as const) {
      const { port, violations } = await checked(make, handler, { responses: 'error' })
      const answer = responseIn(await ask(port, LIST))
      expect(violations.map(({ part, message }) => [part, message.split('.')[0]])).toEqual([
        ['response', expect.stringMatching(/^The service failed with 50[03]$/)],
      ])
      expect(answer.status).toBe(500)
      if (text !== undefined) expect(answer.text).toBe(text)
      expect(JSON.parse(answer.text).error.code).toBe('internal_error')
    }
  })

  it('judges by the overlays, and not what is outside of the base path', async () => {
    const overlay = writeOverlay(temporaryFolder(), [
      { target: '$.components.x-errors.not_found', update: { status: 410 } },
    ])
    const { port, check, violations } = await checked(make, refuse(410, { code: 'not_found', message: 'No.' }), {
      overlays: [overlay],
    })
    await ask(port, { ...LIST, method: 'DELETE', target: '/api/v1/domaingroups?id=a1b2c3d4e5' })
    expect(violations.filter(({ part }) => part === 'response')).toEqual([])
    await ask(port, { target: '/elsewhere', headers: [] })
    await ask(port, { target: '/api/v10/domains', headers: [] })
    expect(check.report()).toMatchObject({ exchanges: 1, outside: 2 })
  })

  it('passes an error to the application for a contract that cannot be compiled, and tells it', async () => {
    const check = contract({ overlays: ['/nowhere.yaml'] })
    await expect(check.ready()).rejects.toThrow('/nowhere.yaml: The overlay cannot be read (ENOENT).')
    const app = make().use(check)
    app.use(
      ((error, _request, response, _next) =>
        void response.status(500).send(error.message)) as import('express').ErrorRequestHandler,
    )
    expect(responseIn(await ask(await serve(app), LIST)).text).toBe(
      '/nowhere.yaml: The overlay cannot be read (ENOENT).',
    )
  })

  it('counts what the specification leaves open, which is no violation', async () => {
    const { port, check, violations } = await checked(make, (response) => json(response).status(203).send(BODY), STRICT)
    expect(responseIn(await ask(port, LIST)).status).toBe(203)
    expect(violations).toEqual([])
    expect(check.report().otherChoices).toEqual({ 'another-choice/listDomains/203/response/status': 1 })
  })

  it('gives a body to the application as if nobody had read it', async () => {
    let didRead: boolean | undefined
    const { port } = await checked(
      make,
      (response) => {
        didRead = response.req.readableDidRead
        response.req.once('end', () => succeed(response)).resume()
      },
      STRICT,
    )
    expect(responseIn(await ask(port, ADD)).status).toBe(500)
    expect(didRead).toBe(false)
  })

  it('leaves a body to an application that reads it as text', async () => {
    let text = ''
    const check = contract(STRICT)
    const asText: RequestHandler = (request, _response, next) => void next(void request.setEncoding('utf8'))
    const handler: Handler = (response) => {
      response.req.on('data', (piece: string) => {
        text += piece
      })
      response.req.once('end', () => succeed(response))
    }
    const port = await serve(answering(make, handler, [asText, check]))
    const body = '{"ä":1}'
    await ask(port, { ...ADD, body })
    expect(check.report()).toMatchObject({ open: 0, violations: { request: 2 } })
    await ask(port, ADD)
    expect(text).toBe(`${ADD.body}`)
  })

  it.each<ContractOptions>([{}, STRICT])('judges the status that is sent, and no later one: %o', async (options) => {
    const handler: Handler = (response) => {
      for (const [name, value] of Object.entries(FIELDS)) response.setHeader(name, value)
      json(response).write(BODY.slice(0, 9))
      response.statusCode = 299
      response.end(BODY.slice(9))
    }
    const { port, violations } = await checked(make, handler, options)
    expect(responseIn(await ask(port, LIST))).toMatchObject({ status: 200, text: BODY })
    expect(violations).toEqual([])
  })

  it.each<ContractOptions>([{}, STRICT])('lets a second header fail as Node.js does: %o', async (options) => {
    let code: unknown
    const { port } = await checked(
      make,
      (response) => {
        response.writeHead(200)
        try {
          response.writeHead(500)
        } catch (error) {
          code = (error as NodeJS.ErrnoException).code
        }
        response.end('{}')
      },
      options,
    )
    await ask(port, LIST)
    expect(code).toBe('ERR_HTTP_HEADERS_SENT')
  })

  it.each(['throws', 'rejects'])('goes on if onViolation %s, and counts it', async (way) => {
    const error = new Error('Full.')
    const warned = once(process, 'warning')
    const onViolation = () => {
      if (way === 'throws') throw error
      return Promise.reject(error)
    }
    const { port, check } = await checked(make, list({}), { onViolation })
    expect(responseIn(await ask(port, LIST)).status).toBe(200)
    expect(responseIn(await ask(port, LIST)).status).toBe(200)
    expect(check.report()).toMatchObject({ violations: { response: 2 }, failedCalls: 2 })
    expect(String((await warned)[0])).toContain('onViolation of contract() failed: Error: Full.')
  })

  it.each<
    [why: string, options: ContractOptions, part: string, reason: RegExp, handler: Handler, request?: WireRequest]
  >([
    [
      'a response that is too long',
      {},
      'response',
      /longer than 16 MiB/,
      (response) => json(response).end(Buffer.alloc(BODY_LIMIT + 1, ' ')),
    ],
    [
      'a response that is too long to be held',
      STRICT,
      'response',
      /longer than 16 MiB/,
      (response) => {
        json(response)
        for (let piece = 0; piece < 17; piece++) response.write(Buffer.alloc(1 << 20, ' '))
        response.end('{}')
      },
    ],
    [
      'an unknown coding',
      {},
      'response',
      /coding zip/,
      (response) => json(response).set('Content-Encoding', 'zip').end('abc'),
    ],
    [
      'a damaged body',
      {},
      'response',
      /coding gzip, which cannot be undone/,
      (response) => json(response).set('Content-Encoding', 'gzip').end('abc'),
    ],
    [
      'a body that nobody reads',
      {},
      'request',
      /before it had read the body/,
      (response) => refuse(400, { code: 'invalid_domain', message: 'No.' })(response),
      ADD,
    ],
  ])('says that it has not checked %s', async (_, options, part, reason, handler, request = LIST) => {
    const { port, check, violations } = await checked(make, handler, options)
    const answer = responseIn(await ask(port, request))
    const plain = responseIn(await ask(await serve(answering(make, handler, [])), request))
    expect(answer.text === plain.text).toBe(true)
    expect(violations).toEqual([])
    expect(check.report()).toMatchObject({
      open: 0,
      notChecked: [{ part, reason: expect.stringMatching(reason), count: 1 }],
    })
  })

  it.each<ContractOptions>([{}, STRICT])(
    'says that it has not checked a response that was not ended: %o',
    async (options) => {
      let answers = 0
      const { port, check } = await checked(
        make,
        (response) => {
          answers++
          json(response).write('{')
          response.socket?.destroy()
        },
        options,
      )
      expect(await ask(port, LIST)).not.toContain('}')
      await expect
        .poll(() => check.report())
        .toMatchObject({
          ...{ exchanges: 1, open: 0 },
          notChecked: [
            {
              part: 'response',
              reason: 'The connection was closed before the application had ended the response.',
              count: 1,
            },
          ],
        })
      expect(answers).toBe(1)
    },
  )

  it('says that it has not checked a request whose client leaves before it is complete', async () => {
    const { port, check } = await checked(make, succeed, STRICT)
    await check.ready()
    const client = connect(port, '127.0.0.1')
    client.write(requestBytes(ADD).subarray(0, -3))
    await expect.poll(() => check.report().open).toBe(1)
    client.destroy()
    await expect.poll(() => check.report()).toMatchObject({ open: 0, notChecked: [{ part: 'request', count: 1 }] })
  })

  it('hides the key of a request in what it tells, whatever its form is', async () => {
    const key = 'a-key-of-another-form-0123456789'
    const { port, violations } = await checked(make, (response) =>
      json(response).send(`{"success":true,"data":{"domains":"${key}"}}`),
    )
    await ask(port, { ...LIST, target: `/api/v1/domains?token=${key}`, headers: [['Authorization', `Bearer ${key}`]] })
    expect(violations.length).toBeGreaterThan(0)
    expect(JSON.stringify(violations)).not.toContain(key)
  })
})

it.each<[options: object, message: string]>([
  [{ onviolation() {} }, 'contract() has no option onviolation; it has onViolation, overlays, requests, responses.'],
  [{ requests: 'ignore' }, 'The option requests of contract() is tell or refuse, not ignore.'],
  [{ responses: 'refuse' }, 'The option responses of contract() is tell or error, not refuse.'],
  [{ onViolation: true }, 'The option onViolation of contract() is a function.'],
  [{ overlays: 'a.yaml' }, 'The option overlays of contract() is a list of files.'],
])('refuses the options %j', (options, message) => {
  expect(() => contract(options as ContractOptions)).toThrow(new TypeError(message))
})

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { createGzip, gzipSync } from 'node:zlib'
import express, { type RequestHandler, type Response } from 'express'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { type ContractViolation, contract, standIn } from '../../src/express.ts'
import { startUnderstudy } from '../../src/index.ts'
import { API_KEY } from '../support/service.ts'
import type { WireRequest } from '../support/wire.ts'
import { answerTo, ask, serve } from './application.ts'
import {
  ADD,
  answering,
  BODY,
  checked,
  FIELDS,
  type Handler,
  inChunks,
  json,
  LIST,
  refuse,
  WRITTEN,
} from './checked-application.ts'

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

const FILE = join(mkdtempSync(join(tmpdir(), 'understudy-')), 'domains.json')
writeFileSync(FILE, BODY)
afterAll(() => rmSync(dirname(FILE), { recursive: true }))

const WAYS: readonly [way: string, handler: Handler, request?: WireRequest][] = [
  ['res.json', (response) => response.set(FIELDS).json(JSON.parse(BODY))],
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
]

describe('A contract', () => {
  it.each(WAYS)('changes no byte of a lawful response by %s', async (_, handler, request = LIST) => {
    const { port, check, violations } = await checked(handler)
    const expected = await ask(await serve(answering(handler)), request)
    expect(await ask(port, request)).toBe(expected)
    expect(violations).toEqual([])
    expect(check.report()).toEqual({ exchanges: 1, violations: { request: 0, response: 0 }, notChecked: [] })
  })

  it.each(['before', 'after'])('sees the content of a response that a middleware %s it codes', async (place) => {
    const violations: string[] = []
    const check = contract({ onViolation: ({ id }) => violations.push(id) }) as RequestHandler
    const handler: Handler = (response) => json(response).end(BODY)
    const port = await serve(answering(handler, ...(place === 'before' ? [compressing, check] : [check, compressing])))
    expect(await ask(port, LIST)).toBe(await ask(await serve(answering(handler, compressing)), LIST))
    expect(violations).toEqual([])
  })

  it('lets a whole stand-in pass, and its requests and responses to a client', async () => {
    const start = { fixture: 'empty', seed: 7, now: '2026-01-15T09:30:00Z', frozen: true, apiKey: API_KEY } as const
    const [one, other] = await Promise.all([startUnderstudy(start), startUnderstudy(start)])
    onTestFinished(async () => void (await Promise.all([one.stop(), other.stop()])))
    const violations: ContractViolation[] = []
    const check = contract({ onViolation: (each) => violations.push(each) })
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
      const check = contract({ onViolation: ({ id }) => told.push(id) }) as RequestHandler
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
      expect(bodies).toEqual([right, right, wrong, wrong].map(({ body }) => body))
    }
  })

  it('judges the status that is sent, and no later one, and lets a second header fail as Node.js does', async () => {
    let code: unknown
    const { port, violations } = await checked((response) => {
      for (const [name, value] of Object.entries(FIELDS)) response.setHeader(name, value)
      json(response).write(BODY.slice(0, 9))
      response.statusCode = 418
      try {
        response.writeHead(500)
      } catch (error) {
        code = (error as NodeJS.ErrnoException).code
      }
      response.end(BODY.slice(9))
    })
    expect(await answerTo(port, LIST)).toMatchObject({ status: 200, text: BODY })
    expect([violations, code]).toEqual([[], 'ERR_HTTP_HEADERS_SENT'])
  })

  it('says that it has not checked a response that was not ended', async () => {
    const { port, check } = await checked((response) => [json(response).write('{'), response.socket?.destroy()])
    expect(await ask(port, LIST)).not.toContain('}')
    const reason = 'The connection was closed before the application had ended the response.'
    const notChecked = [{ part: 'response', reason, count: 1 }]
    await expect.poll(() => check.report()).toMatchObject({ exchanges: 1, notChecked })
  })
})

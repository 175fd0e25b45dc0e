import { once } from 'node:events'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import express, { type RequestHandler } from 'express'
import { describe, expect, it } from 'vitest'
import { BODY_LIMIT } from '../../src/exchanges/collected-body.ts'
import { type ContractOptions, contract } from '../../src/express.ts'
import { startUnderstudy } from '../../src/index.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { API_KEY } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { headerOf, requestBytes, type WireRequest } from '../support/wire.ts'
import { answerTo, ask, serve, tellError } from './application.ts'
import {
  ADD,
  afterReading,
  answering,
  BODY,
  checked,
  type Handler,
  json,
  LIST,
  list,
  refuse,
  STRICT,
  succeed,
  without,
} from './checked-application.ts'

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
  const update = { target: "$['x-errors']['not_found']", update: { status: 410 } }
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
      /coding gzip is damaged/,
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

import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import express from 'express'
import { describe, expect, it } from 'vitest'
import { type ContractOptions, contract } from '../../src/express.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import type { WireRequest } from '../support/wire.ts'
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
  succeed,
  without,
} from './checked-application.ts'

describe('In a response, a contract finds', () => {
  it.each<[what: string, handler: Handler, ids: string[]]>([
    ['a missing field', list({}), ['200/response/data/domains/required']],
    ['an undocumented status', (response) => json(response).status(418).send(BODY), ['418/response/status']],
    ['no X-Request-Id', without('X-Request-Id'), ['200/response/headers/x-request-id/required']],
    [
      'no header field at all',
      (response) => response.end(BODY),
      [
        ...['limit', 'remaining', 'reset'].map((name) => `200/response/headers/x-ratelimit-${name}/required`),
        '200/response/headers/x-request-id/required',
      ],
    ],
    [
      'a page, which is its own',
      (response) => response.status(403).send('<html>No.</html>'),
      ['403/response/body', '403/response/headers/content-type', '403/response/headers/x-request-id/required'],
    ],
    ['no JSON', (response) => json(response).send('[object Object]'), ['200/response/body']],
    ['a code of another operation', refuse(409, 'duplicate_name'), ['409/response/code/duplicate_name']],
    [
      'gzip of what is no envelope',
      (response) => json(response).set('Content-Encoding', 'gzip').end(gzipSync('{"domains":[]}')),
      ['success/required', 'data/required', 'domains/additionalProperties'].map((id) => `200/response/${id}`),
    ],
  ])('%s, and tells it', async (_, handler, ids) => {
    const expected = ids.map((id) => `contract-violation/listDomains/${id}`)
    const told = await checked(handler)
    expect(await ask(told.port, LIST)).toBe(await ask(await serve(answering(handler)), LIST))
    expect(told.violations.map(({ id }) => id)).toEqual(expected)
    for (const { part, pointer, message, operation } of told.violations) {
      expect({ part, operation }).toEqual({ part: 'response', operation: 'listDomains' })
      expect([pointer, message]).toEqual([expect.stringMatching(/^\//), expect.stringMatching(/^The response .*\.$/s)])
    }
  })

  it.each<[what: string, handler: Handler]>([
    ['an envelope', refuse(500, 'internal_error')],
    ['a page', (response) => response.status(503).send('<html>Busy</html>')],
    [
      'an error of the application',
      () => {
        throw new Error('Broken.')
      },
    ],
  ])('a failure, be it %s', async (_, handler) => {
    const { port, violations } = await checked(handler)
    await ask(port, LIST)
    const message = expect.stringMatching(/^The service failed with 50[03]\./)
    expect(violations).toMatchObject([{ part: 'response', message }])
  })
})

describe('In a request, a contract finds', () => {
  it.each<[what: string, request: WireRequest, status: number, code: string, accepts?: Handler]>([
    ['no key', { ...LIST, headers: [] }, 401, 'unauthorized'],
    ['no key, which is not noticed', { ...LIST, headers: [] }, 401, 'unauthorized', succeed],
    ['a field of another type', { ...ADD, body: '{"domains":3}' }, 400, 'invalid_field_type'],
    [
      'a field of another type, which is not noticed',
      { ...ADD, body: '{"domains":3}' },
      ...([400, 'invalid_field_type', list({ message: 'Added.', domains: ['a.example'], count: 1 })] as const),
    ],
  ])('%s', async (_, request, status, code, accepts) => {
    const told = await checked(afterReading(accepts ?? refuse(status, code)))
    await ask(told.port, request)
    expect(told.violations.map(({ part }) => part)).toEqual(
      accepts === undefined ? ['request'] : ['request', 'response'],
    )
    expect(told.violations[0]?.message).toMatch(/^The request .*\.$/s)
  })
})

it('A contract judges by the overlays, permits other choices, and judges nothing outside of the base path', async () => {
  const update = { target: "$['x-errors']['not_found']", update: { status: 410 } }
  const overlays = [writeOverlay(temporaryFolder(), [update])]
  const { port, check, violations } = await checked(refuse(410, 'not_found'), { overlays })
  await ask(port, { ...LIST, method: 'DELETE', target: '/api/v1/domaingroups?id=a1b2c3d4e5' })
  await ask(port, { target: '/elsewhere', headers: [] })
  await ask(port, { target: '/api/v10/domains', headers: [] })
  expect(violations.filter(({ part }) => part === 'response')).toEqual([])
  expect(check.report()).toMatchObject({ exchanges: 1 })
  const other = await checked((response) => json(response).status(203).send(BODY))
  expect((await answerTo(other.port, LIST)).status).toBe(203)
  expect(other.violations).toEqual([])
})

it('A contract that cannot be compiled passes an error to the application, and tells it', async () => {
  const check = contract({ overlays: ['/nowhere.yaml'] })
  const message = '/nowhere.yaml: The overlay cannot be read (ENOENT).'
  await expect(check.ready()).rejects.toThrow(message)
  expect((await answerTo(await serve(express().use(check).use(tellError)), LIST)).text).toBe(message)
})

it.each(['throws', 'rejects'])('A contract goes on if onViolation %s', async (way) => {
  const error = new Error('Full.')
  const warned = once(process, 'warning')
  const onViolation = () => {
    if (way === 'throws') throw error
    return Promise.reject(error)
  }
  const { port, check } = await checked(list({}), { onViolation })
  for (let count = 0; count < 2; count++) expect((await answerTo(port, LIST)).status).toBe(200)
  expect(check.report()).toMatchObject({ violations: { response: 2 } })
  expect(String((await warned)[0])).toContain('onViolation of contract() failed: Error: Full.')
})

describe('A contract says that it has not checked', () => {
  it.each<[why: string, reason: RegExp, handler: Handler, request?: WireRequest]>([
    [
      'a damaged body',
      /coding gzip is damaged/,
      (response) => json(response).set('Content-Encoding', 'gzip').end('abc'),
    ],
    ['a body that nobody reads', /before it had read the body/, refuse(400, 'invalid_domain'), ADD],
  ])('%s', async (_, reason, handler, request = LIST) => {
    const { port, check, violations } = await checked(handler)
    const [answer, plain] = [await answerTo(port, request), await answerTo(await serve(answering(handler)), request)]
    expect(answer.text === plain.text).toBe(true)
    expect(violations).toEqual([])
    expect(check.report()).toMatchObject({ notChecked: [{ reason: expect.stringMatching(reason), count: 1 }] })
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
  [{ onviolation() {} }, 'contract() has no option onviolation; it has onViolation, overlays.'],
  [{ onViolation: true }, 'The option onViolation of contract() is a function.'],
  [{ overlays: 'a.yaml' }, 'The option overlays of contract() is a list of files.'],
])('A contract refuses the options %j', (options, message) => {
  expect(() => contract(options as ContractOptions)).toThrow(new TypeError(message))
})

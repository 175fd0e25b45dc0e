import { describe, expect } from 'vitest'
import { ACCOUNT, stateOf } from '../support/account.ts'
import { addFault, journalOf } from '../support/control-plane.ts'
import { it } from '../support/example-service.ts'
import { NO_QUOTA, quotaOf } from '../support/quota-headers.ts'
import { startService } from '../support/service.ts'
import {
  AUTHORIZED,
  byName,
  CLOSE,
  exchangeAsIs,
  headerOf,
  JSON_BODY,
  readResponses,
  requestBytes,
} from '../support/wire.ts'
import { acceptedBy, contract, errors, operationOf, sendAccepted } from './accepted.ts'
import { isJson } from './corrupted-answers.ts'

const READ = requestBytes({ target: '/api/v1/domains' })
const LAST = requestBytes({ target: '/api/v1/domains', headers: [AUTHORIZED, CLOSE] })
const START_OF_NEXT_WINDOW = Date.parse('2026-01-15T10:00:00Z') / 1000

describe('An injected error', () => {
  it.for(errors())('of %s, `%s` with %i, is lawful and marked', async ([operation, code, status], { service }) => {
    const before = await stateOf(service)
    await addFault(service, { match: { operation }, respond: { error: code, status } })
    const response = await sendAccepted(service, operation)
    expect([response.status, response.body.error.code]).toEqual([status, code])
    expect(response.body.error.message).toMatch(/^[A-Z`][^{}]{10,}\.$/)
    expect(response.body.error.message).not.toMatch(/undefined|null|NaN|\b0 (characters|bytes|requests|domains)|1970/)
    const { quota, responses } = operationOf(operation)
    const limit = quota?.limit ?? 0
    const left = { limit, remaining: code === 'rate_limited' ? 0 : limit - 1, reset: START_OF_NEXT_WINDOW }
    expect(quotaOf(response.headers)).toEqual(responses.get(status)?.showsQuota ? left : NO_QUOTA)
    expect(await stateOf(service)).toMatchObject({ domains: before.domains, groups: before.groups })
    const [entry] = await journalOf(service)
    expect(entry).toMatchObject({ status, code, injected: true, problems: [] })
    expect(entry?.fault).toMatchObject({ source: 'rule', id: 'fault_1', effect: expect.stringContaining(code) })
  })

  const IN_USE = 'is in use by a monitoring feature and cannot be removed.'
  const TOO_LOW = 'The plan below-stone does not include API access; it starts with the plan stone.'
  it.for<[operation: string, error: string, message: string, status?: number]>([
    ['listDomains', 'unauthorized', TOO_LOW, 403],
    ['addDomains', 'request_too_large', 'Request body must not be larger than 1048576 bytes.'],
    ['createDomainGroup', 'invalid_name', '`name` must be a name of 1 to 100 characters.'],
    ['createDomainGroup', 'missing_field', 'The field `name` is required.'],
    ['addDomains', 'invalid_domain', '`domains[0]` must be a valid hostname, which "not a hostname" is not.'],
    ['createDomainGroup', 'duplicate_name', 'A domain group with the name "Marketing" already exists.'],
    ['deleteDomains', 'domain_delete_failed', `\`domains[0]\`: example.com ${IN_USE}`],
  ])('of %s, `%s`, says: %s', async ([operation, error, message, status], { service }) => {
    await addFault(service, { match: { operation }, respond: { error, ...(status && { status }) } })
    expect((await sendAccepted(service, operation)).body.error.message).toBe(message)
  })

  it('has no body in answer to HEAD, and the length of what GET gets', async ({ empty }) => {
    await addFault(empty, { respond: { error: 'rate_limited' } })
    const head = await exchangeAsIs(empty, { method: 'HEAD', target: '/api/v1/domains' })
    const get = await empty.get('/domains')
    expect([head.status, head.text]).toEqual([429, ''])
    expect(headerOf(head, 'content-length')).toBe(get.headers['content-length'])
  })
})

describe('An answer of another server', () => {
  const PROBLEM = 'application/problem+json'
  const OWN = "default-src 'self'"

  it.for([
    ['a text', { status: 503, body: '<h1>ö</h1>' }, 'text/plain; charset=utf-8', '<h1>ö</h1>'],
    ['JSON', { status: 502, body: { oops: [1, null] } }, 'application/json', '{"oops":[1,null]}'],
    ['nothing', { status: 504 }, undefined, ''],
    ['a type of its own', { status: 503, headers: { 'content-type': 'text/html' }, body: '<p>' }, 'text/html', '<p>'],
    ['JSON of another type', { status: 400, headers: { 'CONTENT-TYPE': PROBLEM }, body: {} }, PROBLEM, '{}'],
  ] as const)('with %s is sent as said, each header once', async ([, respond, type, text], { empty }) => {
    await addFault(empty, { respond })
    const response = await exchangeAsIs(empty, { target: '/api/v1/domains' })
    expect([response.status, response.text]).toEqual([respond.status, text])
    expect(headerOf(response, 'content-type')).toBe(type)
    expect(headerOf(response, 'content-length')).toBe(String(Buffer.byteLength(text)))
    expect(headerOf(response, 'x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(headerOf(response, 'x-ratelimit-remaining')).toBeUndefined()
    expect(headerOf(response, 'date')).toBe('Thu, 15 Jan 2026 09:30:00 GMT')
    const effect = `The status ${respond.status} was answered in place of the service's own answer.`
    const entry = { status: respond.status, code: null, injected: true, fault: { id: 'fault_1', effect } }
    expect((await journalOf(empty))[0]).toMatchObject(entry)
  })

  it.for<[headers: Record<string, string>, body: unknown, policy: string | undefined]>([
    [{}, '<script>', undefined],
    [{ 'content-type': 'text/html' }, '', undefined],
    [{ 'content-type': 'text/html' }, '<p>', 'sandbox'],
    [{ 'content-type': 'application/json, text/html' }, '<p>', 'sandbox'],
    [{ 'content-type': 'application/json', 'Content-Type': 'text/html' }, '<p>', 'sandbox'],
    [{ 'content-type': 'text/html', 'content-security-policy': OWN }, '<p>', `${OWN}, sandbox`],
  ])('is no page of this origin for a browser: %j %j', async ([headers, body, policy], { empty }) => {
    await addFault(empty, { respond: { status: 503, headers, body } })
    const response = await exchangeAsIs(empty, { target: '/api/v1/domains' })
    expect(headerOf(response, 'content-security-policy')).toBe(policy)
  })

  it.for([204, 304])('with %i has no body and no length', async (status, { empty }) => {
    await addFault(empty, { respond: { status }, times: 1 })
    const [first, second] = readResponses(await empty.sendRaw(Buffer.concat([READ, LAST])))
    expect([first?.status, first?.text]).toEqual([status, ''])
    expect(first && headerOf(first, 'content-length')).toBeUndefined()
    expect(first && headerOf(first, 'content-type')).toBeUndefined()
    expect(second?.status).toBe(200)
  })

  it('leaves a large unread body behind and the connection in order', async ({ empty }) => {
    await addFault(empty, { match: { method: 'POST' }, respond: { status: 503 } })
    const large = requestBytes({ method: 'POST', target: '/api/v1/domains', body: 'x'.repeat(900_000) })
    const statuses = readResponses(await empty.sendRaw(Buffer.concat([large, LAST]))).map(({ status }) => status)
    expect(statuses).toEqual([503, 200])
  })
})

describe('Corruption', () => {
  it.for(contract.operations.map(({ id }) => id))(
    'changes the answer of %s, not the account',
    async (id, { service }) => {
      const plain = await startService({ fixture: ACCOUNT })
      const genuine = await sendAccepted(plain, id)
      await addFault(service, { corrupt: 'malformed-json' })
      const [method, path, body] = acceptedBy(id)
      const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: [AUTHORIZED, JSON_BODY] }
      const response = await exchangeAsIs(service, { method, target: `/api/v1${path}`, ...sent })
      expect([response.status, isJson(response.text)]).toEqual([genuine.status, false])
      expect(headerOf(response, 'content-length')).toBe(`${Buffer.byteLength(response.text)}`)
      expect(quotaOf(byName(response))).toEqual(quotaOf(genuine.headers))
      const fault = { id: 'fault_1', rule: { corrupt: 'malformed-json' }, effect: expect.stringMatching(/\.$/) }
      expect((await journalOf(service))[0]).toMatchObject({ injected: true, fault })
      const [after, untouched] = [await stateOf(service), await stateOf(plain)]
      expect([after.domains, after.groups]).toEqual([untouched.domains, untouched.groups])
    },
  )

  it('leaves HEAD alone, which has no body', async ({ empty }) => {
    await addFault(empty, { corrupt: 'wrong-type' })
    const genuine = await (await startService()).get('/domains')
    const response = await exchangeAsIs(empty, { method: 'HEAD', target: '/api/v1/domains' })
    expect(headerOf(response, 'content-length')).toBe(genuine.headers['content-length'])
    expect((await journalOf(empty))[0]?.injected).toBe(false)
  })
})

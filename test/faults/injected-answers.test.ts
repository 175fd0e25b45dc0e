import { describe, expect, it } from 'vitest'
import { CORRUPTIONS } from '../../src/faults/kinds.ts'
import { ACCEPTED, contract, operationOf, send } from '../service/refusals.ts'
import { ACCOUNT, stateOf } from '../support/account.ts'
import { addFault, faultsOf, journalOf } from '../support/control-plane.ts'
import { NO_QUOTA, quotaOf } from '../support/quota-headers.ts'
import { startService, type TestService } from '../support/service.ts'
import { AUTHORIZED, CLOSE, exchangeAsIs, headerOf, JSON_BODY, readResponses, requestBytes } from '../support/wire.ts'

const START_OF_NEXT_WINDOW = Date.parse('2026-01-15T10:00:00Z') / 1000

/** Every error that an operation may answer with, in every status. */
const ERRORS = contract.operations.flatMap(({ id, responses }) =>
  [...responses.values()].flatMap(({ status, codes }) => [...codes].map((code) => [id, code, status] as const)),
)

describe('An injected error', () => {
  it.each(ERRORS)('of %s, `%s` with %i, is lawful, reads well and is marked', async (operation, code, status) => {
    const service = await startService({ fixture: ACCOUNT })
    const before = await stateOf(service)
    await addFault(service, { match: { operation }, respond: { error: code, status } })
    const response = await send(service, operation, ACCEPTED[operation] ?? {})
    expect([response.status, response.body.error.code]).toEqual([status, code])
    expect(response.body.error.message).toMatch(/^[A-Z`][^{}]{10,}\.$/)
    expect(response.body.error.message).not.toMatch(/undefined|null|NaN|\b0 (characters|bytes|requests|domains)|1970/)
    const shows = operationOf(operation).responses.get(status)?.showsQuota
    expect(quotaOf(response.headers)).toEqual(
      shows
        ? {
            limit: operationOf(operation).quota?.limit,
            remaining: code === 'rate_limited' ? 0 : (operationOf(operation).quota?.limit ?? 0) - 1,
            reset: START_OF_NEXT_WINDOW,
          }
        : NO_QUOTA,
    )
    expect(await stateOf(service)).toMatchObject({ domains: before.domains, groups: before.groups })
    const [entry] = await journalOf(service)
    expect(entry).toMatchObject({ status, code, injected: true, problems: [] })
    expect(entry?.fault).toMatchObject({ source: 'rule', id: 'fault_1', effect: expect.stringContaining(code) })
  })

  it.each(contract.operations.map(({ id }) => id))(
    'says of %s what the service says when a quota is used up, with the end of its window',
    async (operation) => {
      const service = await startService({ fixture: ACCOUNT })
      await addFault(service, { respond: { error: 'rate_limited' } })
      const { quota, path } = operationOf(operation)
      const { body } = await send(service, operation, ACCEPTED[operation] ?? {})
      expect(body.error.message).toBe(
        `The limit of ${quota?.limit} requests for ${path} is used up until 2026-01-15T10:00:00Z.`,
      )
    },
  )

  it.each([
    ['addDomains', 'request_too_large', 'Request body must not be larger than 1048576 bytes.'],
    ['createDomainGroup', 'invalid_name', '`name` must be a name of 1 to 100 characters.'],
    ['createDomainGroup', 'missing_field', 'The field `name` is required.'],
    ['addDomains', 'missing_field', 'The field `domains` is required.'],
    ['addDomains', 'invalid_domain', '`domains[0]` must be a valid hostname, which "not a hostname" is not.'],
    ['createDomainGroup', 'duplicate_name', 'A domain group with the name "Marketing" already exists.'],
    [
      'deleteDomains',
      'domain_delete_failed',
      '`domains[0]`: example.com is in use by a monitoring feature and cannot be removed.',
    ],
  ])('of %s, `%s`, says: %s %s', async (operation, code, message) => {
    const service = await startService({ fixture: ACCOUNT })
    await addFault(service, { match: { operation }, respond: { error: code } })
    expect((await send(service, operation, ACCEPTED[operation] ?? {})).body.error.message).toBe(message)
  })

  it('of a plan that is too low names a plan that is', async () => {
    const service = await startService()
    await addFault(service, { respond: { error: 'unauthorized', status: 403 } })
    expect((await service.get('/domains')).body.error.message).toBe(
      'The plan below-stone does not include API access; it starts with the plan stone.',
    )
  })

  it('charges the quota, and the next request finds it charged once', async () => {
    const service = await startService()
    await addFault(service, { respond: { error: 'rate_limited' }, times: 1 })
    expect(quotaOf((await service.get('/domains')).headers).remaining).toBe(0)
    expect(quotaOf((await service.get('/domains')).headers).remaining).toBe(28)
  })

  it('goes only to operations that may answer it, and counts no other request', async () => {
    const service = await startService({ fixture: ACCOUNT })
    await addFault(service, { respond: { error: 'duplicate_name' } })
    expect((await service.get('/domaingroups')).status).toBe(200)
    expect((await service.send('POST', '/domains', { domains: ['new.example'] })).status).toBe(200)
    expect((await service.send('POST', '/domaingroups', { name: 'New' })).body.error.code).toBe('duplicate_name')
    expect(await faultsOf(service)).toMatchObject([{ matched: 1, hits: 1 }])
  })

  it('has no body in answer to HEAD, and the length of what GET gets', async () => {
    const service = await startService()
    await addFault(service, { respond: { error: 'rate_limited' } })
    const [head, get] = [
      await exchangeAsIs(service, { method: 'HEAD', target: '/api/v1/domains' }),
      await service.get('/domains'),
    ]
    expect([head.status, head.text]).toEqual([429, ''])
    expect(headerOf(head, 'content-length')).toBe(get.headers['content-length'])
  })
})

describe('An answer of another server', () => {
  it.each([
    ['a text', { status: 503, body: '<h1>ö</h1>' }, 'text/plain; charset=utf-8', '<h1>ö</h1>'],
    ['JSON', { status: 502, body: { oops: [1, null] } }, 'application/json', '{"oops":[1,null]}'],
    ['null', { status: 500, body: null }, 'application/json', 'null'],
    ['an empty text', { status: 500, body: '' }, undefined, ''],
    ['nothing', { status: 504 }, undefined, ''],
    ['a type of its own', { status: 503, headers: { 'content-type': 'text/html' }, body: '<p>' }, 'text/html', '<p>'],
    [
      'JSON of another type',
      { status: 400, headers: { 'CONTENT-TYPE': 'application/problem+json' }, body: {} },
      'application/problem+json',
      '{}',
    ],
    ['success', { status: 200, body: { success: true } }, 'application/json', '{"success":true}'],
  ])('with %s is sent as it is said, each header once', async (_, respond, type, text) => {
    const service = await startService()
    await addFault(service, { respond })
    const response = await exchangeAsIs(service, { target: '/api/v1/domains' })
    expect([response.status, response.text]).toEqual([respond.status, text])
    expect(headerOf(response, 'content-type')).toBe(type)
    expect(headerOf(response, 'content-length')).toBe(String(Buffer.byteLength(text)))
    expect(headerOf(response, 'x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(headerOf(response, 'x-ratelimit-remaining')).toBeUndefined()
    expect(headerOf(response, 'date')).toBe('Thu, 15 Jan 2026 09:30:00 GMT')
    expect((await journalOf(service))[0]).toMatchObject({
      status: respond.status,
      code: null,
      injected: true,
      fault: {
        id: 'fault_1',
        effect: `The status ${respond.status} was answered in place of the service's own answer.`,
      },
    })
  })

  it.each<[headers: Record<string, string>, body: unknown, policy: string | undefined]>([
    [{}, { oops: 1 }, undefined],
    [{}, '<script>', undefined],
    [{ 'content-type': 'Text/Plain; charset=UTF-8' }, '<script>', undefined],
    [{ 'content-type': 'application/problem+json' }, {}, undefined],
    [{ 'content-type': 'text/html' }, '', undefined],
    [{ 'content-type': 'text/html' }, '<p>', 'sandbox'],
    [{ 'CONTENT-TYPE': 'Text/HTML; charset=utf-8' }, '<p>', 'sandbox'],
    [{ 'content-type': 'application/json, text/html' }, '<p>', 'sandbox'],
    [{ 'content-type': 'image/svg+xml' }, '<svg/>', 'sandbox'],
    [{ 'content-type': 'application/xhtml+xml' }, '<html/>', 'sandbox'],
    [{ 'content-type': '' }, '<p>', 'sandbox'],
    [{ 'content-type': 'unknown' }, '<p>', 'sandbox'],
    [
      { 'content-type': 'text/html', 'content-security-policy': "default-src 'self'" },
      '<p>',
      "default-src 'self', sandbox",
    ],
  ])(
    'is kept from being a page of this origin where a browser might take it for one: %j %j',
    async (headers, body, policy) => {
      const service = await startService()
      await addFault(service, { respond: { status: 503, headers, body } })
      const response = await exchangeAsIs(service, { target: '/api/v1/domains' })
      expect(headerOf(response, 'content-security-policy')).toBe(policy)
    },
  )

  it('has the headers that the rule gives it, also those that the service sends otherwise', async () => {
    const service = await startService()
    const headers = {
      DATE: 'Thu, 01 Jan 1970 00:00:00 GMT',
      'retry-after': '7',
      'x-ratelimit-remaining': '99',
      Server: 'nginx',
    }
    await addFault(service, { respond: { status: 429, headers } })
    const response = await exchangeAsIs(service, { target: '/api/v1/domains' })
    for (const [name, value] of Object.entries(headers)) expect(headerOf(response, name)).toBe(value)
    expect(headerOf(response, 'x-ratelimit-limit')).toBeUndefined()
  })

  it.each([204, 304])('with %i has neither body nor length, and the connection goes on', async (status) => {
    const service = await startService()
    await addFault(service, { respond: { status }, times: 1 })
    const read = requestBytes({ target: '/api/v1/domains' })
    const last = requestBytes({ target: '/api/v1/domains', headers: [AUTHORIZED, CLOSE] })
    const [first, second] = readResponses(await service.sendRaw(Buffer.concat([read, last])))
    expect([first?.status, first?.text]).toEqual([status, ''])
    expect(first && headerOf(first, 'content-length')).toBeUndefined()
    expect(first && headerOf(first, 'content-type')).toBeUndefined()
    expect(second?.status).toBe(200)
  })

  it('has no body in answer to HEAD', async () => {
    const service = await startService()
    await addFault(service, { respond: { status: 503, body: 'busy' } })
    const response = await exchangeAsIs(service, { method: 'HEAD', target: '/api/v1/domains' })
    expect([response.status, response.text, headerOf(response, 'content-length')]).toEqual([503, '', '4'])
  })

  it('leaves a large unread body behind and the connection in order', async () => {
    const service = await startService()
    await addFault(service, { match: { method: 'POST' }, respond: { status: 503 } })
    const large = requestBytes({
      method: 'POST',
      target: '/api/v1/domains',
      headers: [AUTHORIZED, JSON_BODY],
      body: 'x'.repeat(900_000),
    })
    const last = requestBytes({ target: '/api/v1/domains', headers: [AUTHORIZED, CLOSE] })
    const statuses = readResponses(await service.sendRaw(Buffer.concat([large, last]))).map(({ status }) => status)
    expect(statuses).toEqual([503, 200])
  })

  it('takes the largest body and the longest header that a rule may have', async () => {
    const service = await startService()
    const body = 'ö'.repeat(32_768)
    await addFault(service, {
      respond: { status: 500, headers: { 'x-long': 'a'.repeat(4000) }, body },
      description: 'd'.repeat(500),
    })
    const response = await exchangeAsIs(service, { target: '/api/v1/domains' })
    expect(response.text).toBe(body)
    expect(headerOf(response, 'x-long')).toHaveLength(4000)
    expect((await journalOf(service))[0]?.response).toMatchObject({ body_size: 65_536, truncated: true })
  })
})

describe('Corruption', () => {
  it.each(contract.operations.flatMap(({ id }) => CORRUPTIONS.map((kind) => [kind, id] as const)))(
    '`%s` changes the answer of %s, and the change of the account is made',
    async (corrupt, operation) => {
      const service = await startService({ fixture: ACCOUNT })
      const plain = await startService({ fixture: ACCOUNT })
      await addFault(service, { corrupt })
      const genuine = await send(plain, operation, ACCEPTED[operation] ?? {})
      const { status, text, headers } = await sendUnchecked(service, operation)
      expect([status, Number(headers.get('content-length'))]).toEqual([genuine.status, Buffer.byteLength(text)])
      expect(quotaOf(Object.fromEntries(headers))).toEqual(quotaOf(genuine.headers))
      const response = operationOf(operation).responses.get(status)
      const [entry] = await journalOf(service)
      expect(entry?.fault).toMatchObject({ id: 'fault_1', rule: { corrupt } })
      const violates = !isJson(text) || (response?.check(JSON.parse(text)).length ?? 0) > 0
      if (text === genuine.text) {
        expect(entry).toMatchObject({ injected: false })
        expect(entry?.fault?.effect).toBe(`The answer has nothing that ${corrupt} could change.`)
      } else {
        expect(entry?.injected).toBe(true)
        expect(entry?.fault?.effect).toMatch(/\.$/)
        expect(violates).toBe(corrupt !== 'compatible')
        expect(isJson(text)).toBe(corrupt !== 'malformed-json')
      }
      const [after, untouched] = [await stateOf(service), await stateOf(plain)]
      expect(after.domains).toEqual(untouched.domains)
      expect(after.groups).toEqual(untouched.groups)
    },
  )

  it('changes refusals as well, and differs from request to request', async () => {
    const service = await startService({ enforceQuotas: false })
    await addFault(service, { corrupt: 'bad-envelope' })
    const texts = new Set<string>()
    for (let request = 0; request < 20; request++) {
      texts.add((await exchangeAsIs(service, { method: 'DELETE', target: '/api/v1/domaingroups' })).text)
    }
    expect(texts.size).toBeGreaterThan(1)
    for (const text of texts) expect(contract.checkFailure(isJson(text) ? JSON.parse(text) : text)).not.toEqual([])
  })

  it('leaves HEAD alone, which has no body', async () => {
    const service = await startService()
    await addFault(service, { corrupt: 'wrong-type' })
    const genuine = await (await startService()).get('/domains')
    const response = await exchangeAsIs(service, { method: 'HEAD', target: '/api/v1/domains' })
    expect(headerOf(response, 'content-length')).toBe(genuine.headers['content-length'])
    expect((await journalOf(service))[0]?.injected).toBe(false)
  })
})

/** The accepted request of an operation, whose answer may be anything. */
async function sendUnchecked(service: TestService, id: string) {
  const { method, path } = operationOf(id)
  const { id: group, body } = ACCEPTED[id] ?? {}
  const found = (await stateOf(service)).groups.find(({ name }) => name === group)
  const response = await fetch(`${service.baseUrl}${path}${found === undefined ? '' : `?id=${found.id}`}`, {
    method,
    headers: { authorization: AUTHORIZED[1], 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

import { describe, expect, it } from 'vitest'
import { CORRUPTIONS } from '../../src/faults/kinds.ts'
import { ACCEPTED, contract, operationOf, send } from '../service/refusals.ts'
import { ACCOUNT, HOUR, instant, stateOf } from '../support/account.ts'
import { addFault, askControl, faultsOf, journalOf } from '../support/control-plane.ts'
import { NO_QUOTA, quotaOf } from '../support/quota-headers.ts'
import { START, startService, type TestService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  AUTHORIZED,
  CLOSE,
  headerOf,
  JSON_BODY,
  readResponses,
  requestBytes,
  type WireRequest,
} from '../support/wire.ts'

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
      await raw(service, { method: 'HEAD', target: '/api/v1/domains' }),
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
    const response = await raw(service, { target: '/api/v1/domains' })
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

  it('has the headers that the rule gives it, also those that the service sends otherwise', async () => {
    const service = await startService()
    const headers = {
      DATE: 'Thu, 01 Jan 1970 00:00:00 GMT',
      'retry-after': '7',
      'x-ratelimit-remaining': '99',
      Server: 'nginx',
    }
    await addFault(service, { respond: { status: 429, headers } })
    const response = await raw(service, { target: '/api/v1/domains' })
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
    const response = await raw(service, { method: 'HEAD', target: '/api/v1/domains' })
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
    const response = await raw(service, { target: '/api/v1/domains' })
    expect(response.text).toBe(body)
    expect(headerOf(response, 'x-long')).toHaveLength(4000)
    expect((await journalOf(service))[0]?.response).toMatchObject({ body_size: 65_536, truncated: true })
  })
})

describe('The phase of a rule', () => {
  const ADD = ['POST', '/domains', { domains: ['new.example'] }] as const

  it('`before` changes nothing, yet charges the quota', async () => {
    const service = await startService()
    await addFault(service, { respond: { error: 'internal_error' }, times: 1 })
    expect((await service.send(...ADD)).status).toBe(500)
    const after = await service.get('/domains')
    expect(after.body.data.domains).toEqual([])
    expect(quotaOf(after.headers).remaining).toBe(28)
  })

  it('`after` has made the change when its answer is another', async () => {
    const service = await startService()
    await addFault(service, { phase: 'after', respond: { error: 'internal_error' }, times: 1 })
    expect((await service.send(...ADD)).status).toBe(500)
    expect((await service.get('/domains')).body.data.domains).toEqual(['new.example'])
    expect((await service.send(...ADD)).body.error.code).toBe('invalid_domain')
  })

  it('`before` reads no body, so that an unlawful request gets the injected answer', async () => {
    const service = await startService()
    await addFault(service, { respond: { error: 'rate_limited' } })
    expect((await service.send('POST', '/domains', '{broken')).status).toBe(429)
  })

  it.each(['before', 'after'] as const)('`%s` leaves alone what was refused at the gate', async (phase) => {
    const service = await startService({ fixture: ACCOUNT })
    await addFault(service, { phase, respond: { status: 599 } })
    expect((await service.send('GET', '/domains', undefined, { authorization: null })).status).toBe(401)
    expect((await service.get('/nowhere')).status).toBe(404)
    await askControl(service, 'PATCH', '/accounts/default/quotas', { bucket: 'domains', remaining: 0 })
    expect((await service.get('/domains')).status).toBe(429)
    await askControl(service, 'PATCH', '/accounts/default', { plan: 'below-stone' })
    expect((await service.get('/dmarc')).status).toBe(403)
    expect(await faultsOf(service)).toMatchObject([{ matched: 0, hits: 0 }])
  })
})

describe('A match', () => {
  const REQUESTS = ['GET /domains', 'HEAD /domains', 'POST /domains', 'GET /dmarc', 'GET /domaingroups']

  it.each([
    [{}, REQUESTS],
    [{ operation: 'listDomains' }, ['GET /domains', 'HEAD /domains']],
    [{ method: 'GET' }, ['GET /domains', 'GET /dmarc', 'GET /domaingroups']],
    [{ method: 'HEAD' }, ['HEAD /domains']],
    [{ path: '/domains' }, ['GET /domains', 'HEAD /domains', 'POST /domains']],
    [{ path: '/domains', method: 'POST' }, ['POST /domains']],
    [{ key: 'key_TestKey1' }, REQUESTS],
    [{ key: 'key_TestKey2' }, []],
  ])('of %j matches %j', async (match, matched) => {
    const service = await startService({ fixture: ACCOUNT })
    await addFault(service, { match, respond: { status: 599 } })
    const answers: string[] = []
    for (const request of REQUESTS) {
      const [method = '', path = ''] = request.split(' ')
      const body = method === 'POST' ? { body: '{}', headers: [AUTHORIZED, JSON_BODY] } : {}
      const { status } = await raw(service, { method, target: `/api/v1${path}`, ...body })
      if (status === 599) answers.push(request)
    }
    expect(answers).toEqual(matched)
    expect(await faultsOf(service)).toMatchObject([{ matched: matched.length, hits: matched.length }])
  })

  it('may name a key that comes later', async () => {
    const service = await startService()
    await addFault(service, { match: { key: 'key_Later001' }, respond: { error: 'rate_limited' } })
    const { data } = await askControl(service, 'POST', '/accounts/default/keys', {
      key: `key_Later001.${'0'.repeat(48)}`,
    })
    expect((await service.get('/domains')).status).toBe(200)
    const headers = { authorization: `Bearer ${data.api_key}` }
    expect((await service.send('GET', '/domains', undefined, headers)).status).toBe(429)
  })
})

describe('Of the requests that a rule matches', () => {
  it.each([
    [{ skip: 2 }, '..xxxx', { matched: 6, hits: 4, state: 'active' }],
    [{ times: 2 }, 'xx....', { matched: 2, hits: 2, state: 'spent' }],
    [{ skip: 1, times: 3 }, '.xxx..', { matched: 4, hits: 3, state: 'spent' }],
    [{ probability: 0 }, '......', { matched: 6, hits: 0, state: 'active' }],
    [{ probability: 1 }, 'xxxxxx', { matched: 6, hits: 6, state: 'active' }],
    [{ probability: 0, times: 1 }, '......', { matched: 6, hits: 0, state: 'active' }],
  ])('%j acts on %s', async (chosen, affected, tally) => {
    const service = await startService()
    await addFault(service, { ...chosen, respond: { error: 'rate_limited' } })
    expect(await limited(service, 6)).toBe(affected)
    expect(await faultsOf(service)).toMatchObject([tally])
  })

  it('the first rule in order of creation that acts is the only one', async () => {
    const service = await startService()
    await addFault(service, { times: 1, respond: { error: 'rate_limited' } })
    await addFault(service, { skip: 1, times: 1, respond: { error: 'internal_error' } })
    await addFault(service, { respond: { error: 'unauthorized' } })
    const statuses: number[] = []
    for (let request = 0; request < 4; request++) statuses.push((await service.get('/domains')).status)
    // The second rule is not asked about the first request, lets one pass, and acts on the next.
    expect(statuses).toEqual([429, 401, 500, 401])
    expect(await faultsOf(service)).toMatchObject([
      { matched: 1, hits: 1, state: 'spent' },
      { matched: 2, hits: 1, state: 'spent' },
      { matched: 2, hits: 2, state: 'active' },
    ])
  })

  it('none is affected once the rule has expired by the clock of the account, to the millisecond', async () => {
    const service = await startService()
    await addFault(service, { expires_after: 'PT10M', respond: { error: 'rate_limited' } })
    expect((await faultsOf(service))[0]?.created_at).toBe(instant(0).replace('.000Z', 'Z'))
    service.advance(600_000 - 1)
    expect((await service.get('/domains')).status).toBe(429)
    service.advance(1)
    expect((await service.get('/domains')).status).toBe(200)
    expect(await faultsOf(service)).toMatchObject([{ matched: 1, hits: 1, state: 'expired' }])
  })

  it('none is affected any more when the rule is removed, and the others stay', async () => {
    const service = await startService()
    const first = await addFault(service, { respond: { error: 'rate_limited' } })
    await addFault(service, { respond: { error: 'internal_error' } })
    expect((await service.get('/domains')).status).toBe(429)
    await askControl(service, 'DELETE', `/accounts/default/faults/${first.id}`)
    expect((await service.get('/domains')).status).toBe(500)
    expect((await askControl(service, 'DELETE', `/accounts/default/faults/${first.id}`)).error.message).toBe(
      'There is no fault "fault_1".',
    )
    await askControl(service, 'DELETE', '/accounts/default/faults')
    expect((await service.get('/domains')).status).toBe(200)
    expect((await addFault(service, { delay_ms: 0 })).id).toBe('fault_3')
  })
})

describe('Chance', () => {
  const RULE = { probability: 0.5, respond: { error: 'rate_limited' } }

  it('chooses the same requests of every server that is started alike', async () => {
    const patterns = []
    for (let run = 0; run < 2; run++) {
      const service = await startService({ enforceQuotas: false })
      await addFault(service, RULE)
      patterns.push(await limited(service, 60))
    }
    expect(patterns[0]).toBe(patterns[1])
    expect(patterns[0]).toMatch(/x.*\..*x/)
  })

  it('depends on the seed, the account, the rule and the ordinal, and not on the time or other requests', async () => {
    const draw = async (
      { seed = 42, account = 'one', before = 0 },
      disturb: (service: TestService) => unknown = () => {},
    ) => {
      const service = await startService({ seed, enforceQuotas: false })
      const { data } = await askControl(service, 'POST', '/accounts', { id: account })
      for (let rule = 0; rule < before; rule++) await addFault(service, { delay_ms: 0, probability: 0 }, account)
      await addFault(service, { ...RULE, match: { path: '/domains' } }, account)
      let pattern = ''
      for (let request = 0; request < 40; request++) {
        await disturb(service)
        const headers = { authorization: `Bearer ${data.api_key}` }
        pattern += (await service.send('GET', '/domains', undefined, headers)).status === 429 ? 'x' : '.'
      }
      return pattern
    }
    const usual = await draw({})
    expect(await draw({}, (service) => service.advance(HOUR))).toBe(usual)
    expect(await draw({}, (service) => service.get('/dmarc'))).toBe(usual)
    expect(await draw({ seed: 43 })).not.toBe(usual)
    expect(await draw({ account: 'two' })).not.toBe(usual)
    expect(await draw({ before: 1 })).not.toBe(usual)
  })

  it('chooses about as many requests as it should', async () => {
    const service = await startService({ enforceQuotas: false })
    await addFault(service, { ...RULE, probability: 0.2 })
    const affected = (await limited(service, 500)).replaceAll('.', '').length
    // With the seed of these tests; five standard deviations to each side.
    expect(affected).toBeGreaterThan(55)
    expect(affected).toBeLessThan(145)
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
      texts.add((await raw(service, { method: 'DELETE', target: '/api/v1/domaingroups' })).text)
    }
    expect(texts.size).toBeGreaterThan(1)
    for (const text of texts) expect(contract.checkFailure(isJson(text) ? JSON.parse(text) : text)).not.toEqual([])
  })

  it('leaves HEAD alone, which has no body', async () => {
    const service = await startService()
    await addFault(service, { corrupt: 'wrong-type' })
    const genuine = await (await startService()).get('/domains')
    const response = await raw(service, { method: 'HEAD', target: '/api/v1/domains' })
    expect(headerOf(response, 'content-length')).toBe(genuine.headers['content-length'])
    expect((await journalOf(service))[0]?.injected).toBe(false)
  })
})

describe('The rules of an account', () => {
  const RULES = [
    { description: 'once', times: 1, respond: { error: 'rate_limited' } },
    { skip: 3, phase: 'after', respond: { status: 503, headers: { 'x-a': 'b' }, body: { a: [1] } } },
  ] as const

  it('survive a restart with their tallies', async () => {
    const data = temporaryFolder()
    const first = await startService({ data, store: undefined })
    for (const rule of RULES) await addFault(first, rule)
    await first.get('/domains')
    await first.get('/domains')
    const before = await faultsOf(first)
    await first.stop()
    const second = await startService({ data, store: undefined })
    expect(await faultsOf(second)).toEqual(before)
    expect(before).toMatchObject([
      { hits: 1, state: 'spent' },
      { matched: 1, hits: 0 },
    ])
    expect((await addFault(second, { delay_ms: 0 })).id).toBe('fault_3')
  })

  it('go on drawing after a restart where they left off', async () => {
    const data = temporaryFolder()
    const whole = await startService({ enforceQuotas: false })
    await addFault(whole, { probability: 0.5, respond: { error: 'rate_limited' } })
    const expected = await limited(whole, 20)
    const options = { data, store: undefined, enforceQuotas: false }
    const first = await startService(options)
    await addFault(first, { probability: 0.5, respond: { error: 'rate_limited' } })
    const begun = await limited(first, 9)
    await first.stop()
    expect(begun + (await limited(await startService(options), 11))).toBe(expected)
  })

  it('are gone after a reset, but for those that the server gives to every account', async () => {
    const service = await startService({ faults: ['flaky'] })
    const given = await faultsOf(service)
    expect(given.map(({ set }) => set)).toEqual(['flaky', 'flaky', 'flaky'])
    await addFault(service, { times: 1, respond: { error: 'rate_limited' } })
    await askControl(service, 'DELETE', `/accounts/default/faults/${given[0]?.id}`)
    await service.sendRaw(requestBytes({ target: '/api/v1/domains', headers: [AUTHORIZED, CLOSE] }))
    await askControl(service, 'POST', '/accounts/default/reset')
    expect(await faultsOf(service)).toEqual(given)
  })

  it('come back with a snapshot as they were, tallies included', async () => {
    const service = await startService()
    await addFault(service, { times: 2, respond: { error: 'rate_limited' } })
    expect(await limited(service, 1)).toBe('x')
    const before = await faultsOf(service)
    await askControl(service, 'POST', '/accounts/default/snapshots', { name: 'one' })
    expect(await limited(service, 2)).toBe('x.')
    await askControl(service, 'DELETE', '/accounts/default/faults')
    await addFault(service, { respond: { error: 'internal_error' } })
    await askControl(service, 'POST', '/accounts/default/snapshots/one/restore')
    expect(await faultsOf(service)).toEqual(before)
    expect(await limited(service, 2)).toBe('x.')
  })

  it('are no other account’s', async () => {
    const service = await startService()
    const { data } = await askControl(service, 'POST', '/accounts', { id: 'other' })
    await addFault(service, { respond: { error: 'rate_limited' } }, 'other')
    expect((await service.get('/domains')).status).toBe(200)
    const headers = { authorization: `Bearer ${data.api_key}` }
    expect((await service.send('GET', '/domains', undefined, headers)).status).toBe(429)
    expect(await faultsOf(service)).toEqual([])
  })

  it('leave no tally behind when they are removed', async () => {
    const service = await startService()
    for (let round = 0; round < 5; round++) {
      const { id } = await addFault(service, { times: 1, respond: { error: 'rate_limited' } })
      await service.get('/domains')
      await askControl(service, 'DELETE', `/accounts/default/faults/${id}`)
    }
    await addFault(service, { delay_ms: 0 })
    await service.get('/domains')
    expect([...(await service.store.counters('default')).tallies.keys()]).toEqual(['fault_6'])
  })
})

describe('What was injected', () => {
  it('is counted apart in the coverage', async () => {
    const service = await startService()
    await addFault(service, { match: { operation: 'listDmarc' }, respond: { error: 'rate_limited' } })
    await service.get('/dmarc')
    await service.get('/domains')
    const { data } = await askControl(service, 'GET', '/accounts/default/coverage')
    const responsesOf = (id: string) =>
      data.operations.find((each: { operation: string }) => each.operation === id).responses
    expect(responsesOf('listDmarc')).toContainEqual(
      expect.objectContaining({ status: 429, code: 'rate_limited', genuine: 0, injected: 1 }),
    )
    expect(responsesOf('listDomains')).toContainEqual(expect.objectContaining({ status: 200, genuine: 1, injected: 0 }))
  })

  it('is explained by what became of the answer', async () => {
    const service = await startService()
    await addFault(service, { respond: { error: 'rate_limited' } })
    const { headers } = await service.get('/dmarc')
    const { data } = await askControl(service, 'GET', `/explain/${headers['x-request-id']}`)
    expect(data).toMatchObject({
      summary:
        'The service did nothing, because the fault rule fault_1 acted before the request was read. ' +
        "The error rate_limited was answered in place of the service's own answer.",
      documented: false,
      correction: null,
      fault: { source: 'rule', id: 'fault_1' },
    })
  })
})

describe('The library', () => {
  it('keeps a rule as it was given, whatever becomes of the objects afterwards', async () => {
    const { startUnderstudy } = await import('../../src/start/server.ts')
    await using service = await startUnderstudy({ fixture: 'empty', clock: () => START })
    const rule = { respond: { status: 503, headers: { 'x-a': 'b' } } }
    const added = await service.account.faults.add(rule)
    rule.respond.status = 999
    Object.assign(added.rule, { delay_ms: 5000 })
    const [listed] = await service.account.faults.list()
    expect(listed?.rule).toEqual({ respond: { status: 503, headers: { 'x-a': 'b' } } })
    const [set] = await service.listFaultSets()
    Object.assign(set ?? {}, { name: 'mine' })
    expect((await service.listFaultSets())[0]?.name).not.toBe('mine')
  })
})

async function raw(service: TestService, request: WireRequest) {
  const headers = [...(request.headers ?? [AUTHORIZED]), CLOSE]
  const [response] = readResponses(await service.sendRaw(requestBytes({ ...request, headers })), [
    request.method ?? 'GET',
  ])
  if (response === undefined) throw new Error('There was no response.')
  return response
}

/** Which of so many requests were answered with 429. */
async function limited(service: TestService, count: number): Promise<string> {
  let pattern = ''
  for (let request = 0; request < count; request++) {
    pattern += (await service.get('/domains')).status === 429 ? 'x' : '.'
  }
  return pattern
}

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

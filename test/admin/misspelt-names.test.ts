import { describe, expect, it } from 'vitest'
import { addFault } from '../support/control-plane.ts'
import { startObserved } from '../support/observed-service.ts'

/** A condition of a list or of a verification, and the message that refuses it. */
const MISTAKES: [condition: Record<string, unknown>, message: string | RegExp][] = [
  [{ operation: 'addDomain' }, /must be one of listDmarc, .*, not "addDomain"\. Did you mean addDomains\?$/],
  [{ operation: 'add_domains' }, /Did you mean addDomains\?$/],
  [{ operation: '__proto__' }, /must be one of listDmarc, /],
  [{ operation: 'nope' }, /must be one of listDmarc, listDomains, .*, not "nope"\.$/],
  [{ code: 'ratelimited' }, /Did you mean rate_limited\?$/],
  [{ code: 'teapot' }, /must be one of unauthorized, .*, not "teapot"\.$/],
  [{ status: 999 }, /status/],
  [{ status: 299 }, /must be one of 200, 400, .*, not "?299"?\./],
  [{ method: 'post' }, /Did you mean POST\?$/],
  [{ method: 'GTE' }, /Did you mean GET\?$/],
  [{ path: '/domain' }, /Did you mean \/domains\?$/],
  [{ path: '/api/v1/domains' }, /must be one of \/dmarc, \/domains, \/domaingroups/],
  [{ operation: 'listDomains', code: 'duplicate_name' }, /cannot be "duplicate_name": listDomains has unauthorized, /],
  [{ operation: 'listDomains', status: 409 }, /cannot be 409: listDomains has 200, 401, /],
  [{ operation: 'listDomains', method: 'POST' }, /cannot be "POST": listDomains has GET, HEAD\.$/],
  [{ operation: 'listDomains', path: '/dmarc' }, /cannot be "\/dmarc": listDomains has \/domains\.$/],
]

describe('a condition that no request can meet is refused', () => {
  it.each(MISTAKES)('%j in the lists of requests', async (condition, message) => {
    const service = await startObserved()
    const query = new URLSearchParams(
      Object.entries(condition).map(([name, value]): [string, string] => [name, String(value)]),
    )
    for (const path of ['/requests', '/accounts/default/requests']) {
      const { status, error } = await service.ask('GET', `${path}?${query}`)
      expect({ status, code: error?.code }, path).toEqual({ status: 400, code: 'invalid_value' })
      expect(error.message).toMatch(message)
    }
  })

  it.each(MISTAKES)('%j in a verification, which would pass with a count of 0', async (match, message) => {
    const service = await startObserved()
    const { status, error } = await service.ask('POST', '/accounts/default/requests/verify', { match, count: 0 })
    expect({ status, code: error?.code }).toEqual({ status: 400, code: 'invalid_value' })
    expect(error.message).toMatch(message)
    expect(error.problems[0].field).toMatch(/^\/match\//)
  })

  it('such as one of two that are given for one parameter', async () => {
    const service = await startObserved()
    const { status, error } = await service.ask('GET', '/requests?operation=addDomains&operation=deleteDomains')
    expect(status).toBe(400)
    expect(error.message).toBe('The query parameter `operation` is given more than once.')
  })

  it('such as a fault rule that the account never had', async () => {
    const service = await startObserved()
    await addFault(service, { delay_ms: 1 })
    const { error } = await service.ask('GET', '/accounts/default/requests?fault=fault_11')
    expect(error.message).toMatch(/Did you mean fault_1\?$/)
  })

  it('such as a key that the account never had', async () => {
    const service = await startObserved()
    const body = { match: { key: 'key_TestKey' }, count: 0 }
    const { error } = await service.ask('POST', '/accounts/default/requests/verify', body)
    expect(error.message).toMatch(/Did you mean key_TestKey1\?$/)
  })
})

describe('a condition that a request can meet is accepted', () => {
  it.each<[what: string, condition: object]>([
    ['a method that the service does not have', { method: 'PUT' }],
    ['a status outside of every operation', { status: 405 }],
    ['a refusal of an operation', { operation: 'addDomains', code: 'request_too_large', status: 413 }],
    ['a HEAD', { operation: 'listDomains', method: 'HEAD' }],
  ])('%s', async (_, match) => {
    const service = await startObserved()
    const { status, data } = await service.ask('POST', '/accounts/default/requests/verify', { match, count: 0 })
    expect({ status, passed: data.passed }).toEqual({ status: 200, passed: true })
  })

  it('the status of a fault rule, and one that was received from a rule that is gone', async () => {
    const service = await startObserved()
    const verify = () => service.ask('POST', '/accounts/default/requests/verify', { match: { status: 299 } })
    const { id } = await addFault(service, { respond: { status: 299 } })
    expect((await verify()).data.passed).toBe(false)
    await service.get('/domains').catch(() => {})
    await service.ask('DELETE', `/accounts/default/faults/${id}`)
    expect((await verify()).data).toMatchObject({ passed: true, matched: 1 })
  })

  it('a path that somebody has asked for, though the service has none', async () => {
    const service = await startObserved()
    await service.get('/domain')
    expect((await service.ask('GET', '/requests?path=/domain')).data.count).toBe(1)
  })
})

describe('a misspelt name elsewhere is refused with the nearest one', () => {
  it.each<[method: string, path: string, body: object | undefined, status: number, message: RegExp]>([
    ['POST', '/accounts/default/faults', { match: { operation: 'addDomain' }, delay_ms: 1 }, 400, /mean addDomains\?/],
    ['POST', '/accounts/default/faults', { match: { path: '/domain' }, delay_ms: 1 }, 400, /mean \/domains\?/],
    ['POST', '/accounts/default/faults', { respond: { error: 'ratelimited' } }, 400, /mean rate_limited\?/],
    ['POST', '/accounts/default/fault-sets/flakey', undefined, 404, /no fault set "flakey"\. Did you mean flaky\?/],
    ['POST', '/accounts/default/fault-sets/nope', undefined, 404, /no fault set "nope"; there are flaky, /],
    ['PATCH', '/accounts/default/quotas', { bucket: 'domain', remaining: 1 }, 400, /mean domains\?/],
    ['POST', '/accounts', { plan: 'stones' }, 400, /mean stone\?/],
    ['PATCH', '/accounts/default', { plan: 'stones' }, 400, /mean stone\?/],
    ['POST', '/accounts', { fixture: 'agencies' }, 400, /agency/],
  ])('%s %s %j', async (method, path, body, status, message) => {
    const service = await startObserved({ fixture: { domains: ['one.example'] } })
    const answer = await service.ask(method, path, body)
    expect(answer.status).toBe(status)
    expect(answer.error.message).toMatch(message)
  })
})

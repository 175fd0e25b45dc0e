import { describe, expect } from 'vitest'
import { ACCOUNT } from '../../support/account.ts'
import { it } from '../../support/example-service.ts'
import { startService } from '../../support/service.ts'
import { AUTHORIZED, exchange, type Header, headerOf, type WireRequest } from '../../support/wire.ts'
import { ADDITION, DOMAINS, GROUPS, UUID } from './requests.ts'

/** An id that a client asks for. */
const ASKED = '00000000-0000-4000-8000-000000000000'

describe('The headers of an answer', () => {
  const ALWAYS = ['content-type', 'content-length', 'x-request-id', 'date', 'connection']
  const QUOTA = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']

  it.for<[status: number, what: string, more: string[], request: WireRequest]>([
    [200, 'GET', QUOTA, { target: DOMAINS }],
    [200, 'HEAD', QUOTA, { method: 'HEAD', target: '/api/v1/dmarc' }],
    [400, 'no id', QUOTA, { method: 'DELETE', target: GROUPS }],
    [401, 'no key', ['www-authenticate'], { target: DOMAINS, headers: [] }],
    [404, 'an unknown path', [], { target: '/nothing' }],
    [404, 'an unknown path without a key', [], { target: '/nothing', headers: [] }],
    [429, 'its quota used', QUOTA, { target: '/api/v1/dmarc' }],
    [403, 'a plan below Stone', [], { target: '/api/v1/dmarc' }],
    [404, 'an unknown id', QUOTA, { target: `${GROUPS}?id=0` }],
    [405, 'a wrong method', ['allow'], { method: 'PUT', target: DOMAINS }],
    [409, 'a name that is taken', QUOTA, { ...ADDITION, target: GROUPS, body: '{"name":"sales"}' }],
    [413, 'a large body', QUOTA, { ...ADDITION, body: ' '.repeat(1_048_577) }],
  ])('are those of the contract and no other, on %i for %s', async ([status, , more, request]) => {
    const service = await startService({ fixture: ACCOUNT, plan: status === 403 ? 'below-stone' : 'stone' })
    if (status === 429) for (let used = 0; used < 10; used++) await service.get('/dmarc')
    const headers: Header[] = [...(request.headers ?? [AUTHORIZED]), ['X-Request-Id', ASKED]]
    const response = await exchange(service, { ...request, headers })
    expect(response.status).toBe(status)
    expect(response.headers.map(([name]) => name.toLowerCase()).sort()).toEqual([...ALWAYS, ...more].sort())
    const id = headerOf(response, 'X-Request-Id')
    expect(id).toMatch(UUID)
    expect(id).not.toBe(ASKED)
  })
})

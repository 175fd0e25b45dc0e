import { describe, expect, it } from 'vitest'
import { ACCOUNT } from '../../support/account.ts'
import { startService } from '../../support/service.ts'
import { refusal } from './endpoints.ts'

describe('Errors', () => {
  it.each<[code: string, meaning: string, method: string, path: string, body?: unknown, headers?: object]>([
    ['unauthorized', 'a missing key', 'GET', '/domains', undefined, { authorization: null }],
    ['invalid_json', 'a body that is not valid JSON', 'POST', '/domains', '{"domains":'],
    ['invalid_request_body', 'a missing body', 'POST', '/domains', '', { 'content-type': 'application/json' }],
    ['unknown_field', 'an unsupported field', 'POST', '/domains', { domains: ['a.example'], notes: '' }],
    ['missing_field', 'a missing required field', 'POST', '/domains', {}],
    ['invalid_field_type', 'a field of the wrong type', 'POST', '/domains', { domains: 'a.example' }],
    ['invalid_domain', 'invalid domain syntax', 'POST', '/domains', { domains: ['-'] }],
    ['domain_delete_failed', 'a domain that cannot be removed', 'DELETE', '/domains', { domains: ['used.example'] }],
    ['request_too_large', 'a body that is too large', 'POST', '/domains', ' '.repeat(1_048_577)],
    ['duplicate_name', 'a name that a group has already', 'POST', '/domaingroups', { name: 'Sales' }],
    ['not_monitored', 'an unmonitored domain', 'POST', '/domaingroups', { name: 'X', domains: ['stranger.example'] }],
    ['no_fields_to_update', 'an update without a field', 'PATCH', '/domaingroups?id=00000000', {}],
    ['conflicting_fields', 'mixed changes', 'PATCH', '/domaingroups?id=0', { domains: [], add_domains: [] }],
    ['not_found', 'an id that does not exist', 'GET', '/domaingroups?id=00000000'],
    ['missing_id', 'an absent id', 'DELETE', '/domaingroups'],
    ['invalid_name', 'an empty name', 'POST', '/domaingroups', { name: '' }],
  ])('answers `%s` for %s', async (code, _, method, path, body, headers) => {
    const service = await startService({ fixture: ACCOUNT })
    const response = await service.send(method, path, body, { ...headers })
    expect(response.body).toEqual(refusal(code))
  })

  it('answers `rate_limited` for too many requests', async () => {
    const service = await startService()
    for (let request = 0; request < 10; request++) await service.get('/dmarc')
    expect((await service.get('/dmarc')).body).toEqual(refusal('rate_limited'))
  })

  it('gives each failure an X-Request-Id of its own to quote to support', async () => {
    const service = await startService()
    const one = await service.get('/domaingroups?id=00000000')
    const two = await service.get('/domaingroups?id=00000000')
    expect(one.headers['x-request-id']).not.toBe(two.headers['x-request-id'])
  })
})

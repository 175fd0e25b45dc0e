import { describe, expect, it } from 'vitest'
import { startService } from '../support/service.ts'

describe('a body within the limit of bytes but with a hundred thousand faults', () => {
  it.each([
    ['POST', '/domaingroups', { name: 'Zeros', domains: Array(130_000).fill(0) }, 'invalid_field_type'],
    ['POST', '/domains', { domains: Array(200_000).fill('') }, 'request_too_large'],
    ['DELETE', '/domains', { domains: Array(200_000).fill('') }, 'invalid_domain'],
    ['PATCH', '/domaingroups?id=unknown0', { domains: Array(170_000).fill('a.b') }, 'not_found'],
    ['PATCH', '/domaingroups?id=unknown0', { name: '', add_domains: Array(170_000).fill(null) }, 'invalid_field_type'],
  ])('is refused by %s %s as any other', async (method, path, body, code) => {
    const service = await startService()
    const response = await service.send(method, path, body)
    expect(response.body.error.code).toBe(code)
    expect(response.text.length).toBeLessThan(400)
  })
})

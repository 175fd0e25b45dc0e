import { describe, expect, it } from 'vitest'
import { ACCOUNT } from '../../support/account.ts'
import { API_KEY, startService } from '../../support/service.ts'
import { call, ENDPOINTS, refusal } from './endpoints.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

describe('Every endpoint', () => {
  it.each(ENDPOINTS)('[key-required] %s %s requires authentication', async (method, path, body) => {
    const service = await startService({ fixture: ACCOUNT })
    const refused = await call(service, method, path, body, { authorization: null })
    expect(refused.body).toEqual(refusal('unauthorized'))
    expect((await call(service, method, path, body)).body.success).toBe(true)
  })

  it.each(ENDPOINTS)('%s %s succeeds with the envelope {success, data}', async (method, path, body) => {
    const service = await startService({ fixture: ACCOUNT })
    const response = await call(service, method, path, body)
    expect(response.body).toEqual({ success: true, data: expect.anything() })
  })

  it.each(ENDPOINTS)('%s %s fails with the envelope {success, error: {code, message}}', async (method, path, body) => {
    const service = await startService({ fixture: ACCOUNT, plan: 'below-stone' })
    const { body: failure } = await call(service, method, path, body)
    expect(failure).toEqual({
      success: false,
      error: { code: expect.any(String), message: expect.any(String) },
    })
  })

  it.each(ENDPOINTS)('%s %s carries X-Request-Id in success and failure', async (method, path, body) => {
    const service = await startService({ fixture: ACCOUNT })
    const failure = await call(service, method, path, body, { authorization: null })
    const success = await call(service, method, path, body)
    for (const { headers } of [failure, success]) expect(headers['x-request-id']).toMatch(UUID)
  })

  it.each(ENDPOINTS)('%s %s is accompanied by rate-limit headers', async (method, path, body) => {
    const service = await startService({ fixture: ACCOUNT })
    const { headers } = await call(service, method, path, body)
    for (const name of ['limit', 'remaining', 'reset']) expect(headers[`x-ratelimit-${name}`]).toMatch(/^\d+$/)
  })

  it.each(ENDPOINTS.filter(([, , body]) => body !== undefined))(
    '%s %s wants Content-Type: application/json and a JSON object',
    async (method, path, body) => {
      const service = await startService({ fixture: ACCOUNT })
      const bare = await call(service, method, path, body, { 'content-type': 'text/plain' })
      expect(bare.body).toEqual(refusal('invalid_request_body'))
      expect((await call(service, method, path, [body])).body).toEqual(refusal('invalid_request_body'))
    },
  )

  it.each(ENDPOINTS)('%s %s lies below the version segment /api/v1 and nowhere else', async (method, path, body) => {
    const service = await startService({ fixture: ACCOUNT })
    expect(service.baseUrl).toMatch(/\/api\/v1$/)
    expect((await call(service, method, path, body)).body.success).toBe(true)
    for (const base of ['', '/api', '/v1', '/api/v2']) {
      const response = await fetch(new URL(base + path, service.baseUrl), {
        method,
        headers: { authorization: `Bearer ${API_KEY}` },
      })
      expect(response.status).toBe(404)
    }
  })
})

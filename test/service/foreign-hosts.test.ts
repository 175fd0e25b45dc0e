import { describe, expect } from 'vitest'
import type { ServerOptions } from '../../src/start/options.ts'
import { askControl } from '../support/control-plane.ts'
import { it } from '../support/example-service.ts'
import { sendRequest } from '../support/request.ts'
import { API_KEY, startService } from '../support/service.ts'

const EVIL = 'evil.example'

/** The status of a small read with this Host. */
async function statusFor(options: ServerOptions, host: string): Promise<number> {
  const service = await startService(options)
  return (await service.send('GET', '/domains', undefined, { host })).status
}

describe('on a loopback address, a request', () => {
  it.each<[host: string, status: number]>([
    ['127.0.0.1:1', 200],
    ['LocalHost:80', 200],
    ['[::1]:4010', 200],
    [`${EVIL}:4010`, 401],
    ['localhost.evil.example', 401],
    ['192.0.2.1', 401],
  ])('with the Host %j is answered with %i', async (host, status) => {
    expect(await statusFor({}, host)).toBe(status)
  })

  it('with a foreign Host reads nothing, changes nothing and counts nothing', async () => {
    const service = await startService({ apiKey: API_KEY })
    for (const [method, path, body] of [
      ['GET', '/domains'],
      ['HEAD', '/domains'],
      ['POST', '/domains', { domains: ['a.example'] }],
      ['DELETE', '/nothing'],
      ['OPTIONS', '/domains'],
    ] as const) {
      const refusal = await service.send(method, path, body, { host: EVIL })
      expect([refusal.status, refusal.headers['x-ratelimit-limit']]).toEqual([401, undefined])
      expect(refusal.headers['access-control-allow-origin']).toBeUndefined()
      if (method === 'HEAD') continue
      expect(refusal.body).toEqual({ success: false, error: { code: 'unauthorized', message: expect.any(String) } })
    }
    const sandbox = await service.send('GET', '/domains', undefined, {
      host: EVIL,
      authorization: 'Bearer sandbox_x',
    })
    expect(sandbox.status).toBe(401)
    expect((await askControl(service, 'GET', '/accounts')).data.count).toBe(1)
    const { body, headers } = await service.get('/domains')
    expect(body.data.domains).toEqual([])
    expect(headers['x-ratelimit-remaining']).toBe('29')
  })

  it('with a foreign Host meets no fault and no preference', async ({ empty }) => {
    await askControl(empty, 'POST', '/accounts/default/faults', { respond: { status: 503 } })
    const { status } = await empty.send('GET', '/domains', undefined, { host: EVIL, prefer: 'code=429' })
    expect(status).toBe(401)
    expect((await askControl(empty, 'GET', '/accounts/default/faults')).data.faults[0].hits).toBe(0)
  })

  it('with a foreign Host is one of the account of its key, explained, and no violation', async ({ empty }) => {
    const { headers } = await empty.send('GET', '/domains', undefined, { host: EVIL })
    await empty.get('/domains')
    const [listed] = (await askControl(empty, 'GET', '/accounts/default/requests')).data.requests
    expect(listed).toMatchObject({ request_id: headers['x-request-id'], account: 'default', status: 401 })
    expect((await askControl(empty, 'GET', '/requests?violation=true')).data.count).toBe(0)
    const { data } = await askControl(empty, 'GET', `/explain/${headers['x-request-id']}`)
    expect(data.summary).toContain('The header `Host` names another server than this one')
    expect((await askControl(empty, 'GET', '/verdict')).data.passed).toBe(true)
  })

  it('with a foreign Host for the root of the server is told nothing of it', async ({ empty }) => {
    const root = `${new URL(empty.baseUrl).origin}/`
    const refusal = await sendRequest('GET', root, undefined, { host: EVIL })
    expect([refusal.status, refusal.body.error.code]).toEqual([401, 'unauthorized'])
    expect(refusal.text).not.toContain('__admin')
    expect((await sendRequest('GET', root, undefined, { host: 'localhost' })).status).toBe(200)
  })

  it('with an empty Host is not answered', async ({ empty }) => {
    const refused = await empty.sendRaw('GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n')
    expect(refused).toMatch(/^HTTP\/1\.1 401 /)
  })

  it.each<[origin: string, host: string, status: number]>([
    ['http://app.example:5173', 'app.example:5173', 200],
    ['http://app.example:5173', 'app.example:4010', 200],
    ['http://app.example:5173', EVIL, 401],
    ['*', EVIL, 200],
  ])('may have the Host of a page: with --cors %s, %s is answered with %i', async (origin, host, status) => {
    expect(await statusFor({ cors: [origin] }, host)).toBe(status)
  })
})

it('on an address that other machines reach, any name may be its own', async () => {
  const service = await startService({ host: '0.0.0.0', admin: false })
  const url = service.baseUrl.replace('0.0.0.0', '127.0.0.1')
  const headers = { host: 'stand-in.example', authorization: `Bearer ${API_KEY}` }
  expect((await sendRequest('GET', `${url}/domains`, undefined, headers)).status).toBe(200)
})

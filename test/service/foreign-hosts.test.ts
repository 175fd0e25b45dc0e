import { describe, expect, it } from 'vitest'
import type { ServerOptions } from '../../src/start/options.ts'
import { askControl } from '../support/control-plane.ts'
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
    ['127.0.0.1', 200],
    ['127.0.0.1:1', 200],
    ['127.1.2.3:4010', 200],
    ['localhost', 200],
    ['LocalHost:80', 200],
    ['[::1]:4010', 200],
    [EVIL, 401],
    [`${EVIL}:4010`, 401],
    ['localhost.evil.example', 401],
    ['evil-localhost', 401],
    ['127.0.0.1.nip.io', 401],
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

  it('with a foreign Host meets no fault and no preference', async () => {
    const service = await startService()
    await askControl(service, 'POST', '/accounts/default/faults', { respond: { status: 503 } })
    const { status } = await service.send('GET', '/domains', undefined, { host: EVIL, prefer: 'code=429' })
    expect(status).toBe(401)
    expect((await askControl(service, 'GET', '/accounts/default/faults')).data.faults[0].hits).toBe(0)
  })

  it('with a foreign Host is in the journal of no account, is explained, and is no violation', async () => {
    const service = await startService()
    await service.get('/domains')
    const { headers } = await service.send('GET', '/domains', undefined, { host: EVIL })
    expect((await askControl(service, 'GET', '/accounts/default/requests')).data.count).toBe(1)
    const [, listed] = (await askControl(service, 'GET', '/requests')).data.requests
    expect(listed).toMatchObject({ request_id: headers['x-request-id'], account: null, status: 401 })
    expect((await askControl(service, 'GET', '/requests?violation=true')).data.count).toBe(0)
    const { data } = await askControl(service, 'GET', `/explain/${headers['x-request-id']}`)
    expect(data.summary).toContain('The header `Host` names another server than this one')
    expect((await askControl(service, 'GET', '/verdict')).data.passed).toBe(true)
  })

  it('with a foreign Host for the root of the server is told nothing of it', async () => {
    const service = await startService()
    const root = `${new URL(service.baseUrl).origin}/`
    const refusal = await sendRequest('GET', root, undefined, { host: EVIL })
    expect([refusal.status, refusal.body.error.code]).toEqual([401, 'unauthorized'])
    expect(refusal.text).not.toContain('__admin')
    expect((await sendRequest('GET', root, undefined, { host: 'localhost' })).status).toBe(200)
  })

  it('without Host, which no browser sends, is answered, but not one with an empty Host', async () => {
    const service = await startService()
    const { pathname } = new URL(service.baseUrl)
    const answer = await service.sendRaw(`GET ${pathname}/domains HTTP/1.0\r\nAuthorization: Bearer ${API_KEY}\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    const empty = await service.sendRaw('GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n')
    expect(empty).toMatch(/^HTTP\/1\.1 401 /)
  })

  it.each<[origin: string, host: string, status: number]>([
    ['http://app.example:5173', 'app.example:5173', 200],
    ['http://app.example:5173', 'app.example:4010', 200],
    ['http://app.example:5173', EVIL, 401],
    ['*', EVIL, 200],
  ])(
    'may have the Host of a page that may use the service: with --cors %s, %s is answered with %i',
    async (origin, host, status) => {
      expect(await statusFor({ cors: [origin] }, host)).toBe(status)
    },
  )
})

it('on an address that other machines reach, any name may be its own', async () => {
  const service = await startService({ host: '0.0.0.0', admin: false })
  const url = service.baseUrl.replace('0.0.0.0', '127.0.0.1')
  const headers = { host: 'stand-in.example', authorization: `Bearer ${API_KEY}` }
  expect((await sendRequest('GET', `${url}/domains`, undefined, headers)).status).toBe(200)
})

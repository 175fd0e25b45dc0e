import { describe, expect } from 'vitest'
import { prettify } from '../../src/cli/log.ts'
import type { ServerOptions } from '../../src/server/options.ts'
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
  it('with a foreign Host reads nothing, changes nothing and counts nothing', async () => {
    const service = await startService({ apiKey: API_KEY })
    for (const [method, path, body] of [
      ['GET', '/domains'],
      ['HEAD', '/domains'],
      ['POST', '/domains', { domains: ['a.example'] }],
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

  it('with a foreign Host is one of the account of its key, explained, and no violation', async ({ empty }) => {
    const { headers } = await empty.send('GET', '/domains', undefined, { host: EVIL })
    await empty.get('/domains')
    const [listed] = (await askControl(empty, 'GET', '/accounts/default/requests')).data.requests
    expect(listed).toMatchObject({ request_id: headers['x-request-id'], account: 'default', status: 401 })
    expect((await askControl(empty, 'GET', '/requests?violation=true')).data.count).toBe(0)
    const { data } = await askControl(empty, 'GET', `/explain/${headers['x-request-id']}`)
    expect(data.summary).toContain(`The header \`Host\` is \`${EVIL}\`, which is no name of this server`)
    expect((await askControl(empty, 'GET', '/verdict')).data.passed).toBe(true)
  })

  it('with a foreign Host for the root of the server is told nothing of it', async ({ empty }) => {
    const root = `${new URL(empty.baseUrl).origin}/`
    const refusal = await sendRequest('GET', root, undefined, { host: EVIL })
    expect([refusal.status, refusal.body.error.code]).toEqual([401, 'unauthorized'])
    expect(refusal.text).not.toContain('__admin')
    expect((await sendRequest('GET', root, undefined, { host: 'localhost' })).status).toBe(200)
  })

  it.each<[origin: string, host: string, status: number]>([
    ['http://app.example:5173', 'app.example:5173', 200],
    ['http://app.example:5173', EVIL, 401],
    ['*', EVIL, 200],
  ])('may have the Host of a page: with --cors %s, %s is answered with %i', async (origin, host, status) => {
    expect(await statusFor({ cors: [origin] }, host)).toBe(status)
  })
})

describe('the explanation of a request with a foreign Host', () => {
  const KEY = 'The header `Authorization` carries a valid key.'

  it.each<[host: string, option: string | undefined, key?: string | null]>([
    // An Android emulator, Docker Desktop, and a name of a local network.
    ['10.0.2.2:4010', 'http://10.0.2.2'],
    ['host.docker.internal:4010', 'http://host.docker.internal'],
    // No origin has this form of a name.
    ['192.168.257:4010', undefined],
    ['10.0.2.2:4010', 'http://10.0.2.2', 'Bearer nobodys'],
  ])(
    'names %s, the address that works, and the option that permits it: %s',
    async (host, option, authorization = `Bearer ${API_KEY}`) => {
      const service = await startService()
      const { headers, status } = await service.send('GET', '/domains', undefined, { host, authorization })
      expect(status).toBe(401)
      const { data } = await askControl(service, 'GET', `/explain/${headers['x-request-id']}`)
      expect(data.summary).toContain(`\`${host}\``)
      expect(data.summary).toContain(`${service.baseUrl} works`)
      const [, permitted] = /`--cors '?([^ ']+)'?` permits it/.exec(data.summary) ?? []
      expect(permitted).toBe(option)
      const address = `The address is that of the server, so that \`Host\` names it, instead of \`${host}\`.`
      expect(data.correction.changes).toEqual(authorization === `Bearer ${API_KEY}` ? [address] : [address, KEY])
      expect(data.correction.curl).toMatch(new RegExp(` ${service.baseUrl}/domains$`))
      if (permitted !== undefined) expect(await statusFor({ cors: [permitted] }, host)).toBe(200)
    },
  )
})

it('the log tells a foreign Host', async () => {
  const lines: object[] = []
  const keep = (fields: object) => lines.push(fields)
  const service = await startService({ log: { info: keep, warn: keep, error: keep } })
  await service.get('/domains')
  await service.send('GET', '/domaingroups', undefined, { host: '10.0.2.2:4010' })
  expect(lines).toMatchObject([
    { status: 200, host: undefined },
    { status: 401, host: '10.0.2.2:4010' },
  ])
  const line = JSON.stringify({ level: 30, time: '2026-01-15T09:30:01.000Z', msg: 'request', ...lines[1] })
  expect(prettify(line, false)).toMatch(/→ 401 unauthorized \(foreign Host 10\.0\.2\.2:4010, \d/)
})

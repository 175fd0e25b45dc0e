import { describe, expect, it } from 'vitest'
import { PAGE_VIEWS } from '../../src/admin/paths.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { askControl, startControlPlane } from '../support/control-plane.ts'
import { sendRequest } from '../support/request.ts'
import { startService, type TestService } from '../support/service.ts'

describe('the root of the server', () => {
  it('tells any other client what is here', async () => {
    const { understudy } = await startControlPlane()
    const { origin } = new URL(understudy.baseUrl)
    const data = {
      service: `${origin}/api/v1`,
      control_plane: `${origin}/__admin`,
      control_plane_document: `${origin}/__admin/openapi.json`,
      dashboard: `${origin}/__admin/`,
    }
    for (const path of ['/', '/?x=1']) {
      const { status, body } = await sendRequest('GET', origin + path)
      expect([status, body]).toEqual([200, { success: true, data }])
    }
    expect((await understudy.verdict()).requests, 'it is no request to the service').toBe(0)
  })

  /** What a browser sends, with these in place of its method and Host. */
  const fromBrowser = (method: string, host: string) =>
    `${method} / HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html,*/*;q=0.8\r\nConnection: close\r\n\r\n`

  it.each(['GET', 'HEAD'])('leads a browser that sends %s to the dashboard, which is no request', async (method) => {
    const service = await startService()
    const answer = await service.sendRaw(fromBrowser(method, '127.0.0.1'))
    expect(answer).toMatch(/^HTTP\/1\.1 302 Found\r\n/)
    expect(answer).toMatch(/\r\nLocation: \/__admin\/\r\n/)
    expect(answer).toMatch(/\r\nContent-Length: 0\r\n[\s\S]*\r\n\r\n$/)
    const ask = (path: string) => askControl(service, 'GET', path)
    expect((await ask('/verdict')).data.requests).toBe(0)
    expect((await ask('/requests')).data.requests).toEqual([])
    expect((await ask('/coverage')).data.summary.operations.seen).toBe(0)
  })

  it.each<[what: string, status: number, host: string, options: ServerOptions]>([
    ['under the name of another site', 401, 'rebound.example', {}],
    ['without a control plane', 404, '127.0.0.1', { admin: false }],
  ])('leads no browser there %s', async (_, status, host, options) => {
    const service = await startService(options)
    const answer = await service.sendRaw(fromBrowser('GET', host))
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(answer).not.toMatch(/Location|__admin/i)
  })

  it.each([
    ['POST', {}],
    ['GET', { admin: false }],
  ] as const)('is a path that the service does not have, for %s with %j', async (method, options) => {
    const service = await startService(options)
    const { status, body } = await sendRequest(method, `${new URL(service.baseUrl).origin}/`)
    expect({ status, code: body?.error.code }).toEqual({ status: 404, code: 'not_found' })
  })
})

describe('a path that the control plane does not have', () => {
  it.each([
    ['GET', '/account', '/__admin/accounts'],
    ['GET', '/accounts/default/fault', '/__admin/accounts/{account}/faults'],
    ['POST', '/faults', '/__admin/accounts/{account}/faults'],
    ['POST', '/default/faults', '/__admin/accounts/{account}/faults'],
    ['POST', '/accounts/default/requests/verifi', '/__admin/accounts/{account}/requests/verify'],
    ['POST', '/reset', '/__admin/accounts/{account}/reset'],
    ['GET', '/Verdict', '/__admin/verdict'],
    ['GET', '/health/', '/__admin/health'],
    ['PUT', '/accounts/a/domains/x.example/feature', '/__admin/accounts/{account}/domains/{domain}/features'],
  ])('is refused with the nearest one: %s %s', async (method, path, nearest) => {
    const { send } = await startControlPlane()
    const message = `There is nothing at the path /__admin${path}. Did you mean ${nearest}?`
    expect(await send(method, path)).toMatchObject({ status: 404, error: { message } })
  })

  it.each(['/x', '/something/else/entirely/here', `/${'a/'.repeat(3000)}`, '/%00'])('is refused: %s', async (path) => {
    const { get } = await startControlPlane()
    const { status, error } = await get(path)
    expect({ status, code: error.code }).toEqual({ status: 404, code: 'not_found' })
    expect(error.message).not.toContain('Did you mean')
  })
})

describe('the address of a view of the dashboard', () => {
  const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  const PATHS = [
    '/accounts/default',
    '/accounts/default/',
    ...PAGE_VIEWS.map((view) => `/accounts/default/${view}`),
    '/accounts/nobody/requests/0f0f0f0f?search=a&unknown=1',
    '/accounts/default/domains/shop.example',
  ]

  async function open(service: TestService, path: string, headers: Record<string, string> = BROWSER) {
    const response = await fetch(`${new URL(service.baseUrl).origin}/__admin${path}`, { headers })
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
  }

  it('gives a browser the page, the same at each address', async () => {
    const service = await startService()
    const { text } = await open(service, '/')
    expect(text).toContain('<!doctype html>')
    for (const path of PATHS) {
      expect([path, await open(service, path)]).toEqual([path, { status: 200, type: 'text/html; charset=utf-8', text }])
    }
  })

  it.each([
    ['any other client gets data there', '/accounts/default/requests', { accept: '*/*' }, 200],
    [
      'a program gets data that names HTML among what it accepts',
      '/accounts/default/requests',
      { accept: 'application/json, text/html;q=0.1' },
      200,
    ],
    [
      'the HTTP client of Java gets data',
      '/accounts/default/requests',
      { accept: 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2' },
      200,
    ],
    ['a client that refuses HTML gets data', '/accounts/default/requests', { accept: 'text/html;q=0, */*' }, 200],
    ['any other client gets no page', '/accounts/default/requests/some-id', {}, 404],
    ['what is no view stays data for a browser', '/accounts/default/state', BROWSER, 200],
    ['what is no view stays unknown', '/accounts/default/nothing', BROWSER, 404],
    ['what is below the details stays unknown', '/accounts/default/requests/some-id/more', BROWSER, 404],
    [
      'a page of another site gets nothing',
      '/accounts/default/requests',
      { ...BROWSER, origin: 'http://a.example' },
      403,
    ],
  ])('%s', async (_, path, headers, status) => {
    const answer = await open(await startService(), path, headers)
    expect([answer.status, answer.type]).toEqual([status, 'application/json'])
  })

  it('needs no token, because the page asks for it, and the data at the same path does', async () => {
    const service = await startService({ adminToken: 'token-of-the-test' })
    expect((await open(service, '/accounts/default/requests')).status).toBe(200)
    expect((await open(service, '/accounts/default/requests', {})).status).toBe(401)
    expect((await open(service, '/accounts/default/state')).status).toBe(401)
  })
})

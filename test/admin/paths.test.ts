import { afterAll, describe, expect, it } from 'vitest'
import { urlsFor } from '../../src/admin/address.ts'
import type { ServerOptions } from '../../src/server/options.ts'
import { openControlPlane, startControlPlane } from '../support/control-plane.ts'
import { sendRequest } from '../support/request.ts'
import { startService } from '../support/service.ts'

const shared = await openControlPlane()
afterAll(shared.stop)
const { origin } = new URL(shared.understudy.baseUrl)

describe('the root of the server', () => {
  it('tells any other client than a browser what is here', async () => {
    const data = {
      ...{ service: `${origin}/api/v1`, control_plane: `${origin}/__admin`, dashboard: `${origin}/__admin/` },
      control_plane_document: `${origin}/__admin/openapi.json`,
    }
    for (const path of ['/', '/?x=1']) {
      const { status, body } = await sendRequest('GET', origin + path)
      expect([status, body]).toEqual([200, { success: true, data }])
    }
    expect((await shared.get('/verdict')).data.requests, 'it is no request to the service').toBe(0)
  })

  const ACCEPT = { accept: 'text/html,*/*;q=0.8' }
  it.each<[what: string, status: number, method: string, headers: Record<string, string>, options?: ServerOptions]>([
    ['leads a browser to the dashboard', 302, 'GET', ACCEPT],
    ['leads a browser to the dashboard, also for HEAD', 302, 'HEAD', ACCEPT],
    ['leads no browser there under the name of another site', 401, 'GET', { ...ACCEPT, host: 'rebound.example' }],
    ['leads no browser there without a control plane', 404, 'GET', ACCEPT, { admin: false }],
    ['is a path that the service does not have, for POST', 404, 'POST', {}],
  ])('%s: %i', async (_, status, method, headers, options) => {
    const service = await startService(options)
    const answer = await sendRequest(method, `${new URL(service.baseUrl).origin}/`, undefined, headers)
    expect([answer.status, answer.headers['location']]).toEqual([status, status === 302 ? '/__admin/' : undefined])
  })
})

describe('a path that the control plane does not have', () => {
  it.each([
    ['GET', '/account', '/__admin/accounts'],
    ['POST', '/faults', '/__admin/accounts/{account}/faults'],
    ['GET', '/health/', '/__admin/health'],
    ['PUT', '/accounts/a/domains/x.example/feature', '/__admin/accounts/{account}/domains/{domain}/features'],
  ])('is refused with the nearest one: %s %s', async (method, path, nearest) => {
    const message = `There is nothing at the path /__admin${path}. Did you mean ${nearest}?`
    expect(await shared.send(method, path)).toMatchObject({ status: 404, error: { message } })
  })

  it.each(['/x', '/%00'])('is refused: %s', async (path) => {
    const { status, error } = await shared.get(path)
    expect([status, error.code]).toEqual([404, 'not_found'])
    expect(error.message).not.toContain('Did you mean')
  })
})

describe('the address of a view of the dashboard', () => {
  const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

  async function open(path: string, headers: Record<string, string> = BROWSER, { adminUrl } = shared) {
    const response = await fetch(adminUrl + path, { headers })
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
  }

  it('gives a browser the page, the same at each address, which may run only its own scripts', async () => {
    const { headers } = await fetch(`${shared.adminUrl}/`)
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
    expect(policy).not.toContain('unsafe')
    expect([headers.get('referrer-policy'), headers.get('cache-control')]).toEqual(['no-referrer', 'no-store'])
    const { text } = await open('/')
    expect(text).toContain('<!doctype html>')
    const [known, unknown] = ['/page/default', '/page/nobody/requests/0f0f0f0f?search=a&unknown=1']
    for (const path of ['', '/?', known, `${known}/`, `${known}/overview`, unknown]) {
      expect([path, await open(path)]).toEqual([path, { status: 200, type: 'text/html; charset=utf-8', text }])
    }
  })

  it.each([
    ['/accounts/acme/requests/0f0f?whose=none', '/page/acme/requests/0f0f?whose=none'],
    ['/accounts/acme/domains/shop.example', '/page/acme/domains/shop.example'],
  ])('was another one before, which leads there: %s', async (path, place) => {
    const answer = await sendRequest('GET', shared.adminUrl + path, undefined, BROWSER)
    expect([answer.status, answer.headers['location']]).toEqual([302, `/__admin${place}`])
  })

  it.each([
    ['data are data for a browser, too', '/accounts/default/requests', BROWSER, 200],
    ['a page of another site gets nothing', '/page/default', { ...BROWSER, origin: 'http://a.example' }, 403],
  ])('%s', async (_, path, headers, status) => {
    const answer = await open(path, headers)
    expect([answer.status, answer.type]).toEqual([status, 'application/json'])
  })
})

describe('the address of the server in what it tells', () => {
  const OWN = { baseUrl: 'http://127.0.0.1:4010/api/v1', adminUrl: 'http://127.0.0.1:4010/__admin' }

  it('is that of the Host, unless a command would have to quote it or there is no such host', () => {
    const hosts = ['localhost:8080', 'dmarc_stand-in', '10.0.0.7:80', '[2001:db8::7]']
    const strange = [undefined, '', 'a:99999', 'user@a', 'a/b', 'a b', '1.2.3.4.5', "a'b", '$(id)', 'a;id', '[::1']
    expect([...hosts, ...strange].filter((host) => urlsFor({ host }, OWN) !== OWN)).toEqual(hosts)
    const [host = ''] = hosts
    expect(urlsFor({ host }, OWN)).toEqual({ baseUrl: `http://${host}/api/v1`, adminUrl: `http://${host}/__admin` })
  })

  it('is in every command the one of its caller, and for the library the one at which it listens', async () => {
    const plane = await startControlPlane({ cors: ['https://balancer.example'] })
    const own = new URL(plane.understudy.baseUrl)
    async function addressesFor(host: string, path: string): Promise<string[]> {
      const { status, text } = await sendRequest('GET', own.origin + path, undefined, { host })
      expect(status).toBe(200)
      return [...new Set([...text.matchAll(/http:\/\/([^/'"\\]+)/g)].map(([, address = '']) => address))]
    }
    const { headers } = await plane.ask(plane.key, 'POST', '/domains', { domain: 1 })
    const explanation = `/__admin/explain/${headers['x-request-id']}`
    for (const path of [explanation, '/__admin/accounts/default/coverage', '/__admin/verdict', '/'])
      expect(await addressesFor('localhost:8443', path), path).toEqual(['localhost:8443'])
    expect((await plane.understudy.verdict()).violations.first[0]?.correction).toContain(`http://${own.host}/`)
  })
})

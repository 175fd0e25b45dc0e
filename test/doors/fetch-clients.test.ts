import https from 'node:https'
import { Hono } from 'hono'
import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import createClient from 'openapi-fetch'
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { startUnderstudy, type UnderstudyWithKey } from '../../src/index.ts'

/** A part of the types that openapi-typescript writes of openapi.yaml. */
interface paths {
  '/domains': {
    get: { responses: { 200: { content: { 'application/json': { data: { domains: string[] } } } } } }
    post: {
      requestBody: { content: { 'application/json': { domains: string[] } } }
      responses: { 200: { content: { 'application/json': { data: { message: string } } } } }
    }
  }
}

async function start(): Promise<UnderstudyWithKey> {
  const service = await startUnderstudy({ listen: false, fixture: 'empty' })
  onTestFinished(() => service.stop())
  return service
}

type Send = (url: string, init: RequestInit) => Promise<Response>

/** The function of a client that adds domains. */
function adderOf(baseUrl: string, apiKey: string, send: Send = (url, init) => fetch(url, init)) {
  return async (...domains: string[]): Promise<string> => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
    const response = await send(`${baseUrl}/domains`, { method: 'POST', headers, body: JSON.stringify({ domains }) })
    const { data, error } = (await response.json()) as { data?: { message: string }; error?: { code: string } }
    return data?.message ?? `${response.status} ${error?.code}`
  }
}

const ADDED = 'Domains added. Background processing has started.'

it('The `fetch` of a stand-in has the type of the global one, and needs no `this`', async () => {
  const service = await start()
  expectTypeOf(service.fetch).toExtend<typeof fetch>()
  const { fetch: send, baseUrl, apiKey } = service
  expect(await adderOf(baseUrl, apiKey, send)('a.example')).toBe(ADDED)
  expect(await service.account.domains.list()).toMatchObject([{ domain: 'a.example' }])
  expect(await service.verdict()).toMatchObject({ passed: true, requests: 1 })
})

describe('A stand-in without a port is reached', () => {
  it('by a handler of MSW, also by a client of node:http', async () => {
    const service = await start()
    const server = setupServer(
      // MSW takes a rejection for a bug of the handler.
      http.all('https://api.example.com/*', ({ request }) => service.fetch(request).catch(() => Response.error())),
      http.all('https://other.example/*', () => HttpResponse.text('other')),
    )
    server.listen({ onUnhandledRequest: 'error' })
    onTestFinished(() => server.close())
    const add = adderOf('https://api.example.com/api/v1', service.apiKey)
    expect(await add('a.example')).toBe(ADDED)
    expect(await add()).toBe('400 missing_field')
    await service.account.faults.add({ connection: 'reset', times: 1 })
    await expect(add('b.example')).rejects.toThrow()
    await service.account.faults.add({ respond: { error: 'rate_limited' }, times: 1 })
    expect(await add('b.example')).toBe('429 rate_limited')
    const headers = { authorization: `Bearer ${service.apiKey}` }
    const status = await new Promise((resolve, reject) => {
      https
        .get('https://api.example.com/api/v1/domains', { headers }, ({ statusCode }) => resolve(statusCode))
        .once('error', reject)
    })
    expect(status).toBe(200)
  })

  it('as a route of Hono, also below a prefix', async () => {
    const service = await start()
    const app = new Hono()
    app.all('/api/v1/*', (c) => service.fetch(c.req.raw))
    app.mount('/dmarc', service.fetch)
    app.get('/', (c) => c.text('the application'))
    const send = (url: string, init?: RequestInit) => Promise.resolve(app.request(url, init))
    for (const [index, prefix] of ['', '/dmarc'].entries()) {
      const add = adderOf(`http://localhost${prefix}/api/v1`, service.apiKey, send)
      expect(await add(`${index}.example`)).toBe(ADDED)
    }
    expect((await app.request('/dmarc/__admin/accounts')).status).toBe(200)
    expect(await (await app.request('/')).text()).toBe('the application')
    expect(await service.account.domains.list()).toHaveLength(2)
  })

  it('as the handlers of a route, as Next.js has them', async () => {
    const service = await start()
    const handler = (request: Request) => service.fetch(request)
    const route = { GET: handler, POST: handler, PATCH: handler, DELETE: handler }
    const send = (url: string, init?: RequestInit) => {
      const request = new Request(url, init)
      return route[request.method as keyof typeof route](request)
    }
    expect(await adderOf('http://localhost:3000/api/v1', service.apiKey, send)('a.example')).toBe(ADDED)
  })

  it('by openapi-fetch', async () => {
    const service = await start()
    const { baseUrl } = service
    const headers = { Authorization: `Bearer ${service.apiKey}` }
    const client = createClient<paths>({ baseUrl, fetch: service.fetch, headers })
    const { data } = await client.POST('/domains', { body: { domains: ['a.example'] } })
    expect(data?.data.message).toBe(ADDED)
    expect((await client.GET('/domains')).data?.data.domains).toEqual(['a.example'])
  })
})

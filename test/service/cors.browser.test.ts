import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ServerOptions } from '../../src/server/options.ts'
import { adminUrl } from '../dashboard/dashboard-page.ts'
import { newPage } from '../support/browser.ts'
import { API_KEY, startService, type TestService } from '../support/service.ts'

/** Serves an empty page, and returns its origin. */
async function serveApp(): Promise<string> {
  const app = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' })
    response.end('<!doctype html><title>App</title>')
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void app.close())
  await once(app, 'listening')
  return `http://127.0.0.1:${(app.address() as AddressInfo).port}`
}

/** What a page of that origin sees of the service: of a change, of a refusal, and of the control plane. */
async function seenFrom(origin: string, service: TestService): Promise<unknown> {
  // What the browser blocks, it also complains about.
  const { page } = await newPage()
  await page.goto(`${origin}/`)
  const key = `Authorization: 'Bearer ${API_KEY}'`
  return page.evaluate(`(async () => {
    const see = (url, init) =>
      fetch(url, init).then(
        async (response) => [
          response.status,
          (await response.json()).error?.code ?? null,
          response.headers.get('X-RateLimit-Remaining'),
          response.headers.get('X-Request-Id') !== null,
        ],
        () => 'nothing',
      )
    const added = { traceparent: '00-1-2-01', baggage: 'a=1', 'Cache-Control': 'no-cache', 'X-Requested-With': 'x' }
    const headers = { ${key}, 'Content-Type': 'application/json', Prefer: 'delay=0', ...added }
    return [
      await see('${service.baseUrl}/domains', { method: 'POST', headers, body: '{"domains":["new.example"]}' }),
      await see('${service.baseUrl}/domaingroups?id=x', { method: 'PATCH', headers, body: '{}' }),
      await see('${service.baseUrl}/domains'),
      await see('${adminUrl(service, '/accounts')}'),
    ]
  })()`)
}

describe('a page of another origin, in a browser,', () => {
  const ALL = [
    [200, null, '29', true],
    [400, 'no_fields_to_update', '99', true],
    [401, 'unauthorized', null, true],
    'nothing',
  ]
  const NONE = Array(4).fill('nothing')

  it.each<[how: string, options: (origin: string) => ServerOptions, seen: unknown[]]>([
    ['sees nothing of the service', () => ({}), NONE],
    ['uses the service with --cors, but not the control plane', () => ({ cors: ['*'] }), ALL],
    ['uses the service with --cors and its origin', (origin) => ({ cors: [origin] }), ALL],
    ['sees nothing with --cors and another origin', () => ({ cors: ['http://localhost:5173'] }), NONE],
  ])('%s', async (_, options, seen) => {
    const origin = await serveApp()
    const service = await startService(options(origin))
    expect(await seenFrom(origin, service)).toEqual(seen)
  })
})

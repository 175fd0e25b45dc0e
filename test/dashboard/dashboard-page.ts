import type { Page, Request } from 'playwright-core'
import { expect } from 'vitest'
import type { ServerOptions } from '../../src/start/options.ts'
import { newCleanPage, type PageOptions, reusePage } from '../support/browser.ts'
import { startService, type TestService } from '../support/service.ts'

/** `own` is for a test that replaces the page's clock, or counts what the page does by itself. */
type DashboardOptions = PageOptions & { own?: boolean }

/**
 * A page that shows the dashboard of a service, at a place such as `default/requests`. The test fails if the browser has
 * complained about the page.
 */
export async function openDashboard(
  service: TestService,
  place = '',
  { own = false, ...options }: DashboardOptions = {},
): Promise<Page> {
  const page = await (own ? newCleanPage(options) : reusePage(options))
  await page.goto(adminUrl(service, place === '' ? '/' : `/accounts/${place}`))
  return page
}

/** A service, and a page that shows its requests as they happen. */
export async function start(options: ServerOptions = {}, place = '', context: DashboardOptions = {}) {
  const service = await startService(options)
  const page = await openDashboard(service, place, context)
  await untilLive(page)
  return { service, page }
}

/** Goes to another place of the open page, as a link in it does. */
export async function goTo(page: Page, place: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', '/__admin/accounts/${place}'); dispatchEvent(new PopStateEvent('popstate'))`,
  )
}

/** The place that the address of the page names, such as `default/requests?search=post`. */
export function placeOf(page: Page): string {
  const { pathname, search } = new URL(page.url())
  return pathname.replace(/^\/__admin\/accounts\//, '') + search
}

/** Waits until the page gets the server's events. */
export async function untilLive(page: Page): Promise<void> {
  await page.locator('#connection', { hasText: 'Live' }).waitFor()
}

/** Has a page load at once what it shows, as when somebody returns to it; by itself, it asks every few seconds. */
export async function lookAgain(page: Page): Promise<void> {
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
}

export function adminUrl({ baseUrl }: TestService, path: string): string {
  return `${new URL(baseUrl).origin}/__admin${path}`
}

/** Calls the control plane and returns the data of its answer. */
export async function ask<Data>(service: TestService, path: string, init: RequestInit = {}): Promise<Data> {
  const response = await fetch(adminUrl(service, path), { ...init, headers: { 'content-type': 'application/json' } })
  const answer = (await response.json()) as { data: Data }
  return answer.data
}

/** Changes something by the control plane and returns the data of its answer. */
export function change<Data>(service: TestService, method: string, path: string, body?: unknown): Promise<Data> {
  return ask(service, path, { method, ...(body !== undefined && { body: JSON.stringify(body) }) })
}

/** What waits for `opened` goes on after `open`. */
export function newGate(): { opened: Promise<void>; open(): void } {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

/** Whether the page is wider than its window. */
export function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')
}

/** Counts what a page asks for, by the path without the account. `settle` waits until everything has been answered. */
export function watchCalls(page: Page): { counts: Map<string, number>; settle(): Promise<void> } {
  const counts = new Map<string, number>()
  const open = new Set<Request>()
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    const name = pathname.replace(/^.*\/__admin\//, '').replace(/^accounts\/default(?=$|\/)/, 'account')
    counts.set(name, (counts.get(name) ?? 0) + 1)
    if (!name.endsWith('events')) open.add(request)
  })
  page.on('requestfinished', (request) => open.delete(request))
  page.on('requestfailed', (request) => open.delete(request))
  return {
    counts,
    async settle() {
      await expect.poll(() => open.size, { interval: 1 }).toBe(0)
      // The page reads a response a moment after it has arrived.
      await page.evaluate('Promise.resolve()')
    },
  }
}

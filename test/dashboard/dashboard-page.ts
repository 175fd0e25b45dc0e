import type { BrowserContextOptions, Page } from 'playwright-core'
import type { ServerOptions } from '../../src/start/options.ts'
import { newCleanPage } from '../support/browser.ts'
import { startService, type TestService } from '../support/service.ts'

/** A page that shows the dashboard of a service. The test fails if the browser has complained about the page. */
export async function openDashboard(
  service: TestService,
  hash = '',
  options: BrowserContextOptions = {},
): Promise<Page> {
  const page = await newCleanPage(options)
  await page.goto(adminUrl(service, `/${hash}`))
  return page
}

/** A service, and a page that shows its requests as they happen. */
export async function start(options: ServerOptions = {}, hash = '', context: BrowserContextOptions = {}) {
  const service = await startService(options)
  const page = await openDashboard(service, hash, context)
  await page.locator('#connection', { hasText: 'Live' }).waitFor()
  return { service, page }
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

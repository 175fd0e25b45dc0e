import type { Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { newCleanPage, type PageOptions, reusePage } from '../support/browser.ts'
import { openService, type TestService } from '../support/service.ts'

export const NOW = '2026-01-15T09:00:00Z'
export const WIDE = { viewport: { width: 1440, height: 1_200 } }
export const PHONE = { viewport: { width: 390, height: 844 } }

interface VisitOptions extends PageOptions {
  fixture?: string | object
  /** Its name; by default, one whose key everybody knows, so that the page sends requests as a client does. */
  account?: string
  /** The instant at which the clock of the account stands still. */
  now?: string
  /** For a test that replaces the clock of the page. */
  ownPage?: boolean
}

/** A person who looks at a new account, and a client that uses it. */
export interface Visit {
  page: Page
  account: string
  /** Sends a request to the service with the key of the account; the answer is held to the contract. */
  send(method: string, path: string, body?: unknown): ReturnType<TestService['send']>
  /** The data of the control plane at a path below the account. */
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into data whose shape the control plane has validated
  ask(path?: string): Promise<any>
  change(method: string, path: string, body?: unknown): Promise<unknown>
  /** The requests in the journal, the oldest first, such as `addDomains 200`. */
  journal(): Promise<string[]>
}

/** One service for all tests of a file, each of which visits an account of its own. */
export function shareService(): {
  service(): TestService
  visit(view: string, options?: VisitOptions): Promise<Visit>
} {
  let service: TestService
  let accounts = 0
  beforeAll(async () => {
    service = await openService({ enforceQuotas: false })
  })
  afterAll(() => service.stop())
  return {
    service: () => service,
    async visit(view, { fixture = 'empty', account = `sandbox_${++accounts}`, now = NOW, ownPage, ...look } = {}) {
      await change(service, 'POST', '/accounts', { id: account, fixture, now, frozen: true, seed: 42 })
      const page = await openDashboard(service, `${account}/${view}`, look, ownPage)
      await untilLive(page)
      return visitOf(service, account, page)
    },
  }
}

function visitOf(service: TestService, account: string, page: Page): Visit {
  const below = (path: string) => `/accounts/${account}${path}`
  return {
    page,
    account,
    send: (method, path, body) => service.send(method, path, body, { authorization: `Bearer ${account}` }),
    ask: (path = '') => ask(service, below(path)),
    change: (method, path, body) => change(service, method, below(path), body),
    async journal() {
      const { requests } = await ask<{ requests: { operation: string; status: number }[] }>(service, below('/requests'))
      return requests.map(({ operation, status }) => `${operation} ${status}`)
    },
  }
}

/**
 * A page that shows the dashboard at a place such as `default/requests`. The test fails if the browser has complained about
 * the page.
 */
export async function openDashboard(
  service: TestService,
  place = '',
  look: PageOptions = {},
  own = false,
): Promise<Page> {
  const page = await (own ? newCleanPage(look) : reusePage(look))
  await page.goto(adminUrl(service, place === '' ? '/' : `/page/${place}`))
  return page
}

/** Waits until the page gets the server's events. */
export async function untilLive(page: Page): Promise<void> {
  const statuses = page.getByRole('status', { includeHidden: true })
  await statuses.filter({ hasText: /^Live$/ }).waitFor({ state: 'attached' })
}

/** The place that the address of the page names, such as `default/requests?search=post`. */
export function placeOf(page: Page): string {
  const { pathname, search } = new URL(page.url())
  return pathname.replace(/^\/__admin\/page\//, '') + search
}

export function adminUrl({ baseUrl }: TestService, path: string): string {
  return `${new URL(baseUrl).origin}/__admin${path}`
}

/** Calls the control plane and returns the data of its answer. */
export async function ask<Data>(service: TestService, path: string, init: RequestInit = {}): Promise<Data> {
  const response = await fetch(adminUrl(service, path), { ...init, headers: { 'content-type': 'application/json' } })
  return ((await response.json()) as { data: Data }).data
}

/** Changes something by the control plane and returns the data of its answer. */
export function change<Data>(service: TestService, method: string, path: string, body?: unknown): Promise<Data> {
  return ask(service, path, { method, ...(body !== undefined && { body: JSON.stringify(body) }) })
}

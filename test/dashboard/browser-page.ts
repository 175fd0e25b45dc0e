import { expect, onTestFinished } from 'vitest'
import type { ServerOptions } from '../../src/start/options.ts'
import type { BrowserPage } from '../support/chromium.ts'
import { startService, type TestService } from '../support/service.ts'
import { newPage } from '../support/shared-browser.ts'

/** A page that shows the dashboard of a service. The test fails if the browser has complained about the page. */
export async function openDashboard(service: TestService, hash = ''): Promise<BrowserPage> {
  const page = await newPage()
  onTestFinished(() => expect(page.complaints()).toEqual([]))
  await page.open(adminUrl(service, `/${hash}`))
  return page
}

/** A service, and a page that shows its requests as they happen. */
export async function start(options: ServerOptions = {}, hash = '') {
  const service = await startService(options)
  const page = await openDashboard(service, hash)
  await page.until(`document.getElementById('connection').textContent === 'Live'`)
  return { service, page }
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

export function textOf(page: BrowserPage, selector: string): Promise<string> {
  return page.evaluate<string>(`document.querySelector(${JSON.stringify(selector)}).textContent`)
}

/** An expression: whether an element contains a text. */
export function contains(selector: string, text: string): string {
  return `document.querySelector(${JSON.stringify(selector)})?.textContent.includes(${JSON.stringify(text)})`
}

/** Clicks the button with these words in an element. */
export function press(page: BrowserPage, within: string, words: string): Promise<unknown> {
  return page.evaluate(
    `[...document.querySelectorAll('${within} button')].find((each) => each.textContent === '${words}').click()`,
  )
}

/** Chooses a value in a field, as a person does. */
export function choose(page: BrowserPage, selector: string, value: string): Promise<unknown> {
  return page.evaluate(`(() => {
    const field = document.querySelector(${JSON.stringify(selector)})
    field.value = ${JSON.stringify(value)}
    field.dispatchEvent(new Event('change', { bubbles: true }))
  })()`)
}

/** The paths of the requests that the list shows, the newest first. */
export function shownPaths(page: BrowserPage): Promise<string[]> {
  return page.evaluate<string[]>(
    `[...document.querySelectorAll('#request-rows tr:not([hidden]) button')].map((each) => each.textContent)`,
  )
}

import { afterAll, beforeAll } from 'vitest'
import { type Browser, type BrowserPage, startChromium } from './chromium.ts'

let browser: Browser | undefined

/** Starts a browser for the tests of a file, and ends it after them. */
export function shareBrowser(): void {
  beforeAll(async () => {
    browser = await startChromium()
  }, 60_000)
  afterAll(() => browser?.close())
}

/** An empty page. The test looks at the complaints of the browser itself. */
export async function newPage(): Promise<BrowserPage> {
  if (browser === undefined) throw new Error('There is no browser: call shareBrowser() in the file of the test.')
  return browser.newPage()
}

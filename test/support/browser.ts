import { spawnSync } from 'node:child_process'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']

let browser: Browser | undefined

/** The path of the browser. @throws when there is none; the error says what to do. */
function findChromium(): string {
  const path = process.env['CHROME_PATH'] ?? NAMES.map(locate).find((found) => found !== undefined)
  if (path !== undefined) return path
  throw new Error(
    `No Chromium was found as ${NAMES.join(', ')}. Install one (apt-get install chromium) or name it in CHROME_PATH.`,
  )
}

function locate(name: string): string | undefined {
  const { status, stdout } = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

/** Starts a browser for the tests of a file, and ends it after them. */
export function shareBrowser(): void {
  beforeAll(async () => {
    // The sandbox does not work for root, which is the usual user in a container.
    browser = await chromium.launch({ executablePath: findChromium(), chromiumSandbox: process.getuid?.() !== 0 })
  }, 60_000)
  afterAll(() => browser?.close())
}

/** An empty page in a browser context of its own, and what the browser complained about: errors in its console. */
export async function newPage(options: BrowserContextOptions = {}): Promise<{ page: Page; complaints: string[] }> {
  if (browser === undefined) throw new Error('There is no browser: call shareBrowser() in the file of the test.')
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    // Some tests let requests fail on purpose, and the browser writes a line about each.
    const failed = message.text().startsWith('Failed to load resource')
    if (message.type() === 'error' && !failed) complaints.push(message.text())
  })
  return { page, complaints }
}

/** An empty page. The test fails if the browser has complained about what it showed. */
export async function newCleanPage(options: BrowserContextOptions = {}): Promise<Page> {
  const { page, complaints } = await newPage(options)
  onTestFinished(() => expect(complaints).toEqual([]))
  return page
}

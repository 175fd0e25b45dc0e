import { spawnSync } from 'node:child_process'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'

/** The first is the fastest: it draws nothing on a screen. */
const NAMES = [
  ...['chromium-headless-shell', 'chromium', 'chromium-browser'],
  ...['google-chrome', 'google-chrome-stable', 'chrome'],
]

let browser: Promise<Browser> | undefined
/** The page that the tests of a worker use one after the other, and whether one uses it now. */
let reused: Opened | undefined
let isInUse = false

interface Opened {
  page: Page
  /** What the browser complained about: errors in its console. */
  complaints: string[]
}

/**
 * The dashboard rests between its loads, so that a server has little to do. A page that tests reuse rests a tenth as long,
 * and so do tests that wait for it. Notes stay as long as for a user.
 */
const HASTE = `{
  const { setTimeout: wait, setInterval: repeat } = globalThis
  globalThis.setTimeout = (task, delay, ...values) => wait(task, delay > 3_000 ? delay : delay / 10, ...values)
  globalThis.setInterval = (task, delay, ...values) => repeat(task, delay / 10, ...values)
}`

export type PageOptions = Pick<BrowserContextOptions, 'viewport' | 'colorScheme'>

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

/** The browser of this worker, which ends with it. */
function shareBrowser(): Promise<Browser> {
  // The sandbox does not work for root, which is the usual user in a container.
  browser ??= chromium.launch({ executablePath: findChromium(), chromiumSandbox: process.getuid?.() !== 0 })
  return browser
}

async function openPage(options: PageOptions): Promise<Opened> {
  const context = await (await shareBrowser()).newContext({ reducedMotion: 'reduce', ...options })
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

/** An empty page in a browser context of its own. */
export async function newPage(options: PageOptions = {}): Promise<Opened> {
  const opened = await openPage(options)
  onTestFinished(() => opened.page.context().close())
  return opened
}

/** An empty page of its own. The test fails if the browser has complained about what it showed. */
export async function newCleanPage(options: PageOptions = {}): Promise<Page> {
  const { page, complaints } = await newPage(options)
  onTestFinished(() => expect(complaints).toEqual([]))
  return page
}

/**
 * The same, but the page is the one of the test before, emptied: to open one takes longer than most tests. A test that
 * replaces the page's clock or adds a script to it needs a page of its own; so does the second page of a test.
 */
export async function reusePage({ viewport, colorScheme = 'light' }: PageOptions = {}): Promise<Page> {
  if (isInUse) return newCleanPage({ ...(viewport && { viewport }), colorScheme })
  if (reused === undefined || reused.page.isClosed()) {
    reused = await openPage({})
    await reused.page.addInitScript(HASTE)
  }
  const { page, complaints } = reused
  isInUse = true
  onTestFinished(async () => {
    isInUse = false
    if (!page.isClosed()) await empty(page)
    expect(complaints.splice(0)).toEqual([])
  })
  await page.setViewportSize(viewport ?? { width: 1280, height: 720 })
  await page.emulateMedia({ media: null, colorScheme })
  return page
}

async function empty(page: Page): Promise<void> {
  for (const event of ['request', 'requestfinished', 'requestfailed', 'response'] as const) {
    page.removeAllListeners(event)
  }
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.evaluate('try { sessionStorage.clear() } catch {}')
  await page.goto('about:blank')
}

// Writes the pictures of the dashboard in docs/. The program is started with the demo account at a fixed time, so that the
// same pages make the same pictures. `--output FOLDER` writes them elsewhere, `--port` chooses another port than 4010, and
// names after the options (`node scripts/screenshots.mjs dashboard-scene`) choose some of the pictures. CHROME_PATH names the
// Chromium, if it is not /usr/bin/chromium.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'

const PROGRAM = fileURLToPath(new URL('../dist/cli.js', import.meta.url))
const DOCS = fileURLToPath(new URL('../docs', import.meta.url))
const NOW = '2026-01-15T09:00:00Z'
/** What takes a different time in each run is shown as this. */
const MILLISECONDS = 1.4

/** File name → the place, what is done there, and what must be seen before the picture is taken. */
const PICTURES = {
  'dashboard-overview': { place: 'overview', show: (page) => page.locator('main figure').first().waitFor() },
  'dashboard-requests': { place: 'requests', show: showRefusedRequest },
  'dashboard-scene': { place: 'scenes', show: showScene },
}

const { values: options, positionals: chosen } = parseArgs({
  allowPositionals: true,
  options: { output: { type: 'string', default: DOCS }, port: { type: 'string', default: '4010' } },
})
const origin = `http://127.0.0.1:${options.port}`

const server = spawn(
  process.execPath,
  [
    ...[PROGRAM, 'serve', '--fixture', 'demo', '--now', NOW, '--frozen', '--seed', '7'],
    ...['--port', options.port, '--log-level', 'silent'],
  ],
  { stdio: ['ignore', 'pipe', 'inherit'] },
)
try {
  await untilReady(server)
  await makeRequests()
  await takePictures()
} finally {
  server.kill()
}

async function untilReady({ stdout, exitCode }) {
  const ended = once(server, 'exit').then(([code]) => {
    throw new Error(`The program ended with ${code ?? exitCode}. Is the port ${options.port} free?`)
  })
  // The program prints its addresses when it listens.
  await Promise.race([once(stdout, 'data'), ended])
  ended.catch(() => undefined)
  stdout.resume()
}

/** Requests of each outcome, the refused one last. */
async function makeRequests() {
  // The key of the demo account is public, and the pages show it in their commands.
  const { data: account } = await (await fetch(`${origin}/__admin/accounts/default`)).json()
  const send = async (method, path, body) => {
    const headers = { authorization: `Bearer ${account.api_key}`, ...(body && { 'content-type': 'application/json' }) }
    const response = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    return (await response.json()).data
  }
  await send('GET', '/domains')
  await send('GET', '/dmarc')
  await send('POST', '/domains', { domains: ['autumn-sale.example'] })
  const { group } = await send('POST', '/domaingroups', { name: 'Autumn', domains: ['autumn-sale.example'] })
  await send('GET', `/domaingroups?id=${group.id}`)
  await send('POST', '/domaingroups', { name: 'Autumn', domains: ['autumn-sale.example'] })
  await send('POST', '/domains', { domains: ['winter sale.example'] })
}

async function takePictures() {
  mkdirSync(options.output, { recursive: true })
  const browser = await chromium.launch({
    executablePath: process.env.CHROME_PATH ?? '/usr/bin/chromium',
    // The sandbox does not work for root, which is the usual user in a container.
    chromiumSandbox: process.getuid?.() !== 0,
  })
  try {
    for (const [name, { place, show }] of Object.entries(PICTURES)) {
      if (chosen.length > 0 && !chosen.includes(name)) continue
      const context = await browser.newContext({
        ...{ viewport: { width: 1440, height: 900 }, deviceScaleFactor: 1, colorScheme: 'light' },
        ...{ reducedMotion: 'reduce', locale: 'en-GB', timezoneId: 'UTC' },
      })
      const page = await context.newPage()
      await page.clock.setFixedTime(NOW)
      await page.route(/\/__admin\/.*(?:requests|explain)/, evenOut)
      await page.goto(`${origin}/__admin/page/default/${place}`)
      await show(page)
      await settle(page)
      const path = join(options.output, `${name}.png`)
      await page.screenshot({ path, animations: 'disabled', caret: 'hide' })
      console.log(path)
      await context.close()
    }
  } finally {
    await browser.close()
  }
}

/** Answers as the server does, but for how long each request took. */
async function evenOut(route) {
  const response = await route.fetch()
  const text = await response.text()
  await route.fulfill({ response, body: text.replaceAll(/"duration_ms":[\d.]+/g, `"duration_ms":${MILLISECONDS}`) })
}

/** Opens the newest request, which was refused. */
async function showRefusedRequest(page) {
  await page.locator('main tbody tr', { hasText: 'invalid_domain' }).getByRole('link').first().click()
  await page.getByText('A request that the service accepts now').waitFor()
}

async function showScene(page) {
  await page.getByRole('button', { name: 'Begin with scene 4' }).click()
  await page.getByRole('button', { name: 'Present' }).click()
  await page.locator('.detail figure').first().waitFor()
}

/** Waits for the fonts, and until nothing has changed in the page for half a second. */
function settle(page) {
  return page.evaluate(async () => {
    await document.fonts.ready
    await new Promise((resolve) => {
      let timer = setTimeout(resolve, 500)
      new MutationObserver(() => {
        clearTimeout(timer)
        timer = setTimeout(resolve, 500)
      }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true })
      setTimeout(resolve, 10_000)
    })
  })
}

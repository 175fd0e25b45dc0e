import type { Page, Request } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { newCleanPage, shareBrowser } from '../support/browser.ts'
import { startService } from '../support/service.ts'
import { adminUrl, start } from './dashboard-page.ts'

const NOW = '2026-01-15T09:00:00Z'
/** In milliseconds; everything that the page does by the clock, it does in multiples of this. */
const STEP = 1_000

/** Counts what a page asks for, by the path without the account. `settle` waits until everything has been answered. */
function watchCalls(page: Page): { counts: Map<string, number>; settle(): Promise<void> } {
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

/** A page whose time passes only when the test says so. */
async function startStill(tab: string) {
  const { service, page } = await start({ fixture: 'demo', now: NOW, frozen: true }, `#default/${tab}`)
  await page.clock.install()
  await page.reload()
  await page.locator('#connection', { hasText: 'Live' }).waitFor()
  const { counts, settle } = watchCalls(page)
  async function pass(milliseconds: number): Promise<void> {
    for (let passed = 0; passed < milliseconds; passed += STEP) {
      await page.clock.runFor(STEP)
      await settle()
    }
  }
  // What is loaded once, such as the trends of the visible domains, comes a little after the page is live.
  await pass(3 * STEP)
  counts.clear()
  return { service, page, counts, pass }
}

describe('what an open page asks for', () => {
  shareBrowser()

  /** What every tab shows: the account, the list of accounts, and the verdict of them all. */
  const FRAME = { account: 12, accounts: 12, verdict: 30 }
  it.each<[string, Readonly<Record<string, number>>]>([
    ['overview', { 'account/overview': 12 }],
    ['domains', { 'account/domains': 12, 'account/groups': 12 }],
    ['groups', { 'account/groups': 12 }],
    ['requests', { requests: 12 }],
    ['time', { 'account/overview': 12, 'account/quotas': 12, 'account/snapshots': 12 }],
    ['scenes', { 'account/scenes': 12 }],
    ['faults', { 'account/faults': 12, 'account/keys': 12 }],
    ['account', { 'account/quotas': 12, 'account/keys': 12 }],
    ['coverage', { 'account/coverage': 12 }],
  ])('is little in a minute in which nothing happens: %s', async (tab, expected) => {
    const { counts, pass } = await startStill(tab)
    await pass(60_000)
    const most = { ...FRAME, ...expected }
    expect([...counts.keys()].filter((name) => !(name in most))).toEqual([])
    for (const [name, count] of Object.entries(most)) {
      expect.soft([name, counts.get(name)]).toEqual([name, expect.toBeOneOf([count - 1, count, count + 1])])
    }
  })

  it('is little while the account changes all the time, and less while it is only read', async () => {
    const { service, page, counts, pass } = await startStill('overview')
    let sent = 0
    const listed = page.locator('#tab-requests .tally')
    async function sendEachSecond(seconds: number, send: () => Promise<unknown>): Promise<void> {
      counts.clear()
      for (let second = 0; second < seconds; second++) {
        await send()
        sent += 1
        // The request arrives by the stream in real time, and is drawn by the time of the page.
        await expect.poll(() => page.clock.runFor(50).then(() => listed.textContent())).toBe(String(sent))
        await pass(STEP)
      }
    }
    const now = () => page.evaluate<number>('Date.now()')
    await sendEachSecond(4, () => service.get('/domains'))
    expect(counts.get('account/overview') ?? 0).toBeLessThanOrEqual(1)
    expect(counts.get('account') ?? 0).toBeLessThanOrEqual(1)

    const shown = page.locator('#overview-tiles')
    await shown.waitFor()
    const began = await now()
    await sendEachSecond(20, () => service.send('POST', '/domains', { domains: [`new-${sent}.example`] }))
    // One after each rest of five seconds, and not one after each write.
    expect(counts.get('account/overview')).toBeGreaterThanOrEqual(3)
    expect(counts.get('account/overview')).toBeLessThanOrEqual(((await now()) - began) / 5_000 + 1)
    await pass(6_000)
    await expect
      .poll(() => shown.textContent())
      .toContain(`of ${await page.locator('#tab-domains .tally').textContent()} monitored`)
  })

  it('is nothing while nobody sees it, and everything again when somebody looks', async () => {
    const { service, page, counts, pass } = await startStill('domains')
    await page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: true })`)
    counts.clear()
    await service.send('POST', '/domains', { domains: ['unseen.example'] })
    await pass(20_000)
    expect([...counts.keys()].filter((name) => name !== 'account/requests')).toEqual([])
    await page.evaluate(`{ delete document.hidden; document.dispatchEvent(new Event('visibilitychange')) }`)
    await expect.poll(() => page.locator('#domain-count').textContent()).toBe('26 domains')
  })
})

describe('a view whose data cannot be loaded', () => {
  shareBrowser()

  it.each([
    ['groups', 'groups'],
    ['time', 'snapshots'],
    ['scenes', 'scenes'],
    ['faults', 'faults'],
    ['account', 'keys'],
    ['account', 'quotas'],
    ['coverage', 'coverage'],
  ])('says why on the tab %s, and tries again: %s', async (tab, part) => {
    const service = await startService({ fixture: 'demo', now: NOW })
    const page = await newCleanPage()
    const error = { code: 'unavailable', message: 'The store is away.', problems: [] }
    let fails = true
    await page.route(`**/accounts/default/${part}*`, (route) =>
      fails ? route.fulfill({ status: 503, json: { success: false, error } }) : route.continue(),
    )
    await page.goto(adminUrl(service, `/#default/${tab}`))
    const alert = page.locator('#panel').getByRole('alert').filter({ hasText: 'The store is away.' })
    await alert.waitFor()
    fails = false
    await alert.getByRole('button', { name: 'Try again' }).click()
    await alert.waitFor({ state: 'detached' })
  })
})

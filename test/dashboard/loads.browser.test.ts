import { describe, expect, it } from 'vitest'
import { reusePage } from '../support/browser.ts'
import { startService } from '../support/service.ts'
import { adminUrl, start, untilLive, watchCalls } from './dashboard-page.ts'

const NOW = '2026-01-15T09:00:00Z'
/** In milliseconds; everything that the page does by the clock, it does in multiples of this. */
const STEP = 1_000

/** A page whose time passes only when the test says so. */
async function startStill(tab: string) {
  const { service, page } = await start({ fixture: 'demo', now: NOW, frozen: true }, `default/${tab}`, { own: true })
  await page.clock.install()
  await page.reload()
  await untilLive(page)
  const { counts, settle } = watchCalls(page)
  async function pass(milliseconds: number): Promise<void> {
    for (let passed = 0; passed < milliseconds; passed += STEP) {
      await page.clock.runFor(STEP)
      await settle()
    }
  }
  /** What is loaded once, such as the trends of the visible domains, comes a little after a tab is open. */
  async function settleDown(): Promise<void> {
    await pass(3 * STEP)
    counts.clear()
  }
  await settleDown()
  return { service, page, counts, pass, settleDown }
}

describe('what an open page asks for', () => {
  /** What every tab shows: the account, the list of accounts, and the verdict of them all. */
  const FRAME = { account: 6, accounts: 6, verdict: 15 }
  const TABS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
    overview: { 'account/overview': 6 },
    domains: { 'account/domains': 6, 'account/groups': 6 },
    groups: { 'account/groups': 6 },
    requests: { requests: 6 },
    time: { 'account/overview': 6, 'account/quotas': 6, 'account/snapshots': 6 },
    scenes: { 'account/scenes': 6 },
    faults: { 'account/faults': 6, 'account/keys': 6 },
    account: { 'account/quotas': 6, 'account/keys': 6 },
    coverage: { 'account/coverage': 6 },
  }

  it('is little in half a minute in which nothing happens, on each tab', async () => {
    const { page, counts, pass, settleDown } = await startStill('overview')
    for (const [tab, expected] of Object.entries(TABS)) {
      await page.locator(`#tab-${tab}`).click()
      await settleDown()
      await pass(30_000)
      const most = { ...FRAME, ...expected }
      expect([tab, [...counts.keys()].filter((name) => !(name in most))]).toEqual([tab, []])
      for (const [name, count] of Object.entries(most)) {
        // One that is not answered within seconds of the page, which pass fast here, is asked again.
        expect.soft(counts.get(name), `${tab}: ${name}`).toBeGreaterThanOrEqual(count - 1)
        expect.soft(counts.get(name), `${tab}: ${name}`).toBeLessThanOrEqual(Math.ceil(count * 1.3))
      }
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
    await sendEachSecond(12, () => service.send('POST', '/domains', { domains: [`new-${sent}.example`] }))
    // One after each rest of five seconds, and not one after each write.
    expect(counts.get('account/overview')).toBeGreaterThanOrEqual(2)
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
  it('says why on its tab, and tries again', async () => {
    const service = await startService({ fixture: 'demo', now: NOW })
    const page = await reusePage()
    const error = { code: 'unavailable', message: 'The store is away.', problems: [] }
    let fails = true
    for (const [tab, part] of [
      ['groups', 'groups'],
      ['time', 'snapshots'],
      ['scenes', 'scenes'],
      ['faults', 'faults'],
      ['account', 'keys'],
      ['account', 'quotas'],
      ['coverage', 'coverage'],
    ] as const) {
      fails = true
      await page.route(`**/accounts/default/${part}*`, (route) =>
        fails ? route.fulfill({ status: 503, json: { success: false, error } }) : route.continue(),
      )
      await page.goto(adminUrl(service, `/accounts/default/${tab}`))
      await page.reload()
      const alert = page.locator(`.panel-${tab}`).getByRole('alert').filter({ hasText: 'The store is away.' })
      await alert.waitFor()
      // A page that nobody sees loads nothing by itself.
      await page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: true })`)
      fails = false
      await alert.getByRole('button', { name: 'Try again' }).click()
      await alert.waitFor({ state: 'detached' })
      await page.unrouteAll({ behavior: 'ignoreErrors' })
    }
  })
})

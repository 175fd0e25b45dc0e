import { describe, expect, it } from 'vitest'
import { newCleanPage, reusePage } from '../support/browser.ts'
import { startService } from '../support/service.ts'
import { adminUrl, change, start, untilLive, watchCalls } from './dashboard-page.ts'

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
  /** What every tab asks: whether the account has changed, the list of accounts, and the verdict of them all. */
  const FRAME = ['account/version', 'accounts', 'verdict']
  /** What a tab asks for beside it because no version tells whether it has changed. */
  const TABS: Readonly<Record<string, readonly string[]>> = {
    overview: [],
    domains: [],
    groups: [],
    requests: ['requests'],
    time: ['account/quotas'],
    scenes: [],
    faults: ['account/faults'],
    account: ['account/quotas'],
    coverage: [],
  }
  /** The page asks every nine seconds. */
  const ROUNDS = 2
  const PERIOD = ROUNDS * 9_000

  it('is at most 30 calls a minute while nothing happens, on each tab', async () => {
    const { page, counts, pass, settleDown } = await startStill('overview')
    for (const [tab, own] of Object.entries(TABS)) {
      await page.locator(`#tab-${tab}`).click()
      await page.reload()
      await untilLive(page)
      await settleDown()
      await pass(PERIOD)
      const asked = Object.fromEntries([...counts].sort())
      expect([tab, asked]).toEqual([tab, Object.fromEntries([...FRAME, ...own].sort().map((name) => [name, ROUNDS]))])
      const all = Object.values(asked).reduce((sum, count) => sum + count, 0)
      expect((all * 60_000) / PERIOD, tab).toBeLessThanOrEqual(30)
    }
  })

  it('is everything that is shown once another client has changed it, within ten seconds', async () => {
    const { service, page, counts, pass, settleDown } = await startStill('overview')
    const changes: [tab: string, method: string, path: string, body: object, asked: string, words: string][] = [
      ['groups', 'POST', '/groups', { name: 'Newcomers', domains: [] }, 'account/groups', 'Newcomers'],
      ['domains', 'POST', '/domains', { domains: ['newcomer.example'] }, 'account/domains', '26 domains'],
      ['account', 'POST', '/keys', { label: 'Newcomer' }, 'account/keys', 'Newcomer'],
      ['time', 'POST', '/snapshots', { name: 'newcomer' }, 'account/snapshots', 'newcomer'],
      ['overview', 'POST', '/reset', { fixture: 'empty' }, 'account/overview', 'This account has no domains'],
    ]
    for (const [tab, method, path, body, asked, words] of changes) {
      await page.locator(`#tab-${tab}`).click()
      // The server says in real time that it is there. The page would miss that after 45 seconds, and load everything.
      await page.reload()
      await untilLive(page)
      await settleDown()
      await change(service, method, `/accounts/default${path}`, body)
      await pass(10_000)
      await expect.poll(() => page.getByRole('tabpanel').textContent()).toContain(words)
      expect(counts.get(asked), asked).toBe(1)
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

describe('an event stream', () => {
  it('is opened again when the server has sent nothing for three times as long as it should', async () => {
    const { counts, pass } = await startStill('account')
    await pass(40_000)
    expect(counts.get('account/events')).toBeUndefined()
    await pass(6_000)
    expect(counts.get('account/events')).toBe(1)
  })
})

/** The path of a call, the tab that needs its answer, and what the page waits for. */
const HUNG: [path: string, tab: string, what: string][] = [
  ['overview?*', 'overview', 'the figures of this account'],
  ['quotas', 'account', 'the quotas'],
  ['coverage', 'coverage', 'the coverage'],
  ['faults?*', 'faults', 'the rules'],
]

describe('a view whose data does not arrive', () => {
  it.each(HUNG)('says what it waits for, gives up, and can be asked again: %s', async (path, tab, what) => {
    const { page, pass } = await startStill('requests')
    let hangs = true
    const held = `**/__admin/accounts/default/${path}`
    await page.route(held, (route) => (hangs ? undefined : route.continue()))
    await page.locator(`#tab-${tab}`).click()
    const panel = page.getByRole('tabpanel')
    await page.clock.runFor(STEP)
    await panel.getByText(`Waiting for ${what}…`).waitFor()
    // A page that nobody sees asks for nothing by itself.
    await page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: true })`)
    await page.clock.runFor(9_500)
    const alert = panel.getByRole('alert').filter({ hasText: 'The server did not answer within 10 seconds.' })
    await alert.waitFor()
    hangs = false
    await panel.getByRole('button', { name: 'Try again' }).click()
    await pass(STEP)
    await expect.poll(() => panel.getByText('did not answer').count()).toBe(0)
  })

  it('says at once that a change was not answered, and that it may have been made', async () => {
    const { page } = await startStill('account')
    await page.route('**/__admin/accounts/default/quotas', (route, request) =>
      request.method() === 'PATCH' ? undefined : route.continue(),
    )
    await page.getByRole('button', { name: 'Use up the quota of dmarc' }).click()
    await page.clock.runFor(10_000)
    await page.getByText('The server did not answer within 10 seconds. The change may have been made.').waitFor()
  })

  it('says so before any view is open', async () => {
    const service = await startService({ fixture: 'demo', now: NOW })
    const page = await newCleanPage()
    await page.clock.install()
    let hangs = true
    await page.route('**/__admin/accounts/default', (route) => (hangs ? undefined : route.continue()))
    await page.goto(adminUrl(service, '/'))
    await page.clock.runFor(2_000)
    await page.getByText('Waiting for the account…').waitFor()
    await page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: true })`)
    await page.clock.runFor(10_000)
    const alert = page.getByRole('alert').filter({ hasText: 'The server did not answer within 10 seconds.' })
    await alert.waitFor()
    hangs = false
    await alert.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('tab', { name: 'Overview', selected: true }).waitFor()
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
        // The address of the view itself may look the same.
        fails && !route.request().isNavigationRequest()
          ? route.fulfill({ status: 503, json: { success: false, error } })
          : route.continue(),
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

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newCleanPage, newPage, reusePage } from '../support/browser.ts'
import { askControl } from '../support/control-plane.ts'
import { API_KEY, openService, startService, type TestService } from '../support/service.ts'
import {
  adminUrl,
  ask,
  change,
  goTo,
  isTooWide,
  lookAgain,
  openDashboard,
  placeOf,
  start,
  untilLive,
} from './dashboard-page.ts'

const TOKEN = 'open-sesame'

function createAccount(service: TestService, id?: string): Promise<unknown> {
  return change(service, 'POST', '/accounts', { id })
}

/** The verdict in the header: its words, and whether it is green or red. */
async function verdictOf(page: Page): Promise<[words: string | null, tone: string | undefined]> {
  const pill = page.locator('#verdict')
  const classes = (await pill.getAttribute('class'))?.split(' ') ?? []
  return [await pill.textContent(), ['good', 'bad'].find((tone) => classes.includes(tone))]
}

describe('the frame of the page', () => {
  it('has the browser refuse markup and code that is made from text', async () => {
    const { page, complaints } = await newPage()
    await page.goto(adminUrl(await startService(), '/'))
    await expect(page.evaluate(`document.body.innerHTML = '<b>x</b>'`)).rejects.toThrow('TrustedHTML')
    await page.evaluate(`{
      const script = document.createElement('div').appendChild(document.createElement('script'))
      script.append('document.title = 1')
      document.body.append(script)
    }`)
    expect(await page.title()).toMatch(/, [\w-]+ – dmarc-understudy$/)
    await expect(page.evaluate(`fetch('http://127.0.0.1:1/')`)).rejects.toThrow('Failed to fetch')
    expect(complaints.join()).toContain('violates the following Content Security Policy directive')
  })

  it('asks for the token until it is the right one, and keeps it only for its tab', async () => {
    const page = await openDashboard(await startService({ adminToken: TOKEN }))
    const dialog = page.locator('dialog', { hasText: 'requires a token' })
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    expect(await dialog.isVisible()).toBe(true)
    expect(await page.locator('#verdict').textContent()).toContain('unknown')
    await page.locator('[name=token]').fill('wrong')
    await page.keyboard.press('Enter')
    await dialog.getByText('This token is wrong').waitFor()
    await page.locator('[name=token]').fill(TOKEN)
    await page.keyboard.press('Enter')
    await untilLive(page)
    await page.locator('#verdict', { hasText: 'no request yet' }).waitFor()
    expect(
      await page.evaluate(
        '[sessionStorage.token, localStorage.length, document.cookie, document.querySelectorAll("dialog[open]").length]',
      ),
    ).toEqual([TOKEN, 0, '', 0])
  })

  it('works in a browser that does not let the page store anything, also behind a token', async () => {
    const page = await newCleanPage()
    await page.addInitScript(
      `Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('No', 'SecurityError') } })`,
    )
    await page.goto(adminUrl(await startService({ adminToken: TOKEN }), '/'))
    await page.locator('[name=token]').fill('wrong')
    await page.keyboard.press('Enter')
    await page.locator('dialog').getByText('This token is wrong').waitFor()
    await page.locator('[name=token]').fill(TOKEN)
    await page.keyboard.press('Enter')
    await untilLive(page)
  })

  it('shows the default account for an address that can name none, and asks for nothing else', async () => {
    const service = await startService()
    const page = await reusePage()
    let asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    for (const name of ['%zz', '%2e%2e%2f', 'a'.repeat(300)]) {
      asked = []
      await page.goto('about:blank')
      await page.goto(adminUrl(service, `/accounts/${name}/requests`))
      await untilLive(page)
      expect(placeOf(page)).toBe('default/requests')
      expect(asked).toContain('/__admin/accounts/default/requests')
    }
  })

  it('keeps the token from a page that a fault sends in place of an answer', async () => {
    const service = await startService({ adminToken: TOKEN })
    const asAdmin = { authorization: `Bearer ${TOKEN}` }
    const { page } = await newPage()
    await page.goto(adminUrl(service, '/'))
    await page.evaluate(`sessionStorage.setItem('token', ${JSON.stringify(TOKEN)})`)
    const { pathname } = new URL(service.baseUrl)
    const leak = `new Image().src = '${pathname}/leaked?' + sessionStorage.getItem('token')`
    const body = `<!doctype html><title>A gateway</title><script>${leak}</script><img src="${pathname}/loaded">`
    const respond = { status: 200, headers: { 'Content-Type': 'text/html' }, body }
    const rule = { match: { operation: 'listDomains' }, respond }
    await askControl(service, 'POST', '/accounts/default/faults', rule, asAdmin)
    await page.setExtraHTTPHeaders({ authorization: `Bearer ${API_KEY}` })
    await page.goto(`${service.baseUrl}/domains`)
    const paths = async () => {
      const { data } = await askControl(service, 'GET', '/requests', undefined, asAdmin)
      return data.requests.map((request: { path: string }) => request.path)
    }
    await expect.poll(paths).toContain(`${pathname}/loaded`)
    expect(await paths()).not.toContain(`${pathname}/leaked`)
  })

  it('says that the server does not answer, knows no verdict while it does not confirm one, and continues afterwards', async () => {
    const { service, page } = await start()
    await service.get('/domains')
    await expect.poll(() => verdictOf(page)).toEqual(['All accounts: kept the contract', 'good'])
    await service.stop()
    await expect.poll(() => verdictOf(page)).toEqual(['All accounts: verdict unknown', undefined])
    await page.locator('#notice', { hasText: 'The server does not answer.' }).waitFor()
    expect(await page.locator('#connection').textContent()).toBe('Reconnecting…')
    const again = await startService({ port: Number(new URL(service.baseUrl).port) })
    await untilLive(page)
    await expect.poll(() => verdictOf(page)).toEqual(['All accounts: no request yet', undefined])
    expect(await page.locator('#notice').isVisible()).toBe(false)
    await again.get('/domains')
    await expect.poll(() => verdictOf(page)).toEqual(['All accounts: kept the contract', 'good'])
    // The answer never comes, as from a network that swallows it.
    await page.route('**/__admin/verdict', () => {})
    await expect.poll(() => verdictOf(page)).toEqual(['All accounts: verdict unknown', undefined])
    await page.unroute('**/__admin/verdict')
  })

  it('shows the verdict of all accounts, what is behind it, and starts it again after a question', async () => {
    const { service, page } = await start({}, 'default/account')
    await createAccount(service, 'other')
    expect(await verdictOf(page)).toEqual(['All accounts: no request yet', undefined])
    // It is not green when requests came and none was judged.
    await service.send('GET', '/domains', undefined, { authorization: 'Bearer nobody' })
    await expect.poll(() => verdictOf(page)).toEqual(['All accounts: nothing checked yet', undefined])
    await service.get('/dmarc')
    await service.get('/dmarc')
    await expect.poll(() => verdictOf(page)).toEqual(['All accounts: kept the contract', 'good'])
    await service.send('POST', '/domains', { domains: ['<b>x</b>'] })
    await service.send('POST', '/domains', { wrong: 1 })
    await expect.poll(() => verdictOf(page)).toEqual(['All accounts: 2 violations', 'bad'])
    await page.locator('#account').selectOption('other')
    await page.locator('#about-title', { hasText: 'other' }).waitFor()
    expect(await verdictOf(page)).toEqual(['All accounts: 2 violations', 'bad'])

    await page.locator('#verdict').click()
    const sheet = page.locator('#verdict-sheet')
    expect(await sheet.locator('#violations li').count()).toBe(2)
    expect(await sheet.locator('#violations').textContent()).toContain('which "<b>x</b>" is not')
    expect(await sheet.locator('#politeness').textContent()).toContain('repeated-read')
    await page.keyboard.press('Escape')
    await expect.poll(() => sheet.count()).toBe(0)
    expect(await page.evaluate('document.activeElement.id')).toBe('verdict')

    await page.locator('#verdict').click()
    await sheet.getByRole('button', { name: 'Open the request POST' }).first().click()
    await page.locator('#request-sheet', { hasText: '/api/v1/domains' }).waitFor()
    expect(await page.locator('#tab-requests').getAttribute('aria-selected')).toBe('true')
    await page.keyboard.press('Escape')

    await page.goto(adminUrl(service, '/accounts/default/account'))
    await page.locator('#verdict').click()
    await page.locator('#verdict-clear').click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await expect.poll(() => ask(service, '/verdict')).toMatchObject({ violations: { count: 2 } })
    await page.locator('#verdict-clear').click()
    await page.getByRole('button', { name: 'Start again', exact: true }).click()
    await expect.poll(() => verdictOf(page)).toEqual(['All accounts: no request yet', undefined])
    expect(await ask(service, '/verdict')).toMatchObject({ requests: 0 })
  })

  it('chooses the default account when another client deletes the chosen one', async () => {
    const service = await startService()
    await createAccount(service, 'short-lived')
    const page = await openDashboard(service, 'short-lived/account')
    await page.locator('#about-title', { hasText: 'short-lived' }).waitFor()
    await change(service, 'DELETE', '/accounts/short-lived')
    await lookAgain(page)
    await page
      .locator('#toasts', { hasText: 'There is no account short-lived, so this is the account default.' })
      .waitFor()
    await expect.poll(() => page.locator('#account').inputValue()).toBe('default')
    await expect.poll(() => page.locator('#account option').allTextContents()).toEqual(['default'])
  })

  it('stays with its account when something else was not found', async () => {
    const service = await startService()
    await createAccount(service, 'kept')
    const page = await reusePage()
    const error = { code: 'not_found', message: 'x', problems: [] }
    await page.route('**/accounts/kept/quotas', (route) =>
      route.fulfill({ status: 404, json: { success: false, error } }),
    )
    const confirmed = page.waitForResponse(
      (response) => response.url().endsWith('/accounts/kept') && response.request().method() === 'GET',
    )
    await page.goto(adminUrl(service, '/accounts/kept/account'))
    await confirmed
    await page.locator('#keys li').waitFor()
    expect(await page.locator('#account').inputValue()).toBe('kept')
    expect(await page.locator('.toast').count()).toBe(0)
  })

  it('offers all accounts, also when they have several pages, and those that another client creates', async () => {
    const service = await startService({ fixture: 'empty' })
    for (let number = 0; number < 4; number++) await createAccount(service)
    const page = await reusePage()
    await page.route('**/__admin/accounts?*', (route, request) =>
      route.continue({ url: request.url().replace(/limit=\d+/, 'limit=2') }),
    )
    await page.goto(adminUrl(service, '/'))
    const options = page.locator('#account option')
    await expect.poll(() => options.count()).toBe(5)
    expect(await page.locator('#account-count').textContent()).toBe('5 accounts')
    await createAccount(service, 'newcomer')
    await lookAgain(page)
    await expect.poll(() => options.last().textContent()).toBe('newcomer')
  })

  it('creates an account, shows only that account, resets and deletes it', async () => {
    const { service, page } = await start({}, 'default/account')
    await page.locator('#account-new').click()
    await page.getByLabel('Name').fill('other')
    await page.getByLabel('Fixture').selectOption('demo')
    await page.getByLabel('Seed').fill('seven')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.locator('dialog .refusal', { hasText: '“Seed” must be of type integer' }).waitFor()
    await page.getByLabel('Seed').fill('7')
    await page.getByLabel('Time at the beginning').fill('2026-01-15T09:00:00Z')
    await page.locator('[name=frozen]').selectOption('frozen')
    await page.keyboard.press('Enter')
    const dialog = page.locator('dialog', { hasText: 'The account other' })
    const secret = /'([^']+)'/.exec((await dialog.locator('pre').textContent()) ?? '')?.[1]
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('dialog').count()).toBe(0)
    await expect.poll(() => page.locator('#tab-domains .tally').textContent()).toBe('25')
    expect(placeOf(page)).toBe('other/account')
    expect(await ask(service, '/accounts/other')).toMatchObject({
      account: { seed: 7, fixture: 'demo', now: '2026-01-15T09:00:00Z', frozen: true },
    })

    const headers = { authorization: `Bearer ${secret}` }
    await service.send('POST', '/domains', { domains: ['late.example'] }, headers)
    await expect.poll(() => page.locator('#tab-domains .tally').textContent()).toBe('26')
    await page.locator('#account-reset').click()
    await page.getByRole('button', { name: 'Reset', exact: true }).click()
    await expect.poll(() => page.locator('#tab-domains .tally').textContent()).toBe('25')

    await page.locator('#account-delete').click()
    await page.getByRole('button', { name: 'Delete', exact: true }).last().click()
    await expect.poll(() => placeOf(page)).toBe('default/account')
    expect(await ask(service, '/accounts')).toMatchObject({ count: 1 })
    expect(await page.locator('#account-delete').count()).toBe(0)
  })

  it('deletes the account that it has asked about, even when another one is chosen meanwhile', async () => {
    const service = await startService()
    for (const id of ['one', 'two']) await createAccount(service, id)
    const page = await openDashboard(service, 'one/account')
    await page.locator('#account-delete').click()
    await goTo(page, 'two/account')
    await expect.poll(() => page.locator('#account').inputValue()).toBe('two')
    await page.locator('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.locator('#toasts', { hasText: 'The account one was deleted.' }).waitFor()
    expect(await page.locator('#account').inputValue()).toBe('two')
    const { accounts } = await ask<{ accounts: { id: string }[] }>(service, '/accounts')
    expect(accounts.map(({ id }) => id)).toEqual(['default', 'two'])
  })

  it('leads the keyboard past the header, and through its tabs with arrow keys; the open one stays in sight on a phone', async () => {
    const { page } = await start({}, 'default/requests', { viewport: { width: 360, height: 700 } })
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the panel')
    await page.keyboard.press('Enter')
    expect([await page.evaluate('document.activeElement.id'), placeOf(page)]).toEqual(['panel', 'default/requests'])
    await page.locator('#tab-requests').focus()
    // A key that the browser handles too would scroll the row, and could leave the tab out of sight.
    await page.evaluate(
      `window.handled = []; addEventListener('keydown', (event) => handled.push(event.defaultPrevented))`,
    )
    await page.keyboard.press('ArrowRight')
    expect(await page.evaluate('document.activeElement.id')).toBe('tab-time')
    await page.keyboard.press('End')
    expect([await page.evaluate('document.activeElement.id'), placeOf(page)]).toEqual([
      'tab-compare',
      'default/compare',
    ])
    await expect.poll(() => isTabInSight(page, 'compare')).toBe(true)
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('tab-overview')
    expect(await page.evaluate('handled')).toEqual([true, true, true])
    await expect.poll(() => page.locator('[role=tabpanel]').count()).toBe(1)
  })

  it('keeps the open tab in sight on a phone when the tallies of the tabs before it grow', async () => {
    const { service, page } = await start({}, 'default/coverage', { viewport: { width: 360, height: 700 } })
    await expect.poll(() => isTabInSight(page, 'coverage')).toBe(true)
    await change(service, 'POST', '/accounts/default/reset', { fixture: 'edge-cases' })
    await lookAgain(page)
    await expect.poll(() => page.locator('#tab-domains .tally').textContent()).not.toBe('0')
    await expect.poll(() => isTabInSight(page, 'coverage')).toBe(true)
  })

  it('does not change a list that is open', async () => {
    const { service, page } = await start()
    const list = page.locator('#account')
    await list.click()
    expect(await list.evaluate((node) => node.matches(':open'))).toBe(true)
    const seen = page.waitForResponse(
      async (response) => response.url().includes('/accounts?') && (await response.text()).includes('newcomer'),
    )
    await createAccount(service, 'newcomer')
    await lookAgain(page)
    await seen
    expect(await list.locator('option').allTextContents()).toEqual(['default'])
    await page.keyboard.press('Escape')
    await page.locator('#tab-coverage').click()
    await expect.poll(() => list.locator('option').allTextContents()).toEqual(['default', 'newcomer'])
  })

  it('asks for the verdict far less often than requests come, and shows the last one', async () => {
    const { service, page } = await start({ enforceQuotas: false }, '', { own: true })
    let asked = 0
    page.on('request', (request) => {
      if (request.url().endsWith('/verdict')) asked += 1
    })
    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: 40 }, () => service.get('/domains')))
    }
    await service.send('POST', '/domains', { wrong: 1 })
    await expect.poll(() => verdictOf(page)).toEqual(['All accounts: 1 violation', 'bad'])
    expect(asked).toBeLessThan(50)
  })

  it('closes a dialog and a sheet at the first Escape, also from a list and while a note is shown, and by a click beside it', async () => {
    const { page } = await start()
    // A note lies above everything, and takes no key.
    await goTo(page, 'nobody/account')
    await page.locator('.toast').waitFor()
    await page.locator('#account-new').click()
    await page.getByLabel('Fixture').focus()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('dialog').count()).toBe(0)
    expect(await page.evaluate('document.activeElement.id')).toBe('account-new')
    const sheet = page.locator('#verdict-sheet')
    await page.locator('#verdict').click()
    await sheet.waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => sheet.count()).toBe(0)
    await page.locator('#verdict').click()
    await sheet.locator('h2').click()
    expect(await sheet.count()).toBe(1)
    await page.mouse.click(10, 400)
    await expect.poll(() => sheet.count()).toBe(0)
  })
})

async function isTabInSight(page: Page, tab: string): Promise<boolean> {
  const { x = -1, width = 0 } = (await page.locator(`#tab-${tab}`).boundingBox()) ?? {}
  return x >= 0 && x + width < 361
}

/** The width and the height of a window, and whether the header has all in two rows. */
const WINDOWS: [width: number, height: number, isFlat: boolean][] = [
  [390, 844, false],
  [768, 1024, false],
  [1024, 768, true],
  [1280, 720, true],
  [1440, 900, true],
  [1920, 1080, true],
  // A lower window of this width takes as much room from the header, and is drawn in half the time.
  [3840, 1080, true],
]

describe('the header', () => {
  const name = 'the-account-of-the-team-that-moves-to-another-provider-in-spring'
  let crowded: TestService

  beforeAll(async () => {
    crowded = await openService({ fixture: 'demo', now: '2026-01-15T09:00:00Z', frozen: true })
    await createAccount(crowded, name)
    await createAccount(crowded, 'other')
    await crowded.send('POST', '/domains', { wrong: 1 })
  })
  afterAll(() => crowded.stop())

  it.each(WINDOWS)(
    'does not move what is below it while the page loads, and fits in %d × %d',
    async (width, height, isFlat) => {
      const page = await newCleanPage({ viewport: { width, height } })
      await page.addInitScript(`{
        window.shifts = 0
        new PerformanceObserver((list) => {
          for (const { value } of list.getEntries()) window.shifts += value
        }).observe({ type: 'layout-shift', buffered: true })
      }`)
      for (const view of ['overview', 'account', 'coverage', 'faults']) {
        await page.goto(adminUrl(crowded, `/accounts/${name}/${view}`))
        await untilLive(page)
        await page.getByRole('button', { name: 'All accounts: 1 violation' }).waitFor()
        await page.getByRole('tabpanel').getByRole('heading').first().waitFor()
        await page.getByTitle('The clock of this account').waitFor()
        expect(await page.evaluate('window.shifts'), view).toBeLessThan(0.05)
        expect(await isTooWide(page), view).toBe(false)
        const [top, tabs] = await Promise.all(
          [page.getByRole('banner'), page.getByRole('tablist')].map((part) => part.boundingBox()),
        )
        if (isFlat) expect((top?.height ?? 0) / (tabs?.height ?? 1), view).toBeLessThan(2.5)
        for (const button of await page.getByRole('banner').getByRole('button').all()) {
          const { x = 0, width: own = 0 } = (await button.boundingBox()) ?? {}
          expect(x + own, `${view}: ${await button.textContent()}`).toBeLessThanOrEqual(width)
        }
        expect(await page.evaluate(SCROLLERS), view).toBeLessThanOrEqual(1)
      }
    },
  )

  it('shows the whole name and the whole verdict to whoever points at them', async () => {
    const service = await startService()
    const name = 'n'.repeat(100)
    await createAccount(service, name)
    const page = await openDashboard(service, `${name}/account`)
    await untilLive(page)
    expect(await page.getByRole('combobox', { name: 'Account' }).getAttribute('title')).toBe(name)
    await page.getByTitle('All accounts: no request yet').waitFor()
  })
})

/** How many elements scroll the page or a great part of it, up and down. */
const SCROLLERS = `[...document.querySelectorAll('html, html *')].filter((node) =>
  node.scrollHeight > node.clientHeight + 1 && node.clientHeight > innerHeight / 2 &&
  (node === document.documentElement
    ? getComputedStyle(node).overflowY !== 'hidden'
    : ['auto', 'scroll'].includes(getComputedStyle(node).overflowY))).length`

describe('a question before something is destroyed', () => {
  it('leaves the focus on the safe button', async () => {
    const service = await startService({ fixture: 'demo' })
    await createAccount(service, 'other')
    const page = await openDashboard(service, 'other/account')
    await untilLive(page)
    for (const opener of ['Reset…', 'Delete…', /^Delete the key/]) {
      await page.getByRole('button', { name: opener }).first().click()
      const dialog = page.getByRole('dialog')
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel')
      await page.keyboard.press('Enter')
      await expect.poll(() => dialog.count()).toBe(0)
    }
    expect(await ask(service, '/accounts/other')).toMatchObject({ account: { id: 'other' } })
  })
})

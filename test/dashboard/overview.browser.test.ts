import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { OverviewReport } from '../../src/admin/reports.ts'
import type { DmarcRecord } from '../../src/domain/dmarc.ts'
import { findAccessibilityProblems } from '../support/accessibility.ts'
import { reusePage } from '../support/browser.ts'
import { findLayoutProblems } from '../support/layout.ts'
import type { TestService } from '../support/service.ts'
import { startService } from '../support/service.ts'
import { adminUrl, ask, change, lookAgain, newGate, openDashboard, start } from './dashboard-page.ts'

const NOW = '2026-01-15T09:00:00Z'
const DEMO = { fixture: 'demo', now: NOW } as const
const PLACE = 'default/overview'

async function recordsOf(service: TestService): Promise<DmarcRecord[]> {
  return JSON.parse((await service.get('/dmarc')).text).data
}

function moveClock(service: TestService, advance: string): Promise<unknown> {
  return change(service, 'PATCH', '/accounts/default/clock', { advance })
}

/** What a figure of the overview is. */
function figure(page: Page, name: string) {
  return page.locator('#overview-tiles > .tile', { hasText: name }).locator('.figure')
}

const press = (page: Page, name: RegExp) => page.getByRole('button', { name }).first().click()

describe('the overview on the page', () => {
  it('has the numbers of GET /dmarc, the most important ones together in the window of a projector', async () => {
    const { service, page } = await start(DEMO, PLACE, { viewport: { width: 1440, height: 900 } })
    const records = await recordsOf(service)
    const messages = records.reduce((sum, { count }) => sum + count, 0)
    const passing = records.reduce((sum, { count, dmarc }) => sum + (count * dmarc) / 100, 0)
    await expect
      .poll(() => figure(page, 'Passes DMARC').textContent())
      .toBe(`${((passing / messages) * 100).toFixed(1)} %`)
    expect(await figure(page, 'Messages of 30 days').textContent()).toBe(messages.toLocaleString('en'))
    const failing = Math.round(messages - passing).toLocaleString('en')
    expect(await figure(page, 'Messages that fail').textContent()).toBe(failing)
    const policies = await page.locator('#overview-policy-legend > li').allTextContents()
    const having = (policy: string) => records.filter(({ p }) => p === policy).length
    expect(policies.slice(0, 2)).toEqual([
      expect.stringContaining(`reject ${having('reject')} `),
      expect.stringContaining(`quarantine ${having('quarantine')} `),
    ])
    expect(await page.locator('.policy-bar').getAttribute('aria-label')).toMatch(/^Domains by policy: \d+ reject, /)
    await page.locator('#overview-rows tbody tr').first().waitFor()
    // The bar of a story covers what is below.
    const seen = 'document.documentElement.clientHeight - 200'
    for (const place of ['#overview-tiles', '#overview-history', '#overview-rows tbody tr:nth-child(3)']) {
      const bottom = `document.querySelector('${place}').getBoundingClientRect().bottom`
      expect([place, await page.evaluate(`${bottom} <= ${seen}`)]).toEqual([place, true])
    }
    expect(await page.locator('#overview-tiles > .tile').first().innerText()).toMatch(/\d\.\d points (more|less)/)
  })

  it('names what the story is about, says why, tells the days by mouse and by key, and leads to the domain', async () => {
    const { service, page } = await start(DEMO, PLACE)
    const { attention, days } = await ask<OverviewReport>(service, '/accounts/default/overview')
    const rows = page.locator('#overview-rows tbody tr')
    await expect.poll(() => rows.count()).toBe(attention.length)
    expect(await rows.first().textContent()).toContain(
      'news.fjordlight.exampleEnforced policy (quarantine), a sender that does not sign its mail since 6 January',
    )
    expect(await rows.filter({ hasText: 'winter-sale.example' }).textContent()).toContain('Forged since 9 January')

    // The chart has the values of a day by mouse and by key, and all of them in a table.
    const chart = page.getByRole('slider', { name: 'DMARC of all domains' })
    const day = page.locator('.chart-day')
    expect(await day.textContent()).toBe('15 January 2026')
    await chart.focus()
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => day.textContent()).toBe('14 January 2026')
    const yesterday = days.at(-2)
    expect(await chart.getAttribute('aria-valuetext')).toBe(
      `14 January 2026, Passes DMARC ${yesterday?.share?.toFixed(1)} %, ${yesterday?.messages?.toLocaleString('en')} messages`,
    )
    await page.keyboard.press('Home')
    await expect.poll(() => day.textContent()).toBe('18 October 2025')
    await chart.hover({ position: { x: 500, y: 50 } })
    await expect.poll(() => day.textContent()).toMatch(/November|December/)
    await page.getByText('The figures as a table').click()
    const figures = page.getByRole('table', { name: 'DMARC of all domains' }).locator('tbody tr')
    await expect.poll(() => figures.count()).toBe(90)
    expect(await figures.last().textContent()).toContain(days.at(-1)?.messages?.toLocaleString('en'))

    await rows.first().getByRole('link').click()
    await expect.poll(() => page.locator('#tab-domains').getAttribute('aria-selected')).toBe('true')
    await page.getByRole('heading', { name: 'news.fjordlight.example' }).waitFor()
  })

  it('compares before and after when a clock passes a refresh, whoever moves it, until that is closed', async () => {
    // Below 1472 pixels, only the view Time has the buttons of the clock.
    const { service, page } = await start(DEMO, PLACE, { viewport: { width: 1600, height: 900 } })
    const before = await ask<OverviewReport>(service, '/accounts/default/overview')
    await figure(page, 'Messages of 30 days').waitFor()
    await press(page, /^\+1 hour/)
    await page.locator('#clock', { hasText: '10:00' }).waitFor()
    expect(await page.locator('#before-after').count()).toBe(0)
    await moveClock(service, 'P12D')
    await lookAgain(page)
    const comparison = page.locator('#before-after')
    await comparison.waitFor()
    const after = await ask<OverviewReport>(service, '/accounts/default/overview')
    const heads = await comparison.locator('thead th').allTextContents()
    expect(heads).toEqual(['Figure', '15 January 2026', '27 January 2026'])
    const rows = await comparison.locator('tbody tr').allTextContents()
    for (const row of [
      `Passes DMARC${before.share?.toFixed(1)} %→ ${after.share?.toFixed(1)} %`,
      `Messages of 30 days${before.messages?.toLocaleString('en')}→ ${after.messages?.toLocaleString('en')}`,
      `Domains with quarantine${before.policies.quarantine}→ ${after.policies.quarantine}`,
    ])
      expect(rows).toContain(row)
    const [old, now] = [before, after].map(({ attention }) => attention.map(({ domain }) => domain))
    const both = [...(old ?? []), ...(now ?? [])]
    const changed = both.filter((domain) => !(old?.includes(domain) && now?.includes(domain)))
    const listed = await comparison.locator('.names li').allTextContents()
    expect(listed.filter((text) => !text.includes(' → ')).toSorted()).toEqual(changed.toSorted())
    expect(listed.find((text) => text.startsWith('winter-sale.example'))).toMatch(
      /^winter-sale.example17,684 → [\d,]+$/,
    )

    for (const [width, colorScheme] of [
      [1440, 'light'],
      [390, 'dark'],
    ] as const) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 900 })
      expect(await findAccessibilityProblems(page, '#panel')).toEqual([])
      expect(await findLayoutProblems(page)).toEqual([])
    }
    await page.setViewportSize({ width: 1600, height: 900 })

    // The next refreshes are compared with the same beginning, also by a button of this page.
    await press(page, /^\+1 day/)
    await comparison.locator('th', { hasText: '28 January 2026' }).waitFor()
    expect(await comparison.locator('thead th').nth(1).textContent()).toBe('15 January 2026')
    await comparison.getByRole('button', { name: 'Close' }).click()
    await expect.poll(() => comparison.count()).toBe(0)
    await change(service, 'POST', '/accounts/default/reset', {})
    await lookAgain(page)
    await page.locator('.overview-head', { hasText: '15 January 2026' }).waitFor()
    expect(await comparison.count()).toBe(0)
  })

  it('says what to do where there are no domains, and what is awaited where there is no mail yet', async () => {
    const { service, page } = await start({ fixture: 'empty', now: NOW }, PLACE)
    await page.getByRole('heading', { name: 'No figures yet' }).waitFor()
    await change(service, 'POST', '/accounts/default/domains', { domains: ['a.example'] })
    await lookAgain(page)
    await page.getByText('There are no reports yet.').waitFor()
    expect(await figure(page, 'Passes DMARC').textContent()).toBe('no reports')
    expect(await figure(page, 'Messages that fail').textContent()).toBe('no reports')
    await moveClock(service, 'P3D')
    await lookAgain(page)
    await page.getByRole('slider', { name: 'DMARC of all domains' }).waitFor()
  })

  it('has one scale of severity with words for it, and shows a very large number short', async () => {
    const fixture = {
      domains: [
        { name: 'a.example', record: { p: 'reject' as const, count: 1_000_000_000_000, dmarc: 25 } },
        { name: 'b.example', profile: 'no-record' as const },
      ],
    }
    const { page } = await start({ fixture, now: NOW }, PLACE)
    await page.getByText('1 of high severity').waitFor()
    expect(await page.getByText('urgent').count()).toBe(0)
    await page.getByText(/^High: much mail of the domain is lost/).waitFor()
    expect(await figure(page, 'Messages of 30 days').getByTitle('1,000,000,000,000').innerText()).toContain('1T')
    const silent = page.locator('#overview-rows').getByRole('row', { name: /b\.example/ })
    expect(await silent.textContent()).toMatch(/no reports$/)
  })

  it('shows that it loads, and why it cannot', async () => {
    const service = await startService(DEMO)
    const page = await reusePage()
    const gate = newGate()
    const refusal = { code: 'unavailable', message: 'The store is away.', problems: [] }
    let fails = true
    await page.route('**/overview?**', async (route) => {
      await gate.opened
      if (fails) await route.fulfill({ status: 503, json: { success: false, error: refusal } })
      else await route.continue()
    })
    await page.goto(adminUrl(service, `/accounts/${PLACE}`))
    await page.getByRole('status', { name: 'The figures are being loaded' }).waitFor()
    gate.open()
    await page.getByRole('alert').filter({ hasText: 'The store is away.' }).waitFor()
    // The page tries by itself, too, and the button is gone where that was first.
    const again = await page.getByRole('button', { name: 'Try again' }).elementHandle()
    fails = false
    await again?.evaluate((button) => (button as { click(): void }).click())
    await figure(page, 'Passes DMARC').waitFor()
    fails = true
    await lookAgain(page)
    await page.getByText('These figures are not the newest.').waitFor()
    expect(await figure(page, 'Passes DMARC').count()).toBe(1)
  })

  it('is one page of paper, black on white, without what only a screen needs', async () => {
    const service = await startService({ fixture: 'agency', now: NOW })
    const page = await openDashboard(service, PLACE, { colorScheme: 'dark', viewport: { width: 1440, height: 900 } })
    await expect.poll(() => page.locator('#overview-rows tbody tr').count()).toBe(20)
    await page.getByText(/^The worst 20 of [\d,]+ are listed\.$/).waitFor()
    const pdf = (await page.pdf({ format: 'A4' })).toString('latin1')
    expect(pdf.match(/\/Type\s*\/Page[^s]/g)).toHaveLength(1)
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    for (const hidden of ['header.top', '.overview-head button', '.chart-table']) {
      expect(await page.locator(hidden).isVisible(), hidden).toBe(false)
    }
    expect(await page.locator('.overview-head').textContent()).toContain('Account default')
    expect(await page.getByText(/^The worst 20 of [\d,]+ are listed\.$/).isVisible()).toBe(true)
    const color = (selector: string, property: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`)
    expect(await color('.panel-overview', 'color')).toBe('rgb(0, 0, 0)')
    expect(await color('.card', 'backgroundColor')).toBe('rgb(255, 255, 255)')
  })
})

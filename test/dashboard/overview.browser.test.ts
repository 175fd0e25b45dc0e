import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { OverviewReport } from '../../src/contract/control-plane.ts'
import { shareService, WIDE } from './dashboard-page.ts'
import { lookAgain, see, viewOf, warns } from './user.ts'

const { visit } = shareService()

/** What the view says below a figure's heading. */
async function figure(page: Page, name: string): Promise<string | undefined> {
  const lines = (await viewOf(page).innerText()).split('\n').filter((line) => line.trim() !== '')
  return lines[lines.findIndex((line) => line.toLowerCase() === name.toLowerCase()) + 1]
}

describe('the overview', () => {
  it('says how much mail passes and which domains need attention, tells each day, and leads to a domain', async () => {
    const { page, send, ask } = await visit('overview', { fixture: 'demo', ...WIDE })
    const records: { count: number; dmarc: number; p: string }[] = (await send('GET', '/dmarc')).body.data
    const messages = records.reduce((sum, { count }) => sum + count, 0)
    const passing = records.reduce((sum, { count, dmarc }) => sum + (count * dmarc) / 100, 0)
    await expect.poll(() => figure(page, 'Passes DMARC')).toBe(`${((passing / messages) * 100).toFixed(1)} %`)
    expect(await figure(page, 'Messages of 30 days')).toBe(messages.toLocaleString('en'))
    expect(await figure(page, 'Messages that fail')).toBe(Math.round(messages - passing).toLocaleString('en'))
    const having = (policy: string) => records.filter(({ p }) => p === policy).length
    await page
      .getByRole('img', { name: `Domains by policy: ${having('reject')} reject, ${having('quarantine')}` })
      .waitFor()

    const { attention, days }: OverviewReport = await ask('/overview')
    const rows = page.getByRole('list', { name: 'Domains that need attention' }).getByRole('listitem')
    await expect.poll(() => rows.count()).toBe(attention.length)
    const why = 'A new sender adds 88 % to its mail and does not sign it. Since 6 January 2026.'
    expect(await rows.first().innerText()).toContain(why)
    await see(page, /^High: much mail of the domain is lost/)

    // The chart tells the values of the newest day, or of the one below the mouse, and has all of them in a table.
    const chart = page.getByRole('figure', { name: 'DMARC of all domains' })
    await see(chart, '15 January 2026')
    await see(chart, days.at(-1)?.messages?.toLocaleString('en') ?? 'messages')
    await chart.locator('.plot').hover({ position: { x: 300, y: 50 } })
    await see(chart, /^\d+ (November|December) 2025$/)
    await page.getByText('The figures as a table').click()
    const figures = page.getByRole('table', { name: 'DMARC of all domains' })
    await expect.poll(() => figures.getByRole('row').count()).toBe(91)

    await rows.first().getByRole('link').click()
    await page.getByRole('region', { name: 'news.fjordlight.example' }).waitFor()
  })

  it('says what to do where there are no domains, what is awaited, and why it cannot load', async () => {
    const { page, change } = await visit('overview')
    await page.getByRole('heading', { name: 'No figures yet' }).waitFor()
    await change('POST', '/domains', { domains: ['a.example'] })
    await lookAgain(page)
    await see(page, 'There are no reports yet.')
    expect(await figure(page, 'Passes DMARC')).toBe('no reports')
    await change('PATCH', '/clock', { advance: 'P3D' })
    await lookAgain(page)
    await page.getByRole('figure', { name: 'DMARC of all domains' }).waitFor()
    const error = { code: 'unavailable', message: 'The store is away.', problems: [] }
    await page.route('**/overview?**', (route) => route.fulfill({ status: 503, json: { success: false, error } }))
    await change('PATCH', '/clock', { advance: 'P1D' })
    await lookAgain(page)
    // What it knew before stays.
    await see(page, 'This may be out of date.')
    expect(await figure(page, 'Passes DMARC')).toMatch(/^\d+\.\d %$/)
    await page.reload()
    await warns(page, 'The store is away.')
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.getByRole('figure', { name: 'DMARC of all domains' }).waitFor()
  })
})

import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { newCleanPage } from '../support/browser.ts'
import { it } from '../support/program.ts'
import { API_KEY, startService } from '../support/service.ts'
import { ask, openDashboard, untilLive } from './dashboard-page.ts'
import { answer, detailsOf, press, see, viewOf } from './user.ts'

const verdict = (page: Page, words: string) => page.getByRole('link', { name: words, exact: true })

describe('the verdict', () => {
  it('is that of all accounts, says what is behind it, and starts again after a question', async () => {
    const service = await startService()
    const page = await openDashboard(service, 'default/account')
    await verdict(page, 'All accounts: no request yet').waitFor()
    // Nothing was judged yet.
    await service.send('GET', '/domains', undefined, { authorization: 'Bearer nobody' })
    await verdict(page, 'All accounts: nothing checked yet').waitFor()
    await service.get('/dmarc')
    await service.get('/dmarc')
    await verdict(page, 'All accounts: kept the contract').waitFor()
    await service.send('POST', '/domains', { domains: ['a b'] })
    await service.send('POST', '/domains', { wrong: 1 })
    const violated = verdict(page, 'All accounts: 2 violations')
    await violated.click()
    await see(viewOf(page), 'which "a b" is not')
    await see(viewOf(page), 'repeated-read')
    await viewOf(page).getByRole('link', { name: 'Open the request POST' }).first().click()
    await detailsOf(page, 'POST /api/v1/domains').waitFor()
    await page.goBack()
    await press(viewOf(page), 'Start the verdict again…')
    await answer(page, 'Cancel')
    expect(await ask(service, '/verdict')).toMatchObject({ violations: { count: 2 } })
    await press(viewOf(page), 'Start the verdict again…')
    await answer(page, 'Start again')
    await verdict(page, 'All accounts: no request yet').waitFor()
  })
})

describe('the view Coverage', () => {
  it('shows how much of the contract was covered, and commands for the rest, which stay open while it grows', async () => {
    const service = await startService()
    const page = await openDashboard(service, 'default/coverage')
    await see(viewOf(page), '0 / 8')
    const gap = viewOf(page).getByRole('group').filter({ hasText: 'createDomainGroup → 409' })
    await gap.getByText('createDomainGroup → 409').click()
    await service.get('/domains')
    await see(viewOf(page), '1 / 8')
    await see(gap, 'curl -sS -X POST -H "Authorization: Bearer $API_KEY"')
    await page.getByRole('searchbox', { name: 'Filter gaps' }).fill('response createDomainGroup')
    await expect.poll(() => viewOf(page).getByRole('group').count()).toBeLessThan(20)
    await page.getByRole('searchbox', { name: 'Filter gaps' }).fill('no such gap')
    await see(page, 'No gap matches the filter.')
  })
})

describe('the page of a proxy', () => {
  it('shows the requests that were passed on, their verdict and coverage, and nothing that a proxy cannot do', async ({
    start,
  }) => {
    const service = await startService()
    const running = start(['proxy', '--target', service.baseUrl, '--port', '0'])
    const [, baseUrl = ''] = await running.prints(/Base URL {3}(\S+)[\s\S]*Try it:\n {2}curl .+\n/)
    const page = await newCleanPage()
    await page.goto(`${new URL(baseUrl).origin}/__admin/`)
    await untilLive(page)
    const tabs = await page.getByRole('navigation').getByRole('link').allInnerTexts()
    expect(tabs.map((text) => text.split(/\s/)[0])).toEqual(['Requests', 'Coverage'])
    expect(await page.getByRole('combobox', { name: 'Account' }).count()).toBe(0)
    const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
    await fetch(`${baseUrl}/domains`, { method: 'POST', headers, body: '{"wrong":1}' })
    await page.getByRole('row', { name: /violates the contract$/ }).waitFor()
    await page.getByRole('link', { name: 'All clients: 1 violation; not counted' }).click()
    await see(viewOf(page), 'Findings against the service')
  })
})

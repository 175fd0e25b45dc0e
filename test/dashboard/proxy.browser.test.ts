import { describe, expect } from 'vitest'
import { newCleanPage } from '../support/browser.ts'
import { it } from '../support/program.ts'
import { API_KEY, startService } from '../support/service.ts'
import { placeOf } from './dashboard-page.ts'

describe('the page of a proxy', () => {
  it('shows the requests that were passed on, their verdict and coverage, and nothing that a proxy cannot do', async ({
    start,
  }) => {
    const service = await startService()
    const running = start(['proxy', '--target', service.baseUrl, '--port', '0'])
    const [, baseUrl = ''] = await running.prints(/Base URL {3}(\S+)[\s\S]*Try it:\n {2}curl .+\n/)
    const page = await newCleanPage()
    const refusals: string[] = []
    page.on('response', (response) => {
      if (response.status() >= 400) refusals.push(`${response.status()} ${response.url()}`)
    })
    await page.goto(`${new URL(baseUrl).origin}/__admin/`)
    await page.locator('#connection', { hasText: 'Live' }).waitFor()
    expect(await page.getByRole('tab').allTextContents()).toEqual([
      expect.stringContaining('Requests'),
      expect.stringContaining('Coverage'),
    ])
    expect(await page.locator('#account-picker, #clock').count()).toBe(0)
    expect(await page.locator('#tab-requests').getAttribute('aria-selected')).toBe('true')

    const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
    await fetch(`${baseUrl}/domains`, { headers })
    await page.locator('#request-rows', { hasText: '/api/v1/domains' }).waitFor()
    await page.locator('#verdict.good').waitFor()
    await fetch(`${baseUrl}/domains`, { method: 'POST', headers, body: '{"wrong":1}' })
    await page.locator('#verdict.warn', { hasText: 'All clients: 1 violation; not counted' }).waitFor()
    const marks = page.locator('#request-rows .badge', { hasText: 'the contract' })
    expect(await marks.allTextContents()).toEqual(['violates the contract'])
    await page.locator('#verdict').click()
    await page.locator('#verdict-sheet', { hasText: 'Findings against the service0' }).waitFor()
    await page.keyboard.press('Escape')

    await page.locator('#tab-coverage').click()
    await page.locator('#coverage-bars').getByText('2 / 8').waitFor()
    await page.goto(`${new URL(baseUrl).origin}/__admin/accounts/default/faults`)
    await expect.poll(() => placeOf(page)).toBe('default/requests')
    expect(refusals).toEqual([])
  })
})

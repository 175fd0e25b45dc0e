import { describe, expect, it } from 'vitest'
import { start } from './dashboard-page.ts'

describe('the view Coverage', () => {
  it('shows how much of the contract was covered, and commands for the rest, which stay open while requests come', async () => {
    const { service, page } = await start({}, 'default/coverage')
    const bars = page.locator('#coverage-bars')
    await bars.getByText('0 / 8').waitFor()
    const gaps = page.locator('#gaps li')
    const before = await gaps.count()
    const open = page.locator('#gaps li', { hasText: 'createDomainGroup → 409' })
    await open.locator('summary').click()
    await service.get('/domains')
    await bars.getByText('1 / 8').waitFor()
    expect(await gaps.count()).toBeLessThan(before)
    expect(await open.locator('pre').first().isVisible()).toBe(true)
    await page.locator('#gap-filter').fill('response createDomainGroup')
    const gap = page.locator('#gaps li', { hasText: 'duplicate_name' })
    await gap.locator('pre').first().waitFor()
    expect(await gap.locator('pre').first().textContent()).toContain(
      'curl -sS -X POST -H "Authorization: Bearer $API_KEY"',
    )
    expect(await page.locator('#gaps li .mono').allTextContents()).toSatisfy((names: string[]) =>
      names.every((name) => name.startsWith('createDomainGroup') || name.startsWith('curl')),
    )
    await page.locator('#gap-filter').fill('no such gap')
    await page.getByText('No gap matches the filter.').waitFor()
  })
})

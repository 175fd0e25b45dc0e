import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { startService, type TestService } from '../support/service.ts'
import { ask, change, openDashboard, placeOf, start, untilLive } from './dashboard-page.ts'

const WIDE = { viewport: { width: 1440, height: 900 } }
const NARROW = { viewport: { width: 1100, height: 900 } }

async function newestRequest(service: TestService): Promise<string> {
  const { requests } = await ask<{ requests: { request_id: string }[] }>(service, '/accounts/default/requests?limit=1')
  return requests[0]?.request_id ?? ''
}

function tab(page: Page, name: RegExp) {
  return page.getByRole('tab', { name })
}

describe('the address of the page', () => {
  it('follows views, details and filters, each of which Back and Forward reach, and a reload keeps', async () => {
    const { service, page } = await start({ fixture: 'demo' }, 'default/overview', WIDE)
    const { domains } = await ask<{ domains: { domain: string }[] }>(service, '/accounts/default/domains?limit=1')
    const name = domains[0]?.domain ?? ''
    await tab(page, /Domains/).click()
    await page.getByRole('combobox', { name: 'Policy', exact: true }).selectOption('reject')
    await page.getByRole('searchbox', { name: 'Search domains' }).fill('fjord')
    await page.getByRole('link', { name, exact: true }).click()
    const details = page.getByRole('region', { name, exact: true })
    await details.waitFor()
    const whole = `default/domains/${name}?search=fjord&policy=reject`
    expect(placeOf(page)).toBe(whole)

    await page.reload()
    await details.waitFor()
    expect(placeOf(page)).toBe(whole)
    expect(await page.getByRole('searchbox', { name: 'Search domains' }).inputValue()).toBe('fjord')
    expect(await page.getByRole('combobox', { name: 'Policy', exact: true }).inputValue()).toBe('reject')

    // Typing is no step of its own.
    const steps = ['default/domains?search=fjord&policy=reject', 'default/domains', 'default/overview']
    for (const step of steps) {
      await page.goBack()
      await expect.poll(() => placeOf(page)).toBe(step)
    }
    await page.getByText('Messages', { exact: false }).first().waitFor()
    for (const step of [...steps.slice(0, -1).reverse(), whole]) {
      await page.goForward()
      await expect.poll(() => placeOf(page)).toBe(step)
    }
    await details.waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => placeOf(page)).toBe(steps[0])
    expect(await details.count()).toBe(0)
  })

  it('of a request opens it, as a sheet or beside the list, also when the list does not have it', async () => {
    const { service, page } = await start({}, 'default/account', NARROW)
    await service.send('POST', '/domaingroups', { name: '' })
    const id = await newestRequest(service)
    const address = `default/requests/${id}?search=no+such+words`
    const narrow = await openDashboard(service, address, NARROW)
    await narrow.getByRole('dialog', { name: 'POST /api/v1/domaingroups' }).getByText('Circumstances').waitFor()
    await narrow.setViewportSize(WIDE.viewport)
    await narrow.getByRole('region', { name: 'POST /api/v1/domaingroups' }).getByText('Circumstances').waitFor()
    expect(placeOf(narrow)).toBe(address)
    expect(placeOf(page)).toBe('default/account')
  })

  it('of a request that the journal does not have says so', async () => {
    const { page } = await start({}, 'default/requests/0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f', WIDE)
    await page.getByRole('alert').getByText('0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f').waitFor()
  })

  it('names an account, which another page may open in another view', async () => {
    const service = await startService()
    await change(service, 'POST', '/accounts', { id: 'two' })
    const page = await openDashboard(service, 'default/requests', WIDE)
    await page.getByRole('combobox', { name: 'Account' }).selectOption('two')
    await expect.poll(() => placeOf(page)).toBe('two/requests')
    expect(await page.title()).toBe('Requests, two – dmarc-understudy')
    await page.reload()
    await untilLive(page)
    expect(await page.getByRole('combobox', { name: 'Account' }).inputValue()).toBe('two')
    await page.goBack()
    await expect.poll(() => page.getByRole('combobox', { name: 'Account' }).inputValue()).toBe('default')
  })

  it('is that of each link, so that the browser can open it in another tab', async () => {
    const { service, page } = await start({ fixture: 'demo' }, 'default/groups?search=a', WIDE)
    const { groups } = await ask<{ groups: { id: string; name: string }[] }>(service, '/accounts/default/groups')
    const { id, name } = groups.find((each) => each.name.toLowerCase().includes('a')) ?? { id: '', name: '' }
    const link = page.getByRole('link', { name })
    await link.hover()
    expect(await link.getAttribute('href')).toBe(`/__admin/accounts/default/groups/${id}?search=a`)
    const [other] = await Promise.all([
      page.context().waitForEvent('page'),
      link.click({ modifiers: ['ControlOrMeta'] }),
    ])
    await other.getByRole('heading', { name, exact: true }).waitFor()
    expect(placeOf(page)).toBe('default/groups?search=a')
    await other.close()
  })

  it.each([
    ['default', 'default/requests'],
    ['default/', 'default/requests'],
    ['default/domains?policy=reject&unknown=1', 'default/domains?policy=reject'],
    ['default/requests?whose=everybody', 'default/requests'],
    ['default/requests?whose=all', 'default/requests?whose=all'],
  ])('%s leads to %s', async (given, shown) => {
    const { page } = await start({}, given)
    await expect.poll(() => placeOf(page)).toBe(shown)
  })
})

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { startService } from '../support/service.ts'
import { AUTHORIZED, CLOSE, requestBytes } from '../support/wire.ts'
import { change, openDashboard, placeOf, shareService, untilLive } from './dashboard-page.ts'
import { linkTo, openView, see, viewOf, warns } from './user.ts'

const { service, visit } = shareService()

const shown = (page: Page) => viewOf(page).getByRole('row').getByRole('link').allTextContents()

it('shows what other clients do as it happens: requests, domains, groups and rules', async () => {
  const { page, send, change } = await visit('requests')
  await send('POST', '/domains', { domains: ['a.example'] })
  await page.getByRole('link', { name: '/api/v1/domains' }).waitFor()
  await linkTo(page, 'Domains 1').waitFor()
  for (const [view, path, body, text] of [
    ['Groups', '/groups', { name: 'Newcomers' }, 'Newcomers'],
    ['Domains', '/domains', { domains: ['b.example'] }, 'b.example'],
    ['Faults', '/faults', { delay_ms: 1, description: 'A new rule' }, 'A new rule'],
  ] as const) {
    await openView(page, view)
    await viewOf(page).getByRole('heading').first().waitFor()
    await change('POST', path, body)
    // The page asks by itself.
    await see(viewOf(page), text)
  }
})

it('shows a request at once, and not only when the page asks by itself', async () => {
  const { page, send } = await visit('requests', { ownPage: true })
  await page.addInitScript('globalThis.setInterval = () => 0')
  await page.reload()
  await untilLive(page)
  await see(page, 'No requests yet.')
  await send('GET', '/dmarc')
  await expect.poll(() => shown(page)).toEqual(['/api/v1/dmarc'])
})

it('shows the chosen account alone, also when an answer for the one before comes late', async () => {
  const { page, account, send } = await visit('domains', { fixture: { domains: ['fast.example'] } })
  const slow = { id: 'sandbox_slow', fixture: { domains: ['slow.example'] } }
  await change(service(), 'POST', '/accounts', slow)
  await page.reload()
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route(`**/accounts/${slow.id}/domains?*`, (route) => released.then(() => route.continue()))
  const picker = page.getByRole('combobox', { name: 'Account', exact: true })
  await picker.selectOption(slow.id)
  await picker.selectOption(account)
  release()
  await page.getByText('1 domain', { exact: true }).waitFor()
  expect(await viewOf(page).locator('tbody').getByRole('link').allTextContents()).toEqual(['fast.example'])
  await openView(page, 'Requests')
  await service().send('GET', '/dmarc', undefined, { authorization: `Bearer ${slow.id}` })
  await send('GET', '/domains')
  await expect.poll(() => shown(page)).toEqual(['/api/v1/domains'])
  await page.getByRole('combobox', { name: 'Whose requests' }).selectOption('all')
  await expect.poll(() => shown(page)).toContain('/api/v1/dmarc')
})

it('says that the server does not answer, and goes on with the one that takes its place', async () => {
  const first = await startService()
  await change(first, 'POST', '/accounts', { id: 'short-lived', api_key: 'short-lived-key' })
  const page = await openDashboard(first, 'short-lived/requests')
  await untilLive(page)
  const authorization = 'Bearer short-lived-key'
  for (const number of [1, 2, 3]) await first.send('GET', `/domains?n=${number}`, undefined, { authorization })
  await page.getByRole('link', { name: 'All accounts: kept the contract' }).waitFor()
  await expect.poll(() => shown(page)).toHaveLength(3)
  await first.stop()
  await warns(page, 'The server does not answer.')
  await page.getByRole('status').filter({ hasText: 'Reconnecting…' }).waitFor()
  // Nobody confirms the verdict any more.
  await page.getByRole('link', { name: 'All accounts: verdict unknown' }).waitFor()
  expect(await shown(page)).toHaveLength(3)

  // It knows nothing of the account, and counts its requests from one.
  const second = await startService({ port: Number(new URL(first.baseUrl).port) })
  await second.sendRaw(requestBytes({ target: '/api/v1/dmarc', headers: [AUTHORIZED, CLOSE] }))
  await expect.poll(() => shown(page)).toEqual(['/api/v1/dmarc'])
  expect(placeOf(page)).toBe('default/requests')
  await untilLive(page)
  await page.getByRole('link', { name: 'All accounts: kept the contract' }).waitFor()
  expect(await page.getByText('The server does not answer.').count()).toBe(0)
})

it('opens the stream before it reads what the stream could miss, and reads each thing once', async () => {
  const { page } = await visit('overview', { fixture: 'demo' })
  const paths: string[] = []
  page.on('request', (request) => paths.push(new URL(request.url()).pathname.replace(/.*\/__admin/, '')))
  await page.reload()
  await page.getByRole('figure').waitFor()
  expect(paths[1]).toBe('/events')
  expect(paths).toEqual([...new Set(paths)])
})

it('says what it waits for, gives up after ten seconds, and can be asked again', async () => {
  const { page } = await visit('account', { ownPage: true })
  await page.clock.install()
  let hangs = true
  await page.route(/\/coverage$/, (route) => (hangs ? undefined : route.continue()))
  await page.reload()
  const givesUp = async (what: string) => {
    await page.clock.runFor(1_000)
    await see(viewOf(page), `Waiting for ${what}…`)
    await page.clock.runFor(9_500)
    await see(viewOf(page), 'The server did not answer within 10 seconds.')
  }
  await viewOf(page).getByRole('heading', { name: 'Keys' }).waitFor()
  await openView(page, 'Coverage')
  await givesUp('the coverage')
  hangs = false
  // With a clock that stands, nothing on the page comes to rest. An event can have made the page ask again by itself.
  const again = viewOf(page).getByRole('button', { name: 'Try again', exact: true })
  const shown = viewOf(page).getByText('0 / 8', { exact: true })
  await again.or(shown).first().dispatchEvent('click')
  await shown.first().waitFor()
})

it('rests where nothing happens: at most 20 requests a minute in any view, and none while it is hidden', async () => {
  const { page, account } = await visit('overview', { fixture: 'demo', ownPage: true })
  await page.clock.install()
  let count = 0
  page.on('request', () => count++)
  for (const view of ['overview', 'domains/shop.example', 'requests', 'account']) {
    await page.goto(page.url().replace(/\/page\/.*/, `/page/${account}/${view}`))
    await page.clock.runFor(2_000)
    await viewOf(page).getByRole('heading').first().waitFor()
    count = 0
    // After 45 seconds of its clock, the page would take a stream for lost that is silent for so long.
    await page.clock.runFor(40_000)
    expect(count * 1.5, view).toBeLessThanOrEqual(20)
    expect(count, view).toBeGreaterThan(0)
  }
  await page.evaluate(`Object.defineProperty(document, 'hidden', { get: () => true })`)
  count = 0
  await page.clock.runFor(40_000)
  expect(count).toBe(0)
})

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { newCleanPage, newPage } from '../support/browser.ts'
import { askControl } from '../support/control-plane.ts'
import { API_KEY, startService } from '../support/service.ts'
import { adminUrl, ask, change, openDashboard, placeOf, shareService, untilLive, WIDE } from './dashboard-page.ts'
import { answer, dialogOf, linkTo, lookAgain, press, see, viewOf, warns } from './user.ts'

const { service, visit } = shareService()

const picker = (page: Page) => page.getByRole('combobox', { name: 'Account', exact: true })
const dialog = dialogOf
/** The secret that a dialog shows once. */
const secretIn = async (page: Page) => /'([^']+)'/.exec(await dialog(page).innerText())?.[1] ?? ''

it('shows how a client reaches the service, what is left of the quotas, and the plan', async () => {
  const enforcing = await startService()
  await change(enforcing, 'POST', '/accounts', { id: 'sandbox_mine' })
  const page = await openDashboard(enforcing, 'sandbox_mine/account', WIDE)
  const { baseUrl } = enforcing
  await see(viewOf(page), `curl -sS -H 'Authorization: Bearer sandbox_mine' ${baseUrl}/domains`)
  const send = () => enforcing.send('GET', '/dmarc', undefined, { authorization: 'Bearer sandbox_mine' })
  const quotas = viewOf(page).getByRole('region', { name: 'Remaining quotas' })
  await quotas.getByText('enforced', { exact: true }).waitFor()
  await send()
  await lookAgain(page)
  await see(quotas, '9 / 10')
  await press(quotas, 'Use up the quota of dmarc')
  await quotas.getByText('0 / 10', { exact: true }).waitFor()
  expect((await send()).status).toBe(429)
  await press(quotas, 'Refill the quota of dmarc')
  await see(quotas, '10 / 10')
  expect((await send()).status).toBe(200)
  await viewOf(page).getByRole('combobox', { name: 'Plan' }).selectOption('below-stone')
  await expect.poll(async () => (await send()).status).toBe(403)
  // Where the key is secret, a variable stands in its place.
  await picker(page).selectOption('default')
  await see(viewOf(page), `curl -sS -H "Authorization: Bearer $API_KEY" ${baseUrl}/domains`)
})

it('creates a key, shows its secret once, disables and deletes it', async () => {
  const { page } = await visit('account', WIDE)
  await see(viewOf(page), 'Requests are counted, but none is refused')
  const keys = viewOf(page).getByRole('region', { name: 'Keys' })
  await keys.getByLabel('Label of a new key').fill('CI')
  await page.keyboard.press('Enter')
  await see(dialog(page), 'export API_KEY=')
  const secret = await secretIn(page)
  const status = async () =>
    (await service().send('GET', '/domains', undefined, { authorization: `Bearer ${secret}` })).status
  expect(await status()).toBe(200)
  await press(dialog(page), 'Close')
  await expect.poll(() => page.content()).not.toContain(secret)
  const item = keys.getByRole('listitem').filter({ hasText: 'CI' })
  await see(item, 'in grace period')
  for (const [name, says, answered] of [
    [/^Disable/, 'disabled', 401],
    [/^Enable/, 'enabled', 200],
  ] as const) {
    await item.getByRole('button', { name }).click()
    await item.getByText(says, { exact: true }).waitFor()
    expect(await status()).toBe(answered)
  }
  await item.getByRole('button', { name: /^Delete/ }).click()
  // Whoever presses Enter without reading destroys nothing.
  await page.keyboard.press('Enter')
  await dialog(page).waitFor({ state: 'detached' })
  await item.getByRole('button', { name: /^Delete/ }).click()
  await answer(page, 'Delete')
  await item.waitFor({ state: 'detached' })
  expect(await status()).toBe(401)
})

it('creates an account, shows only that account, resets it, deletes it, and offers those of other clients', async () => {
  const { page, account } = await visit('account', WIDE)
  await press(page, 'New…')
  const form = dialog(page)
  await form.getByLabel('Name').fill('other')
  await form.getByLabel('Fixture').selectOption('demo')
  await form.getByLabel('Seed').fill('seven')
  await press(form, 'Create')
  await warns(form, '“Seed” must be of type integer')
  await form.getByLabel('Seed').fill('7')
  await form.getByLabel('Time at the beginning').fill('2026-01-15T09:00:00Z')
  await page.keyboard.press('Enter')
  await see(dialog(page), 'The account other')
  const authorization = `Bearer ${await secretIn(page)}`
  await page.keyboard.press('Escape')
  await linkTo(page, 'Domains 25').waitFor()
  expect(placeOf(page)).toBe('other/account')
  expect(await ask(service(), '/accounts/other')).toMatchObject({ account: { seed: 7, fixture: 'demo' } })
  await service().send('POST', '/domains', { domains: ['late.example'] }, { authorization })
  await linkTo(page, 'Domains 26').waitFor()
  await press(page, 'Reset…')
  await answer(page, 'Reset')
  await linkTo(page, 'Domains 25').waitFor()
  await press(page, 'Delete…')
  await answer(page, 'Delete')
  await expect.poll(() => placeOf(page)).toBe('default/account')
  // The account `default` cannot be deleted.
  expect(await page.getByRole('banner').getByRole('button', { name: 'Delete…' }).count()).toBe(0)

  await change(service(), 'POST', '/accounts', { id: 'newcomer' })
  await lookAgain(page)
  const offered = () => picker(page).getByRole('option').allTextContents()
  await expect.poll(offered).toEqual(expect.arrayContaining(['default', account, 'newcomer']))
  // A list must not change below the pointer while it is open.
  await picker(page).click()
  await change(service(), 'POST', '/accounts', { id: 'latecomer' })
  const asked = page.waitForResponse(/\/accounts\?/)
  await lookAgain(page)
  await (await asked).finished()
  await linkTo(page, 'Domains').waitFor()
  expect(await offered()).not.toContain('latecomer')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Tab')
  await expect.poll(offered).toContain('latecomer')
})

it('asks for the token until it is the right one, also in a browser that stores nothing', async () => {
  const guarded = await startService({ adminToken: 'open-sesame' })
  const page = await newCleanPage()
  await page.addInitScript(
    `Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('No', 'SecurityError') } })`,
  )
  await page.goto(adminUrl(guarded, '/'))
  await see(dialog(page), 'requires a token')
  await page.keyboard.press('Escape')
  for (const [token, says] of [
    ['wrong', 'This token is wrong'],
    ['open-sesame', ''],
  ] as const) {
    await dialog(page).getByRole('textbox').fill(token)
    await page.keyboard.press('Enter')
    if (says !== '') await see(dialog(page), says)
  }
  await untilLive(page)
})

it('keeps the token from a page that a fault sends in place of an answer', async () => {
  const guarded = await startService({ adminToken: 'open-sesame' })
  const { page } = await newPage()
  await page.goto(adminUrl(guarded, '/'))
  await page.evaluate(`sessionStorage.setItem('token', 'open-sesame')`)
  const body = '<!doctype html><title>A gateway</title><script>document.title = sessionStorage.token</script>'
  const respond = { status: 200, headers: { 'Content-Type': 'text/html' }, body }
  const asAdmin = { authorization: 'Bearer open-sesame' }
  await askControl(guarded, 'POST', '/accounts/default/faults', { respond }, asAdmin)
  await page.setExtraHTTPHeaders({ authorization: `Bearer ${API_KEY}` })
  await page.goto(`${guarded.baseUrl}/domains`)
  expect(await page.title()).toBe('A gateway')
})

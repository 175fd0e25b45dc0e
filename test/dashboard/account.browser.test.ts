import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { startService } from '../support/service.ts'
import { ask, change, openDashboard, start } from './dashboard-page.ts'

/** The arguments of a command, as a shell reads them. */
function argumentsOf(command: string): string[] {
  const { stdout } = spawnSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }; ${command}`], {
    encoding: 'utf8',
    env: { ...process.env, API_KEY: 'key_of_the_variable' },
  })
  return stdout.trim().split('\n')
}

describe('the view Account', () => {
  it('shows how a client reaches the service, with a command that works', async () => {
    const service = await startService({ fixture: 'demo', apiKey: undefined })
    const page = await openDashboard(service, 'default/account')
    const command = await page.locator('#curl-line').textContent()
    expect(await page.locator('#base-url').textContent()).toBe(service.baseUrl)
    const [, , header = '', url = ''] = argumentsOf(command ?? '')
    const { api_key } = await ask<{ api_key: string | null }>(service, '/accounts/default')
    expect(command).toBe(`curl -sS -H 'Authorization: Bearer ${api_key}' ${service.baseUrl}/domains`)
    expect(await page.locator('#api-key').textContent()).toBe(api_key)
    const [name = '', value = ''] = header.split(': ')
    const answer = await service.send('GET', url.slice(service.baseUrl.length), undefined, { [name]: value })
    expect(answer.status).toBe(200)
  })

  it('names the variable in place of a key that is secret, and the key of a sandbox itself', async () => {
    const service = await startService()
    await service.send('GET', '/domains', undefined, { authorization: 'Bearer sandbox_mine' })
    const page = await openDashboard(service, 'sandbox_mine/account')
    await page.locator('#curl-line', { hasText: 'Bearer sandbox_mine' }).waitFor()
    await page.locator('#account').selectOption('default')
    const { api_key } = await ask<{ api_key: string | null }>(service, '/accounts/default')
    expect(api_key).toBeNull()
    await page.locator('#curl-line', { hasText: '"Authorization: Bearer $API_KEY"' }).waitFor()
    await page.locator('#api-key', { hasText: 'secret' }).waitFor()
  })

  it('shows the remaining quotas of each key, uses one up, refills it, and changes the plan', async () => {
    const { service, page } = await start({}, 'default/account')
    const count = page.locator('#quotas .count').first()
    const press = (name: string) => page.getByRole('button', { name }).click()
    await service.get('/dmarc')
    await expect.poll(() => count.textContent()).toBe('9 / 10')
    await press('Use up the quota of dmarc')
    await expect.poll(() => count.textContent()).toBe('0 / 10')
    expect((await service.get('/dmarc')).status).toBe(429)
    await press('Refill the quota of dmarc')
    await expect.poll(() => count.textContent()).toBe('10 / 10')
    expect((await service.get('/dmarc')).status).toBe(200)
    expect(await page.locator('.card', { has: page.locator('#quotas') }).textContent()).toContain('enforced')

    const { key } = await change<{ key: { id: string } }>(service, 'POST', '/accounts/default/keys', {})
    await page.locator('#quota-key').selectOption(key.id)
    await expect.poll(() => count.textContent()).toBe('100 / 100')
    await press('Use up the quota of dmarc')
    await expect.poll(() => count.textContent()).toBe('0 / 100')
    expect((await service.get('/dmarc')).status, 'the other key has its own').toBe(200)

    await page.locator('#plan').selectOption('below-stone')
    await expect.poll(() => ask(service, '/accounts/default')).toMatchObject({ account: { plan: 'below-stone' } })
    expect((await service.get('/domains')).status).toBe(403)
  })

  it('says that quotas are not enforced where they are not', async () => {
    const { page } = await start({ enforceQuotas: false }, 'default/account')
    await page.locator('#quota-note', { hasText: 'Requests are counted, but none is refused' }).waitFor()
    await page.getByText('not enforced', { exact: true }).waitFor()
  })

  it('creates a key, shows its secret once, disables and deletes it', async () => {
    const { service, page } = await start({}, 'default/account')
    await page.getByLabel('Label of a new key').fill('CI <b>')
    await page.keyboard.press('Enter')
    const dialog = page.locator('dialog', { hasText: 'export API_KEY=' })
    const secret = /'([^']+)'/.exec((await dialog.locator('pre').textContent()) ?? '')?.[1] ?? ''
    const read = () => service.send('GET', '/domains', undefined, { authorization: `Bearer ${secret}` })
    expect((await read()).status).toBe(200)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await expect.poll(() => page.content()).not.toContain(secret)
    const item = page.locator('#keys li', { hasText: 'CI <b>' })
    expect(await item.textContent()).toContain('in grace period')
    await item.getByRole('button', { name: 'Disable' }).click()
    await item.getByText('disabled', { exact: true }).waitFor()
    expect((await read()).status).toBe(401)
    await item.getByRole('button', { name: 'Enable' }).click()
    await item.getByText('enabled', { exact: true }).waitFor()
    expect((await read()).status).toBe(200)
    await item.getByRole('button', { name: 'Delete' }).click()
    await page.locator('dialog').getByRole('button', { name: 'Delete' }).click()
    await expect.poll(() => page.locator('#keys li').count()).toBe(1)
    expect((await read()).status).toBe(401)
  })
})

import { describe, expect, it } from 'vitest'
import { startService } from '../support/service.ts'
import { shareBrowser } from '../support/shared-browser.ts'
import { ask, choose, contains, openDashboard, press, shownPaths, start, textOf } from './browser-page.ts'

/** An expression: whether so much is left of the first quota. */
const left = (text: string) => `document.querySelector('#quotas .count')?.textContent === '${text}'`

describe('the panels of the dashboard', () => {
  shareBrowser()

  it('moves and stops the clock, and shows its time', async () => {
    const { service, page } = await start()
    await press(page, 'main', '+1 hour')
    await page.until(contains('#clock', '2026-01-15 10:30'))
    await press(page, 'main', '+1 day')
    await page.until(contains('#clock', '2026-01-16 10:30'))
    await page.click('#freeze')
    await page.until(contains('#clock-state', 'frozen'))
    expect(await ask(service, '/accounts/default/clock')).toEqual({ now: '2026-01-16T10:30:00Z', frozen: true })
    expect(await textOf(page, '#clock')).toBe('2026-01-16 10:30:00 UTC')
    await page.click('#freeze')
    await page.until(contains('#clock-state', 'running'))
  })

  it('shows the remaining quotas, uses one up, and refills it', async () => {
    const { service, page } = await start()
    await service.get('/dmarc')
    await page.until(left('9 / 10'))
    await press(page, '#quotas', 'Use up')
    await page.until(left('0 / 10'))
    expect((await service.get('/dmarc')).status).toBe(429)
    await press(page, '#quotas', 'Refill')
    await page.until(left('10 / 10'))
    expect((await service.get('/dmarc')).status).toBe(200)
  })

  it('changes the plan', async () => {
    const { service, page } = await start()
    await choose(page, '#plan', 'below-stone')
    await page.until(
      `fetch('accounts/default').then((answer) => answer.json()).then(({ data }) => data.account.plan === 'below-stone')`,
    )
    expect((await service.get('/domains')).status).toBe(403)
  })

  it('makes requests fail, shows how often, and shows a refusal of the control plane', async () => {
    const { service, page } = await start({}, '#default/faults')
    await page.until(contains('#faults', 'every response is genuine'))
    await choose(page, '#fault-form [name=operation]', 'listDomains')
    await choose(page, '#fault-form [name=error]', 'rate_limited')
    await page.click('#fault-form [name=times]')
    await page.type('1')
    await page.press('Enter')
    await page.until(contains('#faults', 'rate_limited'))
    expect((await service.get('/domains')).status).toBe(429)
    await page.until(contains('#faults', 'applied once'))
    expect(await textOf(page, '#faults')).toContain('spent')

    await page.click('#fault-form [name=probability]')
    await page.type('7')
    await press(page, '#fault-form', 'Add the rule')
    await page.until(contains('#fault-form .refusal', 'invalid_value `probability` must be at most 1, not 7.'))

    await press(page, '#fault-sets', 'Add')
    await page.until(contains('#faults', 'set flaky'))
    await press(page, '#panel-faults', 'Remove all')
    await page.until(contains('#faults', 'every response is genuine'))
    expect(await ask(service, '/accounts/default/faults')).toEqual({ faults: [], count: 0, next: null })
  })

  it('pins the record of a domain, marks the domain as in use, and shows the record', async () => {
    const { service, page } = await start({ fixture: 'demo' }, '#default/domains')
    await page.until(contains('#domain-rows', 'glowkids.example'))
    await page.click('#domain-filter')
    await page.type('glowkids')
    await press(page, '#domain-rows', 'Change…')
    await choose(page, 'dialog[open] [name=p]', 'reject')
    await page.click('dialog[open] [name=features]')
    await page.type('bimi')
    await press(page, 'dialog[open]', 'Save')
    await page.until(contains('#domain-rows', 'p reject · sp reject'))
    const { domains } = await ask<{ domains: unknown[] }>(service, '/accounts/default/state')
    expect(domains).toContainEqual(
      expect.objectContaining({
        name: 'glowkids.example',
        features: ['bimi'],
        record: { p: 'reject' },
        profile: 'monitoring-only',
      }),
    )
    await page.until(contains('#domain-rows', 'bimi'))
  })

  it('takes a snapshot and restores it', async () => {
    const { service, page } = await start({}, '#default/snapshots')
    await page.click('#snapshot-form [name=name]')
    await page.type('dawn')
    await page.press('Enter')
    await page.until(contains('#snapshots', 'dawn'))
    await service.send('POST', '/domains', { domains: ['late.example'] })
    await press(page, '#snapshots', 'Restore')
    await press(page, 'dialog[open]', 'Restore')
    await page.until(contains('#toasts', 'The snapshot dawn was restored.'))
    expect(await ask(service, '/accounts/default')).toMatchObject({ account: { domains: 0 } })
    await page.click('#snapshot-form [name=name]')
    await page.type('dawn')
    await page.press('Enter')
    await page.until(contains('#snapshot-form .refusal', 'taken There is already a snapshot "dawn".'))
    await press(page, '#snapshots', 'Delete')
    await press(page, 'dialog[open]', 'Delete')
    await page.until(contains('#snapshots', 'No snapshots.'))
  })

  it('creates a key, shows its secret once, disables and deletes it', async () => {
    const { service, page } = await start({}, '#default/keys')
    await page.click('#key-form [name=label]')
    await page.type('CI')
    await page.press('Enter')
    await page.until(contains('dialog[open]', 'export API_KEY='))
    const secret = /'([^']+)'/.exec(await textOf(page, 'dialog[open] pre'))?.[1]
    const read = () => service.send('GET', '/domains', undefined, { authorization: `Bearer ${secret}` })
    expect((await read()).status).toBe(200)
    await press(page, 'dialog[open]', 'Close')
    await page.until(`!document.documentElement.outerHTML.includes('${secret}')`)
    await press(page, '#keys li:last-child', 'Disable')
    await page.until(contains('#keys li:last-child', 'disabled'))
    expect((await read()).status).toBe(401)
    await press(page, '#keys li:last-child', 'Delete')
    await press(page, 'dialog[open]', 'Delete')
    await page.until(`document.querySelectorAll('#keys li').length === 1`)
  })

  it('creates an account, shows only that account, resets and deletes it', async () => {
    const { service, page } = await start()
    await service.get('/domains')
    await page.until(contains('#request-rows', '/domains'))
    await page.click('#account-new')
    await page.evaluate(`document.querySelector('dialog[open] [name=id]').focus()`)
    await page.type('other')
    await choose(page, 'dialog[open] [name=fixture]', 'demo')
    await press(page, 'dialog[open]', 'Create')
    await page.until(contains('dialog[open]', 'The account other'))
    const secret = /'([^']+)'/.exec(await textOf(page, 'dialog[open] pre'))?.[1]
    await press(page, 'dialog[open]', 'Close')
    await page.until(contains('#tab-domains', '25'))
    expect(await shownPaths(page)).toEqual([])
    expect(await page.evaluate('location.hash')).toBe('#other/requests')

    await page.until(contains('#connection', 'Live'))
    await service.send('GET', '/dmarc', undefined, { authorization: `Bearer ${secret}` })
    await page.until(contains('#request-rows', '/dmarc'))
    await service.get('/domaingroups')
    await page.click('#account-reset')
    await press(page, 'dialog[open]', 'Reset')
    await page.until(`document.querySelectorAll('#request-rows tr').length === 0`)

    await page.click('#account-delete')
    await press(page, 'dialog[open]', 'Delete')
    await page.until(contains('#request-rows', '/domaingroups'))
    expect(await ask(service, '/accounts')).toMatchObject({ count: 1 })
    expect(await page.evaluate('location.hash')).toBe('#default/requests')
  })

  it('deletes the account that it has asked about, even when another one is chosen meanwhile', async () => {
    const service = await startService()
    for (const id of ['one', 'two']) await ask(service, '/accounts', { method: 'POST', body: JSON.stringify({ id }) })
    const page = await openDashboard(service, '#one/keys')
    await page.until(contains('#connection', 'Live'))
    await page.click('#account-delete')
    await page.evaluate(`location.hash = '#two/keys'`)
    await page.until(`document.getElementById('account').value === 'two'`)
    await press(page, 'dialog[open]', 'Delete')
    await page.until(`document.getElementById('account').value === 'default'`)
    const { accounts } = await ask<{ accounts: { id: string }[] }>(service, '/accounts')
    expect(accounts.map(({ id }) => id)).toEqual(['default', 'two'])
  })

  it('shows how much of the contract was covered, and commands for the rest', async () => {
    const { service, page } = await start({}, '#default/coverage')
    await page.until(contains('#coverage-bars', '0 / 8'))
    await service.get('/domains')
    await page.until(contains('#coverage-bars', '1 / 8'))
    await page.click('#gap-filter')
    await page.type('createDomainGroup')
    await page.until(contains('#gaps', 'duplicate_name'))
    expect(await textOf(page, '#gaps')).toContain('curl -sS -X POST -H "Authorization: Bearer $API_KEY"')
  })
})

import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { shareBrowser } from '../support/browser.ts'
import type { TestService } from '../support/service.ts'
import { ask, openDashboard, start } from './dashboard-page.ts'

const NOW = '2026-01-15T09:30:00Z'
const FROZEN = { fixture: 'demo', now: NOW, frozen: true }
const TIME = '#default/time'

shareBrowser()

async function clockOf(service: TestService, account = 'default'): Promise<string> {
  return (await ask<{ now: string }>(service, `/accounts/${account}/clock`)).now
}

async function accountsOf(service: TestService): Promise<string[]> {
  const { accounts } = await ask<{ accounts: { id: string }[] }>(service, '/accounts')
  return accounts.map(({ id }) => id)
}

function button(page: Page, name: string) {
  return page.locator('#panel').getByRole('button', { name, exact: true })
}

/** What the play says about itself. */
function banner(page: Page) {
  return page.locator('#play-banner')
}

/** Starts a play of `default` with timers that pass only by `pass`. */
async function beginPlay(page: Page, fields: { from?: string; to?: string } = {}) {
  await page.clock.install()
  if (fields.from !== undefined) await page.locator('#play-form [name=now]').fill(fields.from)
  if (fields.to !== undefined) await page.locator('#play-form [name=end]').fill(fields.to)
  await button(page, 'Play').click()
}

/** Lets seconds pass in the page until the play shows this instant, such as 2026-01-15 09:30, or a later one. */
async function passUntil(page: Page, instant: string): Promise<void> {
  const reached = async () => {
    const [shown = ''] = /\d{4}-\d\d-\d\d \d\d:\d\d/.exec((await banner(page).textContent()) ?? '') ?? []
    if (shown < instant) await page.clock.runFor(1_000)
    return shown >= instant
  }
  await expect.poll(reached, { timeout: 20_000, interval: 1 }).toBe(true)
}

describe('the clock', () => {
  it('is shown, stopped and started', async () => {
    const { service, page } = await start({ fixture: 'demo' }, TIME)
    expect(await page.locator('.big-clock').textContent()).toMatch(/^2026-01-15 09:\d\d:\d\d UTC$/)
    await button(page, 'Freeze').click()
    await button(page, 'Unfreeze').waitFor()
    expect((await ask<{ frozen: boolean }>(service, '/accounts/default/clock')).frozen).toBe(true)
    await button(page, 'Unfreeze').click()
    await button(page, 'Freeze').waitFor()
  })

  it.each([
    ['+1 hour', 'to 10:30', '2026-01-15 10:30:00 UTC'],
    ['+1 day', 'to 16 January 2026, 09:30', '2026-01-16 09:30:00 UTC'],
    ['Next window', 'to 10:00: GET /dmarc is refilled', '2026-01-15 10:00:00 UTC'],
    ['Next refresh', 'to 16 January 2026, 00:00: GET /dmarc has new figures', '2026-01-16 00:00:00 UTC'],
  ])('is moved by “%s”, which says that it leads %s', async (name, leads, shown) => {
    const { service, page } = await start(FROZEN, TIME)
    await service.get('/dmarc')
    await page.locator('.move', { hasText: leads }).getByRole('button', { name, exact: true }).click()
    await page.locator('.big-clock', { hasText: shown }).waitFor()
  })

  it('is in the head of every view, with the two steps that are needed most', async () => {
    const { service, page } = await start(FROZEN, '#default/coverage')
    await page.locator('#clock', { hasText: '2026-01-15 09:30:00 UTC' }).waitFor()
    const head = page.locator('header.top')
    await head.getByRole('button', { name: '+1 hour' }).click()
    await page.locator('#clock', { hasText: '2026-01-15 10:30:00 UTC' }).waitFor()
    await head.getByRole('button', { name: '+1 day' }).click()
    await page.locator('#clock', { hasText: '2026-01-16 10:30:00 UTC' }).waitFor()
    expect(await clockOf(service)).toBe('2026-01-16T10:30:00Z')
  })

  it('has no next window while no request was charged', async () => {
    const { page } = await start(FROZEN, TIME)
    await page.locator('.move', { hasText: 'no window is open' }).waitFor()
    expect(await button(page, 'Next window').isDisabled()).toBe(true)
  })

  it('is set to an instant, and says why it is refused', async () => {
    const { service, page } = await start(FROZEN, TIME)
    const field = page.locator('#clock-form [name=now]')
    const refusal = page.locator('#clock-form [role=alert]')
    await field.fill('2026-01-10 12:00')
    await button(page, 'Set the clock').click()
    await refusal.filter({ hasText: 'The clock already shows 2026-01-15T09:30:00Z' }).waitFor()
    await field.fill('tomorrow')
    await button(page, 'Set the clock').click()
    await refusal.filter({ hasText: '“To an instant (UTC)” must be' }).filter({ hasText: 'not "tomorrow"' }).waitFor()
    await field.fill('9999-12-31 12:00')
    await button(page, 'Set the clock').click()
    await refusal.filter({ hasText: '“To an instant (UTC)” must be before the year 10000.' }).waitFor()
    await field.fill('2026-02-01 12:00')
    await button(page, 'Set the clock').click()
    await page.locator('.big-clock', { hasText: '2026-02-01 12:00:00 UTC' }).waitFor()
    expect(await refusal.isVisible()).toBe(false)
    expect(await clockOf(service)).toBe('2026-02-01T12:00:00Z')
  })
})

describe('a play', () => {
  it('passes a month day by day in another account, and ends at the present of the account', async () => {
    const { service, page } = await start(FROZEN, TIME)
    await beginPlay(page)
    await banner(page).filter({ hasText: 'You see the account default-play-1, which plays default' }).waitFor()
    await passUntil(page, '2025-12-20 00:00')
    await page.locator('.big-clock', { hasText: '2025-12-2' }).waitFor()
    await passUntil(page, '2026-01-15 09:30')
    await banner(page).filter({ hasText: 'has reached the end: 2026-01-15 09:30:00 UTC' }).waitFor()
    await page.locator('#panel').getByText('The policy is none: the rollout begins.').first().waitFor()
    const records = async (account: string) =>
      (await ask<object>(service, `/accounts/${account}/dmarc?from=2025-12-16&to=2026-01-15`)) as unknown
    expect(await records('default-play-1')).toEqual(await records('default'))
    await banner(page).getByRole('button', { name: 'Back to default' }).click()
    await banner(page).waitFor({ state: 'detached' })
    await button(page, 'Play').waitFor()
    await expect.poll(() => accountsOf(service)).toEqual(['default'])
    expect(await clockOf(service)).toBe(NOW)
  })

  it('is paused, continued, and moved on by single days', async () => {
    const { service, page } = await start(FROZEN, TIME)
    await beginPlay(page)
    await passUntil(page, '2025-12-18 00:00')
    await banner(page).getByRole('button', { name: 'Pause' }).click()
    await banner(page).filter({ hasText: 'paused' }).waitFor()
    const paused = await clockOf(service, 'default-play-1')
    await page.clock.runFor(5_000)
    expect(await clockOf(service, 'default-play-1')).toBe(paused)
    await banner(page).getByRole('button', { name: 'Next day' }).click()
    const next = new Date(Date.parse(paused) + 86_400_000).toISOString().slice(0, 10)
    await banner(page)
      .filter({ hasText: `${next} 00:00:00 UTC, paused` })
      .waitFor()
    await banner(page).getByRole('button', { name: 'Continue' }).click()
    await passUntil(page, '2025-12-25 00:00')
  })

  it.each([
    ['½', 2_000],
    ['2', 500],
  ])('passes %s days a second', async (words, pause) => {
    const { page } = await start(FROZEN, TIME)
    await beginPlay(page)
    await banner(page).getByLabel('Days a second').selectOption({ label: words })
    // The day that has begun ends as fast as before.
    const firstSeen = new Map<string, number>()
    await expect
      .poll(
        async () => {
          await page.clock.runFor(50)
          const [day = ''] = /\d{4}-\d\d-\d\d/.exec((await banner(page).textContent()) ?? '') ?? []
          if (!firstSeen.has(day)) firstSeen.set(day, await page.evaluate<number>('performance.now()'))
          return firstSeen.size
        },
        { timeout: 20_000, interval: 1 },
      )
      .toBe(6)
    const gaps = [...firstSeen.values()].slice(2).map((at, index) => at - ([...firstSeen.values()][index + 1] ?? 0))
    expect(Math.min(...gaps)).toBeLessThan(2 * pause)
    expect(Math.max(...gaps)).toBeGreaterThan(pause / 2)
  })

  it('ends at a chosen instant', async () => {
    const { page } = await start(FROZEN, TIME)
    await beginPlay(page, { from: '2026-01-01 12:00', to: '2026-01-03 18:00' })
    await passUntil(page, '2026-01-03 18:00')
    await banner(page).filter({ hasText: 'has reached the end: 2026-01-03 18:00:00 UTC' }).waitFor()
    expect(await banner(page).getByRole('button').allTextContents()).toEqual(['Back to default'])
  })

  it('begins a month ago, or at the creation of the account', async () => {
    const { service, page } = await start(FROZEN, TIME)
    await ask(service, '/accounts/default/clock', { method: 'PATCH', body: JSON.stringify({ advance: 'P90D' }) })
    await page.reload()
    const from = page.locator('#play-form [name=now]')
    await expect.poll(() => from.inputValue()).toBe('2026-03-16 09:30')
    await button(page, 'From its creation').click()
    await expect.poll(() => from.inputValue()).toBe('2026-01-15 09:30')
    await button(page, 'From a month ago').click()
    await expect.poll(() => from.inputValue()).toBe('2026-03-16 09:30')
  })

  it('does not begin after its end', async () => {
    const { service, page } = await start(FROZEN, TIME)
    await beginPlay(page, { from: '2026-01-15 09:30' })
    await page
      .locator('#play-form [role=alert]', { hasText: 'before the end, which is 15 January 2026, 09:30' })
      .waitFor()
    expect(await accountsOf(service)).toEqual(['default'])
  })

  it('says why there is no room for its account', async () => {
    const { page } = await start({ ...FROZEN, maxAccounts: 1 }, TIME)
    await beginPlay(page)
    await page.locator('#play-form [role=alert]', { hasText: 'insufficient_storage' }).waitFor()
  })

  it('ends when its account is deleted', async () => {
    const { service, page } = await start(FROZEN, TIME)
    await beginPlay(page)
    await passUntil(page, '2025-12-18 00:00')
    await ask(service, '/accounts/default-play-1', { method: 'DELETE' })
    await page.clock.runFor(3_000)
    await page.locator('#toasts', { hasText: 'default-play-1' }).waitFor()
    await button(page, 'Play').waitFor()
    expect(await banner(page).count()).toBe(0)
  })

  it('waits for each answer, and is paused when there is none', async () => {
    const { page } = await start(FROZEN, TIME)
    await beginPlay(page)
    await passUntil(page, '2025-12-17 00:00')
    let asked = 0
    const held: (() => void)[] = []
    await page.route('**/accounts/default-play-1/clock', async (route) => {
      asked += 1
      await new Promise<void>((resolve) => held.push(resolve))
      await route.abort()
    })
    await expect
      .poll(async () => {
        await page.clock.runFor(1_000)
        return asked
      })
      .toBe(1)
    await page.clock.runFor(10_000)
    expect(asked).toBe(1)
    for (const release of held) release()
    await banner(page).locator('[role=alert]', { hasText: 'The play is paused. The server does not answer.' }).waitFor()
    await page.unroute('**/accounts/default-play-1/clock')
    await banner(page).getByRole('button', { name: 'Continue' }).click()
    await passUntil(page, '2025-12-20 00:00')
    expect(await banner(page).locator('[role=alert]').count()).toBe(0)
  })

  it('has an account of its own on each of two pages, and offers what a closed page has left behind', async () => {
    const { service, page } = await start(FROZEN, TIME)
    const other = await openDashboard(service, TIME)
    await beginPlay(page)
    await banner(page).filter({ hasText: 'default-play-1' }).waitFor()
    await beginPlay(other)
    await banner(other).filter({ hasText: 'default-play-2' }).waitFor()
    await passUntil(page, '2025-12-19 00:00')
    await passUntil(other, '2025-12-19 00:00')
    await other.close()
    await banner(page).getByRole('button', { name: 'Back to default' }).click()
    await page.locator('#left-behind', { hasText: 'default-play-2' }).waitFor()
    await button(page, 'Delete default-play-2').click()
    await page.locator('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.locator('#left-behind').waitFor({ state: 'detached' })
    expect(await accountsOf(service)).toEqual(['default'])
  })

  it('is taken up again by a page that is loaded again', async () => {
    const { service, page } = await start(FROZEN, TIME)
    await beginPlay(page, { from: '2026-01-12 12:00' })
    await passUntil(page, '2026-01-13 00:00')
    await page.reload()
    await banner(page).filter({ hasText: 'which was made to play default' }).waitFor()
    await page.clock.install()
    await banner(page).getByRole('button', { name: 'Play on' }).click()
    await passUntil(page, '2026-01-15 09:30')
    await banner(page).filter({ hasText: 'has reached the end: 2026-01-15 09:30:00 UTC' }).waitFor()
    expect(await clockOf(service, 'default-play-1')).toBe(NOW)
  })

  it('goes on while another tab is open, and shows its controls there', async () => {
    const { page } = await start(FROZEN, TIME)
    await beginPlay(page)
    await banner(page).waitFor()
    await page.locator('#tab-coverage').click()
    await passUntil(page, '2025-12-20 00:00')
    await banner(page).getByRole('button', { name: 'Back to default' }).click()
    await banner(page).waitFor({ state: 'detached' })
  })
})

describe('the timeline', () => {
  async function write(service: TestService, domain: string): Promise<void> {
    expect((await service.send('POST', '/domains', { domains: [domain] })).status).toBe(200)
  }
  async function domainsOf(service: TestService): Promise<string[]> {
    const { domains } = await ask<{ domains: { domain: string }[] }>(service, '/accounts/default/domains')
    return domains.map(({ domain }) => domain)
  }
  const lines = (page: Page) => page.locator('ol.timeline > li')
  const words = async (page: Page) =>
    (await lines(page).allTextContents()).map((text) => text.replaceAll(/\s+/g, ' ').trim())

  it('takes a snapshot, restores it and deletes it', async () => {
    const { service, page } = await start({ now: NOW, frozen: true }, TIME)
    await page.locator('#snapshot-form [name=name]').fill('before')
    await button(page, 'Take a snapshot').click()
    await lines(page).filter({ hasText: 'before' }).waitFor()
    await write(service, 'new.example')
    await lines(page).filter({ hasText: 'new.example' }).waitFor()
    await button(page, 'Restore before').click()
    await page.locator('dialog').getByText('State, keys, clock, quotas and fault rules').waitFor()
    await page.locator('dialog').getByRole('button', { name: 'Restore' }).click()
    await page.locator('#toasts', { hasText: 'was restored' }).waitFor()
    expect(await domainsOf(service)).toEqual([])
    await button(page, 'Delete before').click()
    await page.locator('dialog').getByRole('button', { name: 'Delete' }).click()
    await lines(page).filter({ hasText: 'snapshot' }).waitFor({ state: 'detached' })
  })

  it('says that a name is taken, and replaces the snapshot on request', async () => {
    const { service, page } = await start({ now: NOW, frozen: true }, TIME)
    for (const _ of [1, 2]) {
      await page.locator('#snapshot-form [name=name]').fill('first')
      await button(page, 'Take a snapshot').click()
      await lines(page).first().waitFor()
    }
    await page.locator('#snapshot-form [role=alert]', { hasText: 'taken' }).waitFor()
    await write(service, 'new.example')
    await page.locator('#snapshot-form').getByLabel('Replace an old one').check()
    await button(page, 'Take a snapshot').click()
    await lines(page).filter({ hasText: '1 domain' }).waitFor()
  })

  it('rewinds to just before a request, and takes together what changed nothing', async () => {
    const { service, page } = await start({ now: NOW, frozen: true }, TIME)
    await write(service, 'first.example')
    await service.get('/domains')
    await service.get('/domains')
    await write(service, 'second.example')
    await expect.poll(() => words(page)).toHaveLength(3)
    expect((await words(page)).map((text) => /first|second|2 requests that changed nothing/.exec(text)?.[0])).toEqual([
      'second',
      '2 requests that changed nothing',
      'first',
    ])
    await lines(page).first().getByRole('button').click()
    await page.locator('dialog').getByRole('button', { name: 'Rewind' }).click()
    await page.locator('#toasts', { hasText: 'just before POST' }).waitFor()
    expect(await domainsOf(service)).toEqual(['first.example'])
  })

  it('shows what was sent as text', async () => {
    const { service, page } = await start({ now: NOW, frozen: true }, TIME)
    const name = '<img src=x onerror="document.title=1">'
    expect((await service.send('POST', '/domaingroups', { name })).status).toBe(200)
    await lines(page).filter({ hasText: '<img src=x' }).waitFor()
    expect(await page.locator('ol.timeline img').count()).toBe(0)
  })

  it('says where the clock went back', async () => {
    const { service, page } = await start({ now: NOW, frozen: true }, TIME)
    await write(service, 'first.example')
    await ask(service, '/accounts/default/snapshots', { method: 'POST', body: '{"name":"first"}' })
    await ask(service, '/accounts/default/clock', { method: 'PATCH', body: '{"advance":"PT2H"}' })
    await write(service, 'second.example')
    await ask(service, '/accounts/default/snapshots/first/restore', { method: 'POST', body: '{}' })
    await write(service, 'third.example')
    await lines(page).filter({ hasText: 'Here the clock went back' }).waitFor()
    await page.getByText('Requests are in the order in which they came.').waitFor()
  })

  it('shows the latest 300 of more requests', async () => {
    const { service, page } = await start({ now: NOW, frozen: true, enforceQuotas: false }, TIME)
    for (let sent = 0; sent < 310; sent++) await service.get('/domains')
    await page.getByText('The latest 300 of 310 requests, newest first.').waitFor()
    await lines(page).filter({ hasText: '300 requests that changed nothing' }).waitFor()
  })
})

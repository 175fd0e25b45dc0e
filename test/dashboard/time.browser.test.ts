import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { ServerOptions } from '../../src/start/options.ts'
import type { TestService } from '../support/service.ts'
import { ask, change, openDashboard, start } from './dashboard-page.ts'

const NOW = '2026-01-15T09:30:00Z'
const FROZEN = { fixture: 'demo', now: NOW, frozen: true }
const TIME = 'default/time'
/** A play needs a page whose timers the test moves on. */
const OWN = { own: true }

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

  it('is moved by buttons, each of which says where it leads', async () => {
    const { service, page } = await start(FROZEN, TIME, { viewport: { width: 1600, height: 900 } })
    await page.locator('.move', { hasText: 'no window is open' }).waitFor()
    expect(await button(page, 'Next window').isDisabled()).toBe(true)
    await service.get('/dmarc')
    for (const [name, leads, shown] of [
      ['Next window', 'to 10:00: GET /dmarc is refilled', '2026-01-15 10:00:00 UTC'],
      ['+1 hour', 'to 11:00', '2026-01-15 11:00:00 UTC'],
      ['Next refresh', 'to 16 January 2026, 00:00: GET /dmarc has new figures', '2026-01-16 00:00:00 UTC'],
      ['+1 day', 'to 17 January 2026, 00:00', '2026-01-17 00:00:00 UTC'],
    ] as const) {
      await page.locator('.move', { hasText: leads }).getByRole('button', { name, exact: true }).click()
      await page.locator('.big-clock', { hasText: shown }).waitFor()
    }
    // The two steps that are needed most are in the head of every view, where there is room.
    await page.locator('#tab-coverage').click()
    for (const [name, shown] of [
      ['+1 hour', '2026-01-17 01:00:00 UTC'],
      ['+1 day', '2026-01-18 01:00:00 UTC'],
    ] as const) {
      await page.locator('header.top').getByRole('button', { name }).click()
      await page.locator('#clock', { hasText: shown }).waitFor()
    }
    expect(await clockOf(service)).toBe('2026-01-18T01:00:00Z')
  })

  it('is set to an instant, and says why it is refused', async () => {
    const { service, page } = await start(FROZEN, TIME)
    const field = page.locator('#clock-form [name=now]')
    const refusal = page.locator('#clock-form [role=alert]')
    for (const [instant, reason] of [
      ['2026-01-10 12:00', 'The clock already shows 2026-01-15T09:30:00Z'],
      ['tomorrow', /“To an instant \(UTC\)” must be.*not "tomorrow"/],
      ['9999-12-31 12:00', '“To an instant (UTC)” must be before the last day of the year 9999.'],
    ] as const) {
      await field.fill(instant)
      await button(page, 'Set the clock').click()
      await refusal.filter({ hasText: reason }).waitFor()
    }
    await field.fill('2026-02-01 12:00')
    await button(page, 'Set the clock').click()
    await page.locator('.big-clock', { hasText: '2026-02-01 12:00:00 UTC' }).waitFor()
    expect(await refusal.isVisible()).toBe(false)
    expect(await clockOf(service)).toBe('2026-02-01T12:00:00Z')
  })
})

describe('a play', () => {
  it('passes a month day by day in another account, and ends at the present of the account', async () => {
    const { service, page } = await start(FROZEN, TIME, OWN)
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

  it('is paused, moved on by single days, and continued, also on another tab', async () => {
    const { service, page } = await start(FROZEN, TIME, OWN)
    await beginPlay(page)
    await passUntil(page, '2025-12-18 00:00')
    await banner(page).getByRole('button', { name: 'Pause' }).click()
    await banner(page).filter({ hasText: 'paused' }).waitFor()
    const paused = await clockOf(service, 'default-play-1')
    await page.clock.runFor(5_000)
    expect(await clockOf(service, 'default-play-1')).toBe(paused)
    await page.locator('#tab-coverage').click()
    await banner(page).getByRole('button', { name: 'Next day' }).click()
    const next = new Date(Date.parse(paused) + 86_400_000).toISOString().slice(0, 10)
    const shown = `${next} 00:00:00 UTC, paused`
    await banner(page).filter({ hasText: shown }).waitFor()
    await banner(page).getByRole('button', { name: 'Continue' }).click()
    await passUntil(page, '2025-12-25 00:00')
    await banner(page).getByRole('button', { name: 'Back to default' }).click()
    await banner(page).waitFor({ state: 'detached' })
  })

  it('passes as many days a second as are chosen', async () => {
    const { page } = await start(FROZEN, TIME, OWN)
    await beginPlay(page)
    for (const [words, pause] of [
      ['½', 2_000],
      ['2', 500],
    ] as const) {
      await banner(page).getByLabel('Days a second').selectOption({ label: words })
      const firstSeen = new Map<string, number>()
      async function countDays(): Promise<number> {
        await page.clock.runFor(50)
        const [day = ''] = /\d{4}-\d\d-\d\d/.exec((await banner(page).textContent()) ?? '') ?? []
        if (!firstSeen.has(day)) firstSeen.set(day, await page.evaluate<number>('performance.now()'))
        return firstSeen.size
      }
      await expect.poll(countDays, { interval: 1 }).toBe(6)
      // The day that has begun ends as fast as before.
      const times = [...firstSeen.values()].slice(1)
      const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0))
      expect(Math.min(...gaps)).toBeLessThan(2 * pause)
      expect(Math.max(...gaps)).toBeGreaterThan(pause / 2)
    }
  })

  it('begins and ends at chosen instants: a month ago, at the creation of the account, or any other', async () => {
    const { service, page } = await start(FROZEN, TIME, OWN)
    await change(service, 'PATCH', '/accounts/default/clock', { advance: 'P90D' })
    await page.reload()
    const from = page.locator('#play-form [name=now]')
    await expect.poll(() => from.inputValue()).toBe('2026-03-16 09:30')
    await button(page, 'From its creation').click()
    await expect.poll(() => from.inputValue()).toBe('2026-01-15 09:30')
    await button(page, 'From a month ago').click()
    await expect.poll(() => from.inputValue()).toBe('2026-03-16 09:30')

    await beginPlay(page, { from: '2026-04-15 09:30' })
    await page
      .locator('#play-form [role=alert]', { hasText: 'before the end, which is 15 April 2026, 09:30' })
      .waitFor()
    expect(await accountsOf(service)).toEqual(['default'])

    await beginPlay(page, { from: '2026-04-01 12:00', to: '2026-04-03 18:00' })
    await passUntil(page, '2026-04-03 18:00')
    await banner(page).filter({ hasText: 'has reached the end: 2026-04-03 18:00:00 UTC' }).waitFor()
    expect(await banner(page).getByRole('button').allTextContents()).toEqual(['Back to default'])
  })

  it('says why there is no room for its account', async () => {
    const { page } = await start({ ...FROZEN, maxAccounts: 1 }, TIME, OWN)
    await beginPlay(page)
    await page.locator('#play-form [role=alert]', { hasText: 'insufficient_storage' }).waitFor()
  })

  it('ends when its account is deleted', async () => {
    const { service, page } = await start(FROZEN, TIME, OWN)
    await beginPlay(page)
    await passUntil(page, '2025-12-18 00:00')
    await change(service, 'DELETE', '/accounts/default-play-1')
    await page.clock.runFor(3_000)
    await page.locator('#toasts', { hasText: 'default-play-1' }).waitFor()
    await button(page, 'Play').waitFor()
    expect(await banner(page).count()).toBe(0)
  })

  it('waits for each answer, and is paused when there is none', async () => {
    const { page } = await start(FROZEN, TIME, OWN)
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
    // It would end the call itself after ten seconds.
    await page.clock.runFor(8_000)
    expect(asked).toBe(1)
    for (const release of held) release()
    await banner(page).locator('[role=alert]', { hasText: 'The play is paused. The server does not answer.' }).waitFor()
    await page.unroute('**/accounts/default-play-1/clock')
    await banner(page).getByRole('button', { name: 'Continue' }).click()
    await passUntil(page, '2025-12-20 00:00')
    expect(await banner(page).locator('[role=alert]').count()).toBe(0)
  })

  it('has an account of its own on each of two pages, and offers what a closed page has left behind', async () => {
    const { service, page } = await start(FROZEN, TIME, OWN)
    const other = await openDashboard(service, TIME, OWN)
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
    const { service, page } = await start(FROZEN, TIME, OWN)
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

  async function openTimeline(options: ServerOptions = {}) {
    return start({ now: NOW, frozen: true, ...options }, TIME)
  }

  it('takes a snapshot, restores it, says that the clock went back, replaces it and deletes it', async () => {
    const { service, page } = await openTimeline()
    const form = page.locator('#snapshot-form')
    const dialog = page.locator('dialog')
    const take = async () => {
      await form.locator('[name=name]').fill('before')
      await button(page, 'Take a snapshot').click()
    }
    await take()
    await lines(page).filter({ hasText: 'before' }).waitFor()
    await change(service, 'PATCH', '/accounts/default/clock', { advance: 'PT2H' })
    await write(service, 'new.example')
    await lines(page).filter({ hasText: 'new.example' }).waitFor()
    await button(page, 'Restore before').click()
    await dialog.getByText('State, keys, clock, quotas and fault rules').waitFor()
    await dialog.getByRole('button', { name: 'Restore' }).click()
    await page.locator('#toasts', { hasText: 'was restored' }).waitFor()
    expect(await domainsOf(service)).toEqual([])

    await take()
    await form.locator('[role=alert]', { hasText: 'taken' }).waitFor()
    await write(service, 'new.example')
    await lines(page).filter({ hasText: 'Here the clock went back' }).waitFor()
    await page.getByText('Requests are in the order in which they came.').waitFor()
    await form.getByLabel('Replace an old one').check()
    await button(page, 'Take a snapshot').click()
    await lines(page).filter({ hasText: '1 domain' }).waitFor()
    await button(page, 'Delete before').click()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await lines(page).filter({ hasText: 'snapshot' }).waitFor({ state: 'detached' })
  })

  it('rewinds to just before a request, and takes together what changed nothing', async () => {
    const { service, page } = await openTimeline()
    await write(service, 'first.example')
    await service.get('/domains')
    await service.get('/domains')
    await service.send('POST', '/domaingroups', { name: '<img src=x onerror="document.title=1">' })
    await expect.poll(() => words(page)).toHaveLength(3)
    expect(
      (await words(page)).map((text) => /first|<img src=x|2 requests that changed nothing/.exec(text)?.[0]),
    ).toEqual(['<img src=x', '2 requests that changed nothing', 'first'])
    expect(await page.locator('ol.timeline img').count()).toBe(0)
    await lines(page).first().getByRole('button').click()
    await page.locator('dialog').getByRole('button', { name: 'Rewind' }).click()
    await page.locator('#toasts', { hasText: 'just before POST' }).waitFor()
    expect(await domainsOf(service)).toEqual(['first.example'])
    expect((await ask<{ groups: object[] }>(service, '/accounts/default/groups')).groups).toEqual([])
  })

  it('shows the latest 300 of more requests', async () => {
    const { service, page } = await openTimeline({ enforceQuotas: false })
    for (let sent = 0; sent < 310; sent++) await service.get('/domains')
    await page.getByText('The latest 300 of 310 requests, newest first.').waitFor()
    await lines(page).filter({ hasText: '300 requests that changed nothing' }).waitFor()
  })
})

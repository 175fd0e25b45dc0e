import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { ask, shareService, WIDE } from './dashboard-page.ts'
import { answer, openView, press, see, viewOf, warns } from './user.ts'

const { service, visit } = shareService()
const PRESENT = '2026-01-15 09:00'

const region = (page: Page, name: string) => viewOf(page).getByRole('region', { name })
const clock = (page: Page) => region(page, 'The clock of this account')
const timeline = (page: Page) => region(page, 'Timeline')
const moments = (page: Page) => timeline(page).getByRole('listitem')

describe('the clock', () => {
  it('is stopped, started, and moved by buttons that say where they lead, and set to an instant', async () => {
    const { page, send, ask } = await visit('time', { viewport: { width: 1600, height: 900 } })
    await press(clock(page), 'Unfreeze')
    await press(clock(page), 'Freeze')
    await expect.poll(async () => (await ask('/clock')).frozen).toBe(true)
    await see(clock(page), 'no window is open')
    await send('GET', '/dmarc')
    for (const [name, leads, shown] of [
      ['Next window', 'to 10:00: GET /dmarc is refilled', '2026-01-15 10:00:00 UTC'],
      ['+1 hour', 'to 11:00', '2026-01-15 11:00:00 UTC'],
      ['Next refresh', 'to 16 January 2026, 00:00: GET /dmarc has new figures', '2026-01-16 00:00:00 UTC'],
      ['+1 day', 'to 17 January 2026, 00:00', '2026-01-17 00:00:00 UTC'],
    ] as const) {
      await see(clock(page), leads)
      await press(clock(page), name)
      await see(clock(page), shown)
    }
    // Where there is room, the head of every view has the usual steps.
    await openView(page, 'Coverage')
    await page.getByRole('button', { name: "+1 hour on the account's clock" }).click()
    await see(page.getByRole('banner'), '2026-01-17 01:00:00 UTC')
    await openView(page, 'Time')
    for (const [instant, reason] of [
      ['2026-01-10 12:00', 'The clock already shows 2026-01-17T01:00:00Z'],
      ['tomorrow', /“To an instant \(UTC\)” must be.*not "tomorrow"/],
      ['2026-02-01 12:00', ''],
    ] as const) {
      await clock(page).getByLabel('To an instant (UTC)').fill(instant)
      await press(clock(page), 'Set the clock')
      if (reason !== '') await warns(clock(page), reason)
    }
    await see(clock(page), '2026-02-01 12:00:00 UTC')
  })
})

describe('the timeline', () => {
  it('takes a snapshot, restores it, replaces it and deletes it, and says where the clock went back', async () => {
    const { page, send, ask, change } = await visit('time', WIDE)
    const take = async () => {
      await timeline(page).getByLabel('Name').fill('before')
      await press(timeline(page), 'Take a snapshot')
    }
    await take()
    await moments(page).filter({ hasText: 'before' }).waitFor()
    await change('PATCH', '/clock', { advance: 'PT2H' })
    await send('POST', '/domains', { domains: ['new.example'] })
    await moments(page).filter({ hasText: 'new.example' }).waitFor()
    await press(timeline(page), 'Restore before')
    expect(await answer(page, 'Restore')).toContain('State, keys, clock, quotas and fault rules')
    await see(page, 'was restored')
    expect((await ask('/domains')).count).toBe(0)
    await take()
    await warns(timeline(page), 'taken')
    await send('POST', '/domains', { domains: ['new.example'] })
    await moments(page).filter({ hasText: 'Here the clock went back' }).waitFor()
    await timeline(page).getByLabel('Replace an old one').check()
    await press(timeline(page), 'Take a snapshot')
    await moments(page).filter({ hasText: '1 domain' }).waitFor()
    await press(timeline(page), 'Delete before')
    await answer(page, 'Delete')
    await moments(page).filter({ hasText: 'snapshot' }).waitFor({ state: 'detached' })
  })

  it('rewinds to just before a request, and takes together what changed nothing', async () => {
    const { page, send, ask } = await visit('time', WIDE)
    await send('POST', '/domains', { domains: ['first.example'] })
    await send('GET', '/domains')
    await send('GET', '/domains')
    await send('POST', '/domaingroups', { name: 'Lamps' })
    await expect.poll(() => moments(page).count()).toBe(3)
    await see(moments(page).nth(1), '2 requests that changed nothing')
    await moments(page).first().getByRole('button').click()
    await answer(page, 'Rewind')
    await see(page, 'just before POST')
    expect([(await ask('/domains')).count, (await ask('/groups')).count]).toEqual([1, 0])
  })
})

describe('a play', () => {
  const banner = (page: Page) => page.getByRole('region', { name: 'Play' }).first()
  const accounts = async () => {
    const { accounts } = await ask<{ accounts: { id: string }[] }>(service(), '/accounts')
    return accounts.map(({ id }) => id).filter((id) => id.includes('-play-'))
  }

  /** Lets seconds pass on the page until the play shows this instant, or a later one. */
  async function passUntil(page: Page, instant: string): Promise<void> {
    const reached = async () => {
      const [shown = ''] = /\d{4}-\d\d-\d\d \d\d:\d\d/.exec(await banner(page).innerText()) ?? []
      if (shown < instant) await page.clock.runFor(1_000)
      return shown >= instant
    }
    await expect.poll(reached, { interval: 1 }).toBe(true)
  }

  async function begin(page: Page, from = ''): Promise<void> {
    await page.clock.install()
    await viewOf(page).getByLabel('From (UTC)').fill(from)
    await press(viewOf(page), 'Play')
  }

  it('passes day by day in another account up to the present; is paused, stepped, and found again by a reload', async () => {
    const { page, account, ask: askAccount } = await visit('time', { fixture: 'demo', ownPage: true, ...WIDE })
    await begin(page, '2026-02-01 12:00')
    await warns(viewOf(page), 'before the end')
    await begin(page, '2026-01-05 12:00')
    await see(banner(page), `You see the account ${account}-play-1`)
    await passUntil(page, '2026-01-07 00:00')
    await press(banner(page), 'Pause')
    await see(banner(page), 'paused')
    await press(banner(page), 'Next day')
    await see(banner(page), /00:00:00 UTC, paused/)
    await press(banner(page), 'Continue')
    await page.route('**/*-play-1/clock', (route) => route.abort())
    const trouble = banner(page).getByRole('alert').filter({ hasText: 'paused. The server does not answer.' })
    await expect.poll(() => page.clock.runFor(1_000).then(() => trouble.count())).toBe(1)
    await page.unroute('**/*-play-1/clock')
    await press(banner(page), 'Continue')
    await passUntil(page, '2026-01-10 00:00')
    await page.reload()
    await see(banner(page), `which was made to play ${account}`)
    await page.clock.install()
    await press(banner(page), 'Play on')
    await passUntil(page, PRESENT)
    await see(banner(page), 'has reached the end: 2026-01-15 09:00:00 UTC')
    const records = (id: string) => ask<object>(service(), `/accounts/${id}/dmarc?from=2025-12-16&to=2026-01-15`)
    expect(await records(`${account}-play-1`)).toEqual(await records(account))
    await press(banner(page), `Back to ${account}`)
    await expect.poll(accounts).toEqual([])
    expect((await askAccount('/clock')).now).toBe('2026-01-15T09:00:00Z')
  })
})

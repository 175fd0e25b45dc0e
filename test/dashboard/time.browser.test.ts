import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { shareService, WIDE } from './dashboard-page.ts'
import { answer, openView, press, see, viewOf, warns } from './user.ts'

const { visit } = shareService()

const region = (page: Page, name: string) => viewOf(page).getByRole('region', { name })
const clock = (page: Page) => region(page, 'The clock of this account')
const snapshots = (page: Page) => region(page, 'Snapshots')

describe('the clock', () => {
  it('is stopped, started, and moved by buttons, and set to an instant', async () => {
    const { page, send, ask } = await visit('time', { viewport: { width: 1600, height: 900 } })
    await press(clock(page), 'Unfreeze')
    await press(clock(page), 'Freeze')
    await expect.poll(async () => (await ask('/clock')).frozen).toBe(true)
    await send('GET', '/dmarc')
    for (const [name, shown] of [
      ['Next window', '2026-01-15 10:00:00 UTC'],
      ['+1 hour', '2026-01-15 11:00:00 UTC'],
      ['Next refresh', '2026-01-16 00:00:00 UTC'],
      ['+1 day', '2026-01-17 00:00:00 UTC'],
    ] as const) {
      await press(clock(page), name)
      await see(clock(page), shown)
    }
    // Where there is room, the head of every view has the usual steps.
    await openView(page, 'Coverage')
    await page.getByRole('button', { name: "+1 hour on the account's clock" }).click()
    await see(page.getByRole('banner'), '2026-01-17 01:00:00 UTC')
    await openView(page, 'Time')
    for (const [instant, reason] of [
      ['2026-01-10T12:00', 'The clock already shows 2026-01-17T01:00:00Z'],
      ['2026-02-01T12:00', ''],
    ] as const) {
      await clock(page).getByLabel('To an instant (UTC)').fill(instant)
      await press(clock(page), 'Set the clock')
      if (reason !== '') await warns(clock(page), reason)
    }
    await see(clock(page), '2026-02-01 12:00:00 UTC')
  })
})

describe('the snapshots', () => {
  it('are taken, restored, replaced and deleted', async () => {
    const { page, send, ask } = await visit('time', WIDE)
    const take = async () => {
      await snapshots(page).getByLabel('Name').fill('before')
      await press(snapshots(page), 'Take a snapshot')
    }
    await see(snapshots(page), 'There is no snapshot yet.')
    await take()
    const kept = snapshots(page).getByRole('listitem').filter({ hasText: 'before' })
    await see(kept, '2026-01-15 09:00:00 UTC · 0 domains')
    await send('POST', '/domains', { domains: ['new.example'] })
    await press(kept, 'Restore before')
    expect(await answer(page, 'Restore')).toContain('State, keys, clock, quotas and fault rules')
    await see(page, 'was restored')
    expect((await ask('/domains')).count).toBe(0)
    await take()
    await warns(snapshots(page), 'taken')
    await send('POST', '/domains', { domains: ['new.example'] })
    await snapshots(page).getByLabel('Replace one that exists').check()
    await press(snapshots(page), 'Take a snapshot')
    await see(kept, /· 1 domain ·/)
    await press(kept, 'Delete before')
    await answer(page, 'Delete')
    await kept.waitFor({ state: 'detached' })
  })
})

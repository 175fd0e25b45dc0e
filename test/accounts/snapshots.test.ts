import { describe, expect, it } from 'vitest'
import { askControl } from '../support/control-plane.ts'
import { startService } from '../support/service.ts'

const SNAPSHOTS = '/accounts/default/snapshots'

describe('the snapshots of an account', () => {
  it('are listed from the oldest to the newest, one that took the place of another last', async () => {
    const service = await startService()
    for (const name of ['first', 'second']) {
      expect((await askControl(service, 'POST', SNAPSHOTS, { name })).status).toBe(201)
    }
    service.advance(60_000)
    const replaced = await askControl(service, 'POST', SNAPSHOTS, { name: 'first', replace: true })
    expect(replaced.status).toBe(201)
    const { data } = await askControl(service, 'GET', SNAPSHOTS)
    const snapshots: { name: string; taken_at: string }[] = data.snapshots
    expect(snapshots.map(({ name, taken_at }) => [name, taken_at])).toEqual([
      ['second', '2026-01-15T09:30:00Z'],
      ['first', '2026-01-15T09:31:00Z'],
    ])
  })
})

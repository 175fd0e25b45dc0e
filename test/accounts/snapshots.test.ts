import { describe, expect, it } from 'vitest'
import { openFolderStore } from '../../src/store/folder/folder-store.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { heapInUse } from '../load/memory.ts'
import { askControl } from '../support/control-plane.ts'
import { startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

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
  // What other tests have left may grow just meanwhile. Then it is measured again.
  it.each(['memory', 'a folder'])(
    'share what they have in common: many of a large account in %s',
    { retry: 2 },
    async (place) => {
      const domains = Array.from({ length: 20_000 }, (_, index) => ({ name: `d${index}.example`, added_at: 'P1D' }))
      const folder = place === 'memory' ? undefined : temporaryFolder()
      const store =
        folder === undefined ? openMemoryStore() : await openFolderStore(folder, { nameComparison: 'unicode' })
      const service = await startService({ store })
      const imported = await askControl(service, 'PUT', '/accounts/default/state', { domains })
      expect(imported.status).toBe(200)
      async function takeSnapshots(first: number): Promise<void> {
        for (let index = first; index < first + 8; index++) {
          expect((await askControl(service, 'POST', SNAPSHOTS, { name: `s${index}` })).status).toBe(201)
          const path = `/accounts/default/domains/d${index}.example/features`
          expect((await askControl(service, 'PUT', path, { features: ['mta-sts'] })).status).toBe(200)
        }
      }
      await takeSnapshots(0)
      const before = heapInUse()
      await takeSnapshots(8)
      // A copy of the account takes 3 MB of the heap, and its text in a file another 2 MB.
      expect(heapInUse() - before).toBeLessThan(3)
      const restored = await askControl(service, 'POST', `${SNAPSHOTS}/s3/restore`, {})
      expect(restored.status).toBe(200)
      const { data } = await askControl(service, 'GET', '/accounts/default/state')
      const used = data.domains.flatMap(({ name, features = [] }: { name: string; features?: string[] }) => {
        return features.length > 0 ? [name] : []
      })
      expect(used).toEqual(['d0.example', 'd1.example', 'd2.example'])
      expect(data.domains).toHaveLength(20_000)
    },
  )
})

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Durability } from '../../../src/store/folder/atomic-file.ts'
import { openFolderStore } from '../../../src/store/folder/folder-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { applyUpdate, exampleAccount, SETTINGS, watch } from '../example-account.ts'
import type { Deed, ObservedDisk } from './observed-disk.ts'

const disk = vi.hoisted((): ObservedDisk => ({ deeds: [], failing: new Map() }))
vi.mock('node:fs', async (original) => {
  const { observeFiles } = await import('./observed-disk.ts')
  return observeFiles(await original(), disk)
})
vi.mock('node:fs/promises', async (original) => {
  const { observePromises } = await import('./observed-disk.ts')
  return observePromises(await original(), disk)
})

beforeEach(() => {
  disk.deeds.length = 0
  disk.failing.clear()
})

async function open(folder: string, durability?: Durability): Promise<Store> {
  const store = await openFolderStore(folder, SETTINGS, { durability })
  onTestFinished(() => store.close().catch(() => undefined))
  disk.deeds.length = 0
  return store
}

async function done(task: Promise<unknown>): Promise<string[]> {
  await task
  const deeds = [...disk.deeds]
  disk.deeds.length = 0
  return deeds
}

describe('an account file', () => {
  const written = ['write .account-acme.json.tmp', 'rename account-acme.json']
  const flushed = ['write .account-acme.json.tmp', 'flush .account-acme.json.tmp', 'rename account-acme.json']

  it.each<[durability: Durability | undefined, written: string[], removed: string[]]>([
    [undefined, written, ['remove account-acme.json']],
    ['rename', written, ['remove account-acme.json']],
    ['fsync', [...flushed, 'flush data'], ['remove account-acme.json', 'flush data']],
  ])('with the durability %s is safe before a change of it is answered', async (durability, written, removed) => {
    const store = await open(join(temporaryFolder(), 'data'), durability)
    expect(await done(store.create(exampleAccount('acme')))).toEqual(written)
    expect(await done(applyUpdate(store, 'acme', watch('a.example')))).toEqual(written)
    const state = exampleAccount('acme')
    expect(await done(store.replace('acme', state, { quotas: new Map(), tallies: new Map() }))).toEqual(written)
    expect(await done(store.delete('acme'))).toEqual(removed)
  })

  it('with the durability fsync is flushed once for all changes that share a write', async () => {
    const store = await open(join(temporaryFolder(), 'data'), 'fsync')
    await store.create(exampleAccount('acme'))
    disk.deeds.length = 0
    const updates = ['a', 'b', 'c', 'd'].map((name) => applyUpdate(store, 'acme', watch(name)))
    expect(await done(Promise.all(updates))).toEqual([...flushed, 'flush data'])
  })

  it('with the durability fsync lies in folders that are flushed themselves, as far as they were made for it', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'there'))
    await openFolderStore(join(folder, 'there', 'a', 'b'), SETTINGS, { durability: 'fsync' }).then((store) =>
      store.close(),
    )
    expect(disk.deeds).toEqual(['flush a', 'flush there'])
  })

  it.each<[deed: Deed]>([['open'], ['write'], ['flush'], ['rename']])(
    'leaves nothing of a write whose %s failed, and the next one takes its place',
    async (deed) => {
      const folder = join(temporaryFolder(), 'data')
      const store = await open(folder, 'fsync')
      await store.create(exampleAccount('acme'))
      disk.failing.set(deed, 'EIO')
      await expect(applyUpdate(store, 'acme', watch('a.example'))).rejects.toThrow(`EIO: ${deed}`)
      expect([...(await store.read('acme')).domains.keys()]).toEqual([])
      expect(readdirSync(folder).toSorted()).toEqual(['.lock', 'account-acme.json'])
      disk.failing.clear()
      await applyUpdate(store, 'acme', watch('b.example'))
      await store.close()
      const again = await open(folder)
      expect([...(await again.read('acme')).domains.keys()]).toEqual(['b.example'])
    },
  )

  it('that cannot be removed stays an account, which is written again in case half of it was done', async () => {
    const folder = join(temporaryFolder(), 'data')
    const store = await open(folder, 'fsync')
    await store.create(exampleAccount('acme', ['k1']))
    // The entry is gone by then, and only its flush fails.
    disk.failing.set('flush', 'EIO')
    await expect(store.delete('acme')).rejects.toMatchObject({ problem: 'unusable' })
    expect(await store.accountOf('k1')).toBe('acme')
    disk.failing.clear()
    await store.close()
    expect(readdirSync(folder)).toEqual(['account-acme.json'])
  })
})

it('removes at the opening what killed processes left half-written, of accounts that are gone as well', async () => {
  const folder = temporaryFolder()
  const foreign = ['.account.json.tmp', '.other.tmp', 'account-acme.json.tmp', '._account-acme.json']
  const leftover = ['.account-acme.json.tmp', '.account-gone.json.tmp', `.account~${'0'.repeat(64)}.json.tmp`]
  for (const name of [...foreign, ...leftover]) writeFileSync(join(folder, name), '{"format":')
  await open(folder)
  expect(readdirSync(folder).toSorted()).toEqual(['.lock', ...foreign].toSorted())
})

import { expect, it } from 'vitest'
import { accept, refuse } from '../../src/domain/errors.ts'
import { atOnce, range } from '../support/at-once.ts'
import type { Tested } from './conformance.ts'
import { countersOf, look, nextRequest } from './counting.ts'
import { applyUpdate, domainsOf, exampleAccount, watch } from './example-account.ts'

const idle = 3_600_000
const limit = 3

/** How every store keeps the number of its accounts within a limit. */
export function describeRoom(tested: Tested): void {
  /** Accounts that may be evicted, created in this order. Each has the key `key of ID`. */
  async function createEvictable(...ids: string[]): Promise<void> {
    for (const id of ids) await tested.store.create(exampleAccount(id, [`key of ${id}`]), { limit, evictable: true })
  }

  /** Creates an account that may take the place of one that was changed, if that was idle; the id of that one. */
  const createIdle = (id: string) => tested.store.create(exampleAccount(id), { limit, idle })
  const use = (id: string) => look(tested.store, `key of ${id}`)
  const add = (name: string, id: string) => applyUpdate(tested.store, id, watch(name))
  const ids = async () => (await tested.store.list()).toSorted()

  it('refuses an account too many with `full`, and nothing of it stays', async () => {
    const { store } = tested
    for (const id of ['a', 'b', 'c']) expect(await store.create(exampleAccount(id), { limit })).toBeUndefined()
    await expect(store.create(exampleAccount('d', ['k1']), { limit, evictable: true })).rejects.toMatchObject({
      problem: 'full',
      message: 'There are 3 accounts, which is the maximum',
    })
    const room = [{ limit }, { limit: limit + 1 }, {}].map((capacity) => store.hasRoom(capacity))
    expect(await Promise.all(room)).toEqual([false, true, true])
    expect([await ids(), await store.find('key', 'k1')]).toEqual([['a', 'b', 'c'], undefined])
    await store.delete('a')
    await store.create(exampleAccount('d', ['k1']), { limit })
    expect(await ids()).toEqual(['b', 'c', 'd'])
  })

  it('evicts the account that was idle longest, and tells which', async () => {
    await createEvictable('a', 'b', 'c')
    await use('b')
    await use('a')
    expect(await tested.store.create(exampleAccount('d'), { limit, evictable: true })).toBe('c')
    expect(await tested.store.create(exampleAccount('e'), { limit, evictable: true })).toBe('b')
    expect(await ids()).toEqual(['a', 'd', 'e'])
  })

  it('takes a look for no use', async () => {
    const { store } = tested
    await createEvictable('a', 'b', 'c')
    await store.read('a')
    await store.count('a', () => {}, { stored: true })
    await store.find('id', 'a')
    await store.find('key', 'key of a')
    await store.snapshots.list('a')
    await store.snapshots.keyHashes('a')
    await store.snapshots.read('a', 's')
    await applyUpdate(store, 'a', (state) => accept(state, undefined))
    await applyUpdate(store, 'a', () => refuse({ code: 'not_found' }))
    expect(await store.create(exampleAccount('d'), { limit })).toBe('a')
  })

  const changes: Record<string, () => Promise<unknown>> = {
    update: () => add('a.example', 'a'),
    replace: async () =>
      tested.store.replace('a', exampleAccount('a', ['key of a']), await countersOf(tested.store, 'a')),
    count: () => nextRequest(tested.store, 'a'),
    'snapshots.take': () => tested.store.snapshots.take('a', { name: 's', real: 0, replace: false, limit: 1 }),
  }

  it.each(Object.keys(changes))('evicts no account that `%s` has changed before it was idle', async (change) => {
    await createEvictable('a')
    await changes[change]?.()
    await createEvictable('b', 'c')
    await use('c')
    await use('b')
    expect([await createIdle('d'), await createIdle('e')]).toEqual(['c', 'b'])
    tested.time += idle - 1
    expect(await tested.store.hasRoom({ limit, idle })).toBe(false)
    await expect(createIdle('f')).rejects.toMatchObject({ problem: 'full' })
    tested.time += 1
    expect(await tested.store.hasRoom({ limit })).toBe(false)
    expect(await tested.store.hasRoom({ limit, idle })).toBe(true)
    expect(await createIdle('f')).toBe('a')
    expect(await ids()).toEqual(['d', 'e', 'f'])
  })

  it('evicts a changed account after all unchanged ones, also when it is opened again meanwhile', async () => {
    await createEvictable('a', 'b', 'c')
    await add('a.example', 'a')
    tested.time += 1
    await use('b')
    await tested.reopen()
    expect([await createIdle('d'), await createIdle('e')]).toEqual(['c', 'b'])
    expect(await tested.store.hasRoom({ limit, idle })).toBe(false)
    tested.time += idle
    expect(await createIdle('f')).toBe('a')
    expect(await tested.store.hasRoom({ limit, idle })).toBe(false)
  })

  it('evicts an account whose last use is later than the clock shows when it is opened again', async () => {
    await createEvictable('a', 'b', 'c')
    await add('a.example', 'a')
    await tested.reopen()
    tested.time -= 100 * idle
    for (const id of ['b', 'c']) await tested.store.delete(id)
    tested.time += 101 * idle
    expect(await tested.store.create(exampleAccount('d'), { limit: 1, idle })).toBe('a')
  })

  it('evicts no account that may not be evicted, however long it was idle', async () => {
    await tested.store.create(exampleAccount('a', ['key of a']), { limit })
    await createEvictable('b')
    await tested.store.create(exampleAccount('c'), { limit })
    await use('b')
    expect(await tested.store.create(exampleAccount('d'), { limit })).toBe('b')
    await expect(tested.store.create(exampleAccount('e'), { limit })).rejects.toMatchObject({ problem: 'full' })
    expect(await ids()).toEqual(['a', 'c', 'd'])
  })

  it('evicts no account for one whose id or key is taken', async () => {
    const { store } = tested
    await createEvictable('a', 'b', 'c')
    for (const state of [exampleAccount('b'), exampleAccount('a'), exampleAccount('d', ['key of c', 'k1'])]) {
      await expect(store.create(state, { limit })).rejects.toMatchObject({ problem: 'taken' })
    }
    expect([await ids(), await store.find('key', 'k1')]).toEqual([['a', 'b', 'c'], undefined])
    expect(await store.create(exampleAccount('d'), { limit })).toBe('a')
  })

  it('deletes an evicted account for good, with its keys, also while a change of it is under way', async () => {
    const { store } = tested
    await createEvictable('a', 'b', 'c')
    const changed = Promise.allSettled(['a', 'b', 'c'].map((id) => add('a.example', id)))
    expect(await store.create(exampleAccount('d'), { limit, idle: 0 })).toBe('a')
    await changed
    expect([await store.find('id', 'a'), await store.find('key', 'key of a')]).toEqual([undefined, undefined])
    await expect(store.read('a')).rejects.toMatchObject({ problem: 'unknown-account' })
    await store.create(exampleAccount('a', ['key of a']))
    expect(await domainsOf(store, 'a')).toEqual([])
    await store.delete('a')
    await tested.reopen()
    expect(await ids()).toEqual(['b', 'c', 'd'])
  })

  it('never holds more, however many are created at the same time, and evicts only as many as it must', async () => {
    await tested.store.create(exampleAccount('kept'), { limit })
    const evicted = await atOnce(20, (index) =>
      tested.store.create(exampleAccount(`e${index}`), { limit, evictable: true }),
    )
    expect(await tested.store.list()).toHaveLength(limit)
    expect(await tested.store.find('id', 'kept')).toBe('kept')
    const gone = evicted.filter((id) => id !== undefined)
    expect([gone.length, new Set(gone).size]).toEqual([21 - limit, 21 - limit])
    await tested.reopen()
    expect(await tested.store.list()).toHaveLength(limit)
  })

  it('creates exactly as many as there may be of those that are created at the same time', async () => {
    const outcomes = await Promise.allSettled(
      range(1, 20).map((number) => tested.store.create(exampleAccount(`a${number}`), { limit })),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(limit)
    expect(await tested.store.list()).toHaveLength(limit)
  })

  it('does not evict an account that was deleted already', async () => {
    await createEvictable('a', 'b', 'c')
    await tested.store.delete('a')
    expect(await tested.store.create(exampleAccount('d'), { limit })).toBeUndefined()
    expect(await tested.store.create(exampleAccount('e'), { limit })).toBe('b')
  })
}

import { expect, it } from 'vitest'
import { accept, refuse } from '../../src/domain/errors.ts'
import { atOnce, range } from '../support/at-once.ts'
import type { Tested } from './conformance.ts'
import { look, nextRequest } from './counting.ts'
import { applyUpdate, domainsOf, exampleAccount, replace, watch } from './example-account.ts'

const limit = 3

/** How every store keeps the number of its accounts within a limit. */
export function describeRoom(tested: Tested): void {
  /** Accounts that may be evicted, created in this order. Each has the key `key of ID`. */
  async function createEvictable(...ids: string[]): Promise<void> {
    for (const id of ids) await tested.store.create(exampleAccount(id, [`key of ${id}`]), { limit, evictable: true })
  }

  /** Creates an account that may take the place of others; their ids. */
  const create = (id: string, most = limit) => tested.store.create(exampleAccount(id), { limit: most })
  const use = (id: string) => look(tested.store, `key of ${id}`)
  const add = (name: string, id: string) => applyUpdate(tested.store, id, watch(name))
  const ids = async () => (await tested.store.list()).toSorted()

  it('refuses an account too many with `full`, and nothing of it stays', async () => {
    const { store } = tested
    for (const id of ['a', 'b', 'c']) expect(await create(id)).toEqual([])
    await expect(store.create(exampleAccount('d', ['k1']), { limit, evictable: true })).rejects.toMatchObject({
      problem: 'full',
      message: 'There are 3 accounts, which is the maximum',
    })
    expect([await ids(), await store.find('key', 'k1')]).toEqual([['a', 'b', 'c'], undefined])
    await store.delete('a')
    await store.create(exampleAccount('d', ['k1']), { limit })
    expect(await ids()).toEqual(['b', 'c', 'd'])
  })

  it('evicts the account that was idle longest, and tells which', async () => {
    await createEvictable('a', 'b', 'c')
    await use('b')
    await use('a')
    expect(await tested.store.create(exampleAccount('d'), { limit, evictable: true })).toEqual(['c'])
    expect(await tested.store.create(exampleAccount('e'), { limit, evictable: true })).toEqual(['b'])
    expect(await ids()).toEqual(['a', 'd', 'e'])
  })

  it('takes a look for no use', async () => {
    const { store } = tested
    await createEvictable('a', 'b', 'c')
    await store.read('a')
    await store.transact('a', () => ({ value: undefined }))
    await store.find('id', 'a')
    await store.find('key', 'key of a')
    await store.snapshots.list('a')
    await store.snapshots.read('a', 's')
    await applyUpdate(store, 'a', (state) => accept(state, undefined))
    await applyUpdate(store, 'a', () => refuse({ code: 'not_found' }))
    expect(await create('d')).toEqual(['a'])
  })

  const changes: Record<string, () => Promise<unknown>> = {
    update: () => add('a.example', 'a'),
    'transact with a state': () => replace(tested.store, exampleAccount('a', ['key of a'])),
    'transact with counters': () => nextRequest(tested.store, 'a'),
    'snapshots.take': () => tested.store.snapshots.take('a', { name: 's', real: 0, replace: false, limit: 1 }),
  }

  it.each(Object.keys(changes))('evicts an account that `%s` has changed after all unchanged ones', async (change) => {
    await createEvictable('a')
    await changes[change]?.()
    await createEvictable('b', 'c')
    await use('c')
    await use('b')
    expect([await create('d'), await create('e')]).toEqual([['c'], ['b']])
    expect(await create('f')).toEqual(['a'])
    expect(await ids()).toEqual(['d', 'e', 'f'])
  })

  it('evicts in the same order when it is opened again meanwhile', async () => {
    await createEvictable('a', 'b', 'c')
    await add('a.example', 'a')
    tested.time += 1
    await use('b')
    await tested.reopen()
    expect([await create('d'), await create('e'), await create('f')]).toEqual([['c'], ['b'], ['a']])
  })

  it('evicts an account whose last use is later than the clock shows when it is opened again', async () => {
    await createEvictable('a')
    await tested.reopen()
    tested.time -= 1_000
    await createEvictable('b')
    await use('b')
    await tested.reopen()
    expect(await create('c', 2)).toEqual(['a'])
  })

  it('evicts as many as make room, the first of them first', async () => {
    await createEvictable('a', 'b', 'c')
    await use('a')
    expect(await create('d', 2)).toEqual(['b', 'c'])
    expect(await ids()).toEqual(['a', 'd'])
    await expect(create('e', 1)).rejects.toMatchObject({ problem: 'full' })
    expect(await ids()).toEqual(['a', 'd'])
  })

  it('evicts no account that may not be evicted, however long it was idle', async () => {
    await tested.store.create(exampleAccount('a', ['key of a']), { limit })
    await createEvictable('b')
    await tested.store.create(exampleAccount('c'), { limit })
    await use('b')
    expect(await create('d')).toEqual(['b'])
    await expect(create('e')).rejects.toMatchObject({ problem: 'full' })
    expect(await ids()).toEqual(['a', 'c', 'd'])
  })

  it('evicts no account for one whose id or key is taken', async () => {
    const { store } = tested
    await createEvictable('a', 'b', 'c')
    for (const state of [exampleAccount('b'), exampleAccount('a'), exampleAccount('d', ['key of c', 'k1'])]) {
      await expect(store.create(state, { limit })).rejects.toMatchObject({ problem: 'taken' })
    }
    expect([await ids(), await store.find('key', 'k1')]).toEqual([['a', 'b', 'c'], undefined])
    expect(await create('d')).toEqual(['a'])
  })

  it('deletes an evicted account for good, with its keys, also while a change of it is under way', async () => {
    const { store } = tested
    await createEvictable('a', 'b', 'c')
    const changed = Promise.allSettled(['a', 'b', 'c'].map((id) => add('a.example', id)))
    expect(await create('d')).toEqual(['a'])
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
    const gone = evicted.flat()
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
    expect(await create('d')).toEqual([])
    expect(await create('e')).toEqual(['b'])
  })
}

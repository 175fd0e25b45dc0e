import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CountingPlan, PlannedCharge } from '../../src/domain/counting.ts'
import { accept, refuse } from '../../src/domain/errors.ts'
import type { Charge } from '../../src/domain/quotas.ts'
import { chanceOfFault, fraction } from '../../src/ground/chance.ts'
import type { Clock } from '../../src/ground/clock.ts'
import { encodeAccount } from '../../src/store/record.ts'
import type { Store, Visitor } from '../../src/store/store.ts'
import type { StoreError } from '../../src/store/store-error.ts'
import { enter, hit, look, nextRequest, trigger } from './counting.ts'
import { applyUpdate, exampleAccount, holdKeys, watch } from './example-account.ts'
import { describeSnapshots } from './snapshot-conformance.ts'

export interface OpenStore {
  store: Store
  /** Closes the store and opens another one on what it kept; absent where nothing outlives the store. */
  reopen?: () => Promise<Store>
}

const HOUR = 3_600_000
const charge: Charge = { limit: 20, window: 3600, start: 'aligned', enforced: true }

/**
 * What every store promises. `open` opens one that follows the clock. `outlives`: whether it outlives the process.
 * `sharesStates`: whether others keep older states and counters that share their parts with the present ones. They cannot
 * where the store is another process, so it has nothing to tell of those.
 */
export function describeStore(
  name: string,
  open: (clock: Clock) => Promise<OpenStore>,
  { outlives, sharesStates = true }: { outlives: boolean; sharesStates?: boolean },
): void {
  describe(name, () => {
    let opened: OpenStore
    let store: Store
    let time: number

    beforeEach(async () => {
      time = 1_768_467_600_000
      opened = await open(() => time)
      store = opened.store
    })

    afterEach(() => store.close())

    it('knows no account at first', async () => {
      expect(await store.list()).toEqual([])
      expect(await store.has('acme')).toBe(false)
      expect(await store.accountOf('k1')).toBeUndefined()
    })

    it('lists accounts in the order of their creation, whatever happens to them and to others', async () => {
      for (const id of ['c', 'a', 'B', 'b', 'd']) await store.create(exampleAccount(id, [`key of ${id}`]))
      expect(await store.list()).toEqual(['c', 'a', 'B', 'b', 'd'])
      await store.delete('B')
      await applyUpdate(store, 'a', watch('new.example'))
      await store.create(exampleAccount('aa', ['key of aa']))
      expect(await store.list()).toEqual(['c', 'a', 'b', 'd', 'aa'])
    })

    it('gives back an account that was created', async () => {
      const state = exampleAccount('acme', ['k1', 'k2'])
      await store.create(state)
      expect(encodeAccount(await store.read('acme'))).toEqual(encodeAccount(state))
      expect(await store.list()).toEqual(['acme'])
      expect(await store.has('acme')).toBe(true)
      expect(await store.accountOf('k1')).toBe('acme')
      expect(await store.accountOf('k2')).toBe('acme')
    })

    it.each([
      ['a path', '../../etc/passwd'],
      ['a dot', '.'],
      ['upper case', 'ACME'],
      ['lower case', 'acme'],
      ['a name that some systems reserve', 'con'],
      ['a property of every object', '__proto__'],
      ['blanks', '  '],
      ['a null character', '\0'],
      ['half a character', '\ud83d'],
      ['the other half', '\ude00'],
      ['a composed letter', '\u00e9'],
      ['a decomposed letter', 'e\u0301'],
      ['100 characters of four bytes', '\u{1f600}'.repeat(100)],
    ])('takes %s for an id', async (_, id) => {
      await Promise.all(['ACME', 'Acme', 'acme', '\ud83d', '\ude00', '\u00e9', 'e\u0301'].map(create))
      if (!(await store.has(id))) await create(id)
      await applyUpdate(store, id, watch('a.example'))
      const later = (await opened.reopen?.()) ?? store
      expect((await later.read(id)).id).toBe(id)
      expect([...(await later.read(id)).domains.keys()]).toEqual(['a.example'])
      await later.close()

      async function create(other: string): Promise<void> {
        await store.create(exampleAccount(other))
      }
    })

    it('rejects everything that is asked of an unknown account', async () => {
      const error = { problem: 'unknown-account', message: 'There is no account "acme"' }
      await expect(store.read('acme')).rejects.toMatchObject(error)
      await expect(applyUpdate(store, 'acme', watch('a.example'))).rejects.toMatchObject(error)
      await expect(hit(store, 'acme', 'dmarc', charge, 0)).rejects.toMatchObject(error)
      await expect(nextRequest(store, 'acme')).rejects.toMatchObject(error)
    })

    it('rejects an account whose id is taken, and keeps the first', async () => {
      await store.create(exampleAccount('acme', ['k1']))
      const second = store.create(exampleAccount('acme', ['k2']))
      await expect(second).rejects.toMatchObject({
        problem: 'taken',
        message: 'There is an account "acme" already',
      })
      expect(await store.accountOf('k1')).toBe('acme')
      expect(await store.accountOf('k2')).toBeUndefined()
    })

    it('creates one of two accounts that ask for the same id at the same time', async () => {
      const outcomes = await Promise.allSettled([
        store.create(exampleAccount('acme')),
        store.create(exampleAccount('acme')),
      ])
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    })

    it('opens one account for all who open that of the same key at the same time, and each of them finds it', async () => {
      const found = await Promise.all(
        Array.from({ length: 10 }, async () => {
          const created = store.create(exampleAccount('sandbox', ['k1']))
          const status = await created.then(
            () => 'created',
            (error: StoreError) => error.problem,
          )
          return { status, account: await look(store, 'k1') }
        }),
      )
      const statuses = found.map(({ status }) => status)
      expect(statuses.toSorted()).toEqual(['created', ...Array.from({ length: 9 }, () => 'taken')])
      const [first] = found
      expect(first?.account?.id).toBe('sandbox')
      expect(found.map(({ account }) => account)).toEqual(found.map(() => first?.account))
    })

    describe('asked for a new id', () => {
      it('never gives the same twice, however many ask at the same time', async () => {
        const ids = await Promise.all(Array.from({ length: 50 }, () => store.newId()))
        expect(new Set(ids).size).toBe(50)
      })

      it('gives none that an account has', async () => {
        // A store of the same kind tells which ids are likely to come next.
        const another = (await open(() => time)).store
        const likely = await Promise.all(Array.from({ length: 5 }, () => another.newId()))
        await another.close()
        for (const id of likely) await store.create(exampleAccount(id))
        const given = await Promise.all(Array.from({ length: 5 }, () => store.newId()))
        expect(given.filter((id) => likely.includes(id))).toEqual([])
      })

      it('gives none again whose account was deleted', async () => {
        const id = await store.newId()
        await store.create(exampleAccount(id))
        await store.delete(id)
        expect(await store.newId()).not.toBe(id)
      })
    })

    describe('with a limit', () => {
      const limit = 3
      const idle = HOUR

      /** Accounts that may be evicted, created in this order. Each has the key `key of ID`. */
      async function createEvictable(...ids: string[]): Promise<void> {
        for (const id of ids) await store.create(exampleAccount(id, [`key of ${id}`]), { limit, evictable: true })
      }

      async function use(id: string): Promise<void> {
        await look(store, `key of ${id}`)
      }

      async function reopened(): Promise<Store> {
        if (opened.reopen === undefined) throw new Error('The store cannot be opened again.')
        return opened.reopen()
      }

      async function ids(): Promise<string[]> {
        return (await store.list()).toSorted()
      }

      it('refuses an account too many with `full`, and nothing of it stays', async () => {
        for (const id of ['a', 'b', 'c']) expect(await store.create(exampleAccount(id), { limit })).toBeUndefined()
        await expect(store.create(exampleAccount('d', ['k1']), { limit, evictable: true })).rejects.toMatchObject({
          problem: 'full',
          message: 'There are 3 accounts, which is as many as there may be',
        })
        expect(await store.hasRoom({ limit })).toBe(false)
        expect(await store.hasRoom({ limit: limit + 1 })).toBe(true)
        expect(await store.hasRoom({})).toBe(true)
        expect([await ids(), await store.accountOf('k1')]).toEqual([['a', 'b', 'c'], undefined])
        await store.delete('a')
        await store.create(exampleAccount('d', ['k1']), { limit })
        expect(await ids()).toEqual(['b', 'c', 'd'])
      })

      it('evicts the account that was idle longest, and tells which', async () => {
        await createEvictable('a', 'b', 'c')
        await use('b')
        await use('a')
        expect(await store.create(exampleAccount('d'), { limit, evictable: true })).toBe('c')
        expect(await store.create(exampleAccount('e'), { limit, evictable: true })).toBe('b')
        expect(await ids()).toEqual(['a', 'd', 'e'])
      })

      it('takes a look for no use', async () => {
        await createEvictable('a', 'b', 'c')
        await store.read('a')
        await store.counters('a')
        await store.has('a')
        await store.accountOf('key of a')
        await store.snapshots('a')
        await store.snapshotKeys('a')
        await store.readSnapshot('a', 's')
        await applyUpdate(store, 'a', (state) => accept(state, undefined))
        await applyUpdate(store, 'a', () => refuse({ code: 'not_found' }))
        expect(await store.create(exampleAccount('d'), { limit })).toBe('a')
      })

      const changes: Record<string, () => Promise<unknown>> = {
        update: () => applyUpdate(store, 'a', watch('a.example')),
        replace: async () => store.replace('a', exampleAccount('a', ['key of a']), await store.counters('a')),
        count: () => nextRequest(store, 'a'),
        recount: () => store.recount('a', () => ({})),
        takeSnapshot: () => store.takeSnapshot('a', { name: 's', real: 0, replace: false, limit: 1 }),
      }

      it.each(Object.keys(changes))('evicts no account that `%s` has changed before it was idle', async (change) => {
        await createEvictable('a')
        await changes[change]?.()
        await createEvictable('b', 'c')
        await use('c')
        await use('b')
        expect(await store.create(exampleAccount('d'), { limit, idle })).toBe('c')
        expect(await store.create(exampleAccount('e'), { limit, idle })).toBe('b')
        time += idle - 1
        expect(await store.hasRoom({ limit, idle })).toBe(false)
        await expect(store.create(exampleAccount('f'), { limit, idle })).rejects.toMatchObject({ problem: 'full' })
        time += 1
        expect(await store.hasRoom({ limit })).toBe(false)
        expect(await store.hasRoom({ limit, idle })).toBe(true)
        expect(await store.create(exampleAccount('f'), { limit, idle })).toBe('a')
        expect(await ids()).toEqual(['d', 'e', 'f'])
      })

      it('evicts a changed account after all unchanged ones, and the one first that was idle longest', async () => {
        await createEvictable('a', 'b')
        for (const id of ['a', 'b']) await applyUpdate(store, id, watch('a.example'))
        time += 2 * idle
        await createEvictable('c')
        await use('a')
        expect(await store.create(exampleAccount('d'), { limit, idle })).toBe('c')
        expect(await store.create(exampleAccount('e'), { limit, idle })).toBe('b')
        expect(await store.hasRoom({ limit, idle })).toBe(false)
        time += idle
        expect(await store.create(exampleAccount('f'), { limit, idle })).toBe('a')
      })

      // No test is skipped: a store in memory has none of these.
      const itOutlives = outlives ? it : () => {}

      itOutlives('knows all of this again when it is opened again', async () => {
        await createEvictable('a', 'b', 'c')
        await applyUpdate(store, 'a', watch('a.example'))
        time += 1
        await use('b')
        store = await reopened()
        expect(await store.create(exampleAccount('d'), { limit, idle })).toBe('c')
        expect(await store.create(exampleAccount('e'), { limit, idle })).toBe('b')
        expect(await store.hasRoom({ limit, idle })).toBe(false)
        time += idle
        expect(await store.create(exampleAccount('f'), { limit, idle })).toBe('a')
        expect(await store.hasRoom({ limit, idle })).toBe(false)
      })

      itOutlives('evicts an account whose last use is later than its clock shows when it is opened again', async () => {
        await createEvictable('a', 'b', 'c')
        await applyUpdate(store, 'a', watch('a.example'))
        time -= 100 * idle
        store = await reopened()
        for (const id of ['b', 'c']) await store.delete(id)
        time += idle
        expect(await store.create(exampleAccount('d'), { limit: 1, idle })).toBe('a')
      })

      it('evicts no account that may not be evicted, however long it was idle', async () => {
        await store.create(exampleAccount('a', ['key of a']), { limit })
        await createEvictable('b')
        await store.create(exampleAccount('c'), { limit })
        await use('b')
        expect(await store.create(exampleAccount('d'), { limit })).toBe('b')
        await expect(store.create(exampleAccount('e'), { limit })).rejects.toMatchObject({ problem: 'full' })
        expect(await ids()).toEqual(['a', 'c', 'd'])
      })

      it('evicts no account for one whose id or key is taken', async () => {
        await createEvictable('a', 'b', 'c')
        const refused = [exampleAccount('b'), exampleAccount('a'), exampleAccount('d', ['key of c', 'k1'])]
        for (const state of refused) {
          await expect(store.create(state, { limit })).rejects.toMatchObject({ problem: 'taken' })
        }
        expect([await ids(), await store.accountOf('k1')]).toEqual([['a', 'b', 'c'], undefined])
        expect(await store.create(exampleAccount('d'), { limit })).toBe('a')
      })

      it('deletes an evicted account for good, with its keys, also while a change of it is under way', async () => {
        await createEvictable('a', 'b', 'c')
        const changes = Promise.allSettled(['a', 'b', 'c'].map((id) => applyUpdate(store, id, watch('a.example'))))
        expect(await store.create(exampleAccount('d'), { limit, idle: 0 })).toBe('a')
        await changes
        expect([await store.has('a'), await store.accountOf('key of a')]).toEqual([false, undefined])
        await expect(store.read('a')).rejects.toMatchObject({ problem: 'unknown-account' })
        await store.create(exampleAccount('a', ['key of a']))
        expect((await store.read('a')).domains.size).toBe(0)
        await store.delete('a')
        if (opened.reopen !== undefined) store = await opened.reopen()
        expect(await ids()).toEqual(['b', 'c', 'd'])
      })

      it('never holds more, however many are created at the same time, and evicts only as many as it must', async () => {
        await store.create(exampleAccount('kept'), { limit })
        const created = Array.from({ length: 20 }, (_, index) => `e${index}`)
        const evicted = await Promise.all(
          created.map((id) => store.create(exampleAccount(id), { limit, evictable: true })),
        )
        expect(await store.list()).toHaveLength(limit)
        expect(await store.has('kept')).toBe(true)
        const gone = evicted.filter((id) => id !== undefined)
        expect(new Set(gone).size).toBe(created.length + 1 - limit)
        expect(gone).toHaveLength(created.length + 1 - limit)
        if (opened.reopen !== undefined) store = await opened.reopen()
        expect(await store.list()).toHaveLength(limit)
      })

      it('creates exactly as many as there may be of those that are created at the same time', async () => {
        const outcomes = await Promise.allSettled(
          Array.from({ length: 20 }, (_, index) => store.create(exampleAccount(`a${index}`), { limit })),
        )
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(limit)
        expect(await store.list()).toHaveLength(limit)
      })

      it('does not evict an account that was deleted already', async () => {
        await createEvictable('a', 'b', 'c')
        await store.delete('a')
        expect(await store.create(exampleAccount('d'), { limit })).toBeUndefined()
        expect(await store.create(exampleAccount('e'), { limit })).toBe('b')
      })
    })

    describe('shows a visit the incarnation of the account, which', () => {
      const incarnationOf = async (id: string) => store.count(id, (_, __, incarnation) => incarnation)

      it('stays the same through every change', async () => {
        await store.create(exampleAccount('acme', ['k1']))
        const first = await incarnationOf('acme')
        await applyUpdate(store, 'acme', watch('a.example'))
        await store.replace('acme', exampleAccount('acme', ['k1']), { quotas: new Map(), tallies: new Map() })
        expect(await incarnationOf('acme')).toBe(first)
        expect(await look(store, 'k1')).toEqual({ id: 'acme', incarnation: first })
      })

      it('is that of no other account, also of none that had the same id before', async () => {
        const seen: number[] = []
        for (let round = 0; round < 3; round++) {
          await store.create(exampleAccount('acme', ['k1']))
          seen.push(await incarnationOf('acme'))
          await store.create(exampleAccount(`other ${round}`))
          seen.push(await incarnationOf(`other ${round}`))
          await store.delete('acme')
        }
        expect(new Set(seen).size).toBe(seen.length)
      })
    })

    it('rejects an account with a key of another one, and keeps nothing of it', async () => {
      await store.create(exampleAccount('acme', ['k1']))
      await expect(store.create(exampleAccount('other', ['k2', 'k1']))).rejects.toMatchObject({
        problem: 'taken',
        message: 'The key "key with hash k1" belongs to the account "acme" already',
      })
      expect(await store.has('other')).toBe(false)
      expect(await store.accountOf('k2')).toBeUndefined()
    })

    it('keeps what `decide` accepts and answers with its value', async () => {
      await store.create(exampleAccount('acme'))
      expect(await applyUpdate(store, 'acme', watch('a.example'))).toMatchObject({ ok: true, value: 'a.example' })
      expect([...(await store.read('acme')).domains.keys()]).toEqual(['a.example'])
    })

    it('keeps nothing when `decide` refuses', async () => {
      await store.create(exampleAccount('acme'))
      const before = encodeAccount(await store.read('acme'))
      expect(await applyUpdate(store, 'acme', () => refuse({ code: 'not_found' }))).toEqual({
        ok: false,
        problems: [{ code: 'not_found' }],
      })
      expect(encodeAccount(await store.read('acme'))).toEqual(before)
    })

    it('rejects and keeps nothing when `decide` throws', async () => {
      await store.create(exampleAccount('acme'))
      const update = applyUpdate(store, 'acme', () => {
        throw new Error('a bug')
      })
      await expect(update).rejects.toThrow('a bug')
      await expect(applyUpdate(store, 'acme', watch('a.example'))).resolves.toMatchObject({ ok: true })
    })

    it('rejects a decision that turns the account into another one', async () => {
      await store.create(exampleAccount('acme'))
      await expect(applyUpdate(store, 'acme', (state) => accept({ ...state, id: 'other' }, undefined))).rejects.toThrow(
        'The account "acme" cannot become another one',
      )
      expect(await store.list()).toEqual(['acme'])
    })

    it('changes no other account that has got the id meanwhile', async () => {
      await store.create(exampleAccount('acme', ['k1']))
      const { incarnation } = (await look(store, 'k1')) ?? { incarnation: 0 }
      await store.update('acme', watch('a.example'), incarnation)
      await store.delete('acme')
      await store.create(exampleAccount('acme', ['k1']))
      const late = async () => store.update('acme', watch('b.example'), incarnation)
      await expect(late()).rejects.toMatchObject({ problem: 'unknown-account' })
      expect([...(await store.read('acme')).domains.keys()]).toEqual([])
    })

    it('calls `decide` with what the updates before it made', async () => {
      await store.create(exampleAccount('acme'))
      const update = applyUpdate(store, 'acme', watch('a.example'))
      const seen = applyUpdate(store, 'acme', (state) => accept(state, [...state.domains.keys()]))
      await update
      expect(await seen).toMatchObject({ value: ['a.example'] })
    })

    it('accepts only one of two updates that exclude each other', async () => {
      await store.create(exampleAccount('acme'))
      const decisions = await Promise.all([
        applyUpdate(store, 'acme', watch('a.example')),
        applyUpdate(store, 'acme', watch('a.example')),
      ])
      expect(decisions.map(({ ok }) => ok).toSorted()).toEqual([false, true])
    })

    it('loses none of 200 updates that come at the same time', async () => {
      await store.create(exampleAccount('acme'))
      const names = Array.from({ length: 200 }, (_, index) => `d${index}.example`)
      const decisions = await Promise.all(names.map((domain) => applyUpdate(store, 'acme', watch(domain))))
      expect(decisions.every(({ ok }) => ok)).toBe(true)
      const later = (await opened.reopen?.()) ?? store
      expect([...(await later.read('acme')).domains.keys()].toSorted()).toEqual(names.toSorted())
      await later.close()
    })

    it('keeps the updates of different accounts apart', async () => {
      await Promise.all([store.create(exampleAccount('acme')), store.create(exampleAccount('other'))])
      await Promise.all([
        applyUpdate(store, 'acme', watch('a.example')),
        applyUpdate(store, 'other', watch('b.example')),
      ])
      expect([...(await store.read('acme')).domains.keys()]).toEqual(['a.example'])
      expect([...(await store.read('other')).domains.keys()]).toEqual(['b.example'])
    })

    it('finds an account by the keys that an update gave it, and no more by those it took away', async () => {
      await store.create(exampleAccount('acme', ['k1', 'k2']))
      await applyUpdate(store, 'acme', holdKeys('k2', 'k3'))
      expect(await Promise.all(['k1', 'k2', 'k3'].map((hash) => store.accountOf(hash)))).toEqual([
        undefined,
        'acme',
        'acme',
      ])
      await store.create(exampleAccount('other', ['k1']))
      expect(await store.accountOf('k1')).toBe('other')
    })

    it('rejects an update that takes a key of another account, and keeps nothing of it', async () => {
      await store.create(exampleAccount('acme', ['k1']))
      await store.create(exampleAccount('other', ['k2']))
      await expect(applyUpdate(store, 'other', holdKeys('k2', 'k3', 'k1'))).rejects.toMatchObject({ problem: 'taken' })
      expect((await store.read('other')).keys.map(({ hash }) => hash)).toEqual(['k2'])
      expect(await store.accountOf('k1')).toBe('acme')
      expect(await store.accountOf('k3')).toBeUndefined()
    })

    it('allows exactly as many of 50 requests at the same time as the limit says', async () => {
      await store.create(exampleAccount('acme'))
      const allowances = await Promise.all(Array.from({ length: 50 }, () => hit(store, 'acme', 'dmarc', charge, HOUR)))
      const allowed = allowances.filter((allowance) => allowance.allowed)
      expect(allowed.map(({ remaining }) => remaining).toSorted((a, b) => b - a)).toEqual(
        Array.from({ length: 20 }, (_, index) => 19 - index),
      )
    })

    it('counts anew in the next window', async () => {
      await store.create(exampleAccount('acme'))
      for (let request = 0; request < 20; request++) await hit(store, 'acme', 'dmarc', charge, HOUR)
      expect(await hit(store, 'acme', 'dmarc', charge, 2 * HOUR - 1)).toMatchObject({ allowed: false, resetAt: 7200 })
      expect(await hit(store, 'acme', 'dmarc', charge, 2 * HOUR)).toMatchObject({ allowed: true, remaining: 19 })
    })

    it('counts each bucket of each account by itself', async () => {
      await Promise.all([store.create(exampleAccount('acme')), store.create(exampleAccount('other'))])
      await hit(store, 'acme', 'dmarc', charge, 0)
      expect(await hit(store, 'acme', 'dmarc', charge, 0)).toMatchObject({ remaining: 18 })
      expect(await hit(store, 'acme', 'domains', charge, 0)).toMatchObject({ remaining: 19 })
      expect(await hit(store, 'acme', '__proto__', charge, 0)).toMatchObject({ remaining: 19 })
      expect(await hit(store, 'other', 'dmarc', charge, 0)).toMatchObject({ remaining: 19 })
    })

    it('has what was recounted before it answers', async () => {
      await store.create(exampleAccount('acme', ['k1']))
      const hits = { startedAt: HOUR, used: 7 }
      const recount: Visitor<number> = (_, counting) => {
        counting.quotas = counting.quotas.set('k1 /dmarc', hits)
        return counting.quotas.size
      }
      expect(await store.recount('acme', recount)).toBe(1)
      const later = (await opened.reopen?.()) ?? store
      expect([...(await later.counters('acme')).quotas]).toEqual([['k1 /dmarc', hits]])
      await later.close()
    })

    it('forgets what was counted for a key with the key, and not what was counted for another', async () => {
      await store.create(exampleAccount('acme', ['k1', 'k2']))
      for (const bucket of ['k1 /dmarc', 'k2 /dmarc', '/domains']) await hit(store, 'acme', bucket, charge, HOUR)
      await applyUpdate(store, 'acme', holdKeys('k2'))
      expect([...(await store.counters('acme')).quotas.keys()]).toEqual(['k2 /dmarc', '/domains'])
      const later = (await opened.reopen?.()) ?? store
      expect([...(await later.counters('acme')).quotas.keys()]).toEqual(['k2 /dmarc', '/domains'])
      await later.close()
    })

    it('forgets what was counted for a fault rule with the rule', async () => {
      const [first, second] = ['fault_1', 'fault_2'].map((id) => ({ id, createdAt: 0, rule: { delay_ms: 1 } }))
      if (first === undefined || second === undefined) throw new Error('There are two rules.')
      const target = { operation: 'listDmarc', method: 'GET', path: '/dmarc', key: 'k', answersWith: () => true }
      await store.create({ ...exampleAccount('acme'), faults: [first, second] })
      await trigger(store, 'acme', target, 0)
      expect((await store.counters('acme')).tallies.size).toBeGreaterThan(0)
      await applyUpdate(store, 'acme', (state) => accept({ ...state, faults: [] }, undefined))
      expect((await store.counters('acme')).tallies.size).toBe(0)
    })

    it('forgets a window that is over when another one begins', async () => {
      await store.create(exampleAccount('acme'))
      for (const bucket of ['a /dmarc', 'b /dmarc', '/domains']) await hit(store, 'acme', bucket, charge, HOUR)
      await hit(store, 'acme', '/domains', charge, HOUR + 1)
      expect((await store.counters('acme')).quotas.size).toBe(3)
      await hit(store, 'acme', '/domains', charge, 2 * HOUR)
      expect([...(await store.counters('acme')).quotas]).toEqual([['/domains', { startedAt: 2 * HOUR, used: 1 }]])
    })

    describe('counts what a request has planned', () => {
      const dmarc: PlannedCharge = {
        bucket: 'k1 /dmarc',
        limit: 2,
        graceLimit: 4,
        graceEnds: 0,
        window: 3600,
        start: 'aligned',
        enforced: true,
      }
      const rule = {
        id: 'fault_1',
        skip: 0,
        times: Number.POSITIVE_INFINITY,
        probability: 1,
        ends: Number.POSITIVE_INFINITY,
      }

      const planned = (plan: Partial<CountingPlan>) => enter(store, 'k1', plan, () => time)

      beforeEach(async () => {
        const faults = ['fault_1', 'fault_2'].map((id) => ({ id, createdAt: 0, rule: {} }))
        await store.create({ ...exampleAccount('acme', ['k1']), faults })
      })

      it('and shows it with what was counted before', async () => {
        const [first, second] = [await planned({ charge: dmarc }), await planned({ charge: dmarc })]
        const startedAt = Math.floor(time / HOUR) * HOUR
        expect(first).toMatchObject({ ordinal: 1, formerHits: undefined, hits: { startedAt, used: 1 } })
        expect(second).toMatchObject({
          ordinal: 2,
          bucket: 'k1 /dmarc',
          formerHits: { startedAt, used: 1 },
          hits: { startedAt, used: 2 },
          allowance: { allowed: true, limit: 2, remaining: 0, resetAt: startedAt / 1000 + 3600 },
        })
        expect(await store.counters('acme')).toEqual({
          quotas: new Map([['k1 /dmarc', { startedAt, used: 2 }]]),
          tallies: new Map(),
        })
      })

      it('with the limit of the grace period until its end', async () => {
        const charge = { ...dmarc, graceEnds: time + 1 }
        expect((await planned({ charge })).allowance).toMatchObject({ limit: 4, remaining: 3 })
        time++
        expect((await planned({ charge })).allowance).toMatchObject({ limit: 2, remaining: 0 })
      })

      it('from the first request on, where windows begin so', async () => {
        const charge = { ...dmarc, start: 'first-request' as const }
        expect((await planned({ charge })).hits).toEqual({ startedAt: time, used: 1 })
        time += HOUR - 1
        expect((await planned({ charge })).hits?.used).toBe(2)
        time++
        expect((await planned({ charge })).hits).toEqual({ startedAt: time, used: 1 })
      })

      it('and neither charges nor asks fault rules for a request over the quota, which is a request all the same', async () => {
        const plan = { charge: dmarc, rules: [rule] }
        for (let request = 0; request < 2; request++) await planned(plan)
        const refused = await planned(plan)
        expect(refused).toMatchObject({ ordinal: 3, allowance: { allowed: false, remaining: 0 }, hits: { used: 2 } })
        expect([refused.triggered, refused.tallies]).toEqual([undefined, undefined])
        expect((await store.counters('acme')).tallies.get('fault_1')).toEqual({ matched: 2, hits: 2 })
      })

      it('and only counts where quotas are not enforced', async () => {
        const charge = { ...dmarc, enforced: false }
        for (let request = 0; request < 2; request++) await planned({ charge })
        expect(await planned({ charge })).toMatchObject({ allowance: { allowed: true }, hits: { used: 3 } })
      })

      it('and tells what is used in a bucket without a charge', async () => {
        await planned({ charge: dmarc })
        const told = await planned({ told: 'k1 /dmarc' })
        expect([told.formerHits?.used, told.hits, told.allowance]).toEqual([1, undefined, undefined])
        expect((await store.counters('acme')).quotas.get('k1 /dmarc')?.used).toBe(1)
      })

      it('with the first fault rule that acts: after those that it skips, so often, and until its end', async () => {
        const rules = [
          { ...rule, skip: 1, times: 1 },
          { ...rule, id: 'fault_2', ends: time + 1 },
        ]
        const acting = async () => (await planned({ rules })).triggered
        expect(await acting()).toEqual({ id: 'fault_2', ordinal: 1 })
        expect(await acting()).toEqual({ id: 'fault_1', ordinal: 2 })
        expect(await acting()).toEqual({ id: 'fault_2', ordinal: 2 })
        time++
        expect(await acting()).toBeUndefined()
        const tallies = new Map([
          ['fault_1', { matched: 2, hits: 1 }],
          ['fault_2', { matched: 2, hits: 2 }],
        ])
        expect((await store.counters('acme')).tallies).toEqual(tallies)
      })

      it('with the chance that the seed, the account, the rule and the ordinal decide', async () => {
        const rules = [{ ...rule, probability: 0.5 }]
        const acted: boolean[] = []
        for (let request = 0; request < 12; request++) {
          acted.push((await planned({ rules })).triggered !== undefined)
        }
        const drawn = (ordinal: number) => fraction(chanceOfFault({ seed: 42, id: 'acme' }, 'fault_1', ordinal)[0])
        expect(acted).toEqual(acted.map((_, index) => drawn(index + 1) < 0.5))
        expect(new Set(acted).size).toBe(2)
      })

      it('unless it is none of the requests of the account', async () => {
        const counted = await planned({ isCounted: false })
        expect(counted.ordinal).toBe(0)
        expect((await planned({})).ordinal).toBe(1)
      })

      it('exactly, however many come at the same time', async () => {
        const charge = { ...dmarc, limit: 20 }
        const rules = [{ ...rule, times: 5 }]
        const all = await Promise.all(Array.from({ length: 50 }, () => planned({ charge, rules })))
        expect(all.filter(({ allowance }) => allowance?.allowed)).toHaveLength(20)
        expect(all.filter(({ triggered }) => triggered !== undefined)).toHaveLength(5)
        expect(all.map(({ ordinal }) => ordinal).toSorted((one, other) => one - other)).toEqual(
          Array.from({ length: 50 }, (_, index) => index + 1),
        )
      })

      it('with the state and the time by which it was planned', async () => {
        await applyUpdate(store, 'acme', (state) => accept({ ...state, clock: { frozenAt: HOUR } }, undefined))
        const { hits } = await planned({ charge: dmarc })
        expect(hits).toEqual({ startedAt: HOUR, used: 1 })
      })

      it('and takes a charge back from the same window alone', async () => {
        const { hits } = await planned({ charge: dmarc })
        const startedAt = hits?.startedAt ?? 0
        const acme = { id: 'acme', incarnation: (await look(store, 'k1'))?.incarnation ?? 0 }
        expect(await store.refund(acme, 'k1 /dmarc', startedAt - HOUR)).toBeUndefined()
        expect(await store.refund(acme, 'k1 /domains', startedAt)).toBeUndefined()
        expect(await store.refund(acme, 'k1 /dmarc', startedAt)).toEqual({ startedAt, used: 0 })
        expect(await store.refund(acme, 'k1 /dmarc', startedAt)).toBeUndefined()
        expect(
          await store.refund({ id: 'acme', incarnation: acme.incarnation + 1 }, 'k1 /dmarc', startedAt),
        ).toBeUndefined()
        expect((await planned({ charge: dmarc })).hits?.used).toBe(1)
      })
    })

    it('numbers the requests of each account from 1 on', async () => {
      await Promise.all([store.create(exampleAccount('acme')), store.create(exampleAccount('other'))])
      const numbers = await Promise.all(Array.from({ length: 50 }, () => nextRequest(store, 'acme')))
      expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1))
      expect(await nextRequest(store, 'other')).toBe(1)
    })

    describe('asked to delete an account', () => {
      it('forgets it with its keys, which others may then have', async () => {
        await store.create(exampleAccount('acme', ['k1']))
        await store.delete('acme')
        expect([await store.list(), await store.has('acme'), await store.accountOf('k1')]).toEqual([
          [],
          false,
          undefined,
        ])
        await expect(store.read('acme')).rejects.toMatchObject({ problem: 'unknown-account' })
        await store.create(exampleAccount('other', ['k1']))
        expect(await store.accountOf('k1')).toBe('other')
      })

      it('takes another of the same id for a new one', async () => {
        await store.create(exampleAccount('acme', ['k1']))
        await applyUpdate(store, 'acme', watch('a.example'))
        await hit(store, 'acme', 'dmarc', charge, 0)
        await nextRequest(store, 'acme')
        await store.delete('acme')
        await store.create(exampleAccount('acme', ['k1']))
        expect((await store.read('acme')).domains.size).toBe(0)
        expect(await hit(store, 'acme', 'dmarc', charge, 0)).toMatchObject({ remaining: 19 })
        expect(await nextRequest(store, 'acme')).toBe(1)
      })

      it('forgets it for good, also while a change of it is on its way', async () => {
        await store.create(exampleAccount('acme', ['k1']))
        const changes = Promise.allSettled(
          Array.from({ length: 5 }, (_, index) => applyUpdate(store, 'acme', watch(`${index}.example`))),
        )
        await store.delete('acme')
        await changes
        expect(await store.list()).toEqual([])
        if (opened.reopen !== undefined) store = await opened.reopen()
        expect([await store.list(), await store.accountOf('k1')]).toEqual([[], undefined])
      })

      it('rejects one that it does not know', async () => {
        await expect(store.delete('acme')).rejects.toMatchObject({ problem: 'unknown-account' })
      })
    })

    describe('asked to replace an account', () => {
      const target = { operation: 'listDmarc', method: 'GET', path: '/dmarc', key: 'k', answersWith: () => true }
      const always = { faults: [{ id: 'fault_1', createdAt: 0, rule: { delay_ms: 1 } }], faultsCreated: 1 }

      it('puts state and counters in its place, and goes on counting requests', async () => {
        await store.create({ ...exampleAccount('acme', ['k1']), ...always })
        const before = await store.read('acme')
        await hit(store, 'acme', 'dmarc', charge, 0)
        await trigger(store, 'acme', target, 0)
        const counters = await store.counters('acme')
        await applyUpdate(store, 'acme', watch('a.example'))
        await hit(store, 'acme', 'dmarc', charge, 0)
        await trigger(store, 'acme', target, 0)
        await nextRequest(store, 'acme')
        await store.replace('acme', before, counters)
        if (opened.reopen !== undefined) store = await opened.reopen()
        expect((await store.read('acme')).domains.size).toBe(0)
        expect(await store.counters('acme')).toEqual(counters)
        expect([...counters.tallies]).toEqual([['fault_1', { matched: 1, hits: 1 }]])
        expect(await nextRequest(store, 'acme')).toBe(2)
      })

      it('counts requests from the number that it is given', async () => {
        await store.create(exampleAccount('acme'))
        await nextRequest(store, 'acme')
        await store.replace('acme', await store.read('acme'), { quotas: new Map(), tallies: new Map(), requests: 0 })
        expect(await nextRequest(store, 'acme')).toBe(1)
      })

      it('lets go of the keys that it has no more, and takes none of another', async () => {
        await store.create(exampleAccount('acme', ['k1']))
        await store.create(exampleAccount('other', ['k2']))
        const counters = await store.counters('acme')
        await expect(store.replace('acme', exampleAccount('acme', ['k2']), counters)).rejects.toMatchObject({
          problem: 'taken',
        })
        await store.replace('acme', exampleAccount('acme', ['k3']), counters)
        expect([await store.accountOf('k1'), await store.accountOf('k3')]).toEqual([undefined, 'acme'])
      })
    })

    describeSnapshots(() => store, {
      get now() {
        return time
      },
      set now(later: number) {
        time = later
      },
    })

    const itSharesStates = sharesStates ? it : () => {}

    itSharesStates('tells how much of each account only older states and counters still hold', async () => {
      const outdated = new Map<string, number>()
      store.listenOutdated((id, bytes) => outdated.set(id, (outdated.get(id) ?? 0) + bytes))
      const told = () => {
        const bytes = outdated.get('acme') ?? 0
        outdated.clear()
        return bytes
      }
      await store.create(exampleAccount('acme', ['k1']))
      await store.create(exampleAccount('other', ['k2']))
      await store.read('acme')
      await hit(store, 'acme', 'k1 /dmarc', charge, 0)
      expect(told()).toBe(0)
      await applyUpdate(store, 'acme', watch('a.example'))
      const small = told()
      await applyUpdate(store, 'acme', (state) =>
        accept({ ...state, domains: state.domains.delete('a.example') }, undefined),
      )
      expect(told()).toBeGreaterThan(small)
      for (let index = 0; index < 20; index++) await applyUpdate(store, 'acme', watch(`d${index}.example`))
      told()
      const state = await store.read('acme')
      const counters = { quotas: new Map(), tallies: new Map() }
      await store.replace('acme', exampleAccount('acme', ['k1']), counters)
      const whole = told()
      expect(whole).toBeGreaterThan(20 * 100)
      await store.replace('acme', state, counters)
      told()
      await store.replace('acme', state, { ...counters, outdatedSince: 0 })
      expect(told()).toBeLessThan(whole)
      await store.takeSnapshot('acme', { name: 's', real: 0, replace: false, limit: 1 })
      await store.replace('acme', state, { ...counters, snapshot: 's' })
      expect(told()).toBeLessThan(whole)
      await store.recount('acme', (_, counting) => {
        for (let index = 0; index < 50; index++)
          counting.quotas = counting.quotas.set(`${index}`, { startedAt: 0, used: 1 })
      })
      expect(told()).toBeGreaterThan(50 * 50)
      await applyUpdate(store, 'other', watch('a.example'))
      expect([...outdated.keys()]).toEqual(['other'])
    })

    it('gives counters out in maps of their own', async () => {
      await store.create(exampleAccount('acme'))
      const counters = await store.counters('acme')
      await hit(store, 'acme', 'dmarc', charge, 0)
      expect(counters.quotas.size).toBe(0)
      await store.count('acme', (_, counting) => {
        counting.quotas = counting.quotas.set('dmarc', { startedAt: 0, used: 20 })
      })
      expect(await hit(store, 'acme', 'dmarc', charge, 0)).toMatchObject({ allowed: false, remaining: 0 })
    })

    it('rejects what comes after `close`, which may be called twice', async () => {
      await store.create(exampleAccount('acme'))
      await Promise.all([store.close(), store.close()])
      const error = { problem: 'closed', message: 'The store is closed' }
      await expect(store.read('acme')).rejects.toMatchObject(error)
      await expect(store.create(exampleAccount('other'))).rejects.toMatchObject(error)
      await expect(applyUpdate(store, 'acme', watch('a.example'))).rejects.toMatchObject(error)
    })

    it('answers an update that was accepted before `close`', async () => {
      await store.create(exampleAccount('acme'))
      const update = applyUpdate(store, 'acme', watch('a.example'))
      await store.close()
      await expect(update).resolves.toMatchObject({ ok: true })
    })
  })
}

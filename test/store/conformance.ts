import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CountingPlan } from '../../src/domain/counting.ts'
import { accept, refuse } from '../../src/domain/errors.ts'
import type { Charge } from '../../src/domain/quotas.ts'
import { chanceOfFault, fraction } from '../../src/ground/chance.ts'
import type { Clock } from '../../src/ground/clock.ts'
import { encodeAccount } from '../../src/store/record.ts'
import type { Store, Visitor } from '../../src/store/store.ts'
import { ascending, atOnce, range } from '../support/at-once.ts'
import { countersOf, enter, hit, look, nextRequest, plannedCharge, trigger } from './counting.ts'
import {
  applyUpdate,
  change,
  domainsOf,
  exampleAccount,
  holdKeys,
  hosts,
  NOTHING,
  watch,
  withDomains,
} from './example-account.ts'
import { describeSnapshots } from './snapshot-conformance.ts'

export interface OpenStore {
  store: Store
  /** Closes the store and opens another one on what it kept; absent where nothing outlives the store. */
  reopen?: () => Promise<Store>
}

const HOUR = 3_600_000
const charge: Charge = { limit: 20, window: 3600, start: 'aligned', enforced: true }
const target = { operation: 'listDmarc', method: 'GET', path: '/dmarc', key: 'k', answersWith: () => true }
const UNKNOWN = { problem: 'unknown-account', message: 'There is no account "acme"' }

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

    /** Opens the store again where something outlives it. */
    async function reopen(): Promise<void> {
      store = (await opened.reopen?.()) ?? store
    }

    /** Creates accounts, each with the key `key of ID`. */
    async function create(...ids: string[]): Promise<void> {
      for (const id of ids) await store.create(exampleAccount(id, [`key of ${id}`]))
    }

    const add = (name: string, id = 'acme') => applyUpdate(store, id, watch(name))
    const holders = (...hashes: string[]) => Promise.all(hashes.map((hash) => store.find('key', hash)))

    it('lists accounts in the order of their creation, whatever happens to them and to others', async () => {
      await create('c', 'a', 'B', 'b', 'd')
      expect(await store.list()).toEqual(['c', 'a', 'B', 'b', 'd'])
      await store.delete('B')
      await add('new.example', 'a')
      await create('aa')
      expect(await store.list()).toEqual(['c', 'a', 'b', 'd', 'aa'])
    })

    it('knows no account at first, and gives back one that was created', async () => {
      expect([await store.list(), await store.find('id', 'acme'), await store.find('key', 'k1')]).toEqual([
        [],
        undefined,
        undefined,
      ])
      const state = exampleAccount('acme', ['k1', 'k2'])
      await store.create(state)
      expect(encodeAccount(await store.read('acme'))).toEqual(encodeAccount(state))
      expect([await store.list(), await store.find('id', 'acme')]).toEqual([['acme'], 'acme'])
      expect(await holders('k1', 'k2')).toEqual(['acme', 'acme'])
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
      // Without keys, because half characters cannot be told apart in their hashes.
      const others = ['ACME', 'Acme', 'acme', '\ud83d', '\ude00', '\u00e9', 'e\u0301']
      await Promise.all(others.map((other) => store.create(exampleAccount(other))))
      if ((await store.find('id', id)) === undefined) await store.create(exampleAccount(id))
      await add('a.example', id)
      await reopen()
      expect((await store.read(id)).id).toBe(id)
      expect(await domainsOf(store, id)).toEqual(['a.example'])
    })

    it('rejects everything that is asked of an unknown account', async () => {
      const asked = [() => store.read('acme'), () => add('a.example'), () => hit(store, 'acme', 'dmarc', charge, 0)]
      for (const ask of [...asked, () => nextRequest(store, 'acme'), () => store.delete('acme')]) {
        await expect(ask()).rejects.toMatchObject(UNKNOWN)
      }
    })

    it('rejects an account whose id or key is taken, and keeps nothing of it', async () => {
      await store.create(exampleAccount('acme', ['k1']))
      await expect(store.create(exampleAccount('acme', ['k2']))).rejects.toMatchObject({
        problem: 'taken',
        message: 'There is an account "acme" already',
      })
      await expect(store.create(exampleAccount('other', ['k2', 'k1']))).rejects.toMatchObject({
        problem: 'taken',
        message: 'The key "key with hash k1" belongs to the account "acme" already',
      })
      expect(await store.list()).toEqual(['acme'])
      expect(await holders('k1', 'k2')).toEqual(['acme', undefined])
    })

    it('opens one account for all who open that of the same key at the same time, and each of them finds it', async () => {
      const found = await atOnce(10, async () => {
        const created = store.create(exampleAccount('sandbox', ['k1']))
        const status = await created.then(() => 'created').catch(({ problem }) => problem)
        return { status, account: await look(store, 'k1') }
      })
      const statuses = found.map(({ status }) => status)
      expect(statuses.toSorted()).toEqual(['created', ...range(2, 10).map(() => 'taken')])
      const [first] = found
      expect(first?.account?.id).toBe('sandbox')
      expect(found.map(({ account }) => account)).toEqual(found.map(() => first?.account))
    })

    describe('asked for a new id', () => {
      it('never gives the same twice, however many ask at the same time', async () => {
        const ids = await atOnce(50, () => store.newId())
        expect(new Set(ids).size).toBe(50)
      })

      it('gives none that an account has', async () => {
        // A store of the same kind tells which ids are likely to come next.
        const another = (await open(() => time)).store
        const likely = await atOnce(5, () => another.newId())
        await another.close()
        await create(...likely)
        const given = await atOnce(5, () => store.newId())
        expect(given.filter((id) => likely.includes(id))).toEqual([])
      })

      it('gives none again whose account was deleted', async () => {
        const id = await store.newId()
        await create(id)
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

      const ids = async () => (await store.list()).toSorted()
      const createIdle = (id: string) => store.create(exampleAccount(id), { limit, idle })

      it('refuses an account too many with `full`, and nothing of it stays', async () => {
        for (const id of ['a', 'b', 'c']) expect(await store.create(exampleAccount(id), { limit })).toBeUndefined()
        await expect(store.create(exampleAccount('d', ['k1']), { limit, evictable: true })).rejects.toMatchObject({
          problem: 'full',
          message: 'There are 3 accounts, which is the maximum',
        })
        expect(await store.hasRoom({ limit })).toBe(false)
        expect(await store.hasRoom({ limit: limit + 1 })).toBe(true)
        expect(await store.hasRoom({})).toBe(true)
        expect([await ids(), await store.find('key', 'k1')]).toEqual([['a', 'b', 'c'], undefined])
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
        await countersOf(store, 'a')
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
        replace: async () => store.replace('a', exampleAccount('a', ['key of a']), await countersOf(store, 'a')),
        count: () => nextRequest(store, 'a'),
        'snapshots.take': () => store.snapshots.take('a', { name: 's', real: 0, replace: false, limit: 1 }),
      }

      it.each(Object.keys(changes))('evicts no account that `%s` has changed before it was idle', async (change) => {
        await createEvictable('a')
        await changes[change]?.()
        await createEvictable('b', 'c')
        await use('c')
        await use('b')
        expect([await createIdle('d'), await createIdle('e')]).toEqual(['c', 'b'])
        time += idle - 1
        expect(await store.hasRoom({ limit, idle })).toBe(false)
        await expect(createIdle('f')).rejects.toMatchObject({ problem: 'full' })
        time += 1
        expect(await store.hasRoom({ limit })).toBe(false)
        expect(await store.hasRoom({ limit, idle })).toBe(true)
        expect(await createIdle('f')).toBe('a')
        expect(await ids()).toEqual(['d', 'e', 'f'])
      })

      it('evicts a changed account after all unchanged ones, and the one first that was idle longest', async () => {
        await createEvictable('a', 'b')
        for (const id of ['a', 'b']) await add('a.example', id)
        time += 2 * idle
        await createEvictable('c')
        await use('a')
        expect([await createIdle('d'), await createIdle('e')]).toEqual(['c', 'b'])
        expect(await store.hasRoom({ limit, idle })).toBe(false)
        time += idle
        expect(await createIdle('f')).toBe('a')
      })

      // No test is skipped: a store in memory has none of these.
      const itOutlives = outlives ? it : () => {}

      itOutlives('knows all of this again when it is opened again', async () => {
        await createEvictable('a', 'b', 'c')
        await add('a.example', 'a')
        time += 1
        await use('b')
        await reopen()
        expect([await createIdle('d'), await createIdle('e')]).toEqual(['c', 'b'])
        expect(await store.hasRoom({ limit, idle })).toBe(false)
        time += idle
        expect(await createIdle('f')).toBe('a')
        expect(await store.hasRoom({ limit, idle })).toBe(false)
      })

      itOutlives('evicts an account whose last use is later than its clock shows when it is opened again', async () => {
        await createEvictable('a', 'b', 'c')
        await add('a.example', 'a')
        time -= 100 * idle
        await reopen()
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
        expect([await ids(), await store.find('key', 'k1')]).toEqual([['a', 'b', 'c'], undefined])
        expect(await store.create(exampleAccount('d'), { limit })).toBe('a')
      })

      it('deletes an evicted account for good, with its keys, also while a change of it is under way', async () => {
        await createEvictable('a', 'b', 'c')
        const changes = Promise.allSettled(['a', 'b', 'c'].map((id) => add('a.example', id)))
        expect(await store.create(exampleAccount('d'), { limit, idle: 0 })).toBe('a')
        await changes
        expect([await store.find('id', 'a'), await store.find('key', 'key of a')]).toEqual([undefined, undefined])
        await expect(store.read('a')).rejects.toMatchObject({ problem: 'unknown-account' })
        await create('a')
        expect(await domainsOf(store, 'a')).toEqual([])
        await store.delete('a')
        await reopen()
        expect(await ids()).toEqual(['b', 'c', 'd'])
      })

      it('never holds more, however many are created at the same time, and evicts only as many as it must', async () => {
        await store.create(exampleAccount('kept'), { limit })
        const evicted = await atOnce(20, (index) =>
          store.create(exampleAccount(`e${index}`), { limit, evictable: true }),
        )
        expect(await store.list()).toHaveLength(limit)
        expect(await store.find('id', 'kept')).toBe('kept')
        const gone = evicted.filter((id) => id !== undefined)
        expect([gone.length, new Set(gone).size]).toEqual([21 - limit, 21 - limit])
        await reopen()
        expect(await store.list()).toHaveLength(limit)
      })

      it('creates exactly as many as there may be of those that are created at the same time', async () => {
        const outcomes = await Promise.allSettled(
          range(1, 20).map((number) => store.create(exampleAccount(`a${number}`), { limit })),
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
        await add('a.example')
        await store.replace('acme', exampleAccount('acme', ['k1']), NOTHING)
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

    it('keeps what `decide` accepts, answers with its value, and shows it to the next update', async () => {
      await create('acme')
      const update = add('a.example')
      const seen = applyUpdate(store, 'acme', (state) => accept(state, [...state.domains.keys()]))
      expect(await update).toMatchObject({ ok: true, value: 'a.example' })
      expect(await seen).toMatchObject({ value: ['a.example'] })
      expect(await domainsOf(store)).toEqual(['a.example'])
    })

    it('keeps nothing when `decide` refuses, throws, or turns the account into another one', async () => {
      await create('acme')
      const before = encodeAccount(await store.read('acme'))
      const refused = await applyUpdate(store, 'acme', () => refuse({ code: 'not_found' }))
      expect(refused).toEqual({ ok: false, problems: [{ code: 'not_found' }] })
      const bug = () => {
        throw new Error('a bug')
      }
      await expect(applyUpdate(store, 'acme', bug)).rejects.toThrow('a bug')
      const another = applyUpdate(store, 'acme', (state) => accept({ ...state, id: 'other' }, undefined))
      await expect(another).rejects.toThrow('The account "acme" cannot become another one')
      expect([await store.list(), encodeAccount(await store.read('acme'))]).toEqual([['acme'], before])
      expect(await add('a.example')).toMatchObject({ ok: true })
    })

    it('changes no other account that has got the id meanwhile', async () => {
      await store.create(exampleAccount('acme', ['k1']))
      const { incarnation } = (await look(store, 'k1')) ?? { incarnation: 0 }
      await store.update('acme', watch('a.example'), incarnation)
      await store.delete('acme')
      await store.create(exampleAccount('acme', ['k1']))
      const late = async () => store.update('acme', watch('b.example'), incarnation)
      await expect(late()).rejects.toMatchObject({ problem: 'unknown-account' })
      expect(await domainsOf(store)).toEqual([])
    })

    it('accepts only one of two updates that exclude each other', async () => {
      await create('acme')
      const decisions = await atOnce(2, () => add('a.example'))
      expect(decisions.map(({ ok }) => ok).toSorted()).toEqual([false, true])
    })

    it('loses none of 200 updates that come at the same time, and keeps those of different accounts apart', async () => {
      await create('acme', 'other')
      const other = add('other.example', 'other')
      const decisions = await Promise.all(hosts(200).map((name) => add(name)))
      expect(decisions.every(({ ok }) => ok)).toBe(true)
      await other
      await reopen()
      expect((await domainsOf(store)).toSorted()).toEqual(hosts(200).toSorted())
      expect(await domainsOf(store, 'other')).toEqual(['other.example'])
    })

    it('finds an account by the keys that an update gave it, and no more by those it took away', async () => {
      await store.create(exampleAccount('acme', ['k1', 'k2']))
      await applyUpdate(store, 'acme', holdKeys('k2', 'k3'))
      expect(await holders('k1', 'k2', 'k3')).toEqual([undefined, 'acme', 'acme'])
      await store.create(exampleAccount('other', ['k1']))
      expect(await store.find('key', 'k1')).toBe('other')
    })

    it('rejects an update that takes a key of another account, and keeps nothing of it', async () => {
      await store.create(exampleAccount('acme', ['k1']))
      await store.create(exampleAccount('other', ['k2']))
      await expect(applyUpdate(store, 'other', holdKeys('k2', 'k3', 'k1'))).rejects.toMatchObject({ problem: 'taken' })
      expect((await store.read('other')).keys.map(({ hash }) => hash)).toEqual(['k2'])
      expect(await holders('k1', 'k3')).toEqual(['acme', undefined])
    })

    it('counts each bucket of each account by itself', async () => {
      await create('acme', 'other')
      await hit(store, 'acme', 'dmarc', charge, 0)
      expect(await hit(store, 'acme', 'dmarc', charge, 0)).toMatchObject({ remaining: 18 })
      expect(await hit(store, 'acme', 'domains', charge, 0)).toMatchObject({ remaining: 19 })
      expect(await hit(store, 'acme', '__proto__', charge, 0)).toMatchObject({ remaining: 19 })
      expect(await hit(store, 'other', 'dmarc', charge, 0)).toMatchObject({ remaining: 19 })
    })

    it('has counts that are to be stored before it answers', async () => {
      await store.create(exampleAccount('acme', ['k1']))
      const hits = { startedAt: HOUR, used: 7 }
      const setHits: Visitor<number> = (_, counting) => {
        counting.quotas = counting.quotas.set('k1 /dmarc', hits)
        return counting.quotas.size
      }
      expect(await store.count('acme', setHits, { stored: true })).toBe(1)
      await reopen()
      expect([...(await countersOf(store, 'acme')).quotas]).toEqual([['k1 /dmarc', hits]])
    })

    it('forgets what was counted for a key with the key, and not what was counted for another', async () => {
      await store.create(exampleAccount('acme', ['k1', 'k2']))
      const buckets = ['k1 /dmarc', 'k1 /domains', 'k2 /dmarc', '/domains']
      for (const bucket of buckets) await hit(store, 'acme', bucket, charge, HOUR)
      await applyUpdate(store, 'acme', holdKeys('k2'))
      expect([...(await countersOf(store, 'acme')).quotas.keys()]).toEqual(['k2 /dmarc', '/domains'])
      await reopen()
      expect([...(await countersOf(store, 'acme')).quotas.keys()]).toEqual(['k2 /dmarc', '/domains'])
    })

    it('forgets what was counted for a fault rule with the rule', async () => {
      const faults = ['fault_1', 'fault_2'].map((id) => ({ id, createdAt: 0, rule: { delay_ms: 1 } }))
      await store.create({ ...exampleAccount('acme'), faults })
      await trigger(store, 'acme', target, 0)
      expect((await countersOf(store, 'acme')).tallies.size).toBeGreaterThan(0)
      await change(store, () => ({ faults: [] }))
      expect((await countersOf(store, 'acme')).tallies.size).toBe(0)
    })

    describe('counts what a request has planned', () => {
      const dmarc = plannedCharge({ bucket: 'k1 /dmarc', limit: 2, graceLimit: 4, start: 'aligned' })
      const rule = { id: 'fault_1', skip: 0, times: Infinity, probability: 1, ends: Infinity }

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
        expect(await countersOf(store, 'acme')).toEqual({
          quotas: new Map([['k1 /dmarc', { startedAt, used: 2 }]]),
          tallies: new Map(),
        })
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
        const all = await atOnce(50, () => planned({ charge, rules }))
        expect(all.filter(({ allowance }) => allowance?.allowed)).toHaveLength(20)
        expect(all.filter(({ triggered }) => triggered !== undefined)).toHaveLength(5)
        expect(all.map(({ ordinal }) => ordinal).toSorted(ascending)).toEqual(range(1, 50))
      })

      it('with the state and the time by which it was planned', async () => {
        await change(store, () => ({ clock: { frozenAt: HOUR } }))
        const { hits } = await planned({ charge: dmarc })
        expect(hits).toEqual({ startedAt: HOUR, used: 1 })
      })

      it('and takes a charge back from the same window alone', async () => {
        const { hits } = await planned({ charge: dmarc })
        const startedAt = hits?.startedAt ?? 0
        const acme = { id: 'acme', incarnation: (await look(store, 'k1'))?.incarnation ?? 0 }
        const another = { ...acme, incarnation: acme.incarnation + 1 }
        expect(await store.refund(acme, 'k1 /dmarc', startedAt - HOUR)).toBeUndefined()
        expect(await store.refund(acme, 'k1 /domains', startedAt)).toBeUndefined()
        expect(await store.refund(acme, 'k1 /dmarc', startedAt)).toEqual({ startedAt, used: 0 })
        expect(await store.refund(acme, 'k1 /dmarc', startedAt)).toBeUndefined()
        expect(await store.refund(another, 'k1 /dmarc', startedAt)).toBeUndefined()
        expect((await planned({ charge: dmarc })).hits?.used).toBe(1)
      })
    })

    describe('asked to delete an account', () => {
      it('forgets it with its keys, which others may then have', async () => {
        await store.create(exampleAccount('acme', ['k1']))
        await store.delete('acme')
        expect([await store.list(), await store.find('id', 'acme'), await holders('k1')]).toEqual([
          [],
          undefined,
          [undefined],
        ])
        await expect(store.read('acme')).rejects.toMatchObject({ problem: 'unknown-account' })
        await store.create(exampleAccount('other', ['k1']))
        expect(await store.find('key', 'k1')).toBe('other')
      })

      it('takes another of the same id for a new one', async () => {
        await store.create(exampleAccount('acme', ['k1']))
        await add('a.example')
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
        const changes = Promise.allSettled(hosts(5).map((name) => add(name)))
        await store.delete('acme')
        await changes
        expect(await store.list()).toEqual([])
        await reopen()
        expect([await store.list(), await store.find('key', 'k1')]).toEqual([[], undefined])
      })
    })

    describe('asked to replace an account', () => {
      const always = { faults: [{ id: 'fault_1', createdAt: 0, rule: { delay_ms: 1 } }], faultsCreated: 1 }

      it('puts state and counters in its place, and goes on counting requests', async () => {
        await store.create({ ...exampleAccount('acme', ['k1']), ...always })
        const before = await store.read('acme')
        await hit(store, 'acme', 'dmarc', charge, 0)
        await trigger(store, 'acme', target, 0)
        const counters = await countersOf(store, 'acme')
        await add('a.example')
        await hit(store, 'acme', 'dmarc', charge, 0)
        await trigger(store, 'acme', target, 0)
        await nextRequest(store, 'acme')
        await store.replace('acme', before, counters)
        await reopen()
        expect((await store.read('acme')).domains.size).toBe(0)
        expect(await countersOf(store, 'acme')).toEqual(counters)
        expect([...counters.tallies]).toEqual([['fault_1', { matched: 1, hits: 1 }]])
        expect(await nextRequest(store, 'acme')).toBe(2)
      })

      it('counts requests from the number that it is given', async () => {
        await create('acme')
        await nextRequest(store, 'acme')
        await store.replace('acme', await store.read('acme'), { quotas: new Map(), tallies: new Map(), requests: 0 })
        expect(await nextRequest(store, 'acme')).toBe(1)
      })

      it('lets go of the keys that it has no more, and takes none of another', async () => {
        await store.create(exampleAccount('acme', ['k1']))
        await store.create(exampleAccount('other', ['k2']))
        const counters = await countersOf(store, 'acme')
        const replaced = store.replace('acme', exampleAccount('acme', ['k2']), counters)
        await expect(replaced).rejects.toMatchObject({ problem: 'taken' })
        await store.replace('acme', exampleAccount('acme', ['k3']), counters)
        expect(await holders('k1', 'k3')).toEqual([undefined, 'acme'])
      })
    })

    describeSnapshots(
      () => store,
      (milliseconds) => (time += milliseconds),
    )

    const itSharesStates = sharesStates ? it : () => {}

    itSharesStates('lets snapshots share with the account what has not changed since', async () => {
      await store.create(withDomains(exampleAccount('acme', ['k1']), hosts(500)))
      for (const host of hosts(3)) {
        await store.snapshots.take('acme', { name: host, real: 0, replace: false, limit: 9 })
        await change(store, ({ domains }) => ({ domains: domains.set(host, { name: host, addedAt: 1, features: [] }) }))
      }
      const present = await store.read('acme')
      for (const [index, name] of hosts(3).entries()) {
        const kept = (await store.snapshots.read('acme', name))?.state
        expect(kept && present.domains.changesSince(kept.domains)).toHaveLength(3 - index)
        expect(kept?.groups).toBe(present.groups)
      }
    })

    it('gives counters out in maps that stay as they are', async () => {
      await create('acme')
      const quotas = await store.count('acme', (_, counting) => counting.quotas)
      await hit(store, 'acme', 'dmarc', charge, 0)
      expect([...quotas.entries()]).toEqual([])
      await store.count('acme', (_, counting) => {
        counting.quotas = counting.quotas.set('dmarc', { startedAt: 0, used: 20 })
      })
      expect(await hit(store, 'acme', 'dmarc', charge, 0)).toMatchObject({ allowed: false, remaining: 0 })
    })

    it('answers an update that was accepted before `close`, and rejects what comes after it', async () => {
      await create('acme')
      const update = add('a.example')
      await Promise.all([store.close(), store.close()])
      await expect(update).resolves.toMatchObject({ ok: true })
      for (const ask of [() => store.read('acme'), () => create('other'), () => add('a.example')]) {
        await expect(ask()).rejects.toMatchObject({ problem: 'closed', message: 'The store is closed' })
      }
    })
  })
}

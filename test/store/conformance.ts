import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { DomainGroup } from '../../src/domain/account.ts'
import { accept, refuse } from '../../src/domain/errors.ts'
import type { Clock } from '../../src/ground/timers.ts'
import { encodeAccount } from '../../src/store/record.ts'
import type { Account, Store } from '../../src/store/store.ts'
import { atOnce, range } from '../support/at-once.ts'
import { countersOf, hit, look, nextRequest, plain, target, trigger } from './counting.ts'
import { describeCounting } from './counting-conformance.ts'
import {
  applyUpdate,
  change,
  domainsOf,
  exampleAccount,
  holdKeys,
  hosts,
  replace,
  stateOf,
  watch,
} from './example-account.ts'
import { describeRoom } from './room-conformance.ts'
import { describeSnapshots } from './snapshot-conformance.ts'

export interface OpenStore {
  store: Store
  /** Closes the store and opens another one on what it kept; absent where nothing outlives the store. */
  reopen?: () => Promise<Store>
}

/** The store that a test has in its hands. */
export interface Tested {
  store: Store
  /** How late it is for the store, in milliseconds. */
  time: number
  /** Opens the store again where something outlives it. */
  reopen(): Promise<Store>
}

const UNKNOWN = { problem: 'unknown-account', message: 'There is no account "acme"' }

/** What every store promises. `open` opens one that follows the clock. */
export function describeStore(name: string, open: (clock: Clock) => Promise<OpenStore>): void {
  describe(name, () => {
    let store: Store
    let opened: OpenStore
    const tested: Tested = {
      get store() {
        return store
      },
      time: 0,
      async reopen() {
        store = (await opened.reopen?.()) ?? store
        return store
      },
    }

    beforeEach(async () => {
      tested.time = 1_768_467_600_000
      opened = await open(() => tested.time)
      store = opened.store
    })

    afterEach(() => store.close())

    /** Creates accounts, each with the key `key of ID`. */
    async function create(...ids: string[]): Promise<void> {
      for (const id of ids) await store.create(exampleAccount(id, [`key of ${id}`]))
    }

    const add = (name: string, id = 'acme') => applyUpdate(store, id, watch(name))
    const holders = (...hashes: string[]) => Promise.all(hashes.map((hash) => store.find('key', hash)))

    it('knows no account at first, and gives back one that was created', async () => {
      expect([await store.list(), await store.find('id', 'acme'), await store.find('key', 'k1')]).toEqual([
        [],
        undefined,
        undefined,
      ])
      const state = exampleAccount('acme', ['k1', 'k2'])
      await store.create(state)
      expect(encodeAccount(await stateOf(store))).toEqual(encodeAccount(state))
      expect([await store.list(), await store.find('id', 'acme')]).toEqual([['acme'], 'acme'])
      expect(await holders('k1', 'k2')).toEqual(['acme', 'acme'])
    })

    it('lists accounts in the order of their creation, whatever happens to them and to others', async () => {
      await create('c', 'a', 'B', 'b', 'd')
      await store.delete('B')
      await add('new.example', 'a')
      await create('aa')
      expect(await store.list()).toEqual(['c', 'a', 'b', 'd', 'aa'])
    })

    it('takes any text for an id, and takes no two texts for the same', async () => {
      const ids = ['../../etc/passwd', '.', 'ACME', 'Acme', 'acme', 'con', '__proto__', '  ', '\0']
      const halves = ['\ud83d', '\ude00', '\u00e9', 'e\u0301', '\u{1f600}'.repeat(100)]
      const all = [...ids, ...halves]
      // Without keys, because half characters cannot be told apart in their hashes.
      await Promise.all(all.map((id) => store.create(exampleAccount(id))))
      for (const [index, id] of all.entries()) await add(`d${index}.example`, id)
      await tested.reopen()
      for (const [index, id] of all.entries()) {
        expect([(await stateOf(store, id)).id, await domainsOf(store, id)]).toEqual([id, [`d${index}.example`]])
      }
    })

    it('rejects everything that is asked of an unknown account', async () => {
      for (const ask of [
        () => store.read('acme'),
        () => add('a.example'),
        () => nextRequest(store, 'acme'),
        () => store.delete('acme'),
      ]) {
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
      expect(found.map(({ status }) => status).toSorted()).toEqual(['created', ...range(2, 10).map(() => 'taken')])
      expect(found[0]?.account?.id).toBe('sandbox')
      expect(new Set(found.map(({ account }) => JSON.stringify(account))).size).toBe(1)
    })

    it('gives no id twice, however many ask at the same time, and none that an account has', async () => {
      // A store of the same kind tells which ids are likely to come next.
      const another = (await open(() => tested.time)).store
      const likely = await atOnce(5, () => another.newId())
      await another.close()
      await create(...likely)
      const ids = await atOnce(50, () => store.newId())
      expect(new Set([...ids, ...likely]).size).toBe(55)
    })

    describe('asked to change an account', () => {
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
        const before = encodeAccount(await stateOf(store))
        const refused = await applyUpdate(store, 'acme', () => refuse({ code: 'not_found' }))
        expect(refused).toEqual({ ok: false, problems: [{ code: 'not_found' }] })
        const bug = () => {
          throw new Error('a bug')
        }
        await expect(applyUpdate(store, 'acme', bug)).rejects.toThrow('a bug')
        const another = applyUpdate(store, 'acme', (state) => accept({ ...state, id: 'other' }, undefined))
        await expect(another).rejects.toThrow('The account "acme" cannot become another one')
        expect([await store.list(), encodeAccount(await stateOf(store))]).toEqual([['acme'], before])
        expect(await add('a.example')).toMatchObject({ ok: true })
      })

      it('makes none larger than an account may be', async () => {
        const groups = (count: number) => {
          const made = hosts(count).map((id): [string, DomainGroup] => [id, { id, name: id, domains: [] }])
          return { groups: exampleAccount('acme').groups.merge(made) }
        }
        const large = { problem: 'too-large' }
        await expect(store.create({ ...exampleAccount('acme'), ...groups(5_001) })).rejects.toMatchObject(large)
        await create('acme')
        await change(store, () => groups(5_000))
        await expect(change(store, () => groups(5_001))).rejects.toMatchObject(large)
        await expect(replace(store, { ...exampleAccount('acme'), ...groups(5_001) })).rejects.toMatchObject(large)
        expect((await stateOf(store)).groups.size).toBe(5_000)
        await change(store, () => groups(4_999))
      })

      it('changes no other account that has got the id meanwhile', async () => {
        await store.create(exampleAccount('acme', ['k1']))
        const { incarnation } = (await look(store, 'k1')) ?? { incarnation: 0 }
        await store.update('acme', watch('a.example'), incarnation)
        expect((await look(store, 'k1'))?.incarnation).toBe(incarnation)
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

      it('loses none of 200 updates at the same time, and keeps those of different accounts apart', async () => {
        await create('acme', 'other')
        const other = add('other.example', 'other')
        const decisions = await Promise.all(hosts(200).map((name) => add(name)))
        expect(decisions.every(({ ok }) => ok)).toBe(true)
        await other
        await tested.reopen()
        expect((await domainsOf(store)).toSorted()).toEqual(hosts(200).toSorted())
        expect(await domainsOf(store, 'other')).toEqual(['other.example'])
      })

      it('finds it by the keys that an update gave it, and no more by those it took away', async () => {
        await store.create(exampleAccount('acme', ['k1', 'k2']))
        await applyUpdate(store, 'acme', holdKeys('k2', 'k3'))
        expect(await holders('k1', 'k2', 'k3')).toEqual([undefined, 'acme', 'acme'])
        await store.create(exampleAccount('other', ['k1']))
        expect(await store.find('key', 'k1')).toBe('other')
      })

      it('rejects an update that takes a key of another account, and keeps nothing of it', async () => {
        await store.create(exampleAccount('acme', ['k1']))
        await store.create(exampleAccount('other', ['k2']))
        const taken = { problem: 'taken' }
        await expect(applyUpdate(store, 'other', holdKeys('k2', 'k3', 'k1'))).rejects.toMatchObject(taken)
        expect((await stateOf(store, 'other')).keys.map(({ hash }) => hash)).toEqual(['k2'])
        expect(await holders('k1', 'k3')).toEqual(['acme', undefined])
      })
    })

    describe('asked to delete an account', () => {
      it('forgets it with its keys, which others may then have', async () => {
        await store.create(exampleAccount('acme', ['k1']))
        await store.delete('acme')
        const found = [await store.list(), await store.find('id', 'acme'), await holders('k1')]
        expect(found).toEqual([[], undefined, [undefined]])
        await expect(store.read('acme')).rejects.toMatchObject(UNKNOWN)
        await store.create(exampleAccount('other', ['k1']))
        expect(await store.find('key', 'k1')).toBe('other')
      })

      it('takes another of the same id for a new one', async () => {
        await store.create(exampleAccount('acme', ['k1']))
        await add('a.example')
        await hit(store, 'acme', 'dmarc')
        await store.delete('acme')
        await store.create(exampleAccount('acme', ['k1']))
        expect((await stateOf(store)).domains.size).toBe(0)
        expect(await hit(store, 'acme', 'dmarc')).toMatchObject({ remaining: 19 })
        expect(await nextRequest(store, 'acme')).toBe(2)
      })

      it('forgets it for good, also while changes of it are on their way', async () => {
        await store.create(exampleAccount('acme', ['k1']))
        const changes = Promise.allSettled(hosts(5).map((name) => add(name)))
        await store.delete('acme')
        await changes
        expect(await store.list()).toEqual([])
        await tested.reopen()
        expect([await store.list(), await store.find('key', 'k1')]).toEqual([[], undefined])
      })
    })

    describe('asked to change state and counters together', () => {
      it('keeps both, and answers with the value', async () => {
        const faults = [{ id: 'fault_1', createdAt: 0, rule: { delay_ms: 1 } }]
        await store.create({ ...exampleAccount('acme', ['k1']), faults, faultsCreated: 1 })
        const before = await stateOf(store)
        await hit(store, 'acme', 'dmarc')
        await trigger(store, 'acme', target, 0)
        const counters = await countersOf(store, 'acme')
        await add('a.example')
        await hit(store, 'acme', 'dmarc')
        const put = ({ state: { domains } }: Account, real: number) => {
          return { state: before, counters, value: [domains.size, real] }
        }
        expect(await store.transact('acme', put)).toEqual([1, tested.time])
        await tested.reopen()
        expect((await stateOf(store)).domains.size).toBe(0)
        expect(plain(await countersOf(store, 'acme'))).toEqual(plain(counters))
        expect([...counters.tallies]).toEqual([['fault_1', { matched: 1, hits: 1 }]])
        expect(await nextRequest(store, 'acme')).toBe(3)
      })

      it('keeps the part that is not changed', async () => {
        await create('acme')
        await add('a.example')
        await hit(store, 'acme', 'dmarc')
        await store.transact('acme', ({ state }) => ({ state: { ...state, plan: 'granite' }, value: undefined }))
        await store.transact('acme', ({ counters }) => ({ counters: { ...counters, requests: 7 }, value: undefined }))
        const { state, counters } = await store.read('acme')
        expect([state.plan, [...state.domains.keys()]]).toEqual(['granite', ['a.example']])
        expect([counters.requests, counters.quotas.get('dmarc')?.used]).toEqual([7, 1])
      })

      it('lets go of the keys that it has no more, and takes none of another', async () => {
        await store.create(exampleAccount('acme', ['k1']))
        await store.create(exampleAccount('other', ['k2']))
        const taken = async () => replace(store, exampleAccount('acme', ['k2']))
        await expect(taken()).rejects.toMatchObject({ problem: 'taken' })
        await replace(store, exampleAccount('acme', ['k3']))
        expect(await holders('k1', 'k3')).toEqual([undefined, 'acme'])
      })

      it('changes no other account that has got the id meanwhile, nor makes it another one', async () => {
        await store.create(exampleAccount('acme', ['k1']))
        const { incarnation } = await store.read('acme')
        await replace(store, exampleAccount('acme', ['k1']), {}, incarnation)
        const another = async () => store.transact('acme', () => ({ state: exampleAccount('other'), value: 1 }))
        await expect(another()).rejects.toThrow('The account "acme" cannot become another one')
        await store.delete('acme')
        await store.create(exampleAccount('acme', ['k1']))
        const late = async () => replace(store, exampleAccount('acme'), {}, incarnation)
        await expect(late()).rejects.toMatchObject({ problem: 'unknown-account' })
        expect(await holders('k1')).toEqual(['acme'])
      })
    })

    it('names each state of an account by a version, which grows', async () => {
      await create('acme')
      const versions = [(await store.read('acme')).version]
      const seen: number[] = []
      const next = async (edit: () => Promise<unknown>) => {
        await edit()
        versions.push((await store.read('acme')).version)
      }
      await next(() => nextRequest(store, 'acme'))
      await next(() => applyUpdate(store, 'acme', (state) => accept(state, undefined)))
      await next(() => add('a.example'))
      await next(() => change(store, () => ({ plan: 'granite' })))
      await store.update('acme', (_, version) => {
        seen.push(version)
        return refuse({ code: 'not_found' })
      })
      const [first = 0, second, third, fourth = 0, fifth = 0] = versions
      expect([second, third]).toEqual([first, first])
      expect([fourth > first, fifth > fourth, seen.at(-1)]).toEqual([true, true, fifth])
    })

    describe('with a limit', () => describeRoom(tested))

    describe('counts', () => describeCounting(tested))

    describe('keeps snapshots, which', () => describeSnapshots(tested))

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

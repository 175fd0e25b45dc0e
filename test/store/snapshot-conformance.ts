import { beforeEach, describe, expect, it } from 'vitest'
import type { AccountState } from '../../src/domain/account.ts'
import { accept } from '../../src/domain/errors.ts'
import type { Charge } from '../../src/domain/quotas.ts'
import { encodeAccount } from '../../src/store/record.ts'
import type { SnapshotOutcome, SnapshotRequest, Store } from '../../src/store/store.ts'
import { hit, nextRequest } from './counting.ts'
import { applyUpdate, exampleAccount, holdKeys, watch } from './example-account.ts'

const HOUR = 3_600_000
const charge: Charge = { limit: 20, window: 3600, start: 'aligned', enforced: true }
const NOTHING = { quotas: new Map(), tallies: new Map() }

/** What every store promises of snapshots. `opened` tells which store is open, and `clock` how late it is for it. */
export function describeSnapshots(opened: () => Store, clock: { now: number }): void {
  describe('keeps snapshots, which', () => {
    let store: Store

    beforeEach(async () => {
      store = opened()
      await store.create(exampleAccount('acme', ['k1']))
    })

    function take(name: string, chosen: Partial<SnapshotRequest> = {}): Promise<SnapshotOutcome> {
      return store.takeSnapshot('acme', { name, real: clock.now, replace: false, limit: 100, ...chosen })
    }

    async function names(): Promise<string[]> {
      return (await store.snapshots('acme')).map(({ name }) => name)
    }

    async function addGroup(state: AccountState) {
      const groups = state.groups.set('g', { id: 'g', name: 'G', domains: ['a.example'] })
      return accept({ ...state, groups, groupNames: state.groupNames.set('g', 'g') }, undefined)
    }

    it('hold state and counters as they were, whatever happens later', async () => {
      await applyUpdate(store, 'acme', watch('b.example'))
      await applyUpdate(store, 'acme', watch('a.example'))
      const group = await addGroup(await store.read('acme'))
      await applyUpdate(store, 'acme', () => group)
      await hit(store, 'acme', 'k1 /dmarc', charge, HOUR)
      const state = encodeAccount(await store.read('acme'))
      const counters = await store.counters('acme')
      await take('one')
      await applyUpdate(store, 'acme', watch('c.example'))
      await applyUpdate(store, 'acme', (present) =>
        accept({ ...present, domains: present.domains.delete('b.example'), groups: present.groups.delete('g') }, 0),
      )
      await hit(store, 'acme', 'k1 /dmarc', charge, HOUR)
      await store.replace('acme', exampleAccount('acme', ['k1']), NOTHING)
      for (const reading of ['first', 'second']) {
        const found = await store.readSnapshot('acme', 'one')
        if (found === undefined) throw new Error(`The ${reading} reading finds none.`)
        expect(encodeAccount(found.state)).toEqual(state)
        expect([...found.state.groupNames.entries()]).toEqual([['g', 'g']])
        expect(found.counters).toEqual(counters)
      }
      expect(await store.readSnapshot('acme', 'two')).toBeUndefined()
    })

    it('are listed in the order in which they were taken, with the time on the clock of the account', async () => {
      await applyUpdate(store, 'acme', (state) => accept({ ...state, clock: { offset: 500 } }, undefined))
      const start = clock.now
      expect(await take('b')).toEqual({
        ok: true,
        snapshot: { name: 'b', takenAt: start + 500, domains: 0, groups: 0 },
      })
      await applyUpdate(store, 'acme', watch('a.example'))
      clock.now += 1_000
      await take('a')
      await applyUpdate(store, 'acme', (state) => accept({ ...state, clock: { frozenAt: 700 } }, undefined))
      await take('__proto__')
      expect(await store.snapshots('acme')).toEqual([
        { name: 'b', takenAt: start + 500, domains: 0, groups: 0 },
        { name: 'a', takenAt: start + 1_500, domains: 1, groups: 0 },
        { name: '__proto__', takenAt: 700, domains: 1, groups: 0 },
      ])
      expect((await store.readSnapshot('acme', 'a'))?.takenAt).toBe(start + 1_500)
      expect((await store.readSnapshot('acme', '__proto__'))?.state.clock).toEqual({ frozenAt: 700 })
    })

    it('are not replaced unless that is wanted; one that replaces another is the newest', async () => {
      await take('a')
      await take('b')
      await applyUpdate(store, 'acme', watch('a.example'))
      expect(await take('a')).toEqual({ ok: false, reason: 'taken' })
      expect((await store.readSnapshot('acme', 'a'))?.state.domains.size).toBe(0)
      expect(await take('a', { replace: true })).toMatchObject({ ok: true, snapshot: { domains: 1 } })
      expect(await names()).toEqual(['b', 'a'])
      expect((await store.readSnapshot('acme', 'a'))?.state.domains.size).toBe(1)
    })

    it('are no more than there may be', async () => {
      for (const name of ['a', 'b']) await take(name, { limit: 2 })
      expect(await take('c', { limit: 2 })).toEqual({ ok: false, reason: 'too-many' })
      expect(await take('c', { limit: 2, replace: true })).toEqual({ ok: false, reason: 'too-many' })
      expect(await take('a', { limit: 2, replace: true })).toMatchObject({ ok: true })
      expect(await names()).toEqual(['b', 'a'])
    })

    it('are exactly as many as there may be of those that are taken at the same time, and have one name each', async () => {
      const outcomes = await Promise.all(Array.from({ length: 20 }, (_, index) => take(`s${index % 10}`, { limit: 5 })))
      expect(outcomes.filter(({ ok }) => ok)).toHaveLength(5)
      expect(new Set(await names()).size).toBe(5)
      const reasons = new Set(outcomes.map((outcome) => (outcome.ok ? 'taken now' : outcome.reason)))
      expect(reasons).toEqual(new Set(['taken now', 'taken', 'too-many']))
    })

    it('are forgotten when they are deleted, which leaves the others', async () => {
      for (const name of ['a', 'b', 'c']) await take(name)
      expect(await store.deleteSnapshot('acme', 'b')).toBe(true)
      expect(await store.deleteSnapshot('acme', 'b')).toBe(false)
      expect(await names()).toEqual(['a', 'c'])
      expect(await store.readSnapshot('acme', 'b')).toBeUndefined()
      await take('b')
      expect(await names()).toEqual(['a', 'c', 'b'])
    })

    it('tell all keys that they could bring back', async () => {
      expect(await store.snapshotKeys('acme')).toEqual(new Set())
      await take('a')
      await applyUpdate(store, 'acme', holdKeys('k2', 'k3'))
      await take('b')
      await applyUpdate(store, 'acme', holdKeys('k4'))
      expect(await store.snapshotKeys('acme')).toEqual(new Set(['k1', 'k2', 'k3']))
      await store.deleteSnapshot('acme', 'a')
      expect(await store.snapshotKeys('acme')).toEqual(new Set(['k2', 'k3']))
    })

    it('can be brought back, again and again, in any order, and after the account was replaced', async () => {
      for (const name of ['a.example', 'b.example', 'c.example']) {
        await applyUpdate(store, 'acme', watch(name))
        await hit(store, 'acme', 'k1 /dmarc', charge, HOUR)
        await take(name)
      }
      await nextRequest(store, 'acme')
      const found = ['b.example', 'c.example', 'a.example', 'a.example', 'c.example']
      for (const [index, name] of found.entries()) {
        const snapshot = await store.readSnapshot('acme', name)
        if (snapshot === undefined) throw new Error('It is kept.')
        const { state, counters, incarnation } = snapshot
        await store.replace('acme', state, { ...counters, snapshot: name, incarnation })
        const domains = ['a.example', 'b.example', 'c.example']
        expect([...(await store.read('acme')).domains.keys()]).toEqual(domains.slice(0, domains.indexOf(name) + 1))
        expect(await store.counters('acme')).toEqual(counters)
        await applyUpdate(store, 'acme', watch(`later-${index}.example`))
        await hit(store, 'acme', 'k1 /dmarc', charge, HOUR)
        expect(await nextRequest(store, 'acme')).toBe(index + 2)
      }
      expect(await names()).toEqual(['a.example', 'b.example', 'c.example'])
    })

    it('end with their account, and bring back no other one', async () => {
      await take('a')
      const former = await store.readSnapshot('acme', 'a')
      if (former === undefined) throw new Error('It is kept.')
      await store.delete('acme')
      const error = { problem: 'unknown-account', message: 'There is no account "acme"' }
      await expect(store.snapshots('acme')).rejects.toMatchObject(error)
      await expect(store.snapshotKeys('acme')).rejects.toMatchObject(error)
      await expect(store.readSnapshot('acme', 'a')).rejects.toMatchObject(error)
      await expect(store.deleteSnapshot('acme', 'a')).rejects.toMatchObject(error)
      await expect(take('a')).rejects.toMatchObject(error)
      await store.create(exampleAccount('acme', ['k2']))
      expect(await names()).toEqual([])
      expect(await store.readSnapshot('acme', 'a')).toBeUndefined()
      const { state, counters, incarnation } = former
      await expect(store.replace('acme', state, { ...counters, incarnation })).rejects.toMatchObject(error)
      expect((await store.read('acme')).keys.map(({ hash }) => hash)).toEqual(['k2'])
    })

    it('are those of one account', async () => {
      await store.create(exampleAccount('other', ['k2']))
      await take('a')
      expect(await store.snapshots('other')).toEqual([])
      expect(await store.readSnapshot('other', 'a')).toBeUndefined()
      expect(await store.deleteSnapshot('other', 'a')).toBe(false)
      await store.delete('other')
      expect(await names()).toEqual(['a'])
    })
  })
}

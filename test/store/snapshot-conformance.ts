import { beforeEach, expect, it } from 'vitest'
import { encodeAccount } from '../../src/store/record.ts'
import type { SnapshotOutcome, SnapshotRequest, Store } from '../../src/store/store.ts'
import { atOnce } from '../support/at-once.ts'
import type { Tested } from './conformance.ts'
import { countersOf, hit, nextRequest, plain } from './counting.ts'
import { applyUpdate, change, domainsOf, exampleAccount, replace, stateOf, watch } from './example-account.ts'

/** What every store promises of snapshots. */
export function describeSnapshots(tested: Tested): void {
  let store: Store

  beforeEach(async () => {
    store = tested.store
    await store.create(exampleAccount('acme', ['k1']))
  })

  function take(name: string, chosen: Partial<SnapshotRequest> = {}): Promise<SnapshotOutcome> {
    return store.snapshots.take('acme', { name, real: tested.time, replace: false, limit: 100, ...chosen })
  }

  const add = (name: string) => applyUpdate(store, 'acme', watch(name))
  const names = async () => (await store.snapshots.list('acme')).map(({ name }) => name)

  /** A snapshot that is there. */
  async function read(name: string) {
    const found = await store.snapshots.read('acme', name)
    if (found === undefined) throw new Error(`There is no snapshot ${name}.`)
    return found
  }

  it('hold state and counters as they were, whatever happens later', async () => {
    await add('b.example')
    await add('a.example')
    await change(store, ({ groups, groupNames }) => ({
      groups: groups.set('g', { id: 'g', name: 'G', domains: ['a.example'] }),
      groupNames: groupNames.set('g', 'g'),
    }))
    await hit(store, 'acme', 'k1 /dmarc')
    const state = encodeAccount(await stateOf(store))
    const counters = await countersOf(store, 'acme')
    await take('one')
    await add('c.example')
    await change(store, ({ domains, groups }) => ({
      domains: domains.delete('b.example'),
      groups: groups.delete('g'),
    }))
    await hit(store, 'acme', 'k1 /dmarc')
    await replace(store, exampleAccount('acme', ['k1']))
    for (const _ of ['first reading', 'second reading']) {
      const found = await read('one')
      expect(encodeAccount(found.state)).toEqual(state)
      expect([...found.state.groupNames.entries()]).toEqual([['g', 'g']])
      expect(plain(found.counters)).toEqual(plain(counters))
    }
    expect(await store.snapshots.read('acme', 'two')).toBeUndefined()
  })

  it('are listed in the order in which they were taken, with the time on the clock of the account', async () => {
    await change(store, () => ({ clock: { offset: 500 } }))
    const start = tested.time
    const first = { name: 'b', takenAt: start + 500, domains: 0, groups: 0 }
    expect(await take('b')).toEqual({ ok: true, snapshot: first })
    await add('a.example')
    tested.time += 1_000
    await take('a')
    await change(store, () => ({ clock: { frozenAt: 700 } }))
    await take('__proto__')
    expect(await store.snapshots.list('acme')).toEqual([
      first,
      { name: 'a', takenAt: start + 1_500, domains: 1, groups: 0 },
      { name: '__proto__', takenAt: 700, domains: 1, groups: 0 },
    ])
    expect((await read('a')).takenAt).toBe(start + 1_500)
    expect((await read('__proto__')).state.clock).toEqual({ frozenAt: 700 })
  })

  it('are not replaced unless that is wanted; one that replaces another is the newest', async () => {
    await take('a')
    await take('b')
    await add('a.example')
    expect(await take('a')).toEqual({ ok: false, reason: 'taken' })
    expect((await read('a')).state.domains.size).toBe(0)
    expect(await take('a', { replace: true })).toMatchObject({ ok: true, snapshot: { domains: 1 } })
    expect(await names()).toEqual(['b', 'a'])
    expect((await read('a')).state.domains.size).toBe(1)
  })

  it('are no more than there may be', async () => {
    for (const name of ['a', 'b']) await take(name, { limit: 2 })
    expect(await take('c', { limit: 2 })).toEqual({ ok: false, reason: 'too-many' })
    expect(await take('c', { limit: 2, replace: true })).toEqual({ ok: false, reason: 'too-many' })
    expect(await take('a', { limit: 2, replace: true })).toMatchObject({ ok: true })
    expect(await names()).toEqual(['b', 'a'])
  })

  it('are exactly as many as there may be of those that are taken at the same time, and have one name each', async () => {
    const outcomes = await atOnce(20, (index) => take(`s${index % 10}`, { limit: 5 }))
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(5)
    expect(new Set(await names()).size).toBe(5)
    const reasons = new Set(outcomes.map((outcome) => (outcome.ok ? 'taken now' : outcome.reason)))
    expect(reasons).toEqual(new Set(['taken now', 'taken', 'too-many']))
  })

  it('are forgotten when they are deleted, which leaves the others', async () => {
    for (const name of ['a', 'b', 'c']) await take(name)
    expect(await store.snapshots.delete('acme', 'b')).toBe(true)
    expect(await store.snapshots.delete('acme', 'b')).toBe(false)
    expect(await names()).toEqual(['a', 'c'])
    expect(await store.snapshots.read('acme', 'b')).toBeUndefined()
    await take('b')
    expect(await names()).toEqual(['a', 'c', 'b'])
  })

  it('can be brought back, again and again, in any order, and after the account was replaced', async () => {
    for (const name of ['a.example', 'b.example', 'c.example']) {
      await add(name)
      await hit(store, 'acme', 'k1 /dmarc')
      await take(name)
    }
    await nextRequest(store, 'acme')
    const found = ['b.example', 'c.example', 'a.example', 'a.example', 'c.example']
    for (const [index, name] of found.entries()) {
      const { state, counters, incarnation } = await read(name)
      await replace(store, state, counters, incarnation)
      const domains = ['a.example', 'b.example', 'c.example']
      expect(await domainsOf(store)).toEqual(domains.slice(0, domains.indexOf(name) + 1))
      const present = await countersOf(store, 'acme')
      expect(plain({ ...present, requests: 0 })).toEqual(plain({ ...counters, requests: 0 }))
      await add(`later-${index}.example`)
      await hit(store, 'acme', 'k1 /dmarc')
      expect(await nextRequest(store, 'acme')).toBe(2 * index + 6)
    }
    expect(await names()).toEqual(['a.example', 'b.example', 'c.example'])
  })

  it('end with their account, and bring back no other one', async () => {
    await take('a')
    const { state, counters, incarnation } = await read('a')
    await store.delete('acme')
    const error = { problem: 'unknown-account', message: 'There is no account "acme"' }
    const asked = [() => names(), () => read('a'), () => take('a')]
    for (const ask of [...asked, () => store.snapshots.delete('acme', 'a')]) {
      await expect(ask()).rejects.toMatchObject(error)
    }
    await store.create(exampleAccount('acme', ['k2']))
    expect(await names()).toEqual([])
    expect(await store.snapshots.read('acme', 'a')).toBeUndefined()
    const late = async () => replace(store, state, counters, incarnation)
    await expect(late()).rejects.toMatchObject(error)
    expect((await stateOf(store)).keys.map(({ hash }) => hash)).toEqual(['k2'])
  })

  it('are those of one account', async () => {
    await store.create(exampleAccount('other', ['k2']))
    await take('a')
    expect(await store.snapshots.list('other')).toEqual([])
    expect(await store.snapshots.read('other', 'a')).toBeUndefined()
    expect(await store.snapshots.delete('other', 'a')).toBe(false)
    await store.delete('other')
    expect(await names()).toEqual(['a'])
  })
}

import { setImmediate } from 'node:timers/promises'
import { type Adapter, Low } from 'lowdb'
import { beforeEach, describe, expect, it } from 'vitest'
import type { AccountState } from '../../src/domain/account.ts'
import { accept } from '../../src/domain/errors.ts'
import { Accounts } from '../../src/store/accounts.ts'
import type { HeapProbe } from '../../src/store/heap-guard.ts'
import type { StoredAccount } from '../../src/store/kept-account.ts'
import { enter, plain, plannedCharge } from './counting.ts'
import {
  applyUpdate,
  domainsOf,
  exampleAccount,
  holdKeys,
  hosts,
  replace,
  watch,
  withDomains,
} from './example-account.ts'

/** A disk that finishes a write, or fails it, when the test says so. */
class Disk implements Adapter<StoredAccount | null> {
  /** The monitored domains, request number and quota of each write that began. */
  readonly writes: string[] = []
  readonly #pending: { resolve: () => void; reject: (error: Error) => void }[] = []

  async read(): Promise<null> {
    return null
  }

  write(data: StoredAccount | null): Promise<void> {
    if (data === null) throw new Error('nothing to write')
    if (this.#pending.length > 0) throw new Error('two writes at the same time')
    const { state, counters } = data
    this.writes.push([...state.domains.keys(), counters.requests, counters.quotas.get('dmarc')?.used ?? 0].join(' '))
    return new Promise((resolve, reject) => this.#pending.push({ resolve, reject }))
  }

  /** Resolves once a write is under way. It may be put off for a moment, so that others can share it. */
  async begun(): Promise<void> {
    for (let looks = 0; this.#pending.length === 0 && looks < 100; looks++) await setImmediate()
  }

  async finish(error?: Error): Promise<void> {
    await this.begun()
    const write = this.#pending.shift()
    if (error === undefined) write?.resolve()
    else write?.reject(error)
    await setImmediate()
  }

  fail = () => this.finish(new Error('disk full'))
}

describe('accounts on a slow disk', () => {
  let disks: Record<string, Disk>
  let releases: number
  let accounts: Accounts

  beforeEach(() => {
    disks = {}
    releases = 0
    const driver = {
      open: (id: string) => new Low<StoredAccount | null>(disk(id), null),
      close() {
        releases++
      },
    }
    accounts = new Accounts({}, driver)
  })

  function disk(accountId: string): Disk {
    const known = disks[accountId] ?? new Disk()
    disks[accountId] = known
    return known
  }

  async function create(id: string, ...hashes: string[]): Promise<void> {
    const created = accounts.create(exampleAccount(id, hashes))
    await disk(id).finish()
    await created
    disk(id).writes.length = 0
  }

  const update = (decide: Parameters<typeof applyUpdate>[2]) => applyUpdate(accounts, 'acme', decide)
  const add = (name: string, id = 'acme') => applyUpdate(accounts, id, watch(name))
  const domains = () => domainsOf(accounts)
  /** Lets a request enter that is charged to the quota `dmarc`. */
  const hit = (key = 'k1') => enter(accounts, key, { charge: plannedCharge({ bucket: 'dmarc' }) })

  /** What is written, and refused to whoever waits for it. */
  async function lose(update: Promise<unknown>): Promise<void> {
    const outcome = expect(update).rejects.toThrow('disk full')
    await disk('acme').fail()
    await outcome
  }

  /** What is written for whoever waits for it. */
  async function keep<Result>(update: Promise<Result>): Promise<Result> {
    await disk('acme').finish()
    return update
  }

  /** Tells whether it has been answered. */
  function watched<Result>(answer: Promise<Result>) {
    const observed = { answer, isAnswered: false }
    observed.answer = answer.finally(() => {
      observed.isAnswered = true
    })
    return observed
  }

  describe('when the account exists', () => {
    beforeEach(() => create('acme', 'k1'))

    it('merges what comes while a write is on its way into one next write', async () => {
      const first = add('a')
      await disk('acme').begun()
      const rest = ['b', 'c', 'd'].map((name) => add(name))
      await disk('acme').finish()
      await disk('acme').finish()
      await Promise.all([first, ...rest])
      expect(disk('acme').writes).toEqual(['a 0 0', 'a b c d 0 0'])
    })

    it('answers an update when the write with it is finished, and not when the one before is', async () => {
      const first = watched(add('a'))
      await disk('acme').begun()
      const second = watched(add('b'))
      await disk('acme').begun()
      const answered = () => [first.isAnswered, second.isAnswered]
      expect(answered()).toEqual([false, false])
      await keep(first.answer)
      expect(answered()).toEqual([true, false])
      await keep(second.answer)
    })

    it('rejects every update of a failed write and every one built on it, and goes back to what is kept', async () => {
      const before = await accounts.read('acme')
      const inWrite = [add('a'), add('b')]
      await disk('acme').begun()
      const builtOnIt = [add('c'), update((state) => accept(state, undefined))]
      const outcomes = Promise.allSettled([...inWrite, ...builtOnIt])
      await disk('acme').fail()
      expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'rejected'])
      expect(await accounts.read('acme')).toEqual(before)
      expect(await domains()).toEqual([])
      await keep(add('d'))
      expect(disk('acme').writes).toEqual(['a b 0 0', 'd 0 0'])
    })

    it('keeps quotas and the request number with the next write, and through a failed one', async () => {
      await hit()
      expect(disk('acme').writes).toEqual([])
      await lose(add('a'))
      await keep(add('b'))
      expect(disk('acme').writes).toEqual(['a 1 1', 'b 1 1'])
    })

    it('goes back to state and counters when a reset, a restore or a rewind cannot be written', async () => {
      await hit()
      await keep(add('a'))
      await hit()
      const before = await accounts.read('acme')
      await lose(replace(accounts, exampleAccount('acme', ['k1']), { requests: 0 }))
      expect(await accounts.read('acme')).toEqual(before)
      const lost = replace(accounts, exampleAccount('acme', ['k1']))
      await disk('acme').begun()
      await hit()
      const dependent = replace(accounts, exampleAccount('acme', ['k2']))
      const outcomes = Promise.allSettled([lost, dependent])
      await disk('acme').fail()
      expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
      const after = await accounts.read('acme')
      expect([after.state, plain(after.counters), after.version]).toEqual([
        before.state,
        // The request in between keeps its number, so that no other one gets its id.
        plain({ ...before.counters, requests: 3 }),
        before.version,
      ])
      await keep(add('b'))
      expect(disk('acme').writes.at(-1)).toBe('a b 3 2')
    })

    it('goes back to the counters from before a reset that is based on a change that cannot be written', async () => {
      await hit()
      const before = await accounts.read('acme')
      const lost = add('a')
      await disk('acme').begun()
      const outcomes = Promise.allSettled([lost, replace(accounts, exampleAccount('acme', ['k1']), { requests: 0 })])
      await disk('acme').fail()
      await outcomes
      expect(plain((await accounts.read('acme')).counters)).toEqual(plain(before.counters))
    })

    it('goes back to the counts of a key whose removal cannot be written', async () => {
      const charge = plannedCharge({ bucket: 'k1 /dmarc' })
      await enter(accounts, 'k1', { charge })
      await lose(update(holdKeys('k2')))
      expect((await accounts.read('acme')).counters.quotas.get('k1 /dmarc')?.used).toBe(1)
    })

    it('gives no version again that a lost state had', async () => {
      const lost: number[] = []
      const look = update((state) => accept({ ...state, plan: 'granite' }, undefined))
      lost.push((await accounts.read('acme')).version)
      await lose(look)
      const { version } = await accounts.read('acme')
      await keep(add('a'))
      expect(lost).not.toContain((await accounts.read('acme')).version)
      expect(lost).not.toContain(version)
    })

    it('writes at `close` only the accounts that have something to keep', async () => {
      await create('other')
      await hit()
      await keep(accounts.close())
      expect([disk('acme').writes, disk('other').writes]).toEqual([['1 1'], []])
      expect(releases).toBe(1)
    })

    it('lets go at `close` of the folder even when an account cannot be written, and writes the others', async () => {
      await create('other', 'k2')
      await Promise.all([hit('k1'), hit('k2')])
      const outcome = expect(accounts.close()).rejects.toThrow('disk full')
      await disk('acme').fail()
      expect(releases).toBe(0)
      await disk('other').finish()
      await outcome
      expect(releases).toBe(1)
    })
  })

  it('forgets an account whose first write failed, with its keys and with what was built on it', async () => {
    const created = accounts.create(exampleAccount('acme', ['k1']))
    await disk('acme').begun()
    const outcomes = Promise.allSettled([created, update(holdKeys('k1', 'k2'))])
    await disk('acme').fail()
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await accounts.find('id', 'acme')).toBeUndefined()
    await create('other', 'k1', 'k2')
    await create('acme')
  })

  it('gives a key away only when the write that gives it up is finished', async () => {
    await create('acme', 'k1')
    const givesUp = update(holdKeys())
    await disk('acme').begun()
    await expect(accounts.create(exampleAccount('other', ['k1']))).rejects.toMatchObject({ problem: 'taken' })
    await lose(givesUp)
    expect(await accounts.find('key', 'k1')).toBe('acme')
  })

  it('has an evicted account in its place again when that which it made room for cannot be written', async () => {
    const evictable = { limit: 2, evictable: true }
    for (const id of ['a', 'b']) {
      const created = accounts.create(exampleAccount(id, [`key of ${id}`]), evictable)
      await disk(id).finish()
      await created
    }
    const outcome = expect(accounts.create(exampleAccount('c'), evictable)).rejects.toThrow('disk full')
    await disk('c').fail()
    await outcome
    expect([await accounts.list(), await accounts.find('key', 'key of a')]).toEqual([['a', 'b'], 'a'])
    const created = accounts.create(exampleAccount('d'), evictable)
    await disk('d').finish()
    expect(await created).toEqual(['a'])
  })
})

describe('accounts in a heap that fills up', () => {
  let accounts: Accounts
  let measure: Parameters<HeapProbe>[0]
  let warnings: string[]

  beforeEach(() => {
    warnings = []
    const probe: HeapProbe = (listener) => {
      measure = listener
      return () => {}
    }
    accounts = new Accounts({ probe, warn: (message) => warnings.push(message) })
  })

  const MEBIBYTE = 2 ** 20
  const fill = (share: number) => measure(share * 1000 * MEBIBYTE, 1000 * MEBIBYTE)
  const refused = { problem: 'out-of-memory', reported: true }
  /** Gives the only group these members. */
  const join =
    (...domains: string[]) =>
    (state: AccountState) =>
      accept({ ...state, groups: state.groups.set('g', { id: 'g', name: 'G', domains }) }, undefined)

  it('tell of a deletion before another account can have the id', async () => {
    const told: string[] = []
    accounts.listen({ ended: (id) => told.push(`${id} has ended`), scarce: () => {} })
    await accounts.create(exampleAccount('acme'))
    const created = [accounts.delete('acme'), accounts.create(exampleAccount('acme')).then(() => told.push('created'))]
    await Promise.all(created)
    expect(told).toEqual(['acme has ended', 'created'])
  })

  it('lose the half of the sandboxes that was idle longest above 70 %, never the last, and who listens is told which', async () => {
    const told: string[] = []
    accounts.listen({ ended: (id) => told.push(id), scarce: () => told.push('scarce') })
    await accounts.create(exampleAccount('kept'))
    for (const id of ['a', 'b', 'c']) await accounts.create(exampleAccount(id), { evictable: true })
    await applyUpdate(accounts, 'a', watch('a.example'))
    fill(0.7)
    expect(told).toEqual([])
    for (let times = 0; times < 3; times++) {
      fill(0.71)
      await setImmediate()
    }
    expect(told).toEqual(['scarce', 'b', 'scarce', 'c', 'scarce'])
    expect(await accounts.list()).toEqual(['kept', 'a'])
  })

  it('do not grow above 85 %, but shrink, and grow again below', async () => {
    await accounts.create(exampleAccount('acme', ['k1']))
    await applyUpdate(accounts, 'acme', watch('a.example'))
    await applyUpdate(accounts, 'acme', join())
    fill(0.86)
    fill(0.87)
    const grow = [
      async () => applyUpdate(accounts, 'acme', watch('b.example')),
      async () => accounts.create(exampleAccount('other')),
      async () => accounts.snapshots.take('acme', { name: 's', real: 0, replace: false, limit: 1 }),
      async () => replace(accounts, withDomains(exampleAccount('acme', ['k1']), hosts(3))),
      async () => applyUpdate(accounts, 'acme', join('b.example')),
    ]
    for (const each of grow) await expect(each()).rejects.toMatchObject(refused)
    expect(warnings).toEqual([
      expect.stringMatching(/^The memory is almost full \(860 of 1000 MiB\), .*max-old-space-size$/),
    ])
    await enter(accounts, 'k1')
    await replace(accounts, exampleAccount('acme', ['k1']))
    expect(await domainsOf(accounts)).toEqual([])
    fill(0.84)
    for (const each of grow) await each()
    fill(0.86)
    expect(warnings).toHaveLength(2)
  })
})

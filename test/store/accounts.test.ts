import { setImmediate } from 'node:timers/promises'
import { type Adapter, Low } from 'lowdb'
import { beforeEach, describe, expect, it } from 'vitest'
import { accept } from '../../src/domain/errors.ts'
import { Accounts } from '../../src/store/accounts.ts'
import type { AccountData } from '../../src/store/stored-account.ts'
import { hit, nextRequest } from './counting.ts'
import { applyUpdate, domainsOf, exampleAccount, holdKeys, watch } from './example-account.ts'

/** A disk that finishes a write, or fails it, when the test says so. */
class Disk implements Adapter<AccountData> {
  /** The monitored domains, request number and quota of each write that began. */
  readonly writes: string[] = []
  readonly #pending: { resolve: () => void; reject: (error: Error) => void }[] = []

  async read(): Promise<null> {
    return null
  }

  write({ state, requests, quotas }: AccountData): Promise<void> {
    if (this.#pending.length > 0) throw new Error('two writes at the same time')
    this.writes.push([...state.domains.keys(), requests, quotas.get('dmarc')?.used ?? 0].join(' '))
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
      open: (id: string, data: AccountData) => new Low(disk(id), data),
      close() {
        releases++
      },
    }
    accounts = new Accounts(driver)
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
    beforeEach(() => create('acme'))

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

    it('writes different accounts at the same time', async () => {
      await create('other')
      const updates = [add('a'), add('b', 'other')]
      await Promise.all([disk('acme').begun(), disk('other').begun()])
      expect([disk('acme').writes, disk('other').writes]).toEqual([['a 0 0'], ['b 0 0']])
      await Promise.all([disk('acme').finish(), disk('other').finish(), ...updates])
    })

    it('rejects every update of a failed write and every one built on it, and goes back to what is kept', async () => {
      const before = await accounts.read('acme')
      const inWrite = [add('a'), add('b')]
      await disk('acme').begun()
      const builtOnIt = [add('c'), update((state) => accept(state, undefined))]
      const outcomes = Promise.allSettled([...inWrite, ...builtOnIt])
      await disk('acme').fail()
      expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'rejected'])
      expect(await accounts.read('acme')).toBe(before)
      expect(await domains()).toEqual([])
      await keep(add('d'))
      expect(disk('acme').writes).toEqual(['a b 0 0', 'd 0 0'])
    })

    it('keeps quotas and the request number with the next write, and through a failed one', async () => {
      await hit(accounts, 'acme', 'dmarc')
      await nextRequest(accounts, 'acme')
      expect(disk('acme').writes).toEqual([])
      await lose(add('a'))
      await keep(add('b'))
      expect(disk('acme').writes).toEqual(['a 1 1', 'b 1 1'])
    })

    it('answers a count that is to be stored when it is written', async () => {
      const count = watched(accounts.count('acme', (_, counting) => ++counting.requests, { stored: true }))
      await disk('acme').begun()
      expect(count.isAnswered).toBe(false)
      expect(await keep(count.answer)).toBe(1)
      expect(disk('acme').writes).toEqual(['1 0'])
    })

    it('writes at `close` only the accounts that have something to keep', async () => {
      await create('other')
      await nextRequest(accounts, 'acme')
      await keep(accounts.close())
      expect([disk('acme').writes, disk('other').writes]).toEqual([['1 0'], []])
      expect(releases).toBe(1)
    })

    it('lets go at `close` of the folder even when an account cannot be written, and writes the others', async () => {
      await create('other')
      await Promise.all([nextRequest(accounts, 'acme'), nextRequest(accounts, 'other')])
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
    expect([(await accounts.list()).toSorted(), await accounts.find('key', 'key of a')]).toEqual([['a', 'b'], 'a'])
    const created = accounts.create(exampleAccount('d'), evictable)
    await disk('d').finish()
    expect(['a', 'b']).toContain(await created)
  })
})

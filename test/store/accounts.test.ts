import { setImmediate } from 'node:timers/promises'
import { type Adapter, Low } from 'lowdb'
import { beforeEach, describe, expect, it } from 'vitest'
import { accept, refuse } from '../../src/domain/errors.ts'
import type { Charge } from '../../src/domain/quotas.ts'
import { Accounts } from '../../src/store/accounts.ts'
import type { AccountData } from '../../src/store/stored-account.ts'
import { hit, nextRequest } from './counting.ts'
import { applyUpdate, exampleAccount, holdKeys, watch } from './example-account.ts'

const charge: Charge = { limit: 20, window: 3600, start: 'aligned', enforced: true }

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

  async finish(): Promise<void> {
    await this.begun()
    this.#pending.shift()?.resolve()
    await setImmediate()
  }

  async fail(): Promise<void> {
    await this.begun()
    this.#pending.shift()?.reject(new Error('disk full'))
    await setImmediate()
  }
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

  async function domains(): Promise<string[]> {
    return [...(await accounts.read('acme')).domains.keys()]
  }

  it('merges what comes while a write is on its way into one next write', async () => {
    await create('acme')
    const first = applyUpdate(accounts, 'acme', watch('a'))
    await disk('acme').begun()
    const rest = ['b', 'c', 'd'].map((name) => applyUpdate(accounts, 'acme', watch(name)))
    await disk('acme').finish()
    await disk('acme').finish()
    await Promise.all([first, ...rest])
    expect(disk('acme').writes).toEqual(['a 0 0', 'a b c d 0 0'])
  })

  it('lets those who were answered together share the next write, when they ask again at once', async () => {
    await create('acme')
    const first = ['a', 'b', 'c'].map((name) => applyUpdate(accounts, 'acme', watch(name)))
    await disk('acme').begun()
    const others = ['d', 'e'].map((name) => applyUpdate(accounts, 'acme', watch(name)))
    await disk('acme').finish()
    await Promise.all(first)
    const again = ['f', 'g', 'h'].map((name) => applyUpdate(accounts, 'acme', watch(name)))
    await disk('acme').finish()
    await Promise.all([...others, ...again])
    expect(disk('acme').writes).toEqual(['a b c 0 0', 'a b c d e f g h 0 0'])
  })

  it('does not let a client that is alone wait for others', async () => {
    await create('acme')
    for (const name of ['a', 'b', 'c']) {
      const update = applyUpdate(accounts, 'acme', watch(name))
      // The first look is when the change may be joined by what arrived with it.
      await setImmediate()
      await setImmediate()
      expect(disk('acme').writes.at(-1)).toMatch(`${name} 0 0`)
      await disk('acme').finish()
      await update
    }
  })

  it('answers an update when the write with it is finished, and not when the one before is', async () => {
    await create('acme')
    const answered: string[] = []
    async function update(name: string): Promise<void> {
      await applyUpdate(accounts, 'acme', watch(name))
      answered.push(name)
    }
    const first = update('a')
    await disk('acme').begun()
    const second = update('b')
    await disk('acme').begun()
    expect(answered).toEqual([])
    await disk('acme').finish()
    expect(answered).toEqual(['a'])
    await disk('acme').finish()
    expect(answered).toEqual(['a', 'b'])
    await Promise.all([first, second])
  })

  it('shows an accepted state before its write is finished', async () => {
    await create('acme')
    const update = applyUpdate(accounts, 'acme', watch('a'))
    expect(await domains()).toEqual(['a'])
    await disk('acme').finish()
    await update
  })

  it('writes different accounts at the same time', async () => {
    await Promise.all([create('acme'), create('other')])
    const updates = [applyUpdate(accounts, 'acme', watch('a')), applyUpdate(accounts, 'other', watch('b'))]
    await Promise.all([disk('acme').begun(), disk('other').begun()])
    expect([disk('acme').writes, disk('other').writes]).toEqual([['a 0 0'], ['b 0 0']])
    await Promise.all([disk('acme').finish(), disk('other').finish(), ...updates])
  })

  it('leaves the very same state after a refusal and writes nothing', async () => {
    await create('acme')
    const before = await accounts.read('acme')
    await applyUpdate(accounts, 'acme', () => refuse({ code: 'not_found' }))
    expect(await accounts.read('acme')).toBe(before)
    expect(disk('acme').writes).toEqual([])
  })

  it('writes nothing when the accepted state is the present one, but waits for the write with it', async () => {
    await create('acme')
    await applyUpdate(accounts, 'acme', (state) => accept(state, undefined))
    const change = applyUpdate(accounts, 'acme', watch('a'))
    let answered = false
    const same = applyUpdate(accounts, 'acme', (state) => accept(state, undefined)).finally(() => {
      answered = true
    })
    await disk('acme').begun()
    expect(answered).toBe(false)
    await disk('acme').finish()
    await Promise.all([change, same])
    expect(disk('acme').writes).toEqual(['a 0 0'])
  })

  it('rejects every update of a failed write and every one built on it, and goes back to what is kept', async () => {
    await create('acme')
    const before = await accounts.read('acme')
    const inWrite = [applyUpdate(accounts, 'acme', watch('a')), applyUpdate(accounts, 'acme', watch('b'))]
    await disk('acme').begun()
    const builtOnIt = [
      applyUpdate(accounts, 'acme', watch('c')),
      applyUpdate(accounts, 'acme', (state) => accept(state, undefined)),
    ]
    const outcomes = Promise.allSettled([...inWrite, ...builtOnIt])
    await disk('acme').fail()
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'rejected'])
    expect(await accounts.read('acme')).toBe(before)
    expect(await domains()).toEqual([])
    expect(disk('acme').writes).toEqual(['a b 0 0'])

    const later = applyUpdate(accounts, 'acme', watch('d'))
    await disk('acme').finish()
    await later
    expect(disk('acme').writes).toEqual(['a b 0 0', 'd 0 0'])
  })

  it('goes back to the last write that did not fail, and not further', async () => {
    await create('acme')
    const kept = applyUpdate(accounts, 'acme', watch('a'))
    await disk('acme').begun()
    const lost = applyUpdate(accounts, 'acme', watch('b'))
    const outcome = expect(lost).rejects.toThrow('disk full')
    await disk('acme').finish()
    await disk('acme').fail()
    await Promise.all([kept, outcome])
    expect(await domains()).toEqual(['a'])
  })

  it('keeps an update that comes at the very moment of the failure of another', async () => {
    await create('acme')
    let later: Promise<unknown> | undefined
    const lost = applyUpdate(accounts, 'acme', watch('a')).catch(() => {
      later = applyUpdate(accounts, 'acme', watch('c'))
    })
    await disk('acme').begun()
    const built = applyUpdate(accounts, 'acme', watch('b')).catch(() => undefined)
    await disk('acme').fail()
    await Promise.all([lost, built])
    await disk('acme').finish()
    await expect(later).resolves.toMatchObject({ ok: true })
    expect(await domains()).toEqual(['c'])
  })

  it('forgets an account whose first write failed, with its keys and with what was built on it', async () => {
    const created = accounts.create(exampleAccount('acme', ['k1']))
    await disk('acme').begun()
    const outcomes = Promise.allSettled([created, applyUpdate(accounts, 'acme', holdKeys('k1', 'k2'))])
    await disk('acme').fail()
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await accounts.has('acme')).toBe(false)
    await create('other', 'k1', 'k2')
    await create('acme')
  })

  it('gives a key away only when the write that gives it up is finished', async () => {
    await create('acme', 'k1')
    const givesUp = applyUpdate(accounts, 'acme', holdKeys())
    const outcome = expect(givesUp).rejects.toThrow('disk full')
    await disk('acme').begun()
    await expect(accounts.create(exampleAccount('other', ['k1']))).rejects.toMatchObject({ problem: 'taken' })
    await disk('acme').fail()
    await outcome
    expect(await accounts.accountOf('k1')).toBe('acme')
  })

  it('holds the keys of the state on disk and of the one on its way, while another write finishes', async () => {
    await create('acme', 'k1')
    const other = applyUpdate(accounts, 'acme', watch('a'))
    await disk('acme').begun()
    const exchange = applyUpdate(accounts, 'acme', holdKeys('k2'))
    await disk('acme').finish()
    await other
    expect(await accounts.accountOf('k1')).toBe('acme')
    expect(await accounts.accountOf('k2')).toBe('acme')
    await disk('acme').finish()
    await exchange
    expect(await accounts.accountOf('k1')).toBeUndefined()
    expect(await accounts.accountOf('k2')).toBe('acme')
  })

  it('frees the keys that a failed write would have added, and those that came and went before it', async () => {
    await create('acme')
    const updates = Promise.allSettled([
      applyUpdate(accounts, 'acme', holdKeys('k1')),
      applyUpdate(accounts, 'acme', holdKeys('k2')),
    ])
    await disk('acme').fail()
    await updates
    expect(await accounts.accountOf('k1')).toBeUndefined()
    expect(await accounts.accountOf('k2')).toBeUndefined()
  })

  it('keeps quotas and the request number with the next write, and through a failed one', async () => {
    await create('acme')
    await hit(accounts, 'acme', 'dmarc', charge, 0)
    await nextRequest(accounts, 'acme')
    expect(disk('acme').writes).toEqual([])
    const lost = applyUpdate(accounts, 'acme', watch('a')).catch(() => undefined)
    await disk('acme').fail()
    await lost
    const update = applyUpdate(accounts, 'acme', watch('b'))
    await disk('acme').finish()
    await update
    expect(disk('acme').writes).toEqual(['a 1 1', 'b 1 1'])
  })

  it('writes at `close` only the accounts that have something to keep', async () => {
    await Promise.all([create('acme'), create('other')])
    await nextRequest(accounts, 'acme')
    const closed = accounts.close()
    await disk('acme').finish()
    await closed
    expect([disk('acme').writes, disk('other').writes]).toEqual([['1 0'], []])
    expect(releases).toBe(1)
  })

  it('writes at `close` what a failed write did not keep', async () => {
    await create('acme')
    await nextRequest(accounts, 'acme')
    const lost = applyUpdate(accounts, 'acme', watch('a')).catch(() => undefined)
    await disk('acme').fail()
    await lost
    const closed = accounts.close()
    await disk('acme').finish()
    await closed
    expect(disk('acme').writes).toEqual(['a 1 0', '1 0'])
  })

  it('lets go at `close` of the folder even when an account cannot be written, and writes the others', async () => {
    await Promise.all([create('acme'), create('other')])
    await Promise.all([nextRequest(accounts, 'acme'), nextRequest(accounts, 'other')])
    const closed = accounts.close()
    const outcome = expect(closed).rejects.toThrow('disk full')
    await disk('acme').fail()
    expect(releases).toBe(0)
    await disk('other').finish()
    await outcome
    expect(releases).toBe(1)
  })
})

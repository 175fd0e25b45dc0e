import { Low } from 'lowdb'
import { expect, it, onTestFinished, vi } from 'vitest'
import { Accounts } from '../../src/store/accounts.ts'
import type { AccountData } from '../../src/store/stored-account.ts'
import { nextRequest } from './counting.ts'
import { exampleAccount } from './example-account.ts'

const ACCOUNTS = 1_000

it('A store that is closed writes only what is not written yet, few accounts at a time, and says how far it is', async () => {
  let clock = 0
  const now = vi.spyOn(performance, 'now').mockImplementation(() => clock)
  onTestFinished(() => now.mockRestore())
  const progress: [written: number, all: number][] = []
  const writes = new Map<string, number>()
  let atOnce = 0
  let most = 0
  async function write({ state }: AccountData): Promise<void> {
    most = Math.max(most, ++atOnce)
    await new Promise((resolve) => setImmediate(resolve))
    atOnce--
    clock += 10
    writes.set(state.id, (writes.get(state.id) ?? 0) + 1)
  }
  const accounts = new Accounts({
    open: (_, data) => new Low({ read: async () => null, write }, data),
    saving: (written, all) => progress.push([written, all]),
  })
  const ids = Array.from({ length: ACCOUNTS }, (_, index) => `account-${index}`)
  await Promise.all(ids.map((id) => accounts.create(exampleAccount(id))))
  const counted = ids.slice(0, ACCOUNTS / 2)
  for (const id of counted) await nextRequest(accounts, id)
  writes.clear()
  most = 0
  await accounts.close()
  expect([...writes.keys()].toSorted()).toEqual(counted.toSorted())
  expect(new Set(writes.values())).toEqual(new Set([1]))
  expect(most).toBeLessThanOrEqual(128)
  // 500 writes of 10 ms each on this clock are five seconds.
  expect(progress.length).toBeGreaterThanOrEqual(4)
  expect(progress.length).toBeLessThanOrEqual(5)
  expect(progress.every(([written, all]) => written > 0 && written <= all && all === counted.length)).toBe(true)
})

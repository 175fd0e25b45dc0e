import { expect, it } from 'vitest'
import { EvictionQueue } from '../../src/store/eviction-queue.ts'
import type { StoredAccount } from '../../src/store/stored-account.ts'

let looks = 0

/** An account that counts how often the queue looks at its neighbours. */
function countedAccount(usedAt: number): StoredAccount {
  const neighbours: Record<'older' | 'newer', StoredAccount | undefined> = { older: undefined, newer: undefined }
  const account = {
    use: { usedAt, changed: false },
    get older() {
      looks++
      return neighbours.older
    },
    set older(other) {
      neighbours.older = other
    },
    get newer() {
      looks++
      return neighbours.newer
    },
    set newer(other) {
      neighbours.newer = other
    },
  }
  return account as StoredAccount
}

it('looks at a few accounts for each use and each eviction, however many there are', () => {
  const queue = new EvictionQueue()
  const accounts = Array.from({ length: 10_000 }, (_, index) => countedAccount(index))
  for (const account of accounts) queue.add(account)

  for (const [index, account] of accounts.entries()) if (index % 3 === 0) queue.use(account, 10_001)
  const evicted = accounts.map((_, index) => {
    const oldest = queue.next(30_000, 100)
    if (oldest === undefined) throw new Error('The queue is empty.')
    queue.remove(oldest)
    queue.add(countedAccount(20_000 + index))
    return oldest
  })
  expect(looks / accounts.length).toBeLessThan(20)
  const used = accounts.filter((_, index) => index % 3 === 0)
  expect(evicted).toEqual([...accounts.filter((_, index) => index % 3 > 0), ...used])
})

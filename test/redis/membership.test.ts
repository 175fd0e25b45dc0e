import { setImmediate } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import type { ConnectionState, StoreConnection } from '../../src/redis/connection.ts'
import { Membership } from '../../src/redis/membership.ts'

const SILENT = { away() {}, back() {}, full() {}, async emptied() {}, async lost() {} }

/** A server that takes part, over a connection whose state the test tells, and whose replies it lets through. */
function takePart({ patience = 1 } = {}) {
  let tell: (state: ConnectionState) => void = () => {}
  let reply: () => void = () => {}
  const connection = {
    patience,
    clock: { learn() {}, see() {} },
    listen(listener: typeof tell) {
      tell = listener
      listener({ isReady: true })
      return () => {}
    },
    call: () =>
      new Promise((resolve) => {
        reply = () => resolve(['0', 'c', '', 1, []])
      }),
    send: async () => 0,
  }
  const terms = { contract: 'c', overlays: [], options: {} }
  const own = { prefix: 'p', instance: 'one', terms, drawId: () => 'id' }
  const membership = new Membership(connection as unknown as StoreConnection, own)
  membership.watch(SILENT)
  onTestFinished(async () => {
    const left = membership.leave()
    reply()
    await left
  })
  return { membership, tell: (state: ConnectionState) => tell(state), reply: () => reply() }
}

it('lets requests wait from the loss of the connection until it is known that the store is the one that it was', async () => {
  const { membership, tell, reply } = takePart({ patience: 1_000 })
  expect(membership.isOpen).toBe(true)
  await membership.opened()
  tell({ isReady: false, reason: 'gone' })
  expect(membership.isOpen).toBe(false)
  let through = 0
  const waiting = [1, 2].map(() => membership.opened().then(() => through++))
  tell({ isReady: true })
  for (let turn = 0; turn < 5; turn++) await setImmediate()
  expect([membership.isOpen, through]).toEqual([false, 0])
  reply()
  await Promise.all(waiting)
  expect(membership.isOpen).toBe(true)
})

it('lets them wait no longer than its patience', async () => {
  const { membership, tell } = takePart({ patience: 0.01 })
  tell({ isReady: false, reason: 'gone' })
  await membership.opened()
  await expect.poll(() => membership.isOpen).toBe(true)
})

it('lets nobody wait for a store that is lost again before it has answered', async () => {
  const { membership, tell } = takePart({ patience: 1_000 })
  tell({ isReady: false, reason: 'gone' })
  tell({ isReady: true })
  expect(membership.isOpen).toBe(false)
  tell({ isReady: false, reason: 'gone again' })
  expect(membership.isOpen).toBe(true)
})

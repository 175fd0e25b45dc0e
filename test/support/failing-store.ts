import { openMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'

/** A memory store in which some methods are others. */
export function overMemory(replace: (memory: Store) => Partial<Store>): Store {
  const memory = openMemoryStore()
  const own: Store = {
    list: () => memory.list(),
    has: (accountId) => memory.has(accountId),
    accountOf: (keyHash) => memory.accountOf(keyHash),
    newId: () => memory.newId(),
    hasRoom: (capacity) => memory.hasRoom(capacity),
    create: (...given) => memory.create(...given),
    read: (accountId) => memory.read(accountId),
    update: (accountId, decide, incarnation) => memory.update(accountId, decide, incarnation),
    replace: (...given) => memory.replace(...given),
    delete: (accountId) => memory.delete(accountId),
    counters: (accountId) => memory.counters(accountId),
    enter: (keyHash, admission) => memory.enter(keyHash, admission),
    refund: (...given) => memory.refund(...given),
    recount: (accountId, visit) => memory.recount(accountId, visit),
    count: (accountId, visit) => memory.count(accountId, visit),
    takeSnapshot: (...given) => memory.takeSnapshot(...given),
    snapshots: (accountId) => memory.snapshots(accountId),
    readSnapshot: (...given) => memory.readSnapshot(...given),
    snapshotKeys: (accountId) => memory.snapshotKeys(accountId),
    deleteSnapshot: (...given) => memory.deleteSnapshot(...given),
    recall: (moment) => memory.recall(moment),
    listenOutdated: (listener) => memory.listenOutdated(listener),
    close: () => memory.close(),
  }
  return { ...own, ...replace(memory) }
}

export const LOST = new Error('the disk is gone')

/** A store in which one method can be made to fail. */
export function failingStore(method: 'update' | 'enter') {
  let failing = false
  const store = overMemory((memory) => ({
    [method]: (...given: unknown[]) => (failing ? Promise.reject(LOST) : Reflect.apply(memory[method], memory, given)),
  }))
  return {
    store,
    fail() {
      failing = true
    },
    recover() {
      failing = false
    },
  }
}

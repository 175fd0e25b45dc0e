import type { Clock } from '../../src/ground/timers.ts'
import { openConnection } from '../../src/store/redis/connection.ts'
import { RedisStore } from '../../src/store/redis/redis-store.ts'
import type { Store } from '../../src/store/store.ts'
import { SETTINGS } from '../store/example-account.ts'

/**
 * Opens a store on the Redis of a port, which closes its connection when it is closed. With a clock, that says how late it
 * is, and not the server.
 */
export async function openStoreAt(port: number, prefix: string, clock?: Clock): Promise<Store> {
  const connection = await openConnection({ host: '127.0.0.1', port }, { patience: () => 25 })
  const store: Store = new RedisStore({ connection, prefix, settings: SETTINGS, clock })
  const close = store.close.bind(store)
  store.close = () => close().finally(() => connection.close())
  return store
}

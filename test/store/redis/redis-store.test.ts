import { describe } from 'vitest'
import type { Clock } from '../../../src/ground/clock.ts'
import { openConnection, type StoreConnection } from '../../../src/store/redis/connection.ts'
import { openRedisStore } from '../../../src/store/redis/redis-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { freshPrefix, HAS_REDIS, sharedRedis } from '../../support/redis-server.ts'
import { describeStore } from '../conformance.ts'
import { SETTINGS } from '../example-account.ts'

/** A store with a prefix of its own. */
async function open(clock: Clock): Promise<{ store: Store; reopen: () => Promise<Store> }> {
  const { port } = await sharedRedis()
  const prefix = freshPrefix()
  const connect = async () => {
    const connection = await openConnection({ kind: 'tcp', port }, { now: 0 })
    return closing(openRedisStore({ connection, prefix, settings: SETTINGS, clock }), connection)
  }
  const store = await connect()
  return {
    store,
    async reopen() {
      await store.close()
      return connect()
    },
  }
}

/** The store that closes its connection too. */
function closing(store: Store, connection: StoreConnection): Store {
  const close = store.close.bind(store)
  store.close = () => close().finally(() => connection.close())
  return store
}

describe.skipIf(!HAS_REDIS)('with a server', () => {
  describeStore('the store on Redis', open, { outlives: true, sharesStates: false })
})

import { describe } from 'vitest'
import { describeStore } from '../store/conformance.ts'
import { freshPrefix, HAS_REDIS, sharedRedis } from '../support/redis-server.ts'
import { openStoreAt } from '../support/redis-store.ts'

describe.skipIf(!HAS_REDIS)('with a server', () => {
  describeStore('the store on Redis', async (clock) => {
    const { port } = await sharedRedis()
    const prefix = freshPrefix()
    const store = await openStoreAt(port, prefix, clock)
    return {
      store,
      async reopen() {
        await store.close()
        return openStoreAt(port, prefix, clock)
      },
    }
  })
})

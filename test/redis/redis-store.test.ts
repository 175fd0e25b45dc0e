import { describe } from 'vitest'
import type { Clock } from '../../src/ground/clock.ts'
import { describeStore, type OpenStore } from '../store/conformance.ts'
import { freshPrefix, HAS_REDIS, sharedRedis } from '../support/redis-server.ts'
import { openStoreAt } from '../support/redis-store.ts'

/** A store with a prefix of its own. */
async function open(clock: Clock): Promise<OpenStore> {
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
}

describe.skipIf(!HAS_REDIS)('with a server', () => {
  describeStore('the store on Redis', open, { outlives: true, sharesStates: false })
})

import { describe } from 'vitest'
import { freshPrefix, HAS_REDIS, sharedRedis } from '../support/redis-server.ts'
import { testKept } from './kept.ts'

describe.skipIf(!HAS_REDIS)('on Redis', () => {
  testKept(async () => ({ store: (await sharedRedis()).url, storePrefix: freshPrefix() }))
})

import { it } from 'vitest'
import { freshPrefix, HAS_REDIS, sharedRedis } from '../support/redis-server.ts'
import { expectKept } from './restart.ts'

it.skipIf(!HAS_REDIS)(
  'A server on Redis answers as the corpus says, and the next one has every account as it was',
  async () => {
    const { url } = await sharedRedis()
    await expectKept({ store: url, storePrefix: freshPrefix() })
  },
)

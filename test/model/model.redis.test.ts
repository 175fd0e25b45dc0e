import { it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { HAS_REDIS } from '../support/redis-server.ts'
import { inMemory, onRedis } from './places.ts'
import { search } from './search.ts'

it.skipIf(!HAS_REDIS)(
  'is one service on two servers that share a Redis, which answers to the byte as in memory',
  async () => {
    const contract = await loadContract()
    await search({
      contract,
      places: [inMemory, onRedis],
      isStanding: true,
      events: ['stop', 'loss'],
      runs: 5,
      seed: 20_260_115,
    })
  },
)

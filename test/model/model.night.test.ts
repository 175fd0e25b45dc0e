import { describe, expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { HAS_REDIS } from '../support/redis-server.ts'
import { inFolder, inMemory, onRedis } from './places.ts'
import { answersOf, search } from './search.ts'

/** MODEL_SEED=7 MODEL_RUNS=5000 npm run test:night test/model */
const SEED = Number(process.env['MODEL_SEED'] ?? 20_260_115)
const RUNS = Number(process.env['MODEL_RUNS'] ?? 300)

describe(`any ${RUNS} sequences of commands (seed ${SEED})`, { timeout: 60_000 + RUNS * 10_000 }, () => {
  it('are answered as by the independent service, in memory and in a folder', async () => {
    const contract = await loadContract()
    const places = [inMemory, inFolder]
    const reached = await search({ contract, places, events: ['stop', 'loss'], runs: RUNS, seed: SEED })
    if (RUNS >= 300) expect(answersOf(contract).filter((answer) => !reached.has(answer))).toEqual([])
  })

  it.skipIf(!HAS_REDIS)('are answered as by the independent service, in memory and on Redis', async () => {
    const contract = await loadContract()
    await search({
      contract,
      places: [inMemory, onRedis],
      isStanding: true,
      events: ['stop', 'loss'],
      runs: RUNS,
      seed: SEED,
    })
  })
})

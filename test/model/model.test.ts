import { it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { inFolder, inMemory } from './places.ts'
import { search } from './search.ts'

it('answers any commands as the independent service does, to the byte the same in memory and in a folder', async () => {
  const contract = await loadContract()
  const places = [inMemory, inFolder]
  await search({ contract, places, events: ['stop', 'loss'], runs: 4, seed: 20_260_115 })
})

import { it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { inFolder, inMemory } from './places.ts'
import { search } from './search.ts'

it('answers any commands as the independent service does, to the byte the same in memory and in a folder', async () => {
  const contract = await loadContract()
  await search({ contract, places: [inMemory, inFolder], events: ['stop', 'loss'], runs: 12, seed: 20_260_115 })
})

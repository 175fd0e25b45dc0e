import { expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { inFolder, inMemory } from './places.ts'
import { answersOf, search } from './search.ts'

it('answers any commands as the independent service does, to the byte the same in memory and in a folder', async () => {
  const contract = await loadContract()
  const places = [inMemory, inFolder]
  const reached = await search({ contract, places, events: ['stop', 'loss'], runs: 6, seed: 20_260_115 })
  // A generator that lost a kind of request would weaken the test, and nobody would know.
  const outcomeOf = (answer: string) => answer.replace(/^\w+ (?!2)/, '')
  const outcomes = new Set([...reached].map(outcomeOf))
  expect(answersOf(contract).filter((answer) => !outcomes.has(outcomeOf(answer)))).toEqual([])
})

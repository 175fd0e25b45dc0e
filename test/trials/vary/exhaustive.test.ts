import { describe, expect, it } from 'vitest'
import { nameOf } from '../../../src/trials/vary/alternatives.ts'
import { budget } from '../../support/budget.ts'
import { allChoices, client, only, varyCommand, verdictsIn } from './varied-client.ts'

const CLIENTS = [
  'depends-on-status.py',
  'correct.mjs',
  'depends-on-order.py',
  'second-name.mjs',
  'depends-on-text.mjs',
  'reads.mjs',
]
const tried = CLIENTS.slice(0, budget({ quick: 1, full: CLIENTS.length }))
/** One in so many alternatives is tried by force, so that each is tried with two of the clients. */
const step = budget({ quick: 40, full: 3 })

/** By force, what an overloaded machine makes flaky is tried again. */
async function force(command: readonly string[], names: readonly string[], again = 2): Promise<Map<string, string>> {
  const result = await varyCommand(command, { choices: only(...names), exhaustive: true })
  expect(result.dependencies.runs).toBeGreaterThanOrEqual(2 + names.length)
  const verdicts = new Map(Object.entries(verdictsIn(result)))
  const flaky = names.filter((name) => verdicts.get(name) === 'flaky')
  if (flaky.length === 0 || again === 0) return verdicts
  return new Map([...verdicts, ...(await force(command, flaky, again - 1))])
}

// What makes vary fast must not change what it finds: what is left out, and what is tried together.
describe('vary says the same as when it tries each alternative alone, of', () => {
  it.each(tried.map((file, index) => [file, index] as const))(
    '%s',
    async (file, offset) => {
      const command = client(file)
      const found = verdictsIn(await varyCommand(command))
      const names = allChoices.alternatives.filter((_, index) => index % step === offset % step).map(nameOf)
      const expected = new Map(names.map((name) => [name, found[name] ?? 'tolerates']))
      // What has changed nothing is tolerated.
      expect(await force(command, names)).toEqual(expected)
    },
    600_000,
  )
})

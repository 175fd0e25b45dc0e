import { describe, expect, it } from 'vitest'
import { budget } from '../../support/budget.ts'
import { allChoices, client, varyCommand, verdictsIn } from './varied-client.ts'

const CLIENTS = [
  'correct.mjs',
  'reads.mjs',
  'second-name.mjs',
  'depends-on-order.py',
  'depends-on-status.py',
  'depends-on-text.mjs',
]
const tried = CLIENTS.slice(0, budget({ quick: 1, full: CLIENTS.length }))
/** One in so many alternatives is tried by force; which ones differs from client to client. */
const step = budget({ quick: 40, full: 1 })

// What makes vary fast must not change what it finds: what is left out, and what is tried together.
describe('vary says the same as when it tries each alternative alone, of', () => {
  it.each(tried.map((file, index) => [file, index] as const))(
    '%s',
    async (file, offset) => {
      const command = client(file)
      const found = verdictsIn(await varyCommand(command))
      const alternatives = allChoices.alternatives.filter((_, index) => index % step === offset % step)
      const forced = await varyCommand(command, { choices: { ...allChoices, alternatives }, exhaustive: true })
      for (const [name, verdict] of Object.entries(verdictsIn(forced))) {
        // What has changed nothing is tolerated.
        expect(`${name} ${found[name] ?? 'tolerates'}`).toBe(`${name} ${verdict}`)
      }
      expect(forced.dependencies.runs).toBeGreaterThanOrEqual(2 + alternatives.length)
    },
    600_000,
  )
})

import { describe, expect, it } from 'vitest'
import { nameOf } from '../../../src/trials/vary/alternatives.ts'
import { budget } from '../../support/budget.ts'
import { allChoices, client, only, script, varyCommand, verdictsIn } from './varied-client.ts'

/** Does a little of everything, and takes the order of a list, a status and a text for granted. */
const WATCHES = script(`
  send POST /domains --data '{"domains":["shop.example.com","mail.example.com"]}' | grep -q 'Background processing'
  send GET /domains | grep -q '"shop.example.com","mail.example.com"\\]'
  send POST /domaingroups --data '{"name":"Retail","domains":["shop.example.com"]}' | grep -qx 200
  send GET /dmarc
  send DELETE /domains --data '{"domains":["mail.example.com"]}'
`)

/** A client, and how many of the alternatives that it does not reach are tried by force: one in so many. */
const CLIENTS: [what: string, command: readonly string[], step: number][] = [
  ['a script that does a little of everything', WATCHES, budget({ quick: 40, full: 1 })],
  ...(['depends-on-status.py', 'correct.mjs', 'depends-on-order.py', 'depends-on-text.mjs', 'second-name.mjs'] as const)
    .slice(0, budget({ quick: 0, full: 5 }))
    .map((file): [string, string[], number] => [file, client(file), 40]),
]

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
  it.each(CLIENTS.map((row, index) => [...row, index] as const))(
    '%s',
    async (_, command, step, offset) => {
      const found = verdictsIn(await varyCommand(command))
      expect(Object.values(found)).toContain('tolerates')
      const names = allChoices.alternatives.map(nameOf)
      // What has changed nothing is tolerated. That nothing has changed is shown elsewhere for each alternative.
      const unreached = names.filter((name) => found[name] === undefined)
      const tried = [
        ...Object.keys(found).filter((_, index) => index % budget({ quick: 6, full: 1 }) === 0),
        ...unreached.filter((_, index) => index % step === offset % step),
      ]
      const expected = new Map(tried.map((name) => [name, found[name] ?? 'tolerates']))
      expect(await force(command, tried)).toEqual(expected)
    },
    600_000,
  )
})

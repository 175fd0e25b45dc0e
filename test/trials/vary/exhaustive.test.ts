import { describe, expect, it } from 'vitest'
import { nameOf } from '../../../src/contract/choices.ts'
import { budget } from '../../support/budget.ts'
import { shellClient } from '../../support/shell-client.ts'
import { allChoices, client, only, varyCommand, verdictsIn } from './varied-client.ts'

/** Does a little of everything, and takes the order of a list, a status and a text for granted. */
const WATCHES = shellClient(`
  send POST /domains --data '{"domains":["shop.example.com","mail.example.com"]}' | grep -q 'Background processing'
  send GET /domains | grep -q '"shop.example.com","mail.example.com"\\]'
  send POST /domaingroups --data '{"name":"Retail","domains":["shop.example.com"]}' | grep -qx 200
  send GET /dmarc
  send DELETE /domains --data '{"domains":["mail.example.com"]}'
`)

const NAMES = allChoices.alternatives.map(nameOf)
/** One in so many alternatives is there at all. */
const sampled = budget({ quick: 6, full: 1 })

interface Client {
  command: readonly string[]
  dependsOn: string[]
  /** Whether also that is tried by force which it does not reach. */
  unreached: boolean
  /** One in so many is tried by force. */
  step: number
}

const CLIENTS: [what: string, client: Client][] = [
  [
    'a script that does a little of everything',
    {
      command: WATCHES,
      dependsOn: ['domain-order/1', 'domain-order/2', 'create-group-status/1', 'add-domains-message/1'],
      unreached: true,
      step: budget({ quick: 4, full: 1 }),
    },
  ],
  example('depends-on-status.py', ['create-group-status/1']),
  example('depends-on-order.py', ['domain-order/1', 'domain-order/2']),
  example('depends-on-text.mjs', ['add-domains-message/1']),
  example('second-name.mjs', []),
  example('correct.mjs', []),
]

function example(file: string, dependsOn: string[]): (typeof CLIENTS)[number] {
  return [file, { command: client(file), dependsOn, unreached: false, step: 6 }]
}

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
  it.each(CLIENTS.slice(0, budget({ quick: 1, full: CLIENTS.length })).map((row, index) => [...row, index] as const))(
    '%s',
    async (_, { command, dependsOn, unreached, step }, offset) => {
      const choices = only(...NAMES.filter((name, index) => dependsOn.includes(name) || index % sampled === 0))
      const found = verdictsIn(await varyCommand(command, { choices }))
      const broken = Object.entries(found).filter(([, verdict]) => verdict !== 'tolerates')
      expect(new Map(broken)).toEqual(new Map(dependsOn.map((name) => [name, 'depends'])))
      // What it depends on was tried alone. What has changed nothing is tolerated.
      const names = unreached ? choices.alternatives.map(nameOf) : Object.keys(found)
      const tolerated = names.filter((name) => !dependsOn.includes(name))
      const tried = tolerated.filter((_, index) => index % step === offset % step)
      expect(await force(command, tried)).toEqual(new Map(tried.map((name) => [name, 'tolerates'])))
    },
    600_000,
  )
})

import { describe, expect, it } from 'vitest'
import { nameOf } from '../../../src/contract/choices.ts'
import { BEHAVIOURS } from '../../contract/behaviours.ts'
import { budget } from '../../support/budget.ts'
import { choices } from '../../support/choices.ts'
import { carryOut, choosyClient, serverFor, tryDirectly } from './choosy-client.ts'
import { reportOf, varyCommand } from './varied-client.ts'

/** These show where a service fails, or after a time that no test waits, so `vary` cannot answer the requests again. */
const UNSEEN = ['internal-error', 'status-timeout']

/** One client for each alternative that a client can observe. */
const FAMILY = BEHAVIOURS.filter(({ id }) => !UNSEEN.includes(id)).flatMap((behaviour) =>
  behaviour.alternatives.map((_, index) => [`${behaviour.id}/${index + 1}`, behaviour, index + 1] as const),
)

/** So many clients, from the first to the last at the same distance. */
function some(count: number): typeof FAMILY {
  return FAMILY.filter(
    (_, index) => Math.floor((index * count) / FAMILY.length) !== Math.floor(((index - 1) * count) / FAMILY.length),
  )
}

describe('vary says of each alternative what happens with it, for a client that depends on', { tags: ['slow'] }, () => {
  it.each(some(budget({ quick: 2, whole: 6, full: FAMILY.length })))('%s alone', async (_, behaviour, number) => {
    const client = choosyClient(behaviour, number)
    const server = serverFor(behaviour)
    const result = await varyCommand(['client'], { server, carryOut: carryOut(client), jobs: 1 })
    const wrong: string[] = []
    for (const alternative of choices.alternatives) {
      const name = nameOf(alternative)
      const { verdict, reason } = reportOf(result, name) ?? {}
      const truth = await tryDirectly(client, alternative, behaviour)
      const right = { passes: ['tolerates', 'not reached'], fails: ['depends'], none: ['inconclusive'] }[
        truth ?? 'none'
      ]
      if (!right.some((each) => each === verdict)) wrong.push(`${name} ${truth}: ${verdict} ${reason ?? ''}`)
    }
    expect(wrong).toEqual([])
    expect(reportOf(result, `${behaviour.id}/${number}`)).toMatchObject({ verdict: 'depends' })
  })
})

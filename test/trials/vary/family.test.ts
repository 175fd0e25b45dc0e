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

/** One client in so many, and one alternative in so many beside those of its own assumption. */
const STEP = budget({ quick: 90, whole: 20, full: 1 })
const OTHERS = budget({ quick: 12, whole: 4, full: 1 })

describe('vary says of each alternative what happens with it, for a client that depends on', () => {
  const some = FAMILY.filter((_, index) => index % STEP === 0)
  it.each(some)('%s alone', async (name, behaviour, number) => {
    const client = choosyClient(behaviour, number)
    const alternatives = choices.alternatives.filter(({ id }, index) => id === behaviour.id || index % OTHERS === 0)
    const result = await varyCommand(['client'], {
      ...{ choices: { ...choices, alternatives }, server: serverFor(behaviour) },
      ...{ carryOut: carryOut(client), jobs: 1 },
    })
    const wrong: string[] = []
    for (const alternative of alternatives) {
      const { verdict, reason } = reportOf(result, nameOf(alternative)) ?? {}
      const truth = (await tryDirectly(client, alternative, behaviour)) ?? 'does not start'
      const right = { passes: ['tolerates', 'not reached'], fails: ['depends'], 'does not start': ['inconclusive'] }[
        truth
      ]
      if (!right.some((each) => each === verdict))
        wrong.push(`${nameOf(alternative)} ${truth}: ${verdict} ${reason ?? ''}`)
    }
    expect(wrong).toEqual([])
    expect(reportOf(result, name)).toMatchObject({ verdict: 'depends' })
  })
})

import { expect, it } from 'vitest'
import { nameOf } from '../../src/contract/choices.ts'
import { choices, mistakesOf, mistakesUnder, PLAN } from './table.ts'

it.each(PLAN.map(({ probe }) => probe.id))('%s decides what it says, and what is expected comes of it', async (id) => {
  expect(await mistakesOf(id)).toEqual([])
})

it.each(choices.alternatives.map((each) => [nameOf(each), each] as const))(
  'verify finds that a service has chosen %s, if it can ask for it, says nothing false, and accuses nobody',
  async (_, truth) => {
    expect(await mistakesUnder(truth)).toEqual([])
  },
)

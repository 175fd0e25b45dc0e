import { expect, it } from 'vitest'
import { nameOf } from '../../src/contract/choices.ts'
import { findMistakes } from './completeness.ts'
import { few } from './runs.ts'

it.each(few.alternatives.map((each) => [nameOf(each), each] as const))(
  'verify finds that a service has chosen %s, says nothing false, and accuses nobody',
  async (_, truth) => {
    expect(await findMistakes(truth, few)).toEqual([])
  },
)

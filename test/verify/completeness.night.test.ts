import { expect, it } from 'vitest'
import { nameOf } from '../../src/contract/choices.ts'
import { choices } from '../support/choices.ts'
import { findMistakes } from './completeness.ts'

it.each(choices.alternatives.map((each) => [nameOf(each), each] as const))(
  'verify finds that a service has chosen %s, if it can ask for it, says nothing false, and accuses nobody',
  async (_, truth) => {
    expect(await findMistakes(truth, choices)).toEqual([])
  },
)

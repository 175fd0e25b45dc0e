import { describe, expect, it } from 'vitest'
import { type Choices, nameOf, readChoices } from '../../../src/trials/vary/alternatives.ts'
import { findReached } from '../../../src/trials/vary/counterfactual.ts'
import { BEHAVIOURS } from '../../contract/behaviours.ts'
import { optionsOf, record } from './recorded-service.ts'

const choices = await readChoices([])

/** The same, of one assumption only. */
function only(id: string): Choices {
  return { ...choices, alternatives: choices.alternatives.filter((alternative) => alternative.id === id) }
}

/** What shows of these cannot be asked again: a store that fails, which counts as reached by any alternative. */
const UNANSWERABLE = new Map([['internal-error', 1]])
/** A client that is too slow is not asked again here, but see below. */
const SHOWN = BEHAVIOURS.filter(({ id }) => id !== 'status-timeout')

describe('the requests that show an assumption reach', () => {
  it.each(SHOWN.map((behaviour) => [behaviour.id, behaviour] as const))(
    'each alternative of %s',
    async (id, { options, observe }) => {
      const recording = await record(options, observe)
      const found = await findReached({ server: optionsOf(options), choices: only(id), recordings: [recording] })
      const expected = only(id).alternatives.map(nameOf)
      const names = [...found.reached, ...found.unfit].map(({ alternative }) => nameOf(alternative))
      const unanswerable = UNANSWERABLE.get(id) ?? 0
      expect({ names, unanswerable: found.unanswerable }).toEqual({ names: expected, unanswerable })
    },
  )
})

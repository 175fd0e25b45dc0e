import { expect, it } from 'vitest'
import { PairKnowledge } from '../../../src/trials/beside/knowledge.ts'
import { establish, openFor } from './open-session.ts'
import { RACERS } from './racers.ts'

it('An order is predicted with the ids that the groups have in it', async () => {
  const { runs } = await establish(openFor(RACERS, 'makeOne', 'makeTwo'))
  const knowledge = new PairKnowledge(runs[0].contract)
  const ends = runs.map(({ end }) => knowledge.learn(end.steps, [true, true]))
  expect(new Set(ends).size).toBe(1)
  // Here the second command creates its group before the first one, and sends another id than in the run that is known.
  const { end, steps } = knowledge.predict([{ side: 1 }, { side: 0 }])
  expect(end).toBe(ends[0])
  expect(steps.map(({ strand }) => strand.side)).toEqual([1, 0, 0, 1])
  expect(knowledge.isReliable).toBe(true)
})

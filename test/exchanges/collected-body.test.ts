import { expect, it } from 'vitest'
import { BodyBudget, CollectedBody } from '../../src/exchanges/collected-body.ts'

it('keeps a body that comes in parts, and gives its memory back', () => {
  const budget = new BodyBudget(10)
  const body = new CollectedBody(budget)
  for (const part of ['one', ' two']) body.add(Buffer.from(part))
  expect(body.bytes.toString()).toBe('one two')
  expect(budget.used).toBe(7)
  body.release()
  expect(budget.used).toBe(0)
})

it('lets go of a body for which there is no room, and says so', () => {
  const budget = new BodyBudget(10)
  const [first, second] = [new CollectedBody(budget), new CollectedBody(budget)]
  first.add(Buffer.alloc(6))
  for (const size of [3, 3, 1]) second.add(Buffer.alloc(size))
  expect(second).toMatchObject({ size: 7, missing: 'There was no room to keep the body until it could be judged.' })
  expect(budget.used).toBe(6)
})

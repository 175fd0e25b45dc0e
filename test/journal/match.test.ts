import { expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { differencesOf } from '../../src/journal/match.ts'
import { recorded } from '../support/entry.ts'

it.each([
  [1_998, true],
  [1_999, false],
])('a difference shows a body of %d characters between quotes whole: %s', async (length, isWhole) => {
  const body = 'x'.repeat(length)
  const text = JSON.stringify(body)
  const received = recorded({ body: { text, size: text.length } })
  const [difference] = differencesOf(received, { body: 'y' }, await loadContract())
  expect(difference?.field).toBe('body')
  expect(difference?.received === body).toBe(isWhole)
})

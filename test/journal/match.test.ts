import { expect, it } from 'vitest'
import { contentOf } from '../../src/http/content.ts'
import { differencesOf } from '../../src/journal/match.ts'
import { entry } from '../support/entry.ts'

it.each([
  [1_998, true],
  [1_999, false],
])('a difference shows a body of %d characters between quotes whole: %s', (length, isWhole) => {
  const body = 'x'.repeat(length)
  const received = { ...entry({ body: contentOf(JSON.stringify(body)) }), ordinal: 1, weight: 0 }
  const [difference] = differencesOf(received, { body: 'y' }, '/api/v1')
  expect(difference?.field).toBe('body')
  expect(difference?.received === body).toBe(isWhole)
})

import { expect, it } from 'vitest'
import { findingsIn, QUICK } from './planted-mistakes.ts'

const CASES = (['Python', 'shell'] as const).flatMap((language) =>
  QUICK.map((mistake) => [mistake.tool, language, mistake.does, mistake] as const),
)

it.each(CASES)('%s finds of a client in %s that it %s', async (tool, language, _, mistake) => {
  expect(await findingsIn(tool, mistake, language)).toContain(mistake.finds)
})

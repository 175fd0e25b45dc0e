import { expect, it } from 'vitest'
import { findingsIn, QUICK } from './planted-mistakes.ts'

const CASES = QUICK.filter(({ id = '' }) => ['too-many', 'in-use'].includes(id))

it.each(CASES.map((mistake) => [mistake.tool, mistake.does, mistake] as const))(
  '%s finds of a client that it %s',
  async (tool, _, mistake) => {
    expect(await findingsIn(tool, mistake, 'JavaScript')).toContain(mistake.finds)
  },
)

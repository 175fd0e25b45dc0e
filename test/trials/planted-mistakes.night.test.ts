import { describe, expect, it } from 'vitest'
import { findingsIn, GOOD, type Language, MISTAKES, TOOLS } from './planted-mistakes.ts'

const LANGUAGES: readonly Language[] = ['JavaScript', 'Python', 'shell']

describe.each(LANGUAGES)('of a client in %s', { timeout: 900_000 }, (language) => {
  it.each(MISTAKES.map((mistake) => [mistake.tool, mistake.does, mistake] as const))(
    '%s finds that it %s',
    async (tool, _, mistake) => {
      const { finds, inJavaScript = finds } = mistake
      const said = language === 'JavaScript' ? inJavaScript : finds
      expect(await findingsIn(tool, mistake, language)).toContain(said)
    },
  )

  it.each(GOOD.flatMap((good) => TOOLS.map((tool) => [tool, good.does, good] as const)))(
    '%s finds nothing in one that makes %s',
    async (tool, _, good) => {
      expect(await findingsIn(tool, good, language)).toBe('')
    },
  )
})

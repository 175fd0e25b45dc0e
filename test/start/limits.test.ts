import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { loadControlApi } from '../../src/admin/document.ts'
import { flagOf, type Option } from '../../src/start/option.ts'
import { COMMAND_LINE_OPTIONS } from '../../src/start/option-table.ts'
import { MENTIONED, writeLimits } from './limits-page.ts'

describe('docs/limits.md', () => {
  it('has every limit with the value that it has in the code', async () => {
    const page = readFileSync('docs/limits.md', 'utf8')
    // `npx vitest run test/start/limits -u` writes the values into the file.
    await expect(writeLimits(page)).toMatchFileSnapshot('../../docs/limits.md')
    for (const words of MENTIONED) expect(page).toContain(words)
  })

  it('has a row for each setting of the control plane that is a limit, and for each option that is one', async () => {
    const page = readFileSync('docs/limits.md', 'utf8')
    const { source } = (await loadControlApi()).document
    const values = Object.values(source['x-settings'] as Record<string, { value: number }>).map(({ value }) => value)
    for (const value of values) {
      const spellings = [value, value / 2 ** 10, value / 2 ** 20].map((each) => each.toLocaleString('en-US'))
      expect(page).toMatch(new RegExp(`\\b(${spellings.join('|')})\\b`))
    }
    const flags = Object.entries<Option<unknown>>(COMMAND_LINE_OPTIONS).map(
      ([name, option]) => `--${flagOf(name, option)}`,
    )
    for (const flag of flags.filter((each) => /^--(max-|journal$|sandbox-idle$)/.test(each))) {
      expect(page).toContain(`\`${flag}\``)
    }
  })
})

import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { loadContract } from '../../../src/contract/contract.ts'
import { rulesOf } from '../../../src/contract/document.ts'

describe('Versioning', () => {
  it('marks the field pct as deprecated, and no other', async () => {
    const { document } = await loadContract()
    const record = document.resolved.components?.schemas?.['DmarcRecord']
    const fields = Object.entries(record && 'properties' in record ? (record.properties ?? {}) : {})
    const deprecated = fields.filter(([, field]) => 'deprecated' in field && field.deprecated === true)
    expect(deprecated.map(([name]) => name)).toEqual(['pct'])
  })
})

describe('The rules of the contract', async () => {
  const { document } = await loadContract()
  const suites = await readSuites()

  it.each([...rulesOf(document)])('%s is named by a test: %s', (rule) => {
    expect(suites.includes(`[${rule}]`)).toBe(true)
  })
})

/** The source of every suite, in which the names of tests stand. */
async function readSuites(): Promise<string> {
  const folder = new URL('../../', import.meta.url)
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.test.ts'))
  return (await Promise.all(files.map((file) => readFile(new URL(file, folder), 'utf8')))).join('\n')
}

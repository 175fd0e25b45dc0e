import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { LABELS } from '../../src/judge/finding.ts'
import { REPORT_NAMES, validatorOf } from '../support/report-schema.ts'

// The tests of the commands hold a real report of each command to its schema.
describe('docs/schemas', () => {
  it('has a file for each name, and no other', () => {
    const files = readdirSync(new URL('../../docs/schemas', import.meta.url))
    expect(files.toSorted()).toEqual(REPORT_NAMES.map((name) => `${name}.json`).toSorted())
  })

  it('names the labels of findings', () => {
    const text = readFileSync(new URL('../../docs/schemas/evidence.json', import.meta.url), 'utf8')
    expect(JSON.parse(text).properties.findings.items.properties.label.enum).toEqual(LABELS)
  })

  it.each(REPORT_NAMES)('knows each field of %s', (name) => {
    const validate = validatorOf(name)
    expect(validate({ unheard_of: 1 })).toBe(false)
    expect(validate.errors?.map(({ keyword }) => keyword)).toEqual(
      expect.arrayContaining(['additionalProperties', 'required']),
    )
  })
})

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/ground/json.ts'
import { LABELS } from '../../src/judge/finding.ts'
import { REPORT_NAMES, type ReportName, validatorOf } from '../support/report-schema.ts'

const COUNTS = { points: 4, runs: 30, tiers: [{ tier: 1, of: 2, tried: 2 }], tolerated: 20 }
const EXPLORE = { command: ['npm', 'test'], passed: true, inconclusive: false, ...COUNTS, gave_up: [], findings: [] }
const BASELINE = { exit_code: 0, seconds: 1.5, requests: 12, steady: true }
const ALTERNATIVE = { id: 'a', alternative: 1, verdict: 'depends', spec: 'Not said.', chosen: { a: 1 }, value: null }
const DEPENDENCIES = { command: ['npm', 'test'], baseline: BASELINE, runs: 9, alternatives: [ALTERNATIVE] }

const accepts = (name: ReportName, json: Json) => validatorOf(name)(JSON.parse(JSON.stringify(json)))

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

  it.each<[what: string, name: ReportName, right: Json, wrong: Json]>([
    ['an unknown field', 'explore', EXPLORE, { pionts: 4 }],
    ['a missing field', 'dependencies', DEPENDENCIES, { runs: undefined }],
    ['an unknown verdict', 'dependencies', DEPENDENCIES, { alternatives: [{ ...ALTERNATIVE, verdict: 'maybe' }] }],
  ])('refuses %s', (_, name, right, wrong) => {
    expect(accepts(name, right)).toBe(true)
    expect(accepts(name, { ...right, ...wrong })).toBe(false)
  })
})

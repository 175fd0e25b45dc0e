import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/ground/json.ts'
import { expectReport, validatorOf } from '../support/report-schema.ts'
import { REPORT_NAMES, type ReportName, schemaOf } from './report-schemas.ts'

const COUNTS = { points: 4, runs: 30, tiers: [{ tier: 1, of: 2, tried: 2 }], tolerated: 20 }
const EXPLORE = { command: ['npm', 'test'], passed: true, inconclusive: false, ...COUNTS, gave_up: [], findings: [] }
const BASELINE = { exit_code: 0, seconds: 1.5, requests: 12, steady: true }
const ALTERNATIVE = { id: 'a', alternative: 1, verdict: 'depends', spec: 'Not said.', chosen: { a: 1 }, value: null }
const DEPENDENCIES = { command: ['npm', 'test'], baseline: BASELINE, runs: 9, alternatives: [ALTERNATIVE] }
const WRONG_PLAN = { plan: [{ conection: 'reset' }], operation: 'x' }

describe('docs/schemas', () => {
  it.each(REPORT_NAMES)('has the schema of %s, whose parts are as the control plane says', async (name) => {
    // `npx vitest run test/reports/schemas -u` writes the file.
    await expect(`${JSON.stringify(schemaOf(name), undefined, 2)}\n`).toMatchFileSnapshot(
      `../../docs/schemas/${name}.json`,
    )
  })

  it('has no other file', () => {
    const files = readdirSync(new URL('../../docs/schemas', import.meta.url))
    expect(files.toSorted()).toEqual(REPORT_NAMES.map((name) => `${name}.json`).toSorted())
  })

  it.each<[what: string, name: ReportName, right: Json, wrong: Json]>([
    ['an unknown field', 'explore', EXPLORE, { pionts: 4 }],
    ['a missing field', 'dependencies', DEPENDENCIES, { runs: undefined }],
    ['an unknown verdict', 'dependencies', DEPENDENCIES, { alternatives: [{ ...ALTERNATIVE, verdict: 'maybe' }] }],
    ['a plan that is no fault rule', 'explore', EXPLORE, { gave_up: [WRONG_PLAN] }],
  ])('refuses %s', (_, name, right, wrong) => {
    expectReport(name, right)
    expect(validatorOf(name)(JSON.parse(JSON.stringify({ ...right, ...wrong })))).toBe(false)
  })
})

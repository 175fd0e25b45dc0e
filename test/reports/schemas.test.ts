import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/ground/json.ts'
import { askControl } from '../support/control-plane.ts'
import { expectReport, validatorOf } from '../support/report-schema.ts'
import { startService } from '../support/service.ts'
import { REPORT_NAMES, schemaOf } from './report-schemas.ts'

const RULE = { match: { operation: 'addDomains' }, skip: 1, times: 1, phase: 'after', connection: 'reset' }

const DEPENDENCIES = {
  command: ['npm', 'test'],
  baseline: { exit_code: 0, seconds: 1.5, requests: 12, steady: true },
  runs: 9,
  alternatives: [
    { id: 'success-status', alternative: 1, verdict: 'not reached', spec: 'Not said.', chosen: { a: 1 }, value: null },
    {
      id: 'create-status',
      alternative: 2,
      verdict: 'depends',
      spec: 'Not said.',
      chosen: 200,
      value: 201,
      exit_code: 1,
      seconds: 1,
      first_difference: {
        request: { request_id: 'a', method: 'POST', path: '/domaingroups', body: '{}' },
        expected: { status: 200, body: '{}' },
        received: { status: 201, headers: { location: '/x' } },
      },
    },
  ],
}

const EXPLORE = {
  command: ['npm', 'test'],
  points: 4,
  runs: 30,
  tolerated: 20,
  gave_up: [{ plan: [RULE], operation: 'addDomains' }],
  findings: [
    {
      verdict: 'wrong success',
      plan: [RULE],
      operation: 'addDomains',
      story: [{ method: 'POST', path: '/domains', status: null, fault: 'The response was lost.' }, { omitted: 3 }],
      replay: 'dmarc-understudy explore --replay plan.json -- npm test',
    },
  ],
}

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

  it('takes a run of which the service tells the verdict and the coverage', async () => {
    const service = await startService()
    await service.send('POST', '/domains', { domain: 'a.example' })
    const { data: verdict } = await askControl(service, 'GET', '/verdict')
    const { data: coverage } = await askControl(service, 'GET', '/coverage')
    expectReport('run', { command: ['npm', 'test'], exit_code: 1, seconds: 0.5, verdict, coverage })
  })

  it('takes a dependencies file and an exploration', () => {
    expectReport('dependencies', DEPENDENCIES)
    expectReport('explore', EXPLORE)
  })

  it.each<[what: string, name: string, json: Json]>([
    ['an unknown field', 'explore', { ...EXPLORE, pionts: 4 }],
    ['a missing field', 'dependencies', { ...DEPENDENCIES, runs: undefined }],
    [
      'an unknown verdict',
      'dependencies',
      { ...DEPENDENCIES, alternatives: [{ ...DEPENDENCIES.alternatives[0], verdict: 'maybe' }] },
    ],
    [
      'a plan that is no fault rule',
      'explore',
      { ...EXPLORE, gave_up: [{ plan: [{ conection: 'reset' }], operation: 'x' }] },
    ],
    ['a verdict that is none', 'run', { command: ['a'], exit_code: 0, seconds: 1, verdict: {}, coverage: {} }],
  ])('refuses %s', (_, name, json) => {
    expect(validatorOf(name)(JSON.parse(JSON.stringify(json)))).toBe(false)
  })
})

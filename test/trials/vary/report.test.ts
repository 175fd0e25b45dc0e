import { describe, expect, it } from 'vitest'
import type { Report } from '../../../src/reports/report.ts'
import type { FirstDifference } from '../../../src/trials/vary/first-difference.ts'
import { describeVary } from '../../../src/trials/vary/report.ts'
import type { VaryResult } from '../../../src/trials/vary/vary.ts'
import type { AlternativeReport } from '../../../src/trials/vary/verdict.ts'
import { choices } from '../../support/choices.ts'

const REQUEST = { request_id: 'r1', method: 'POST', path: '/domaingroups' }

function alternative(id: string, more: Partial<AlternativeReport>): AlternativeReport {
  return { id, alternative: 1, verdict: 'depends', spec: 'This is open.', chosen: {}, value: {}, ...more }
}

function reportOn(
  alternatives: readonly AlternativeReport[],
  more: Partial<VaryResult> = {},
  interruptedWith?: number,
): Report {
  const baseline = { exit_code: 0, seconds: 1.5, requests: 3, steady: true }
  return describeVary({
    result: {
      dependencies: { command: ['npm', 'test'], baseline, runs: 12, alternatives },
      ...{ notes: [], cutBy: undefined },
      ...more,
    },
    writeCommandLine: (words) => words.join(' '),
    ...{ choices, sameOptions: [], startedAt: undefined, seconds: 2, interruptedWith },
  })
}

describe('the report of vary', () => {
  it.each<[words: string, difference: Omit<FirstDifference, 'request'>, of: Partial<AlternativeReport>]>([
    ['answers 201 instead of 200 to POST /domaingroups', { expected: { status: 200 }, received: { status: 201 } }, {}],
    [
      'sends x-limit: 5 instead of 9 in the response to POST /domaingroups',
      { expected: { headers: { 'x-limit': '9' } }, received: { headers: { 'x-limit': '5' } } },
      {},
    ],
    [
      'sends no x-limit instead of 9 in the response to POST /domaingroups',
      { expected: { headers: { 'x-limit': '9' } }, received: {} },
      {},
    ],
    [
      'answers POST /domaingroups with 0 items instead of 2 at /data',
      { expected: { body: '[1,2]' }, received: { body: '[]' }, body_difference: 'with 0 items instead of 2 at /data' },
      {},
    ],
    [
      'has "late" instead of "early" as refresh-time and so answers 201 instead of 200 to POST /domaingroups',
      { expected: { status: 200 }, received: { status: 201 } },
      { chosen: { value: 'early' }, value: { value: 'late' } },
    ],
  ])('says that the command fails if the service %s', (words, difference, of) => {
    const first_difference = { request: REQUEST, ...difference }
    const [found] = reportOn([alternative('refresh-time', { first_difference, ...of })]).findings
    expect(found?.message).toBe(`The command fails if the real service ${words}. This is open.`)
  })

  it('places a dependency at its assumption, and what is not decided there too if it is one alternative', () => {
    const { findings } = reportOn([
      alternative('domain-order', {}),
      alternative('decimals', { verdict: 'inconclusive', reason: 'It does not fit.' }),
      alternative('decimals', { verdict: 'inconclusive', reason: 'Over.' }),
      alternative('head', { verdict: 'inconclusive', reason: 'Over.' }),
    ])
    const placeOf = (name: string) => choices.assumptions.find(({ id }) => id === name)?.place
    expect(findings.map(({ level, message, pointer }) => [level, message, pointer])).toEqual([
      ['error', expect.stringMatching(/^The command fails/), placeOf('domain-order')],
      ['warning', 'decimals/1 is not decided. It does not fit.', placeOf('decimals')],
      ['warning', '2 alternatives are not decided. Over.', undefined],
    ])
  })

  it.each<[name: string, exitCode: number, more: Partial<VaryResult>, interruptedWith: number | undefined]>([
    ['passes if what is not decided does not fit', 0, {}, undefined],
    ['does not pass if there was no time for the rest', 1, { cutBy: 'Over.' }, undefined],
    ['ends as a program that a signal has ended', 143, { cutBy: 'Over.' }, 143],
  ])('%s', (_, exitCode, more, interruptedWith) => {
    const undecided = alternative('decimals', { verdict: 'inconclusive', reason: 'Over.' })
    const report = reportOn([undecided], more, interruptedWith)
    expect(report).toMatchObject({ exitCode, passed: exitCode === 0 })
    expect(report.summary.startsWith('Not everything was decided.')).toBe(exitCode !== 0)
    expect(report.findings.map(({ level }) => level)).toEqual([exitCode === 0 ? 'warning' : 'error'])
  })

  it('has a row for each alternative', () => {
    const unseen = alternative('head', { verdict: 'not reached', reason: 'No response was different.' })
    const { table } = reportOn([
      alternative('decimals', {}),
      alternative('decimals', { accepted: true }),
      alternative('domain-order', { verdict: 'tolerates' }),
      unseen,
      alternative('refresh-time', { verdict: 'flaky', reason: 'It also fails without it.' }),
    ])
    expect(table?.rows.map(({ outcome, cells }) => [outcome, ...cells])).toEqual([
      ['failed', 'decimals/1', 'depends', ''],
      ['passed', 'decimals/1', 'depends', ''],
      ['passed', 'domain-order/1', 'tolerates', ''],
      ['skipped', 'head/1', 'not reached', 'No response was different.'],
      ['skipped', 'refresh-time/1', 'flaky', 'It also fails without it.'],
    ])
  })
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadContract } from '../../../src/contract/contract.ts'
import type { FaultRule } from '../../../src/domain/faults.ts'
import { milderRules } from '../../../src/trials/explore/plan.ts'
import type { ExploreReport } from '../../../src/trials/explore/report.ts'
import { openSession } from '../../../src/trials/explore/session.ts'
import { shrinkPlan } from '../../../src/trials/explore/shrinking.ts'
import { runInProcess } from '../../support/program-in-process.ts'
import { expectReport } from '../../support/report-schema.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** How the command line starts an example client. */
function commandOf(client: string): string[] {
  const path = join(import.meta.dirname, '../clients', client)
  return [client.endsWith('.py') ? 'python3' : process.execPath, path]
}

async function explore(client: string, ...options: string[]): Promise<ExploreReport> {
  const path = join(temporaryFolder(), 'report.json')
  const given = ['--fixture', 'empty', '--jobs', '2', '--report', `json=${path}`, ...options]
  await runInProcess(['explore', ...given, '--', ...commandOf(client)])
  const report = JSON.parse(readFileSync(path, 'utf8')) as ExploreReport
  expectReport('explore', report)
  return report
}

describe('explore finds', { timeout: 120_000 }, () => {
  it.each<[client: string, options: string[], found: string[]]>([
    ['correct.mjs', ['--runs', '5'], []],
    ['swallows-errors.mjs', ['--runs', '6'], ['wrong success at addDomains']],
    ['second-name.mjs', ['--runs', '6'], ['wrong success at createDomainGroup']],
    ['crashes.py', ['--runs', '4'], ['crash at listDomains']],
    ['never-times-out.mjs', ['--runs', '13', '--timeout', '2'], ['hang at addDomains']],
    [
      'storms.mjs',
      ['--runs', '18'],
      ['storm at listDomains', 'storm at addDomains', 'storm at listDomainGroups', 'storm at createDomainGroup'],
    ],
  ])('of %s with %j: %j', async (client, options, found) => {
    const { findings, runs } = await explore(client, ...options)
    expect(runs).toBeLessThanOrEqual(Number(options[1]))
    expect(findings.map(({ verdict, operation }) => `${verdict} at ${operation}`).toSorted()).toEqual(found.toSorted())
  })

  it('two faults that break a client only together', async () => {
    const { findings } = await explore('believes.mjs', '--budget', '90s')
    expect(findings).toHaveLength(1)
    const [finding] = findings
    expect(finding?.verdict).toBe('wrong success')
    expect(finding?.plan.map(({ match, respond }) => [match?.operation, respond])).toEqual([
      ['createDomainGroup', { error: 'internal_error' }],
      ['listDomainGroups', { error: 'internal_error' }],
    ])
    expect(finding?.reasons).toEqual(['It said that all is well.', 'not done: created the group Retail'])
  })
})

describe('A longer plan', { timeout: 60_000 }, () => {
  it('is shrunk to the two faults that break a client only together', async () => {
    const session = openSession({
      command: commandOf('believes.mjs'),
      environment: process.env,
      variables: [],
      options: { fixture: 'empty' },
      contract: await loadContract(),
      jobs: 1,
      timeout: undefined,
      window: 3600,
      isScaled: false,
      runs: undefined,
      milliseconds: undefined,
      stop: new AbortController().signal,
      onSignal: undefined,
      watch: () => {},
    })
    const baseline = await session.establish()
    if (typeof baseline === 'string') throw new Error(baseline)
    const create = { operation: 'createDomainGroup' }
    const read = { operation: 'listDomainGroups' }
    const plan: FaultRule[] = [
      { match: create, times: 1, connection: 'reset' },
      { match: { operation: 'addDomains' }, times: 1, connection: 'reset' },
      { match: create, skip: 1, times: 1, corrupt: 'malformed-json' },
      { match: read, times: 1, respond: { error: 'internal_error' } },
      { match: read, skip: 2, times: 1, connection: 'reset' },
    ]
    async function fails(tried: readonly FaultRule[]): Promise<boolean> {
      if (typeof baseline === 'string') return false
      const { findings } = await session.replay(tried, baseline)
      return findings[0]?.verdict === 'wrong success'
    }
    const smallest = await shrinkPlan(plan, fails, (rule) => milderRules(rule))
    expect(smallest).toEqual([plan[0], plan[3]])
    session.end()
  })
})

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { FaultRule } from '../../../src/domain/faults.ts'
import { milderRules } from '../../../src/trials/explore/plan.ts'
import { openSession, type Session, type SessionTerms } from '../../../src/trials/explore/session.ts'
import { shrinkPlan } from '../../../src/trials/explore/shrinking.ts'
import type { Baseline } from '../../../src/trials/explore/verdict.ts'
import { SHORT_WINDOW, shortenWindows } from '../../../src/trials/explore/windows.ts'
import { budget, IS_FULL_BUDGET } from '../../support/budget.ts'

const contract = await shortenWindows([])

async function openFor(client: string, chosen: Partial<SessionTerms>): Promise<[Session, Baseline]> {
  const path = join(import.meta.dirname, '../clients', client)
  const session = openSession({
    command: [client.endsWith('.py') ? 'python3' : process.execPath, path],
    environment: process.env,
    variables: [],
    options: { fixture: 'empty' },
    contract,
    jobs: 2,
    timeout: undefined,
    window: SHORT_WINDOW,
    isScaled: true,
    runs: undefined,
    milliseconds: undefined,
    stop: new AbortController().signal,
    onSignal: undefined,
    watch: () => {},
    ...chosen,
  })
  const baseline = await session.establish()
  if (typeof baseline === 'string') throw new Error(baseline)
  return [session, baseline]
}

/** By client: how often it is run, and what is found then. */
const CLIENTS: readonly [client: string, terms: Partial<SessionTerms>, found: string[]][] = [
  ['swallows-errors.mjs', { runs: 6 }, ['wrong success at addDomains']],
  ['second-name.mjs', { runs: 6 }, ['wrong success at createDomainGroup']],
  ['correct.mjs', { runs: 40 }, []],
  ['gives-up.mjs', { runs: 9 }, []],
  ['blind-retry.mjs', { runs: 6 }, ['false failure at createDomainGroup']],
  ['crashes.py', { runs: 4 }, ['crash at listDomains']],
  ['never-times-out.mjs', { runs: 13, timeout: 3000 }, ['hang at addDomains']],
  [
    'storms.mjs',
    { runs: 18 },
    ['storm at addDomains', 'storm at createDomainGroup', 'storm at listDomainGroups', 'storm at listDomains'],
  ],
]

describe.concurrent('explore finds', { timeout: 120_000 }, () => {
  it.for(CLIENTS.slice(0, budget({ quick: 2, full: CLIENTS.length })))(
    'of %s with %j: %j',
    async ([client, terms, found]) => {
      const [session, baseline] = await openFor(client, terms)
      const { findings } = await session.explore(baseline)
      expect(session.runs).toBeLessThanOrEqual(terms.runs ?? 0)
      expect(findings.map(({ verdict, operation }) => `${verdict} at ${operation}`).toSorted()).toEqual(found)
    },
  )

  it.runIf(IS_FULL_BUDGET)('two faults that break a client only together', async () => {
    const [session, baseline] = await openFor('hasty-check.mjs', {})
    const { findings, left } = await session.explore(baseline)
    expect(left).toBe(0)
    expect(findings).toMatchObject([
      {
        verdict: 'wrong success',
        plan: [
          { match: { operation: 'createDomainGroup' }, respond: { error: 'internal_error' } },
          { match: { operation: 'listDomainGroups' }, respond: { error: 'internal_error' } },
        ],
        operation: 'listDomainGroups',
      },
    ])
  })

  it('the two faults of a longer plan that break a client only together', async () => {
    const [session, baseline] = await openFor('hasty-check.mjs', {})
    const create = { operation: 'createDomainGroup' }
    const read = { operation: 'listDomainGroups' }
    const plan: FaultRule[] = [
      { match: create, times: 1, connection: 'reset' },
      { match: { operation: 'listDomains' }, times: 1, connection: 'reset' },
      { match: create, skip: 1, times: 1, corrupt: 'malformed-json' },
      { match: read, times: 1, respond: { error: 'internal_error' } },
      { match: read, skip: 2, times: 1, connection: 'reset' },
    ]
    async function fails(tried: readonly FaultRule[]): Promise<boolean> {
      const { findings } = await session.replay(tried, baseline)
      return findings[0]?.verdict === 'wrong success'
    }
    expect(await shrinkPlan(plan, fails, (rule) => milderRules(rule))).toEqual([plan[0], plan[3]])
  })
})

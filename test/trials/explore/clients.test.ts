import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { FaultRule } from '../../../src/domain/faults.ts'
import type { Finding } from '../../../src/trials/explore/exploration.ts'
import { milderRules } from '../../../src/trials/explore/plan.ts'
import { openSession, type Session, type SessionTerms } from '../../../src/trials/explore/session.ts'
import { shrinkPlan } from '../../../src/trials/explore/shrinking.ts'
import type { Baseline } from '../../../src/trials/explore/verdict.ts'
import { shortenWindows } from '../../../src/trials/explore/windows.ts'
import { budget } from '../../support/budget.ts'

/** As short as can be, because many runs wait for the end of one, in seconds. */
const WINDOW = 1
const contract = await shortenWindows([], WINDOW)
/** Clients that are not as patient as others, in milliseconds. */
const HASTY = { CLIENT_TIMEOUT: '600', CLIENT_DELAY: '20' }

async function openFor(client: string, chosen: Partial<SessionTerms>): Promise<[Session, Baseline]> {
  const path = join(import.meta.dirname, '../clients', client)
  const session = openSession({
    command: [client.endsWith('.py') ? 'python3' : process.execPath, path],
    environment: { ...process.env, ...HASTY },
    variables: [],
    options: { fixture: 'empty' },
    contract,
    jobs: 2,
    timeout: undefined,
    window: WINDOW,
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

/** By client: how it is run, and what is found then. */
const CLIENTS: readonly [client: string, terms: Partial<SessionTerms>, found: string[]][] = [
  ['swallows-errors.mjs', { runs: 6 }, ['wrong success: addDomains reset after']],
  ['second-name.mjs', { runs: 6 }, ['wrong success: createDomainGroup reset after']],
  ['correct.mjs', { runs: 40 }, []],
  ['gives-up.mjs', { runs: 9 }, []],
  ['blind-retry.mjs', { runs: 6 }, ['false failure: createDomainGroup reset after']],
  ['crashes.py', { runs: 4 }, ['crash: listDomains hang after']],
  ['never-times-out.mjs', { runs: 9, timeout: 2000 }, ['hang: addDomains hang after']],
  [
    'storms.mjs',
    { runs: 18 },
    [
      'storm: addDomains quota-used-up',
      'storm: createDomainGroup quota-used-up',
      'storm: listDomainGroups quota-used-up',
      'storm: listDomains quota-used-up',
    ],
  ],
  // Two faults that break it only together.
  ['hasty-check.mjs', {}, ['wrong success: createDomainGroup internal_error, listDomainGroups internal_error']],
]

/** Its verdict, and the faults of its plan. */
function nameOf({ verdict, plan }: Finding): string {
  const faults = plan.map(({ match, respond, connection, corrupt, event, phase }) => {
    const error = respond !== undefined && 'error' in respond ? respond.error : undefined
    return [match?.operation, error, connection, corrupt, event, phase].filter((word) => word !== undefined).join(' ')
  })
  return `${verdict}: ${faults.join(', ')}`
}

// The clients have little patience, and a busy machine keeps them waiting. Then they are tried again.
describe.concurrent('explore finds', { timeout: 120_000, retry: 2 }, () => {
  it.for(CLIENTS.slice(0, budget({ quick: 1, full: CLIENTS.length })))(
    'of %s with %j: %j',
    async ([client, terms, found]) => {
      const [session, baseline] = await openFor(client, terms)
      const { findings, left } = await session.explore(baseline)
      expect(findings.map(nameOf).toSorted()).toEqual(found)
      expect(session.runs).toBeLessThanOrEqual(terms.runs ?? Number.POSITIVE_INFINITY)
      // Without a limit, every plan is tried.
      expect(left > 0).toBe(terms.runs !== undefined)
    },
  )

  it('the two faults of a longer plan that break a client only together', async () => {
    const [session, baseline] = await openFor('hasty-check.mjs', {})
    const create = { operation: 'createDomainGroup' }
    const read = { operation: 'listDomainGroups' }
    const both: FaultRule[] = [
      { match: create, times: 1, connection: 'reset' },
      { match: read, times: 1, respond: { error: 'internal_error' } },
    ]
    const others: FaultRule[] = [
      { match: { operation: 'listDomains' }, times: 1, connection: 'reset' },
      { match: create, skip: 1, times: 1, corrupt: 'malformed-json' },
      { match: read, skip: 2, times: 1, connection: 'reset' },
    ]
    const plan = [...others.slice(0, budget({ quick: 1, full: 3 })), ...both]
    async function fails(tried: readonly FaultRule[]): Promise<boolean> {
      const { findings } = await session.replay(tried, baseline)
      return findings[0]?.verdict === 'wrong success'
    }
    expect(await shrinkPlan(plan, fails, (rule) => milderRules(rule))).toEqual(both)
  })
})

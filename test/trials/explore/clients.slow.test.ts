import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadContract } from '../../../src/contract/contract.ts'
import type { FailingPlan } from '../../../src/trials/explore/exploration.ts'
import { ExploreSession, type SessionTerms } from '../../../src/trials/explore/session.ts'
import type { FaultlessRun } from '../../../src/trials/explore/verdict.ts'
import { budget } from '../../support/budget.ts'

/** As short as can be, because many runs wait for the end of one, in seconds. */
const WINDOW = 1
const contract = await loadContract({ longestWindow: WINDOW })
/** Clients that are not as patient as others, in milliseconds. */
const HASTY = { CLIENT_TIMEOUT: '3000', CLIENT_DELAY: '20' }

async function openFor(client: string, chosen: Partial<SessionTerms>): Promise<[ExploreSession, FaultlessRun]> {
  const path = join(import.meta.dirname, '../clients', client)
  const session = new ExploreSession({
    command: [client.endsWith('.py') ? 'python3' : process.execPath, path],
    environment: { ...process.env, ...HASTY },
    variables: [],
    options: { fixture: 'empty' },
    contract,
    parallelism: { jobs: 2, why: 'because that is enough' },
    timeout: undefined,
    window: WINDOW,
    contractWith: (longestWindow) => loadContract({ longestWindow }),
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
  ['crashes.py', { runs: 5 }, ['crash: listDomains hang after']],
  ['never-times-out.mjs', { runs: 9, timeout: 8000 }, ['hang: addDomains hang after']],
  // It storms at each of its four requests.
  ['storms.mjs', { runs: 18 }, ['storm: listDomains quota-used-up']],
  // It survives a 429 where the quota window is short.
  ['fixed-wait.mjs', { runs: 18 }, ['storm: listDomains quota-used-up']],
  // Two faults that break it only together.
  ['hasty-check.mjs', {}, ['wrong success: createDomainGroup internal_error, listDomainGroups internal_error']],
]

/** Its verdict, and the faults of its plan. */
function nameOf({ verdict, plan }: FailingPlan): string {
  const faults = plan.map(({ match, respond, connection, corrupt, event, phase }) => {
    const error = respond !== undefined && 'error' in respond ? respond.error : undefined
    return [match?.operation, error, connection, corrupt, event, phase].filter((word) => word !== undefined).join(' ')
  })
  return `${verdict}: ${faults.join(', ')}`
}

// The clients have little patience, and a busy machine keeps them waiting. Then they are tried again.
describe.concurrent('explore finds', { timeout: 120_000, retry: 2 }, () => {
  it.for(CLIENTS.slice(0, budget({ quick: 2, full: CLIENTS.length })))(
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
})

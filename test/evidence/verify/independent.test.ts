import { describe, expect, it } from 'vitest'
import type { Conclusion } from '../../../src/evidence/investigation.ts'
import { type Assessment, assess } from '../../../src/evidence/verify/assessment.ts'
import { Client } from '../../../src/evidence/verify/client.ts'
import { budget } from '../../support/budget.ts'
import type { Deviation, Named } from '../independent-service/deviations/deviation.ts'
import { QUOTAS } from '../independent-service/deviations/quotas.ts'
import { DEVIATIONS } from '../independent-service/deviations.ts'
import { startIndependentService } from '../independent-service/independent-service.ts'
import { choices, NO_LEDGER, prepareRun } from './runs.ts'

/** What only shows when quotas are used up. */
const USES_UP: ReadonlySet<string> = new Set([...QUOTAS.map(({ id }) => id), 'restless-figures'])
const START = Date.parse('2026-01-15T09:30:00Z')

interface Found {
  /** The methods of the requests. */
  sent: readonly string[]
  assessment: Assessment
  conclusion: Conclusion
}

/** Verifies the independent service, which has domains and groups of others, with and without a deviation. */
async function verifyIndependent(deviation?: string): Promise<Found> {
  let time = START
  const service = await startIndependentService({
    deviation,
    clock: () => time,
    domains: ['a.other.example', 'b.other.example'],
  })
  const client = new Client(new URL(service.baseUrl), 5_000)
  const before = JSON.stringify([...service.account.domains])
  const target = {
    baseUrl: service.baseUrl,
    advance: (milliseconds: number) => {
      time += milliseconds
    },
  }
  const result = await prepareRun(target, {
    waits: true,
    // To use up the quotas takes half of all requests.
    exhaust: deviation === undefined || USES_UP.has(deviation),
    ledger: NO_LEDGER,
    soleWriter: true,
    apiKey: service.apiKey,
    client: {
      async send(request) {
        const { status, rawHeaders, body } = await client.send(request)
        // The service has its own clock, and Node writes that of the machine.
        const date = new Date(time).toUTCString()
        const headers = rawHeaders.map((value, index) => (rawHeaders[index - 1] === 'Date' ? date : value))
        return { status, rawHeaders: headers, body }
      },
    },
  }).result()
  if (deviation === undefined) expect(JSON.stringify([...service.account.domains])).toBe(before)
  client.close()
  await service.stop()
  const assessment = assess({ result, choices, target: service.baseUrl, isAccepted: () => false, minReached: 0 })
  return { sent: result.exchanges.map(({ sent }) => sent.method), assessment, conclusion: result.conclusion }
}

/** Whether what was found has the name that the deviation should have. */
function isNamed(named: Named, { assessment, conclusion }: Found): boolean {
  if (named.label === 'decides assumption') {
    return assessment.assumptions.some(
      ({ id, alternative }) => id === named.assumption && alternative === named.alternative,
    )
  }
  // What only several responses together show, a check of its own says.
  const isOfHeaders = assessment.checks.some(({ id, outcome }) => outcome === 'fail' && id.startsWith('headers/'))
  if (named.label === 'unexplained' && isOfHeaders) return true
  return conclusion.findings.some(({ label, rule, pointer = '' }) => {
    if (label !== named.label) return false
    if (named.label === 'broken rule') return rule === named.rule
    return !('where' in named) || named.where === undefined || pointer.includes(named.where)
  })
}

describe('verify', () => {
  it('passes an independent service that is right', async () => {
    const { assessment } = await verifyIndependent()
    expect(assessment.checks.filter(({ outcome }) => outcome === 'fail')).toEqual([])
    expect(assessment).toMatchObject({ passed: true })
    expect(assessment.reached).toBeGreaterThan(95)
  }, 60_000)

  const visible = DEVIATIONS.filter(({ hidden }) => hidden === undefined)
  const step = Math.ceil(visible.length / budget({ quick: 3, full: visible.length }))
  it.for(visible.filter((_, index) => index % step === 0))(
    'finds and names what the service does wrong: $id',
    { timeout: 300_000 },
    async ({ id, named }: Deviation) => {
      const found = await verifyIndependent(id)
      const failures = found.assessment.checks.filter(({ outcome }) => outcome === 'fail').map((check) => check.id)
      expect(isNamed(named, found), `${JSON.stringify(named)} in ${failures.join(', ')}`).toBe(true)
      expect(found.assessment.passed).toBe(named.label === 'decides assumption' || named.label === 'cannot tell')
    },
  )

  const unseen = DEVIATIONS.filter(({ hidden }) => hidden !== undefined)
  it.for(unseen.slice(0, budget({ quick: 1, full: unseen.length })))(
    'says nothing of what one key cannot see within the quotas and without harm: $id',
    { timeout: 300_000 },
    async ({ id, named }) => {
      const found = await verifyIndependent(id)
      expect(isNamed(named, found)).toBe(false)
      expect(found.assessment).toMatchObject({ passed: true })
    },
  )

  it.for(['cut-json', 'teapot'])('only reads where the lists of an account cannot be trusted: $0', async (id) => {
    const { sent, assessment } = await verifyIndependent(id)
    expect(new Set(sent)).toEqual(new Set(['GET', 'HEAD']))
    expect(assessment.checks.find((check) => check.id === 'restoration')).toMatchObject({ outcome: 'pass' })
    const skipped = assessment.checks.find((check) => check.id === 'rule/count-of-added')
    expect(skipped).toMatchObject({ outcome: 'not reached', message: expect.stringMatching(/cannot be read/) })
  })
})

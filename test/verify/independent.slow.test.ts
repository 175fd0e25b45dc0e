import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Conclusion } from '../../src/conformance/investigation.ts'
import { type Assessment, assess } from '../../src/verify/assessment.ts'
import { budget } from '../support/budget.ts'
import type { Named } from './independent-service/deviations/deviation.ts'
import { QUOTAS } from './independent-service/deviations/quotas.ts'
import { DEVIATIONS, type Wrong } from './independent-service/deviations.ts'
import { startIndependentService } from './independent-service/independent-service.ts'
import { choices, NO_LEDGER, prepareRun } from './runs.ts'

/** What only shows when quotas are used up. */
const USES_UP: ReadonlySet<string> = new Set([...Object.keys(QUOTAS), 'The figures change at each read.'])
const START = Date.parse('2026-01-15T09:30:00Z')

interface Found {
  assessment: Assessment
  conclusion: Conclusion
}

/** Verifies the independent service, which has domains and groups of others, with and without a deviation. */
async function verifyIndependent(wrong?: Wrong): Promise<Found> {
  let time = START
  const service = await startIndependentService({
    wrong,
    clock: () => time,
    domains: ['a.other.example', 'b.other.example'],
  })
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
    exhaust: wrong === undefined || USES_UP.has(wrong),
    ledger: NO_LEDGER,
    soleWriter: true,
    apiKey: service.apiKey,
    async way(request, send) {
      const { status, rawHeaders, body } = await send(request)
      // The service has its own clock, and Node writes that of the machine.
      const date = new Date(time).toUTCString()
      const headers = rawHeaders.map((value, index) => (rawHeaders[index - 1] === 'Date' ? date : value))
      return { status, rawHeaders: headers, body }
    },
  }).result()
  if (wrong === undefined) expect(JSON.stringify([...service.account.domains])).toBe(before)
  await service.stop()
  const assessment = assess({ result, choices, target: service.baseUrl, isAccepted: () => false, minReached: 0 })
  return { assessment, conclusion: result.conclusion }
}

/** Whether what was found has the name that the deviation should have. */
function isNamed(named: Named, { assessment, conclusion }: Found): boolean {
  // What only several responses together show, a check of its own says.
  const isOfHeaders = assessment.checks.some(({ id, outcome }) => outcome === 'fail' && id.startsWith('headers/'))
  if (named.label === 'unexplained' && isOfHeaders) return true
  return conclusion.findings.some(({ label, rule, pointer = '' }) => {
    if (label !== named.label) return false
    if (named.label === 'broken rule') return rule === named.rule
    return named.label === 'unexplained' || pointer.includes(named.where)
  })
}

describe('verify', () => {
  it('passes an independent service that is right', async () => {
    const { assessment } = await verifyIndependent()
    expect(assessment.checks.filter(({ outcome }) => outcome === 'fail')).toEqual([])
    expect(assessment).toMatchObject({ passed: true })
    expect(assessment.reached).toBeGreaterThan(95)
  }, 60_000)

  const all = Object.keys(DEVIATIONS) as Wrong[]
  const step = Math.ceil(all.length / budget({ quick: 6, full: all.length }))
  it.for(all.filter((_, index) => index % step === 0))(
    'finds and names what the service does wrong: %s',
    { timeout: 300_000 },
    async (wrong) => {
      const { named } = DEVIATIONS[wrong]
      const found = await verifyIndependent(wrong)
      const failures = found.assessment.checks.filter(({ outcome }) => outcome === 'fail').map((check) => check.id)
      expect(isNamed(named, found), `${JSON.stringify(named)} in ${failures.join(', ')}`).toBe(true)
      expect(found.assessment.passed).toBe(false)
    },
  )
})

describe('the independent service', () => {
  it('imports nothing of the program', () => {
    const folder = join(import.meta.dirname, 'independent-service')
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
    expect(files.length).toBeGreaterThan(5)
    for (const name of files) {
      expect(readFileSync(join(folder, name), 'utf8'), name).not.toMatch(/from '[./]*\/(src|support)\//)
    }
  })
})

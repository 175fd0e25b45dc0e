import { describe, expect, it } from 'vitest'
import { writeRiskTable } from '../../src/evidence/risk-report.ts'
import { type ClientReport, findForeignIn, findRisks, type Risk } from '../../src/evidence/risks.ts'
import type { AssumptionVerdict } from '../../src/judge/verdict.ts'
import { choices } from '../support/choices.ts'

/** It has two alternatives. */
const ID = 'body-limit'
type Verdict = ClientReport['alternatives'][number]['verdict']

/** A client of which vary has said this about the alternatives of an assumption; it tolerates all others. */
function clientWith(verdicts: Readonly<Record<number, Verdict | undefined>>, command = 'npm test'): ClientReport {
  return {
    command: [command],
    alternatives: choices.alternatives.flatMap(({ id, number, assumption: { choice: chosen }, value }) => {
      const verdict = id === ID && number in verdicts ? verdicts[number] : 'tolerates'
      if (verdict === undefined) return []
      const request = { request_id: `c-${number}`, method: 'POST', path: '/domaingroups' }
      const more = {
        ...(verdict === 'depends' && { first_difference: { request, expected: {}, received: {} } }),
        ...(verdict === 'inconclusive' && { reason: 'It took too long.' }),
      }
      return [{ id, alternative: number, verdict, spec: '', chosen, value, ...more }]
    }),
  }
}

function service(verdict: AssumptionVerdict['verdict'], more: Partial<AssumptionVerdict> = {}): AssumptionVerdict[] {
  return [{ id: ID, verdict, evidence: ['s-1'], ...more }]
}

const riskOf = (verdicts: AssumptionVerdict[], ...clients: ClientReport[]): Risk | undefined =>
  findRisks(verdicts, clients, choices).find(({ id }) => id === ID)

const AS_CHOSEN = service('as chosen')
const FIRST = service('alternative', { alternative: 1 })
const UNDECIDED = service('undecided')
const NOT_CHOSEN = service('undecided', { left: [1, 2] })
const CONTRADICTED = service('contradicted')

describe('findRisks', () => {
  it.each<[what: string, verdicts: AssumptionVerdict[], client: Record<number, Verdict | undefined>, result: string]>([
    ['is as chosen and the client depends on that', AS_CHOSEN, { 1: 'depends', 2: 'depends' }, 'confirmed'],
    ['is an alternative that the client tolerates', FIRST, { 1: 'tolerates', 2: 'depends' }, 'confirmed'],
    ['is an alternative with which the client fails', FIRST, { 1: 'depends' }, 'contradicted'],
    ['is undecided and the client tolerates everything', UNDECIDED, {}, 'confirmed'],
    ['is undecided and the client depends on it', UNDECIDED, { 2: 'depends' }, 'unknown'],
    ['is one of those with each of which the client fails', NOT_CHOSEN, { 1: 'depends', 2: 'depends' }, 'contradicted'],
    ['contradicts itself and the client depends on it', CONTRADICTED, { 1: 'depends' }, 'unknown'],
  ])('where the service %s', (_, verdicts, client, result) => {
    expect(riskOf(verdicts, clientWith(client))?.result).toBe(result)
  })

  it('names the requests of both sides, and what would settle it', () => {
    expect(riskOf(FIRST, clientWith({ 1: 'depends' }))).toMatchObject({
      reason: 'The service has chosen alternative 1, with which the client fails.',
      service: { verdict: 'alternative', alternative: 1, evidence: ['s-1'] },
      clients: [{ alternative: 1, verdict: 'depends', command: 'npm test', request: { request_id: 'c-1' } }],
    })
    const open = riskOf(UNDECIDED, clientWith({ 2: 'depends' }))
    expect(open?.decide_with?.requests[0]).toMatchObject({ method: 'POST', path: '/domaingroups', pad_to: 65_537 })
    expect(riskOf(FIRST, clientWith({ 1: 'inconclusive' }))?.decide_with).toBeUndefined()
  })
})

describe('findForeignIn', () => {
  const [first] = clientWith({}).alternatives

  it.each([
    [{ ...first, id: 'body-limits' }, 'There is no assumption body-limits.'],
    [{ ...first, value: { value: 7 } }, 'body-limit/1 had another meaning.'],
    [first, undefined],
  ])('%#: %j', (alternative, problem) => {
    const client = { command: ['a'], alternatives: [alternative] } as ClientReport
    expect(findForeignIn(client, choices)).toBe(problem)
  })
})

describe('writeRiskTable', () => {
  const head: AssumptionVerdict = { id: 'head', verdict: 'as chosen', evidence: ['s-2'] }
  const risks = findRisks([...FIRST, head], [clientWith({ 1: 'depends' })], choices)

  it('shows the worst first, and only counts what never matters', () => {
    const lines = writeRiskTable(risks, 110)
    expect(lines.slice(0, 4)).toEqual([
      'result        assumption  what was found',
      'contradicted  body-limit  The service has chosen alternative 1, with which the client fails.',
      '                          The service showed it in s-1.',
      '                          npm test fails with alternative 1, first at POST /domaingroups (c-1).',
    ])
    expect(lines[4]).toMatch(/^confirmed {5}head {8}The service does what the stand-in does/)
    expect(lines.at(-1)).toMatch(/^\d+ more are confirmed: the client works with everything that the service may do\.$/)
  })
})

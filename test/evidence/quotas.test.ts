import { beforeAll, describe, expect, it } from 'vitest'
import type { Contract } from '../../src/contract/contract.ts'
import type { Finding } from '../../src/evidence/finding.ts'
import type { Assignment, Observation } from '../../src/evidence/observation.ts'
import { QuotaTrack, type QuotaTrackOptions } from '../../src/evidence/quotas.ts'
import { createReader } from '../../src/evidence/reading.ts'
import { wordsOf } from '../../src/ground/chance.ts'
import { writeDate } from '../../src/http/date.ts'
import { budget } from '../support/budget.ts'
import { type Documented, readPermitted } from '../support/permitted.ts'
import { sendRequest } from '../support/request.ts'
import { API_KEY } from '../support/service.ts'
import { DATE, exchangeOf, failure, success } from './made-exchange.ts'
import { judge, leftOf, openRecorded, wrongOnes } from './recorded-service.ts'

let documented: Documented

beforeAll(async () => {
  documented = await readPermitted()
}, 60_000)

async function compile(truth: Assignment): Promise<Contract> {
  const { choices } = documented
  return choices.compile(choices.alternatives.filter(({ id, number }) => truth[id] === number))
}

/** What one response says, in seconds after half past nine. */
interface Said {
  after?: number
  path?: string
  limit?: number
  remaining: number
  reset?: number
  kind?: 'success' | 'limited' | 'refused'
  lasts?: number
}

const START = DATE / 1000
const END = START + 1800

function follow(
  said: readonly Said[],
  options: QuotaTrackOptions = {},
): { findings: Finding[]; observations: Observation[] } {
  const { permitted } = documented
  const track = new QuotaTrack(permitted, options)
  const read = createReader(permitted.contract)
  const findings: Finding[] = []
  const observations: Observation[] = []
  for (const [index, each] of said.entries()) {
    const { after = index, path = '/domains', limit = 30, remaining, reset = END, kind = 'success', lasts = 0 } = each
    const at = (START + after) * 1000
    const answers = {
      success: { status: 200, body: success({ domains: [] }) },
      limited: { status: 429, body: failure('rate_limited') },
      refused: { status: 422, body: failure('unknown_field') },
    }
    const headers = {
      Date: writeDate(at + lasts),
      'X-RateLimit-Limit': `${limit}`,
      'X-RateLimit-Remaining': `${remaining}`,
      'X-RateLimit-Reset': `${reset}`,
    }
    const reading = read(exchangeOf({ path, at, lasts, headers, ...answers[kind] }))
    if (reading === undefined) throw new Error('It has no response.')
    const remarks = track.take(reading)
    findings.push(...remarks.findings)
    observations.push(...remarks.observations)
  }
  return { findings, observations }
}

const idsOf = ({ findings }: { findings: Finding[] }) => findings.map(({ id, pointer }) => [id, pointer])
const down = (from: number, to: number, kind: Said['kind'] = 'success'): Said[] =>
  Array.from({ length: from - to + 1 }, (_, index) => ({ remaining: from - index, kind }))

describe('the quota of a service', () => {
  it('breaks the rule of the path when more requests succeed than the limit, whoever else spends', () => {
    const all = [...down(9, 0), { remaining: 0 }].map((each) => ({ ...each, path: '/dmarc', limit: 10 }))
    const judged = follow(all)
    expect(idsOf(judged)).toEqual([['broken-rule/listDmarc/200/dmarc-limit', '/paths/~1dmarc/x-rule/dmarc-limit']])
    expect(judged.findings[0]).toMatchObject({ label: 'broken rule', rule: 'dmarc-limit', line: expect.any(Number) })
  })

  it('breaks the rule when requests succeed after nothing is left, from mid-stream', () => {
    const [rule] = follow([...down(2, 0), ...Array.from({ length: 4 }, () => ({ remaining: 0 }))]).findings
    expect(rule).toMatchObject({ label: 'broken rule', rule: 'domains-limit' })
    const charged = [...down(20, 19), ...down(18, 10, 'refused'), { remaining: 0 }, { remaining: 0 }]
    const sure = follow(charged, { isSoleClient: true })
    expect(sure.findings.map(({ label }) => label)).toEqual(['broken rule'])
  })

  it('breaks the rules of the paths when each window ends early, and no other client was seen', () => {
    const windowOf = (path: string, limit: number, spent: number): Said[] =>
      [...down(limit - 1 - spent, 1), { remaining: 0, kind: 'limited' as const }].map((each) => ({
        ...each,
        path,
        limit,
      }))
    const early = [...windowOf('/dmarc', 10, 0), ...windowOf('/domains', 30, 0), ...windowOf('/domaingroups', 100, 50)]
    expect(idsOf(follow(early)).map(([id]) => id)).toEqual([
      'broken-rule/listDmarc/429/dmarc-limit',
      'broken-rule/listDomains/429/domains-limit',
      'broken-rule/listDomainGroups/429/domaingroups-limit',
    ])
    // Two may be chance; one that ends as it should shows that others spent before; and so do requests that are missing.
    expect(follow(early.filter(({ path }) => path !== '/dmarc')).findings).toEqual([])
    const right = [...down(9, 0), { remaining: 0, kind: 'limited' as const }].map((each) => ({ ...each, limit: 10 }))
    expect(follow([...right.map((each) => ({ ...each, path: '/dmarc' })), ...early.slice(10)]).findings).toEqual([])
    expect(follow(early.filter(({ remaining }) => remaining !== 5)).findings).toEqual([])
  })

  it('is not accused when a charge that is taken back was the last one for a moment', () => {
    expect(follow([...down(2, 0), { remaining: 0 }, { remaining: 0 }]).findings).toEqual([])
    expect(follow([{ remaining: 5 }, { remaining: 7, kind: 'refused' }]).findings).toEqual([])
  })

  it('is not accused of what requests did that overlapped', () => {
    const overlapping = [
      { after: 0, remaining: 0, lasts: 60_000 },
      { after: 1, remaining: 3, lasts: 1 },
      { after: 2, remaining: 2, lasts: 1 },
    ]
    expect(follow(overlapping, { isSoleClient: true }).findings).toEqual([])
  })

  it('is unexplained when more is left than before, or than successes leave', () => {
    const [rise] = follow([...down(20, 10), { remaining: 25 }]).findings
    expect(rise).toMatchObject({ label: 'unexplained', id: expect.stringContaining('x-ratelimit-remaining/rise') })
    const still = Array.from({ length: 3 }, () => ({ remaining: 28 }))
    expect(follow(still).findings.map(({ label }) => label)).toEqual(['unexplained'])
  })

  it('begins again with every window, and after its clock was set back', () => {
    expect(follow([...down(3, 0), { after: 1801, remaining: 29, reset: END + 3600 }]).findings).toEqual([])
    expect(
      follow([...down(3, 0), { after: -4000, remaining: 29, reset: END - 3600 }, { remaining: 29 }]).findings,
    ).toEqual([])
  })

  it('has a limit that the document gives, or that it leaves open', () => {
    expect(idsOf(follow([{ limit: 29, remaining: 5 }]))).toEqual([
      [
        'contract-violation/listDomains/200/response/headers/x-ratelimit-limit/minimum',
        '/paths/~1domains/x-quota/limit',
      ],
    ])
    expect(idsOf(follow([{ limit: 77, remaining: 5 }]))).toEqual([
      ['cannot-tell/listDomains/200/headers/x-ratelimit-limit', '/paths/~1domains/x-quota/grace'],
    ])
    const left = ({ observations }: { observations: Observation[] }) => observations.map(({ allows }) => allows)
    expect(left(follow([{ limit: 30, remaining: 5 }]))).toEqual([])
    expect(left(follow([{ limit: 300, remaining: 5 }]))).toEqual([[{ 'grace-domains': 0 }]])
    expect(left(follow([{ limit: 60, remaining: 5 }]))).toEqual([[{ 'grace-domains': 1 }]])
    expect(left(follow([{ limit: 3000, remaining: 5 }]))).toEqual([[{ 'grace-domains': 2 }]])
  })

  it('may lower its limit within a window when the days of grace end, but not raise it', () => {
    expect(
      follow([
        { limit: 300, remaining: 250 },
        { limit: 30, remaining: 0, kind: 'limited' },
      ]).findings,
    ).toEqual([])
    const raised = follow([
      { limit: 30, remaining: 20 },
      { limit: 300, remaining: 250 },
    ])
    expect(raised.findings.map(({ id }) => id)).toEqual([
      'unexplained/listDomains/200/headers/x-ratelimit-limit/change',
    ])
  })
})

/** Another client of the same key that does something between most requests. */
async function spend(baseUrl: string, word: number): Promise<void> {
  const headers = { authorization: `Bearer ${API_KEY}` }
  for (let count = word % 3; count > 0; count--) {
    const isRefused = (word >>> (4 + count)) % 2 === 0
    await sendRequest(isRefused ? 'POST' : 'GET', `${baseUrl}/domaingroups`, isRefused ? {} : undefined, headers)
  }
}

const QUOTA_CHOICES = ['quota-window', 'charged-requests', 'rate-limit-reset', 'quota-scope', 'quota-headers'] as const

describe('with another client that spends the same quota,', () => {
  it.each(Array.from({ length: budget({ quick: 3, full: 60 }) }, (_, index) => index))(
    'a service is accused of nothing, and nothing is decided wrongly (seed %d)',
    async (seed) => {
      const words = wordsOf(`quota ${seed}`)
      const truth = Object.fromEntries(QUOTA_CHOICES.map((id, index) => [id, ((words[index % 4] ?? 0) >>> index) % 2]))
      const service = await openRecorded(await compile(truth), documented.choices.contract)
      for (let step = 0; step < 60; step++) {
        const [what = 0, others = 0, time = 0] = wordsOf(`quota ${seed} ${step}`)
        if (step > 5) await spend(service.baseUrl, others)
        if (what % 3 === 0) await service.get('/domaingroups')
        else if (what % 3 === 1) await service.send('POST', '/domaingroups', { more: 1 })
        else await service.send('DELETE', '/domaingroups?id=none')
        service.advance((time % 40) * 10_000)
      }
      await service.stop()
      const judgement = judge(service.recorded.slice(seed % 5), documented.permitted)
      expect(judgement.findings, JSON.stringify(truth)).toEqual([])
      expect(wrongOnes(judgement, truth), JSON.stringify(truth)).toEqual([])
    },
  )
})

describe('alone, the headers say', () => {
  it.each([0, 1])('whether refused requests are charged (alternative %d)', async (number) => {
    const truth = { 'charged-requests': number }
    const service = await openRecorded(await compile(truth), documented.choices.contract)
    for (let count = 0; count < 3; count++) await service.get('/domaingroups')
    for (let count = 0; count < 10; count++) await service.send('POST', '/domaingroups', { more: 1 })
    await service.get('/domaingroups')
    await service.stop()
    const judgement = judge(service.recorded, documented.permitted)
    expect(judgement.findings).toEqual([])
    expect(leftOf('charged-requests', judgement, truth, documented.permitted)).toEqual([number])
  })

  it.each([
    { 'quota-window': 0 },
    { 'quota-window': 1 },
    { 'quota-window': 0, 'rate-limit-reset': 1 },
    { 'quota-window': 1, 'rate-limit-reset': 1 },
  ])('when windows start (%j)', async (truth) => {
    const service = await openRecorded(await compile(truth), documented.choices.contract)
    service.advance(123_456)
    await service.get('/domains')
    await service.stop()
    const judgement = judge(service.recorded, documented.permitted)
    expect(judgement.findings).toEqual([])
    expect(leftOf('quota-window', judgement, truth, documented.permitted)).toEqual([truth['quota-window']])
  })
})

import { describe, expect, it } from 'vitest'
import type { Assignment, ChoiceObservation } from '../../src/choices/observation.ts'
import { QuotaTrack, type QuotaTrackOptions } from '../../src/conformance/quotas.ts'
import { writeDate } from '../../src/http/date.ts'
import type { JudgedDifference } from '../../src/judge/finding.ts'
import { DATE, failure, readingOf, success } from '../exchanges/made-exchange.ts'
import { permitted } from '../support/permitted.ts'

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

const ANSWERS = {
  success: { status: 200, body: success({ domains: [] }) },
  limited: { status: 429, body: failure('rate_limited') },
  refused: { status: 422, body: failure('unknown_field') },
}

function follow(said: readonly Said[], options: QuotaTrackOptions = {}) {
  const track = new QuotaTrack(permitted, options)
  const findings: JudgedDifference[] = []
  const observations: ChoiceObservation[] = []
  for (const [index, each] of said.entries()) {
    const { after = index, path = '/domains', limit = 30, remaining, reset = END, kind = 'success', lasts = 0 } = each
    const at = (START + after) * 1000
    const headers = {
      Date: writeDate(at + lasts),
      'X-RateLimit-Limit': `${limit}`,
      'X-RateLimit-Remaining': `${remaining}`,
      'X-RateLimit-Reset': `${reset}`,
    }
    const remarks = track.take(readingOf({ path, at, lasts, headers, ...ANSWERS[kind] }))
    findings.push(...remarks.findings)
    observations.push(...remarks.observations)
  }
  return { findings, observations }
}

const idsOf = ({ findings }: { findings: JudgedDifference[] }) => findings.map(({ id, pointer }) => [id, pointer])
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
  })

  it('breaks the rules of the paths when each window ends early, and no other client was seen', () => {
    const windowOf = (path: string, limit: number, spent: number, until = 1): Said[] => {
      const said: Said[] = [...down(limit - 1 - spent, until), { remaining: 0, kind: 'limited' }]
      return said.map((each) => ({ ...each, path, limit }))
    }
    const early = [...windowOf('/dmarc', 10, 0), ...windowOf('/domains', 30, 0), ...windowOf('/domaingroups', 100, 50)]
    expect(idsOf(follow(early)).map(([id]) => id)).toEqual([
      'broken-rule/listDmarc/429/dmarc-limit',
      'broken-rule/listDomains/429/domains-limit',
      'broken-rule/listDomainGroups/429/domaingroups-limit',
    ])
    // Two may be chance; one that ends as it should shows that others spent before; and so do requests that are missing.
    expect(follow(early.filter(({ path }) => path !== '/dmarc')).findings).toEqual([])
    expect(follow([...windowOf('/dmarc', 10, 0, 0), ...early.slice(10)]).findings).toEqual([])
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

  it('is unexplained when more is left than successes leave', () => {
    const still = Array.from({ length: 3 }, () => ({ remaining: 28 }))
    expect(follow(still).findings.map(({ label }) => label)).toEqual(['unexplained'])
  })

  const left = (...all: number[]): Said[] => all.map((remaining) => ({ remaining }))
  const RISE = ['unexplained/listDomains/200/headers/x-ratelimit-remaining/rise']

  it.each<[what: string, said: Said[], ids: string[]]>([
    ['may rise where requests before the recording fall out of a window that slides', left(20, 19, 24), []],
    ['must not rise where the first request found all', left(29, 10, 20), RISE],
  ])('%s', (_, said, ids) => {
    for (const isSoleClient of [false, true]) {
      expect(follow(said, { isSoleClient }).findings.map(({ id }) => id)).toEqual(ids)
    }
  })

  it('begins again with every window, and after its clock was set back', () => {
    expect(follow([...down(3, 0), { after: 1801, remaining: 29, reset: END + 3600 }]).findings).toEqual([])
    expect(
      follow([...down(3, 0), { after: -4000, remaining: 29, reset: END - 3600 }, { remaining: 29 }]).findings,
    ).toEqual([])
  })

  it.each([
    [
      29,
      'contract-violation/listDomains/200/response/headers/x-ratelimit-limit/minimum',
      '/paths/~1domains/x-quota/limit',
    ],
    [77, 'another-choice/listDomains/200/headers/x-ratelimit-limit', '/paths/~1domains/x-quota/grace'],
  ])('has a limit that the document gives or leaves open, and not %d', (limit, id, pointer) => {
    expect(idsOf(follow([{ limit, remaining: 5 }]))).toEqual([[id, pointer]])
  })

  it('may lower its limit within a window when the days of grace end, but not raise it', () => {
    const spent: Said = { limit: 30, remaining: 0, kind: 'limited' }
    expect(follow([{ limit: 300, remaining: 250 }, spent]).findings).toEqual([])
    const raised = follow([
      { limit: 30, remaining: 20 },
      { limit: 300, remaining: 250 },
    ])
    expect(raised.findings.map(({ id }) => id)).toEqual([
      'unexplained/listDomains/200/headers/x-ratelimit-limit/change',
    ])
  })
})

describe('the quota of a service tells', () => {
  const SPENT = [...down(28, 26), ...down(25, 18, 'refused'), { remaining: 17 }]

  it.each<[what: string, said: Said[], allows: (readonly Assignment[])[]]>([
    [
      'that refused requests are charged, where eight have each lowered it by one',
      SPENT,
      [[{ 'charged-requests': 0 }]],
    ],
    ['nothing where there are seven of them', [...down(28, 26), ...down(25, 19, 'refused'), { remaining: 18 }], []],
    ['nothing where another client spends among them', SPENT.toSpliced(5, 1), []],
    [
      'that not both are so, by a first request in the middle of the hour',
      [{ remaining: 29 }],
      [
        [
          { 'quota-window': 0, 'charged-requests': 0 },
          { 'quota-window': 0, 'charged-requests': 1 },
          { 'quota-window': 1, 'charged-requests': 1 },
        ],
      ],
    ],
  ])('%s', (_, said, allows) => {
    const { findings, observations } = follow(said)
    expect(findings).toEqual([])
    expect(observations.map((each) => each.allows)).toEqual(allows)
  })
})

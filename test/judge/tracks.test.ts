import { describe, expect, it } from 'vitest'
import { SchemeTrack } from '../../src/judge/choice-tracks.ts'
import { FigureTrack } from '../../src/judge/figures.ts'
import type { Remark, Report } from '../../src/judge/findings.ts'
import { readQuotaFields } from '../../src/judge/quota-fields.ts'
import { QuotaTrack } from '../../src/judge/quotas.ts'
import { RequestIdTrack } from '../../src/judge/request-ids.ts'
import { writeDate } from '../../src/service/response.ts'
import { DATE, failure, readingOf, success } from '../exchanges/made-exchange.ts'
import { sentWith } from './judged.ts'

function remarksOf(take: (report: Report) => void): Remark[] {
  const remarks: Remark[] = []
  take((remark) => remarks.push(remark))
  return remarks
}

/** What one response says, in seconds after half past nine. */
interface Said {
  after?: number
  path?: string
  limit?: number
  remaining: number
  reset?: number
  kind?: 'success' | 'limited' | 'refused' | 'unread'
  lasts?: number
}

const START = DATE / 1000
const END = START + 1800
const ANSWERS = {
  success: { status: 200, body: success({ domains: [] }) },
  limited: { status: 429, body: failure('rate_limited') },
  refused: { status: 404, body: failure('not_found') },
  unread: { status: 400, body: failure('invalid_json') },
}

/** What is found, each by the end of its id or by its rule. */
function follow(said: readonly Said[]): string[] {
  const track = new QuotaTrack()
  return said.flatMap((each, index) => {
    const {
      after = index * 10,
      path = '/domains',
      limit = 30,
      remaining,
      reset = END,
      kind = 'success',
      lasts = 0,
    } = each
    const at = (START + after) * 1000
    const headers = {
      Date: writeDate(at + lasts),
      'X-RateLimit-Limit': `${limit}`,
      'X-RateLimit-Remaining': `${remaining}`,
      'X-RateLimit-Reset': `${reset}`,
    }
    const reading = readingOf({ path, at, lasts, headers, ...ANSWERS[kind] })
    const fields = readQuotaFields(reading)
    const remarks = fields === undefined ? [] : remarksOf((report) => track.take(reading, fields, report))
    return remarks.map(({ rule, what }) => rule ?? what.replace('headers/x-ratelimit-', ''))
  })
}

const down = (from: number, to: number): Said[] =>
  Array.from({ length: from - to + 1 }, (_, index) => ({ remaining: from - index }))
const times = (count: number, said: Said): Said[] => Array.from({ length: count }, () => said)

const used = down(9, 0).map((each) => ({ ...each, path: '/dmarc', limit: 10 }))
const faster = (said: Said, index: number) => ({ ...said, after: index / 50, reset: START + 3600 })
/** In a window that begins with the first request. */
const first = (said: Said) => ({ lasts: 5, ...said, reset: START + 3600 })
const spent: Said = { remaining: 0, path: '/dmarc', limit: 10 }
const long = (said: Said) => ({ ...said, lasts: 10_000 })
/** The first of them was charged in the window before, and another client gets a charge back. */
const late = [{ ...spent, remaining: 10, lasts: 4_000 }, ...used.slice(0, 8), spent, spent].map((said) => {
  return { ...said, reset: START + 3602 }
})
const noneLeft: Said = { remaining: 0 }
const young: Said = { limit: 300, remaining: 250 }

describe('the quota of a service', () => {
  it.each<[found: string, what: string, ...said: Said[]]>([
    ['dmarc-limit', 'gives more than its limit', ...used, { ...noneLeft, path: '/dmarc', limit: 10 }],
    [
      'dmarc-limit',
      'gives more than its limit to requests that come faster than its time goes on',
      ...[...used, { ...noneLeft, path: '/dmarc', limit: 10 }].map(faster),
    ],
    ['dmarc-limit', 'gives one more in a window that begins with the first request', ...used.map(first), first(spent)],
    ['domains-limit', 'goes on when nothing is left', ...down(2, 0), ...times(4, noneLeft)],
    ['remaining/rise', 'does not fall with each success', ...times(2, { remaining: 29 })],
    ['remaining/rise', 'is higher after a refusal', ...down(29, 27), { remaining: 29, kind: 'refused' }],
    ['remaining/limited', 'is left where a request is refused for it', { remaining: 3, kind: 'limited' }],
    ['limit/change', 'is raised within a window', { remaining: 20 }, young],
    ['response/limit/minimum', 'is below that of the document', { limit: 29, remaining: 5 }],
    ['reset', 'ends beyond a window', { remaining: 20, reset: END + 7200 }],
  ])('is wrong (%s) if it %s', (found, _, ...said) => {
    expect(follow(said)).toEqual([found])
  })

  it.each<[what: string, ...said: Said[]]>([
    ['is spent', ...down(29, 0)],
    ['takes back the charges of others that were the last for a moment', ...down(2, 0), ...times(3, noneLeft)],
    ['is another one for a caller without a valid key', ...down(29, 27), { ...young, kind: 'unread' }],
    ['is smaller for a caller without a valid key', { remaining: 4, limit: 5, kind: 'unread' }],
    ['is spent, and then refused', ...used.map(first), { ...first(spent), kind: 'limited' }],
    ['is spent, and begins again', ...used.map(first), { ...spent, remaining: 9, after: 3601, reset: START + 7201 }],
    ['is spent, and begins again within a moment', ...used.map(first), { ...first(spent), after: 3599 }],
    ['is spent, and one charge has ended', ...used.map(first), { ...spent, reset: START + 3610 }],
    ['is spent while the last request is on its way', ...used.map(first).map(long), first({ ...spent, after: 95 })],
    ['began with a charge of the window before', ...late],
    ['begins again with the next window', ...down(2, 0), { after: 1801, remaining: 29, reset: END + 3600 }],
    ['begins again when the clock is set back', ...down(29, 27), { after: -4000, remaining: 29, reset: END - 3600 }],
    [
      'slides, so that old charges end',
      { after: -3500, remaining: 28, reset: START + 100 },
      { after: 200, remaining: 28, reset: START + 3700 },
    ],
    ['has a lower limit when the days of grace end', young, { remaining: 0, kind: 'limited' }],
    ['is not counted where requests overlap', { after: 0, remaining: 28, lasts: 60_000 }, { after: 1, remaining: 29 }],
    ['was charged in the window before', { after: 0, remaining: 30, reset: START + 3602, lasts: 4_000 }],
  ])('is right if it %s', (_, ...said) => {
    expect(follow(said)).toEqual([])
  })
})

const MIDNIGHT = Date.parse('2026-01-15T00:00:00Z')

/** One read of the records: hours after midnight by the clock of the service, and the volume of one domain or of several. */
type Read = readonly [hours: number, counts: number | Readonly<Record<string, number>>]

function read(reads: readonly Read[]): string[] {
  const track = new FigureTrack()
  return reads.flatMap(([hours, counts]) => {
    const volumes = Object.entries(typeof counts === 'number' ? { 'a.example': counts } : counts)
    const data = volumes.map(([domain, count]) => ({ domain, dmarc: 99.5, dkim: 0, spf: 0, count }))
    const headers = { Date: writeDate(MIDNIGHT + hours * 3_600_000) }
    // The recorder's clock says something else, which must not matter.
    const reading = readingOf({ path: '/dmarc', headers, at: 1_000, body: success(data) })
    return remarksOf((report) => track.take(reading, report)).map(({ rule, message }) => `${rule}: ${message}`)
  })
}

describe('the figures of a service', () => {
  it('break the rule when those of a domain change three times within a day', () => {
    const [a, b] = ['a.example', 'b.example']
    const counts = [10, 11, 12, 13]
    expect(read(counts.map((count, index) => [9 + index, { [a]: count, [b]: 5 }]))).toEqual([
      'daily-refresh: The figures of a.example changed 3 times within a day.',
    ])
  })

  it.each<[title: string, ...reads: Read[]]>([
    ['change once a day', [1, 10], [25, 11], [49, 12], [73, 13], [97, 14]],
    ['stay, each with its own change', [9, { a: 1, b: 1 }], [10, { a: 2, b: 1 }], [11, { a: 2, b: 2 }]],
    [
      'begin again because another client adds the domain again',
      ...[5, 0, 7, 0, 9, 0].map((count, index): Read => [9 + index, count]),
    ],
    [
      'change while other domains come and go',
      ...[
        { a: 1, b: 1 },
        { a: 2, c: 1 },
        { a: 3, b: 1 },
        { a: 4, c: 1 },
      ].map((each, index): Read => [9 + index, each]),
    ],
    ['are read while the clock is set back', [9, 1], [10, 2], [8, 3], [9, 4]],
  ])('may %s', (_, ...reads) => {
    expect(read(reads)).toEqual([])
  })
})

describe('an X-Request-Id', () => {
  it.each<[what: string, seconds: number[], found: number]>([
    ['that three requests have', [0, 1, 2, 2, 1, 3, 2], 1],
    ['that two have, also if a recorder repeats one answer', [0, 1, 1, 0, 1], 0],
  ])('%s is reported once, or not at all', (_, seconds, found) => {
    const track = new RequestIdTrack()
    const remarks = seconds.flatMap((after) => {
      const reading = readingOf({ path: '/domains', at: DATE + after * 1000, body: success({ domains: [] }) })
      return remarksOf((report) => track.take(reading, report))
    })
    expect(remarks).toHaveLength(found)
  })

  it('is remembered while thousands of others come', () => {
    const track = new RequestIdTrack()
    const take = (id: string, after: number) => {
      const headers = { 'X-Request-Id': id }
      const reading = readingOf({ path: '/domains', at: DATE + after, headers, body: success({ domains: [] }) })
      return remarksOf((report) => track.take(reading, report))
    }
    for (const after of [1, 2]) take('same', after)
    for (let index = 0; index < 6_000; index++) take(`other ${index}`, 3)
    expect(take('same', 4)).toMatchObject([{ what: 'headers/x-request-id/repeated' }])
  })
})

it('the refusal of another spelling of the scheme shows something only if the key is valid before and after it', () => {
  const track = new SchemeTrack()
  const take = (scheme: string, isRefused: boolean) => {
    const answer = isRefused ? { status: 401, body: failure('unauthorized') } : { body: success({ domains: [] }) }
    const change = sentWith({ kind: 'sent', scheme, key: 'key 1', isWord: true })
    track.take(readingOf({ path: '/domains', ...answer }, change))
    return track.isShown
  }
  const refusedAfterwards = [take('Bearer', false), take('bearer', true), take('Bearer', true), take('Bearer', false)]
  expect(refusedAfterwards).toEqual([false, false, false, false])
  expect([take('bearer', true), take('Bearer', false)]).toEqual([false, true])
})

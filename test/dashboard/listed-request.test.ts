import { describe, expect, it } from 'vitest'
import { dividersIn } from '../../src/dashboard/requests/days.ts'
import {
  type Conditions,
  containsAll,
  type ListedRequest,
  MOST_REQUESTS,
  meets,
  Newest,
  NO_CONDITIONS,
} from '../../src/dashboard/requests/listed-request.ts'
import type { JournalEntry } from '../../src/dashboard/responses.ts'

const REFUSED: ListedRequest = {
  ...{ ordinal: 7, request_id: 'c0ffee', account: 'default', at: '2026-01-15T09:30:00Z', method: 'POST' },
  ...{ path: '/api/v1/domains', query: 'x=1', operation: 'addDomains', status: 400, code: 'invalid_domain' },
  ...{ injected: false, duration_ms: 1, violates_contract: true, fault: null, breach: false },
}
const GENUINE: ListedRequest = { ...REFUSED, status: 200, code: null, violates_contract: false }
const LOST: ListedRequest = { ...GENUINE, status: null, injected: true, fault: 'The connection was reset.' }
const BREACH: ListedRequest = { ...GENUINE, breach: true }

const MESSAGE = { headers: {}, body: null, body_size: 0, truncated: false }
const ENTRY: JournalEntry = {
  ...REFUSED,
  ...{ key: 'key_TestKey1', fault: null, problems: [], violations: [], quota: null },
  request: { ...MESSAGE, body: '{"domains":["Alpha.example","key_TestKey1.[redacted]"]}' },
  response: { ...MESSAGE, body: '{"success":false}' },
}

describe('a listed request', () => {
  it.each<[words: string, matches: boolean]>([
    ['', true],
    ['POST 4xx invalid_domain', true],
    ['post 400', true],
    ['x=1 adddomains', true],
    ['alpha.example "success":false', true],
    ['redacted', false],
    ['violation c0ffee', true],
    ['post 5xx', false],
    ['injected', false],
    ['no response', false],
  ])('is found by the words %j: %s', (words, matches) => {
    expect(containsAll(ENTRY, words.toLowerCase().split(' ').filter(Boolean))).toBe(matches)
  })

  it.each<[condition: Partial<Conditions>, those: ListedRequest[]]>([
    [{}, [REFUSED, GENUINE, LOST, BREACH]],
    [{ violation: true }, [REFUSED, BREACH]],
    [{ refused: true }, [REFUSED]],
    [{ injected: true }, [LOST]],
    [{ operation: 'addDomains' }, [REFUSED, GENUINE, LOST, BREACH]],
    [{ operation: 'listDomains' }, []],
    [{ violation: true, refused: true }, [REFUSED]],
  ])('meets %j as the server decides it', (condition, those) => {
    const all = [REFUSED, GENUINE, LOST, BREACH]
    expect(all.filter((entry) => meets(entry, { ...NO_CONDITIONS, ...condition }))).toEqual(those)
  })
})

it('has its day above it if the row above has another one, also where the clock went back', () => {
  const list = ['02-24T10:00', '02-24T09:00', '01-15T09:30', '02-24T09:00'].map((at) => ({ at: `2026-${at}:00Z` }))
  expect([...dividersIn(list)]).toEqual([
    [list[0], '2026-02-24 1'],
    [list[2], '2026-01-15 1'],
    [list[3], '2026-02-24 2'],
  ])
})

describe('the newest requests', () => {
  it('are the last three hundred, the newest first, however many were added', () => {
    const newest = new Newest()
    newest.replace([
      { ...GENUINE, ordinal: 2 },
      { ...GENUINE, ordinal: 1 },
    ])
    for (let ordinal = 3; ordinal <= 1_000; ordinal++) newest.add({ ...GENUINE, ordinal })
    const ordinals = newest.list().map(({ ordinal }) => ordinal)
    expect(ordinals).toEqual(Array.from({ length: MOST_REQUESTS }, (_, index) => 1_000 - index))
    expect(newest.ordinal).toBe(1_000)
    newest.replace([])
    expect([newest.ordinal, newest.list()]).toEqual([0, []])
  })
})

import { describe, expect, it } from 'vitest'
import {
  type Conditions,
  findWords,
  type ListedRequest,
  MOST_REQUESTS,
  meets,
  Newest,
  NO_CONDITIONS,
} from '../../src/dashboard/requests/listed-request.ts'

const REFUSED: ListedRequest = {
  ...{ ordinal: 7, request_id: 'c0ffee', account: 'default', at: '2026-01-15T09:30:00Z', method: 'POST' },
  ...{ path: '/api/v1/domains', query: 'x=1', operation: 'addDomains', status: 400, code: 'invalid_domain' },
  ...{ injected: false, duration_ms: 1, violates_contract: true, fault: null, breach: false },
}
const GENUINE: ListedRequest = { ...REFUSED, status: 200, code: null, violates_contract: false }
const LOST: ListedRequest = { ...GENUINE, status: null, injected: true, fault: 'The connection was reset.' }
const BREACH: ListedRequest = { ...GENUINE, breach: true }

describe('a listed request', () => {
  it.each<[words: string, matches: boolean]>([
    ['', true],
    ['POST 4xx invalid_domain', true],
    ['post 400', true],
    ['x=1 adddomains default', true],
    ['violation c0ffee', true],
    ['post 5xx', false],
    ['injected', false],
    ['no response', false],
  ])('is found by the words %j: %s', (words, matches) => {
    expect(findWords([REFUSED], words)).toHaveLength(matches ? 1 : 0)
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

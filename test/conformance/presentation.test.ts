import { describe, expect, it } from 'vitest'
import { findContractProblems } from '../../src/conformance/contract-problems.ts'
import { observePresentation, type Presentation } from '../../src/conformance/presentation.ts'
import { RequestIdTrack } from '../../src/conformance/request-ids.ts'
import type { Problem } from '../../src/domain/errors.ts'
import { DATE, failure, type Made, readingOf, success } from '../exchanges/made-exchange.ts'
import { permitted } from '../support/permitted.ts'

function look(made: Made, problems: readonly Problem<string>[] = []): Presentation {
  const reading = readingOf(made)
  const forbidden = findContractProblems(reading, permitted).filter(({ id }) => !id.includes('/request/'))
  expect(forbidden, 'what the contract forbids already').toEqual([])
  return observePresentation(reading, { problems }, permitted, {})
}

const listedWith = (name: string, value: string): Made => ({
  path: '/domains',
  headers: { [name]: value },
  body: success({ domains: [] }),
})

describe('no alternative explains', () => {
  it.each<[title: string, made: Made, id: string, problems?: Problem<string>[]]>([
    [
      'a status that only another problem has',
      { method: 'POST', path: '/domains', sent: '', status: 415, body: failure('invalid_request_body') },
      'addDomains/415/status/invalid_request_body',
      [{ code: 'invalid_request_body', reason: 'absent' }],
    ],
    [
      'a reset in milliseconds',
      listedWith('X-RateLimit-Reset', '1768471200000'),
      'listDomains/200/headers/x-ratelimit-reset',
    ],
    ['a request id that nobody asked for', listedWith('X-Request-Id', 'req_1'), 'listDomains/200/headers/x-request-id'],
    [
      'another scheme to authenticate with',
      { path: '/domains', status: 401, headers: { 'WWW-Authenticate': 'Basic' }, body: failure('unauthorized') },
      'listDomains/401/headers/www-authenticate',
      [{ code: 'unauthorized' }],
    ],
  ])('%s', (_, made, id, problems) => {
    const { findings } = look(made, problems)
    // What the specification leaves open is nobody's failure; that the reset is like a time is shown.
    const label = /x-ratelimit-reset/.test(id) ? 'unexplained' : 'another choice'
    expect(findings.map((finding) => finding.id)).toEqual([`${label.replace(' ', '-')}/${id}`])
    expect(findings[0]).toMatchObject({ label, message: expect.stringMatching(/\.$/) })
  })
})

describe('a text for a person', () => {
  it.each([
    ['Domains added successfully.', [[{ 'add-domains-message': 1 }]]],
    ['Done!', []],
  ])('is an observation where the document names it, and only seen where it does not: %s', (text, allows) => {
    const body = success({ message: text, domains: ['a.example'], count: 1 })
    const { observations, message } = look({ method: 'POST', path: '/domains', sent: { domains: ['a.example'] }, body })
    expect(message).toEqual({ of: 'addDomains', text })
    const named = observations.filter(({ allows: [first = {}] }) => 'add-domains-message' in first)
    expect(named.map((each) => each.allows)).toEqual(allows)
  })
})

describe('the numbers of a response', () => {
  const record = { domain: 'a.example', p: 'none', sp: 'none', np: 'none', pct: 100, testing: 'n', dkim: 0, spf: 0 }
  const many = (value: (index: number) => number) => Array.from({ length: 15 }, (_, index) => value(index))

  it.each<[what: string, count: number, dmarc: number[], left: number[]]>([
    ['two decimals', 5_000, [12.34], [1]],
    ['many with one decimal', 20_000, many((index) => Math.round((90.1 + index / 5) * 10) / 10), [0]],
    // Of eight messages, each share is a multiple of 12.5, whatever the service rounds to.
    ['shares of eight messages', 8, many((index) => 12.5 * (1 + (index % 7))), [0, 1]],
  ])('tell their precision only where there are enough that would show a finer one: %s', (_, count, dmarc, left) => {
    const data = dmarc.map((share) => ({ ...record, dmarc: share, count }))
    const { observations } = look({ path: '/dmarc', body: success(data) })
    const about = observations.filter(({ allows: [first = {}] }) => 'percentages' in first)
    // JSON has no zero behind the point: the service has chosen the alternative 1 of `decimals`.
    const isLeft = (number: number) =>
      about.every(({ allows }) =>
        allows.some(({ percentages, decimals = 1 }) => percentages === number && decimals === 1),
      )
    expect(permitted.numbersOf('percentages').filter(isLeft)).toEqual(left)
  })
})

describe('an X-Request-Id', () => {
  it.each<[what: string, seconds: number[], findings: string[]]>([
    ['that three requests have', [0, 1, 2, 2, 1, 3, 2], ['listDomains/200/headers/x-request-id/repeated after 2']],
    ['that two have, also if a recorder repeats one answer', [0, 1, 1, 0, 1], []],
  ])('%s is reported once, or not at all: at %j seconds', (_, seconds, findings) => {
    const track = new RequestIdTrack(permitted)
    const found = seconds.flatMap((after) => {
      const reading = readingOf({ path: '/domains', at: DATE + after * 1000, body: success({ domains: [] }) })
      return track.take(reading).findings.map(({ id }) => `${id} after ${after}`)
    })
    expect(found).toEqual(findings.map((id) => `unexplained/${id}`))
  })
})

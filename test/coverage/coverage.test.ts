import { describe, expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { Coverage, mergeCoverage } from '../../src/coverage/coverage.ts'
import type { Observation } from '../../src/coverage/observation.ts'
import { type CoverageReport, reportCoverage } from '../../src/coverage/report.ts'
import { NO_KEY } from '../../src/journal/entry.ts'
import { ONE_SENTENCE } from '../support/own-document.ts'
import { START } from '../support/service.ts'

const contract = await loadContract()
const HOUR = 3_600_000
const GROUP = { id: '4fTq81Zb', name: 'Sales', domains: ['one.example', 'two.example'] }
const EMPTY_GROUP = { ...GROUP, domains: [] }
const SECOND_KEY = { ordinal: 2, disabled: false, inGrace: false }

type Seen = Partial<Omit<Observation, 'operation'>>

/** A success of the operation unless `seen` says otherwise. */
function observation(operationId: string | undefined, seen: Seen = {}): Observation {
  const operation = contract.operations.find(({ id }) => id === operationId)
  return {
    operation,
    status: seen.code === undefined ? 200 : 400,
    code: undefined,
    reason: undefined,
    injected: false,
    query: {},
    body: undefined,
    bodyBytes: 0,
    allowance: undefined,
    now: START,
    key: { ordinal: 1, disabled: false, inGrace: false },
    group: undefined,
    ...seen,
  }
}

function coverageOf(...observations: Observation[]): Coverage {
  const coverage = new Coverage(contract)
  for (const each of observations) coverage.observe(each)
  return coverage
}

function shownBy(...observations: Observation[]): string[] {
  const { rules, edges } = reportCoverage(coverageOf(...observations))
  return [...rules, ...edges].filter(({ seen }) => seen).map(({ id }) => id)
}

function hosts(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `host-${index}.example`)
}

const read = (seen?: Seen) => observation('listDmarc', seen)
const add = (body: unknown, seen?: Seen) => observation('addDomains', { body, ...seen })
const create = (body: unknown, seen?: Seen) => observation('createDomainGroup', { body, ...seen })
const update = (body: unknown, seen?: Seen) =>
  observation('updateDomainGroup', { body, query: { id: GROUP.id }, group: GROUP, ...seen })
const remove = (seen?: Seen) => observation('deleteDomains', seen)
const list = (seen?: Seen) => observation('listDomainGroups', seen)
const refusal = (code: string, reason?: string): Seen => ({ code, reason })
const TOO_MANY = refusal('request_too_large', 'maxItems')
const TOO_LARGE = refusal('request_too_large', 'bytes')
/** How long a body may be. */
const LARGEST = 1_048_576
const LIMITED: Seen = { status: 429, ...refusal('rate_limited') }
const UNKNOWN: Seen = { status: 401, ...refusal('unauthorized'), key: NO_KEY }

/** What the limit of requests says of one. */
function allowance(limit: number, remaining: number, allowed = true): Seen {
  return { allowance: { allowed, limit, remaining, resetAt: 0 } }
}

describe('a rule is shown', () => {
  it.each<[rule: string, how: string, ...observations: Observation[]]>([
    ['one-record-per-domain', 'by any success of its operation', read()],
    ['daily-refresh', 'by a second read between two refreshes', read(), read({ now: START + HOUR })],
    ['dmarc-limit', 'by a refusal with its code', read(LIMITED)],
    ['domains-limit', 'by any method of its path', add({}, LIMITED)],
    ['valid-hostnames', 'by a refusal for its reason', add({ domains: ['x'] }, refusal('invalid_domain', 'format'))],
    ['no-duplicates', 'by any of its reasons', add({ domains: ['x'] }, refusal('invalid_domain', 'monitored'))],
    ['at-most-50-domains', 'by its reason with any code', add({}, refusal('invalid_request_body', 'maxItems'))],
    ['members-in-the-same-call', 'by a group with members', create({ name: 'A', domains: hosts(1) })],
    ['groups-with-count', 'by a read without id', list()],
    ['one-group-by-id', 'by a read with id', list({ query: { id: GROUP.id } })],
    ['unknown-removals-ignored', 'by the removal of no member', update({ remove_domains: ['three.example'] })],
    ['additions-before-removals', 'by both', update({ add_domains: hosts(1), remove_domains: hosts(1) })],
    ['domains-replace-members', 'by a replacement with nothing', update({ domains: [] })],
    ['additions-keep-members', 'by an addition to members', update({ add_domains: hosts(1) })],
    ['members-stay-monitored', 'by a group with members', observation('deleteDomainGroup', { group: GROUP })],
    ['key-required', 'without a key', read(UNKNOWN)],
    ['stone-plan-required', 'by a plan too low', read({ status: 403, ...refusal('unauthorized', 'plan') })],
    ['several-keys', 'by a second key', read({ key: SECOND_KEY })],
    ['grace-of-new-keys', 'by a new key', read({ key: { ...SECOND_KEY, inGrace: true } })],
    ['key-switched-off', 'by a disabled key', read({ ...UNKNOWN, key: { ...SECOND_KEY, disabled: true } })],
  ])('%s, %s', (rule, _, ...observations) => {
    expect(shownBy(...observations)).toContain(rule)
  })

  it.each<[rule: string, how: string, ...observations: Observation[]]>([
    ['one-record-per-domain', 'by a refusal', read(LIMITED)],
    ['one-record-per-domain', 'by another operation', observation('listDomains')],
    ['one-record-per-domain', 'by an injected answer', read({ injected: true })],
    ['dmarc-limit', 'by an injected refusal', read({ ...LIMITED, injected: true })],
    ['daily-refresh', 'by one read', read()],
    ['daily-refresh', 'by reads of two days', read(), read({ now: START + 24 * HOUR })],
    ['daily-refresh', 'by a read that was refused', read(), read(LIMITED)],
    ['domain-in-use-stays', 'for another reason', remove(refusal('domain_delete_failed', 'unmonitored'))],
    [
      'members-in-the-same-call',
      'by a group without members',
      create({ name: 'A' }),
      create({ name: 'B', domains: [] }),
    ],
    ['groups-with-count', 'by a read with id', list({ query: { id: GROUP.id } })],
    ['one-group-by-id', 'by a read without id', list()],
    [
      'unknown-removals-ignored',
      'by the removal of members',
      update({ remove_domains: ['ONE.example.', 'two.example'] }),
    ],
    ['unknown-removals-ignored', 'by a change without removals', update({ name: 'B' })],
    [
      'additions-before-removals',
      'by one of both',
      update({ add_domains: hosts(1) }),
      update({ remove_domains: hosts(1) }),
    ],
    ['members-stay-monitored', 'by an empty group', observation('deleteDomainGroup', { group: EMPTY_GROUP })],
    ['key-required', 'by a plan too low', read(refusal('unauthorized', 'plan'))],
    ['several-keys', 'by the first key', read()],
    ['several-keys', 'by a second key that is refused', read({ ...refusal('unauthorized'), key: SECOND_KEY })],
    ['grace-of-new-keys', 'by an old key', read({ key: SECOND_KEY })],
    ['key-switched-off', 'by an unknown key', read(UNKNOWN)],
  ])('%s, but not %s', (rule, _, ...observations) => {
    expect(shownBy(...observations)).not.toContain(rule)
  })

  it('for good, whatever comes after', () => {
    const coverage = coverageOf(read(), read(), observation('listDomainGroups'))
    for (let hour = 0; hour < 100; hour++) coverage.observe(read({ now: START + hour * HOUR }))
    const { rules } = reportCoverage(coverage)
    const shown = rules.filter(({ seen }) => seen).map(({ id }) => id)
    expect(shown.toSorted()).toEqual(['daily-refresh', 'groups-with-count', 'one-record-per-domain'])
  })
})

describe('a limit edge is shown', () => {
  it.each<[edge: string, seen: Observation]>([
    ['addDomains domains maxItems 50 at', add({ domains: hosts(50) })],
    ['addDomains domains maxItems 50 at', add({ domains: hosts(50) }, refusal('invalid_domain', 'monitored'))],
    ['addDomains domains maxItems 50 beyond', add({ domains: hosts(51) }, refusal('request_too_large', 'maxItems'))],
    ['addDomains domains minItems 1 beyond', add({ domains: [] }, refusal('missing_field', 'minItems'))],
    ['createDomainGroup name maxLength 100 at', create({ name: '📮'.repeat(100) })],
    [
      'createDomainGroup name maxLength 100 beyond',
      create({ name: '📮'.repeat(101) }, refusal('invalid_name', 'maxLength')),
    ],
    ['updateDomainGroup minProperties 1 at', update({ name: 'B' })],
    ['updateDomainGroup minProperties 1 beyond', update({}, refusal('no_fields_to_update', 'minProperties'))],
    ['updateDomainGroup id minLength 1 at', update({ name: 'B' }, { query: { id: 'x' }, ...refusal('not_found') })],
    [
      'updateDomainGroup id minLength 1 beyond',
      update({}, { query: { id: '' }, ...refusal('missing_id', 'minLength') }),
    ],
    ['addDomains body-limit 1048576 at', add({ domains: hosts(1) }, { bodyBytes: LARGEST })],
    ['addDomains body-limit 1048576 beyond', add(undefined, { bodyBytes: LARGEST + 1, ...TOO_LARGE })],
    ['/dmarc x-quota 10 at', read(allowance(10, 0))],
    ['/domains x-quota 30 beyond', add({}, { ...refusal('rate_limited'), ...allowance(30, 0, false) })],
  ])('%s', (edge, seen) => {
    expect(shownBy(seen)).toContain(edge)
    expect(shownBy({ ...seen, injected: true })).toEqual([])
  })

  const unknownField = refusal('unknown_field', 'additionalProperties')
  it.each<[edge: string, how: string, seen: Observation]>([
    ['addDomains domains maxItems 50 at', 'by fewer', add({ domains: hosts(49) })],
    ['addDomains domains maxItems 50 at', 'with an unknown field', add({ domains: hosts(50), more: 1 }, unknownField)],
    ['addDomains domains maxItems 50 at', 'before it is read', add({ domains: hosts(50) }, refusal('rate_limited'))],
    ['addDomains domains maxItems 50 beyond', 'by many more', add({ domains: hosts(60) }, TOO_MANY)],
    [
      'addDomains domains maxItems 50 beyond',
      'by its form',
      add({ domains: hosts(51) }, refusal('invalid_domain', 'format')),
    ],
    ['createDomainGroup name maxLength 100 at', 'by half as many characters', create({ name: '📮'.repeat(50) })],
    ['createDomainGroup name maxLength 100 at', 'by another operation', update({ name: 'x'.repeat(100) })],
    ['updateDomainGroup minProperties 1 at', 'by two fields', update({ name: 'B', domains: [] })],
    [
      'addDomains body-limit 1048576 at',
      'by a refusal',
      add(undefined, { bodyBytes: LARGEST, ...refusal('invalid_json') }),
    ],
    ['/dmarc x-quota 10 at', 'of another path', add({}, allowance(30, 0))],
    ['/dmarc x-quota 10 at', 'earlier', read(allowance(10, 1))],
  ])('%s, but not %s', (edge, _, seen) => {
    expect(shownBy(seen)).not.toContain(edge)
  })
})

function responsesOf({ operations }: CoverageReport, operationId: string): unknown[] {
  const responses = operations.find(({ operation }) => operation === operationId)?.responses ?? []
  return responses.filter(({ genuine, injected }) => genuine + injected > 0)
}

describe('a report', () => {
  const everything = [
    read(),
    read(),
    read({ injected: true, status: 429, ...refusal('rate_limited') }),
    read({ injected: true, status: 503 }),
    read({ status: 500, ...refusal('internal_error') }),
    observation(undefined, { status: 404, ...refusal('not_found', 'path') }),
  ]

  it('counts genuine and injected responses apart, and marks those that are not documented', () => {
    const report = reportCoverage(coverageOf(...everything))
    expect(responsesOf(report, 'listDmarc')).toEqual([
      { status: 200, genuine: 2, injected: 0, documented: true },
      { status: 429, code: 'rate_limited', genuine: 0, injected: 1, documented: true },
      { status: 500, code: 'internal_error', genuine: 1, injected: 0, documented: true },
      { status: 503, genuine: 0, injected: 1, documented: false },
    ])
    expect(report.outside).toEqual([{ status: 404, code: 'not_found', genuine: 1, injected: 0, documented: false }])
  })

  it('lists for each operation what the contract documents, but for what nobody can bring about', () => {
    for (const { operation, responses } of reportCoverage(new Coverage(contract)).operations) {
      const documented = [...(contract.operations.find(({ id }) => id === operation)?.responses.values() ?? [])]
      const expected = documented.flatMap(({ status, codes }) =>
        codes.size === 0 ? [{ status }] : [...codes].map((code) => ({ status, code })),
      )
      expect(responses.map(({ status, code }) => ({ status, ...(code && { code }) }))).toEqual(
        expected.filter((response) => !('code' in response && response.code === 'internal_error')),
      )
    }
  })

  it('says why something is no gap though it was never seen', () => {
    const { apart, rules } = reportCoverage(new Coverage(contract))
    expect(apart.filter(({ kind }) => kind === 'response')).toHaveLength(contract.operations.length)
    expect(apart.filter(({ kind }) => kind === 'rule')).toMatchObject([{ id: 'key-shown-once' }])
    for (const { why } of apart) expect(why).toMatch(ONE_SENTENCE)
    expect(rules.map(({ id }) => id)).not.toContain('key-shown-once')
  })

  it('sums up what was seen of each kind', () => {
    const { summary, operations, rules, edges } = reportCoverage(coverageOf(...everything))
    const responses = operations.flatMap((each) => each.responses).filter(({ code }) => code !== 'internal_error')
    expect(summary.operations).toEqual({ seen: 1, total: 8, percent: 12.5 })
    expect(summary.responses).toMatchObject({ seen: 1, total: responses.filter(({ documented }) => documented).length })
    expect(summary.rules).toMatchObject({ seen: 2, total: rules.length })
    expect(summary.edges).toEqual({ seen: 0, total: edges.length, percent: 0 })
  })

  it('is as at the beginning after a clearance', () => {
    const coverage = coverageOf(...everything)
    coverage.clear()
    expect(reportCoverage(coverage)).toEqual(reportCoverage(new Coverage(contract)))
    coverage.observe(read())
    expect(reportCoverage(coverage)).toEqual(reportCoverage(coverageOf(read())))
  })

  it('of several sums their counts and has all that one of them has shown', () => {
    const merged = mergeCoverage(
      [coverageOf(...everything), coverageOf(observation('listDomains')), coverageOf(read())],
      contract,
    )
    expect(reportCoverage(merged)).toEqual(
      reportCoverage(coverageOf(...everything, observation('listDomains'), read())),
    )
  })
})

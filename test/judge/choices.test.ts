import { describe, expect, it } from 'vitest'
import { decideVerdicts } from '../../src/judge/verdicts.ts'
import { DATE, exchangeOf } from '../exchanges/made-exchange.ts'
import { choices } from '../support/choices.ts'
import { add, change, create, group, groups, judgeAfter, list, refused, remove, type Step } from './judged.ts'

/** What these exchanges show of choices that show in what is accepted: by assumption, the numbers that are possible. */
async function shownBy(steps: readonly Step[], isSoleWriter = true): Promise<Record<string, readonly number[]>> {
  const { judge } = await judgeAfter(steps, { isSoleWriter })
  const about = judge.conclude().observations.filter(({ id }) => OF_REQUESTS.has(id))
  return Object.fromEntries(about.map(({ id, permits }) => [id, permits]))
}

const OF_REQUESTS: ReadonlySet<string> = new Set([
  ...['content-type', 'null-fields', 'unknown-query-parameters', 'repeated-domains', 'body-limit', 'too-many-domains'],
  ...['empty-lists', 'already-monitored', 'unmonitored-deletion', 'deletion-of-members', 'shared-domains'],
  ...['name-comparison'],
])

const [A, B] = ['a.example', 'b.example']
const SHOP = group('g', 'Shop', A)
const text = (step: Step): Step => ({ ...step, fields: { 'Content-Type': 'text/plain' } })
const overlapping = (step: Step): Step => ({ ...step, change: (exchange) => ({ ...exchange, overlaps: true }) })
const many = Array.from({ length: 51 }, (_, index) => `d${index}.example`)

describe('what is accepted shows a choice', () => {
  it.each<[what: string, steps: Step[], shown: Record<string, readonly number[]>]>([
    ['of a domain that was monitored already', [list(A), add([A], [], 0)], { 'already-monitored': [1] }],
    ['of a domain that was not monitored', [list(A), remove([B], [], 0)], { 'unmonitored-deletion': [2] }],
    ['of a member', [list(A), groups(SHOP), remove([A])], { 'deletion-of-members': [0] }],
    [
      'of a member of another group',
      [list(A), groups(SHOP), create({ name: 'New', domains: [A] }, group('n', 'New', A))],
      { 'shared-domains': [0, 2] },
    ],
    [
      'of a name that differs from another in the case of a letter beyond ASCII',
      [groups(group('g', 'Äpfel')), create({ name: 'äPFEL' }, group('n', 'äPFEL'))],
      { 'name-comparison': [2] },
    ],
    ['of null', [groups(SHOP), change('g', { name: null, remove_domains: [B] }, {})], { 'null-fields': [1] }],
    ['of a media type', [text(create({ name: 'New' }, group('n', 'New')))], { 'content-type': [1] }],
  ])('%s', async (_, steps, shown) => {
    expect(await shownBy(steps)).toEqual(shown)
  })
})

it('is found the first time that an operation shows it, and counted each time', async () => {
  const { judge } = await judgeAfter([])
  const steps = [list(A), list(A), add([A], [], 0), add([A], [], 0), add([A], [], 0)]
  const found = steps.map((step, index) => {
    const findings = judge.take(exchangeOf({ at: DATE + index * 1000, lasts: 10, ...step }))
    return findings.filter(({ assumption }) => assumption === 'already-monitored').length
  })
  expect(found).toEqual([0, 0, 1, 0, 0])
  const { findings } = judge.conclude()
  judge.take(exchangeOf({ at: DATE + 5_000, lasts: 10, ...add([A], [], 0) }))
  const kept = findings.find(({ id }) => id === 'decides-assumption/addDomains/200/already-monitored/1')
  expect(kept?.count).toBe(3)
})

describe('a refusal shows a choice', () => {
  it.each<[what: string, steps: Step[], shown: Record<string, readonly number[]>]>([
    ['of a domain that may be monitored', [refused(add([A]), 'invalid_domain')], { 'already-monitored': [0] }],
    [
      'of a domain that is not',
      [list(), refused(remove([A]), 'domain_delete_failed')],
      { 'unmonitored-deletion': [0] },
    ],
    ['of too many', [list(), refused(add(many), 'invalid_domain')], { 'too-many-domains': [2] }],
    ['of a repetition', [list(), refused(add([A, A]), 'invalid_domain')], { 'repeated-domains': [0] }],
    ['of null', [refused(create({ name: 'New', domains: null }, {}), 'invalid_field_type')], { 'null-fields': [0] }],
    ['of a media type', [refused(text(create({ name: 'New' }, {})), 'invalid_request_body')], { 'content-type': [0] }],
  ])('%s', async (_, steps, shown) => {
    expect(await shownBy(steps)).toEqual(shown)
  })
})

/** Long, and alike but for the end. */
const endingWith = (name: string) => [...many.slice(0, 40), name]

it.each<[what: string, first: Step, second: Step, verdict: string]>([
  ['of two cases is mixed', add(['no host']), add(['no host', 'a.example']), 'undecided'],
  ['of two cases that differ late is mixed', add(endingWith('no host')), add(endingWith('not one')), 'undecided'],
  ['of one case contradicts itself', add(['no host']), add(['no host']), 'contradicted'],
])('a status that differs %s', async (_, first, second, verdict) => {
  const steps = [refused(first, 'invalid_domain'), refused(second, 'invalid_domain', 422)]
  const { judge } = await judgeAfter(steps)
  const verdicts = decideVerdicts(judge.conclude().observations, choices)
  expect(verdicts.find(({ id }) => id === 'status-invalid-domain')?.verdict).toBe(verdict)
})

it('nothing is shown by the refusal of a name that another client may have taken meanwhile', async () => {
  const steps = [groups(group('g', 'Äpfel')), refused(create({ name: 'äPFEL' }, {}), 'duplicate_name')]
  const { judge } = await judgeAfter(steps, { isOwnName: (name) => name === 'Äpfel' })
  expect(judge.conclude().observations.filter(({ id }) => id === 'name-comparison')).toEqual([])
})

describe('nothing is shown', () => {
  it.each<[what: string, steps: Step[]]>([
    ['by a refusal of two open things', [list(), refused(text(add([A, A])), 'invalid_request_body')]],
    ['by a refusal of a repetition of what may be monitored', [refused(add([A, A]), 'invalid_domain')]],
    ['by a refusal of too many of what may be monitored', [refused(add(many), 'invalid_domain')]],
    ['by a refusal of what a feature may use', [refused(remove([A]), 'domain_delete_failed')]],
    ['by a refusal of an old member', [list(A), groups(SHOP), refused(remove([A]), 'domain_delete_failed')]],
    ['by a code that no alternative has', [list(), refused(add([A, A]), 'unknown_field')]],
    [
      'by a name, while groups may be unknown',
      [create({ name: 'Äpfel' }, group('g', 'Äpfel')), refused(create({ name: 'äPFEL' }, {}), 'duplicate_name')],
    ],
    [
      'by a member that may be gone for an unclear reason',
      [list(A), groups(SHOP), overlapping(remove([A])), list(A), groups(group('g', 'Shop'))],
    ],
    ['by what overlaps', [list(A), overlapping(add([A], [], 0))]],
  ])('%s', async (_, steps) => {
    expect(await shownBy(steps)).toEqual({})
  })

  it.each<[what: string, steps: Step[]]>([
    ['has removed the domain', [list(A), add([A], [], 0)]],
    ['has added the domain', [list(A), remove([B], [], 0)]],
    ['has changed the group', [list(A), groups(SHOP), remove([A])]],
    ['has added a domain that is sent twice', [list(), refused(add([A, A]), 'invalid_domain')]],
    ['has created a group', [groups(group('g', 'Äpfel')), refused(create({ name: 'äPFEL' }, {}), 'duplicate_name')]],
    ['has renamed a group', [groups(group('g', 'Äpfel')), create({ name: 'äPFEL' }, group('n', 'äPFEL'))]],
  ])('if another client may be one that %s', async (_, steps) => {
    expect(await shownBy(steps, false)).toEqual({})
  })
})

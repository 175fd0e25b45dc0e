import { describe, expect, it } from 'vitest'
import { Belief } from '../../src/judge/belief.ts'
import { FORMS } from '../../src/judge/request.ts'
import { failure, success } from '../exchanges/made-exchange.ts'
import { choices } from '../support/choices.ts'
import { add, group, groups, judgeAfter, list, type Step, sentByKey } from './judged.ts'

const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
const BODIES = [
  '{"__proto__":{"domains":["a.example"]}}',
  '{"__proto__":["a.example"],"constructor":1,"domains":["a.example"]}',
  '{"domains":{"toString":1,"valueOf":2,"length":3}}',
  '{"domains":[1e999,-0,99999999999999999999,null]}',
  `{"domains":${deep(5_000)}}`,
  deep(50_000),
  '{"name":"\ud800","domains":["\u202e"]}',
  `{"name":${JSON.stringify('é'.repeat(20_000))}}`,
  `{"domains":${JSON.stringify(Array.from({ length: 2_000 }, (_, index) => `d${index}.example`))}}`,
  'null',
  '7',
  '\u0000',
]
const DATA: readonly unknown[] = [
  { toString: 1 },
  { domains: { toString: 1 }, groups: { length: -1 }, group: { id: '__proto__', name: '__proto__', domains: [] } },
  { groups: [group('__proto__', 'constructor', '__proto__')], count: 1 },
  { domains: ['__proto__', 'constructor', 'hasOwnProperty'], count: -1, message: {} },
  [{ domain: { toString: 1 } }, { domain: '__proto__', count: 1e308 }],
  null,
  'text',
]
const CALLS: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/dmarc'],
  ['GET', '/domains'],
  ['GET', '/domaingroups'],
  ['GET', '/domaingroups?id=__proto__'],
  ['POST', '/domains'],
  ['DELETE', '/domains'],
  ['POST', '/domaingroups'],
  ['PATCH', '/domaingroups?id=__proto__'],
  ['DELETE', '/domaingroups?id=__proto__&id=%FF&id=%00'],
  ['BREW', `/domaingroups?${'id=a&'.repeat(2_000)}`],
]

describe('an exchange may contain anything', () => {
  it.each(CALLS)('in what is asked and answered: %s %s', async (method, path) => {
    const { judge, take } = await judgeAfter([list('a.example'), groups(group('g', 'G', 'a.example'))])
    const answers = [
      ...DATA.map((data) => ({ body: JSON.stringify({ success: true, data }) })),
      ...['__proto__', 'constructor', ''].map((code) => ({ status: 400, body: failure(code) })),
      { body: deep(20_000) },
      { status: 99_999, body: success({}) },
    ]
    for (const sent of BODIES) for (const answer of answers) take({ method, path, sent, ...answer })
    expect(judge.conclude().exchanges).toBe(2 + BODIES.length * answers.length)
    expect(({} as Record<string, unknown>)['domains']).toBeUndefined()
  })

  it('and what is remembered has a limit', async () => {
    const belief = new Belief()
    for (let index = 0; index < 150_000; index++) belief.removeDomain(`d${index}.example`, 'one')
    expect(belief.domains.size).toBe(100_000)
    const { judge, take } = await judgeAfter([])
    for (let index = 0; index < 1_500; index++) take({ ...list('a.example'), change: sentByKey(`key ${index}`) })
    // The first key is forgotten, so nothing is known of its account.
    expect(take({ ...list(), change: sentByKey('key 0') })).toEqual([])
    expect(take({ ...list(), change: sentByKey('key 1499') })).toEqual([
      'broken-rule/listDomains/200/all-domains-listed',
    ])
    expect(judge.conclude().findings.length).toBeLessThan(1_000)
  })

  it('so a key that a change was made with makes uncertain what others have shown', async () => {
    const as = (key: string, step: Step): Step => ({ ...step, change: sentByKey(key) })
    const { take } = await judgeAfter([as('one', list('a.example')), as('two', add(['b.example']))])
    expect(take(as('one', list('a.example', 'b.example')))).toEqual([])
    expect(take(as('one', list('a.example')))).toEqual(['broken-rule/listDomains/200/all-domains-listed'])
  })
})

describe('the judge knows the fields of', () => {
  it.each(choices.contract.operations.filter(({ readsBody }) => readsBody))('$id', ({ id, bodySchema }) => {
    const { lists = [], texts = [], required = [] } = FORMS[id] ?? {}
    const properties = (bodySchema?.['properties'] ?? {}) as Record<string, { type?: string }>
    const ofType = (type: string) => Object.keys(properties).filter((name) => properties[name]?.type === type)
    expect({ lists, texts, required }).toEqual({
      lists: ofType('array'),
      texts: ofType('string'),
      required: bodySchema?.['required'] ?? [],
    })
  })
})

import { describe, expect, it } from 'vitest'
import { Investigation } from '../../src/conformance/investigation.ts'
import { DATE, exchangeOf, failure, type Made, success } from '../exchanges/made-exchange.ts'
import { choices } from '../support/choices.ts'

/** The ids of the findings about the last of these exchanges, of which no other client made any. */
async function judgeLast(...all: readonly Made[]): Promise<string[]> {
  const investigation = await Investigation.begin({ choices, isSoleWriter: true })
  let ids: string[] = []
  for (const [index, made] of all.entries()) {
    const { response, ...exchange } = exchangeOf({ at: DATE + index * 1000, ...made })
    // Header fields are judged elsewhere.
    const findings = await investigation.take({ ...exchange, id: `${index}`, response })
    ids = findings.map(({ id }) => id).filter((id) => !id.includes('/headers/'))
  }
  return ids
}

const domains = (names: readonly string[]): Made => ({ path: '/domains', body: success({ domains: names }) })
const add = (names: readonly string[], shown = names, count = shown.length): Made => ({
  method: 'POST',
  path: '/domains',
  sent: { domains: names },
  status: 201,
  body: success({ message: 'Added.', domains: shown, count }),
})

describe('a list of domains', () => {
  it.each([
    [
      'breaks a rule if it has one twice',
      ['b.example', 'a.example', 'a.example'],
      'broken-rule/listDomains/200/all-domains-listed',
    ],
    [
      'makes another choice if two differ only by a final dot',
      ['a.example', 'a.example.'],
      'another-choice/listDomains/200/alike',
    ],
    [
      'makes another choice if two are U-labels and A-labels of one name',
      ['bücher.example', 'xn--bcher-kva.example'],
      'another-choice/listDomains/200/alike',
    ],
  ])('%s', async (_, names, id) => {
    expect((await judgeLast(domains(names))).filter((each) => !each.startsWith('contract-violation/'))).toEqual([id])
  })
})

describe('an addition of domains', () => {
  const MONITORED = domains(['a.example'])
  const UNUSUAL = ['x.example', '_c.example', 'local']

  it('does not tell which assumptions have let it through, if no single one has', async () => {
    expect(await judgeLast(MONITORED, add(['x.example', '_c.example']))).toEqual([
      'decides-assumption/addDomains/201/underscores/1',
    ])
    expect(await judgeLast(MONITORED, add(UNUSUAL))).toEqual([
      'cannot-tell/addDomains/201/underscores/1 and single-labels/1',
    ])
  })

  it('teaches what is monitored, if several alternatives together explain it', async () => {
    const listed = domains(['a.example', 'x.example', '_c.example'])
    expect(await judgeLast(MONITORED, add(UNUSUAL), listed)).toEqual(['broken-rule/listDomains/200/all-domains-listed'])
  })
})

describe('an addition of a domain that is new and one that is monitored', () => {
  const BOTH = ['a.example', 'x.example']
  const SKIPS = 'cannot-tell/addDomains/201/mixed-additions/1'
  const OTHER = 'another-choice/addDomains/201/already-monitored/success'
  const WRONG = 'broken-rule/addDomains/201/no-duplicates'

  it.each<[what: string, shown: string[], count: number, id: string]>([
    ['may skip the one that is monitored', ['x.example'], 1, SKIPS],
    ['makes another choice if it names both', BOTH, 1, OTHER],
    ['breaks a rule if it counts both', BOTH, 2, WRONG],
  ])('%s', async (_, shown, count, id) => {
    expect(await judgeLast(domains(['a.example']), add(BOTH, shown, count))).toEqual([id])
  })
})

describe('a removal of what is no hostname', () => {
  it.each<[what: string, shown: string[], id: string]>([
    ['makes another choice if it succeeds', [], 'another-choice/deleteDomains/200/deletion-entries/success'],
    ['is wrong if it names a domain nevertheless', ['a.example'], 'unexplained/deleteDomains/200/data'],
  ])('%s', async (_, shown, id) => {
    const removed = { ...add(['no host'], shown), method: 'DELETE', status: 200 }
    const found = await judgeLast(domains(['a.example']), removed)
    expect(found.filter((each) => !each.includes('/request/'))).toEqual([id])
  })
})

describe('a refusal of a request that keeps a limit', () => {
  const FIFTY = Array.from({ length: 50 }, (_, index) => `d${index}.example`)
  const adds = (domains: readonly string[]) => ({ method: 'POST', path: '/domains', sent: { domains } })
  const creates = (name: string) => ({ method: 'POST', path: '/domaingroups', sent: { name } })
  const MOST = 'broken-rule/addDomains/400/at-most-50-domains'
  const LENGTH = 'broken-rule/createDomainGroup/400/name-length'

  it.each<[what: string, asked: Partial<Made>, code: string, id: string]>([
    ['breaks the rule of the limit with its code', adds(FIFTY), 'request_too_large', MOST],
    ['breaks the rule about names with its code', creates('Shop'), 'invalid_name', LENGTH],
  ])('%s', async (_, asked, code, id) => {
    const found = await judgeLast(domains([]), { path: '', ...asked, status: 400, body: failure(code) })
    expect(found.filter((each) => /^(broken|unexplained)/.test(each))).toEqual([id])
  })
})

describe('a refusal of a group because its name is taken', () => {
  const groups = (name: string): Made => ({
    path: '/domaingroups',
    body: success({ groups: [{ id: '4fTq81Zb', name, domains: [] }], count: 1 }),
  })
  const refused = (name: string): Made => ({
    method: 'POST',
    path: '/domaingroups',
    sent: { name },
    status: 409,
    body: failure('duplicate_name'),
  })
  const decides = (assumption: string) => [`decides-assumption/createDomainGroup/409/${assumption}/1`]
  const OTHER = ['another-choice/createDomainGroup/409/name-comparison/duplicate_name']
  const WRONG = ['unexplained/createDomainGroup/409/duplicate_name']

  it.each<[what: string, held: string, sent: string, ids: string[]]>([
    ['is right if they differ in case', 'shop', 'SHOP', []],
    ['decides an assumption if they differ by white space around them', 'shop', ' shop', decides('space-around-names')],
    ['makes another choice if they differ by the form of letters', 'shop', '\uff33hop', OTHER],
    ['is wrong if they are other names', 'shop', 'mail', WRONG],
  ])('%s', async (_, held, sent, ids) => {
    expect(await judgeLast(groups(held), refused(sent))).toEqual(ids)
  })
})

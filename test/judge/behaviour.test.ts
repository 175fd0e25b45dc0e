import { describe, expect, it } from 'vitest'
import { success } from '../exchanges/made-exchange.ts'
import { add, change, create, destroy, group, groups, judgeLast, list, refused, remove, type Step } from './judged.ts'

const [A, B, C, X, Y] = ['a', 'b', 'c', 'x', 'y'].map((letter) => `${letter}.example`) as [
  ...[string, string, string, string, string],
]
const SHOP = group('4fTq81Zb', 'Shop', A, B)
const MAIL = group('m', 'Mail')
const KNOWN = [list(A, B, C), groups(SHOP, MAIL)]
const FIFTY = Array.from({ length: 50 }, (_, index) => `d${index}.example`)
const one = (shown: unknown): Step => ({ path: '/domaingroups?id=4fTq81Zb', body: success({ group: shown }) })
const patch = (sent: object, shown?: unknown) => change('4fTq81Zb', sent, shown === undefined ? {} : { group: shown })
const shop = (...members: string[]) => group('4fTq81Zb', 'Shop', ...members)
const records = (...names: string[]): Step => ({ path: '/dmarc', body: success(names.map((domain) => ({ domain }))) })
const addSent = (sent: unknown): Step => ({ ...add([X]), sent })

/** What is found of the last step, but for what the document alone forbids. */
async function found(...steps: Step[]): Promise<string[]> {
  return (await judgeLast([...KNOWN, ...steps])).filter((each) => !each.startsWith('contract'))
}

describe('a success that the specification forbids', () => {
  it.each<[id: string, ...steps: Step[]]>([
    ['broken-rule/addDomains/200/valid-hostnames', add(['no host'], [])],
    ['broken-rule/addDomains/200/no-duplicates', add([X, 'X.example'], [X])],
    ['broken-rule/addDomains/200/at-most-50-domains', add([...FIFTY, 'd50.example'])],
    ['unexplained/addDomains/200/data', addSent({ domains: [X], x: 1 })],
    ['unexplained/addDomains/200/data', addSent({ domains: X })],
    ['unexplained/addDomains/200/data', addSent({ domains: [7] })],
    ['unexplained/addDomains/200/data', addSent('{')],
    ['unexplained/addDomains/200/data', addSent(undefined)],
    ['broken-rule/createDomainGroup/200/name-unique', create({ name: 'SHOP' }, group('n', 'SHOP'))],
    ['broken-rule/updateDomainGroup/200/new-name-unique', patch({ name: 'mail' })],
    ['broken-rule/createDomainGroup/200/members-monitored', create({ name: 'N', domains: [X] }, group('n', 'N', X))],
    ['broken-rule/createDomainGroup/200/name-length', create({ name: 'n'.repeat(101) }, group('n', 'n'.repeat(101)))],
    ['broken-rule/listDomainGroups/200/unknown-id-read', { ...one(group('none', 'N')), path: '/domaingroups?id=none' }],
    ['broken-rule/listDomainGroups/200/unknown-id-read', { ...groups(SHOP), path: '/domaingroups?id=none' }],
    ['broken-rule/listDomainGroups/200/one-group-by-id', one(group('other', 'Mail'))],
    ['broken-rule/listDomainGroups/200/one-group-by-id', { ...groups(SHOP), path: '/domaingroups?id=m' }],
    ['broken-rule/deleteDomainGroup/200/delete-needs-id', { ...destroy('x'), path: '/domaingroups' }],
    ['broken-rule/updateDomainGroup/200/update-needs-a-field', patch({})],
    ['broken-rule/updateDomainGroup/200/no-mixed-changes', patch({ domains: [], add_domains: [C] })],
    ['broken-rule/updateDomainGroup/200/no-mixed-changes', patch({ domains: [], remove_domains: [C] })],
  ])('is %s', async (id, ...steps) => {
    expect(await found(...steps)).toContain(id)
  })
})

describe('a success with wrong data', () => {
  it.each<[id: string, ...steps: Step[]]>([
    ['unexplained/addDomains/200/data', add([X], [Y])],
    ['unexplained/addDomains/200/data', add([X, Y], [X, X], 1)],
    ['broken-rule/addDomains/200/count-of-added', add([X], [X], 2)],
    ['broken-rule/addDomains/200/count-of-added', add([X, Y], [X, Y], 1)],
    ['broken-rule/addDomains/200/no-duplicates', add([A], [], 1)],
    ['broken-rule/addDomains/200/no-duplicates', add([A], [], -1)],
    ['broken-rule/listDmarc/200/one-record-per-domain', records(A, B, C), records(A, B)],
    ['broken-rule/listDmarc/200/one-record-per-domain', records(A, B, C, X)],
    ['broken-rule/deleteDomains/200/deleted-domains-answered', remove([A, B], [A])],
    ['broken-rule/deleteDomains/200/deleted-domains-answered', remove([A], [A], 2)],
    ['broken-rule/listDomains/200/all-domains-listed', list(A, B, C, 'A.example')],
    ['broken-rule/listDomains/200/all-domains-listed', list(A, B)],
    ['broken-rule/listDomains/200/all-domains-listed', list(A, B, C, X)],
    ['broken-rule/listDomains/200/all-domains-listed', remove([A]), list(A, B, C)],
    ['broken-rule/listDomains/200/members-stay-monitored', destroy('4fTq81Zb'), list(B, C)],
    ['broken-rule/listDomainGroups/200/groups-with-count', groups(SHOP)],
    ['broken-rule/listDomainGroups/200/groups-with-count', groups(SHOP, MAIL, group('n', 'New'))],
    ['broken-rule/listDomainGroups/200/groups-with-count', groups(SHOP, MAIL, MAIL)],
    ['broken-rule/listDomainGroups/200/groups-with-count', { ...groups(), body: success({ groups: [], count: 2 }) }],
    ['broken-rule/listDomainGroups/200/groups-with-count', destroy('m'), groups(SHOP, MAIL)],
    ['broken-rule/listDomainGroups/200/name-unique', groups(SHOP, group('m', 'SHOP'))],
    ['unexplained/listDomainGroups/200/state', groups(group('4fTq81Zb', 'Other', A, B), MAIL)],
    ['unexplained/listDomainGroups/200/data', one(shop(A))],
    ['unexplained/listDomainGroups/200/data', one(shop(A, B, C))],
    ['unexplained/listDomainGroups/200/data', one(shop(A, B, 'A.example'))],
    ['unexplained/createDomainGroup/200/data', create({ name: 'New' }, group('n', 'new'))],
    [
      'broken-rule/createDomainGroup/200/members-in-the-same-call',
      create({ name: 'N', domains: [A] }, group('n', 'N')),
    ],
    [
      'broken-rule/listDomainGroups/200/members-in-the-same-call',
      create({ name: 'N', domains: [C] }, group('n', 'N', C)),
      groups(SHOP, MAIL, group('n', 'N')),
    ],
    ['broken-rule/updateDomainGroup/200/domains-replace-members', patch({ domains: [C] }, shop(A, C))],
    ['broken-rule/updateDomainGroup/200/additions-keep-members', patch({ add_domains: [C] }, shop(C))],
    [
      'broken-rule/updateDomainGroup/200/additions-before-removals',
      patch({ add_domains: [C], remove_domains: [C] }, shop(A, B, C)),
    ],
    ['unexplained/updateDomainGroup/200/data', patch({ remove_domains: [A] }, SHOP)],
    ['unexplained/updateDomainGroup/200/data', patch({ add_domains: [C] }, SHOP)],
    ['unexplained/updateDomainGroup/200/data', patch({ name: 'New' }, SHOP)],
    ['unexplained/updateDomainGroup/200/data', patch({ name: 'New' }, MAIL)],
  ])('is %s', async (id, ...steps) => {
    expect(await found(...steps)).toContain(id)
  })

  it.each<[what: string, ...steps: Step[]]>([
    ['a domain that is skipped because it is there', add([A, X], [X])],
    ['domains in the order of the service', list(C, A, B)],
    ['a name without the space around it', create({ name: ' New ' }, group('n', 'New'))],
    ['a hostname that is stored in lower case', add(['X.Example'], [X])],
    ['U-labels that are stored as A-labels', add(['bücher.example'], ['xn--bcher-kva.example'])],
    ['a group whose members a domain has left with its removal', remove([B]), groups(shop(A), MAIL)],
    ['a change that the answer does not show', patch({ add_domains: [C] }), groups(shop(A, B, C), MAIL)],
    ['a removal that the answer does not show', patch({ remove_domains: [A] }), groups(shop(B), MAIL)],
    ['a member that has moved', create({ name: 'New', domains: [A] }, group('n', 'New', A)), one(shop(B))],
    ['no record of a new domain', records(A, B)],
    ['a group with its own name in other case', patch({ name: 'SHOP' }, group('4fTq81Zb', 'SHOP', A, B))],
    ['a member that a change has moved', change('m', { add_domains: [A] }, {}), one(shop(B))],
    ['a group that the list before has lacked', groups(SHOP), groups(SHOP)],
    ['a domain that the list before has lacked', list(A, B), list(A, B)],
    ['a removal of a text that matches no member', patch({ remove_domains: ['A.example.', 'x'] }, SHOP)],
  ])('is none if it shows %s', async (_, ...steps) => {
    expect(await found(...steps)).toEqual([])
  })
})

it('a group that is listed twice has not the name of another', async () => {
  expect(await found(groups(SHOP, MAIL, MAIL))).toEqual(['broken-rule/listDomainGroups/200/groups-with-count'])
})

it('of an account that is not known, nothing is wrong', async () => {
  for (const step of [
    one(SHOP),
    patch({ name: 'New' }),
    destroy('m'),
    create({ name: 'N', domains: [A] }, group('n', 'N', A)),
  ]) {
    expect(await judgeLast([step])).toEqual([])
  }
})

describe('a refusal without a reason', () => {
  it.each<[id: string, step: Step]>([
    ['unexplained/addDomains/400/invalid_domain', add([X])],
    ['broken-rule/addDomains/400/at-most-50-domains', add(FIFTY)],
    ['broken-rule/createDomainGroup/400/name-length', create({ name: 'n'.repeat(100) }, {})],
    ['unexplained/createDomainGroup/400/duplicate_name', create({ name: 'New' }, {})],
    ['unexplained/createDomainGroup/400/not_monitored', create({ name: 'New', domains: [A] }, {})],
    ['unexplained/listDomainGroups/400/not_found', one({})],
    ['broken-rule/updateDomainGroup/400/unknown-removals-ignored', patch({ remove_domains: ['z.example'] })],
    ['broken-rule/deleteDomainGroup/400/delete-needs-id', { ...destroy(''), path: '/domaingroups' }],
    ['unexplained/addDomains/400/invalid_field_type', addSent({})],
  ])('is %s', async (id, step) => {
    const code = /[a-z]+_[a-z_]+$/.exec(id)?.[0] ?? CODES[id.split('/')[3] ?? '']
    expect(await found(refused(step, code ?? ''))).toEqual([id])
  })

  it.each<[what: string, code: string, step: Step]>([
    ['any of several problems', 'invalid_domain', addSent({ domains: ['no host'], x: 1 })],
    ['any of several problems', 'unknown_field', addSent({ domains: ['no host'], x: 1 })],
    ['any code that may stand for a duplicate', 'invalid_request_body', add([X, X])],
    ['a domain that is monitored', 'invalid_domain', add([A])],
    ['a domain in use', 'domain_delete_failed', remove([A])],
    ['a body of another type', 'invalid_json', { ...add([X]), fields: { 'Content-Type': 'text/plain' } }],
    ['a body that is no object', 'invalid_field_type', addSent('[]')],
    ['a parameter that nobody knows', 'unknown_field', { ...list(), path: '/domains?page=2' }],
    ['a name that some service finds equal', 'duplicate_name', create({ name: 'ＳＨＯＰ' }, {})],
    ['a domain of another group', 'invalid_domain', create({ name: 'New', domains: [A] }, {})],
  ])('is none if it may report %s: %s', async (_, code, step) => {
    expect(await found(refused(step, code))).toEqual([])
  })
})

const CODES: Readonly<Record<string, string>> = {
  'at-most-50-domains': 'request_too_large',
  'name-length': 'invalid_name',
  'unknown-removals-ignored': 'not_monitored',
  'delete-needs-id': 'not_found',
}

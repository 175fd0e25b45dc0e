import { describe, expect, it } from 'vitest'
import { success } from '../exchanges/made-exchange.ts'
import { add, change, create, destroy, group, groups, judgeLast, list, refused, remove, type Step } from './judged.ts'

const SHOP = group('4fTq81Zb', 'Shop', 'a.example', 'b.example')
const KNOWN = [list('a.example', 'b.example', 'c.example'), groups(SHOP)]
const one = (shown: unknown): Step => ({ path: '/domaingroups?id=4fTq81Zb', body: success({ group: shown }) })
const FIFTY = Array.from({ length: 50 }, (_, index) => `d${index}.example`)

describe('a success', () => {
  it.each<[what: string, step: Step, id: string]>([
    ['without a hostname', add(['no host'], []), 'broken-rule/addDomains/200/valid-hostnames'],
    [
      'of a domain that is named twice',
      add(['x.example', 'X.example'], ['x.example']),
      'broken-rule/addDomains/200/no-duplicates',
    ],
    ['of more than 50 domains', add([...FIFTY, 'd50.example']), 'broken-rule/addDomains/200/at-most-50-domains'],
    [
      'of an unknown field',
      { ...add(['x.example']), sent: { domains: ['x.example'], x: 1 } },
      'unexplained/addDomains/200/data',
    ],
    ['of a wrong type', { ...add(['x.example']), sent: { domains: 'x.example' } }, 'unexplained/addDomains/200/data'],
    ['of a body that is not JSON', { ...add([]), sent: '{' }, 'unexplained/addDomains/200/data'],
    ['of a body that is missing', { ...add([]), sent: undefined }, 'unexplained/addDomains/200/data'],
    [
      'of a name that is taken',
      create({ name: 'SHOP' }, group('n', 'SHOP')),
      'broken-rule/createDomainGroup/200/name-unique',
    ],
    [
      'of a name that another group has',
      change('4fTq81Zb', { name: 'mail' }, {}),
      'broken-rule/updateDomainGroup/200/new-name-unique',
    ],
    [
      'of a member that is not monitored',
      create({ name: 'New', domains: ['x.example'] }, group('n', 'New', 'x.example')),
      'broken-rule/createDomainGroup/200/members-monitored',
    ],
    [
      'of a name that is too long',
      create({ name: 'n'.repeat(101) }, group('n', 'n'.repeat(101))),
      'broken-rule/createDomainGroup/200/name-length',
    ],
    [
      'of an unknown id',
      { path: '/domaingroups?id=none', body: success({ group: group('none', 'None') }) },
      'broken-rule/listDomainGroups/200/unknown-id-read',
    ],
    [
      'of an unknown id, with all groups',
      { ...groups(SHOP), path: '/domaingroups?id=none' },
      'broken-rule/listDomainGroups/200/unknown-id-read',
    ],
    ['of another id', one(group('other', 'Mail')), 'broken-rule/listDomainGroups/200/one-group-by-id'],
    ['without an id', { ...destroy('x'), path: '/domaingroups' }, 'broken-rule/deleteDomainGroup/200/delete-needs-id'],
    ['without a field', change('4fTq81Zb', {}, {}), 'broken-rule/updateDomainGroup/200/update-needs-a-field'],
    [
      'of fields that do not go together',
      change('4fTq81Zb', { domains: [], add_domains: ['c.example'] }, {}),
      'broken-rule/updateDomainGroup/200/no-mixed-changes',
    ],
  ])('must not come %s', async (_, step, id) => {
    const mail = groups(SHOP, group('m', 'Mail'))
    const all = id.includes('new-name') ? [...KNOWN, mail] : KNOWN
    expect((await judgeLast([...all, step])).filter((each) => !each.startsWith('contract'))).toContain(id)
  })

  it.each<[what: string, step: Step, id: string]>([
    ['names what was not asked for', add(['x.example'], ['y.example']), 'unexplained/addDomains/200/data'],
    ['counts more than it names', add(['x.example'], ['x.example'], 2), 'broken-rule/addDomains/200/count-of-added'],
    [
      'counts fewer than were new',
      add(['x.example', 'y.example'], ['x.example', 'y.example'], 1),
      'broken-rule/addDomains/200/count-of-added',
    ],
    ['counts what was there', add(['a.example'], [], 1), 'broken-rule/addDomains/200/no-duplicates'],
    [
      'removes fewer than were there',
      remove(['a.example', 'b.example'], ['a.example']),
      'broken-rule/deleteDomains/200/deleted-domains-answered',
    ],
    [
      'lists a domain twice',
      list('a.example', 'b.example', 'c.example', 'A.example'),
      'broken-rule/listDomains/200/all-domains-listed',
    ],
    ['leaves a domain out', list('a.example', 'b.example'), 'broken-rule/listDomains/200/all-domains-listed'],
    [
      'lists a domain that nobody has added',
      list('a.example', 'b.example', 'c.example', 'd.example'),
      'broken-rule/listDomains/200/all-domains-listed',
    ],
    ['leaves a group out', groups(), 'broken-rule/listDomainGroups/200/groups-with-count'],
    [
      'shows a group that nobody has created',
      groups(SHOP, group('n', 'New')),
      'broken-rule/listDomainGroups/200/groups-with-count',
    ],
    ['shows two groups of one name', groups(SHOP, group('n', 'SHOP')), 'broken-rule/listDomainGroups/200/name-unique'],
    [
      'counts groups wrongly',
      { ...groups(SHOP), body: success({ groups: [SHOP], count: 2 }) },
      'broken-rule/listDomainGroups/200/groups-with-count',
    ],
    [
      'shows another name',
      groups(group('4fTq81Zb', 'Other', 'a.example', 'b.example')),
      'unexplained/listDomainGroups/200/state',
    ],
    ['shows other members', one(group('4fTq81Zb', 'Shop', 'a.example')), 'unexplained/listDomainGroups/200/data'],
    ['creates another name', create({ name: 'New' }, group('n', 'new')), 'unexplained/createDomainGroup/200/data'],
    [
      'creates without members',
      create({ name: 'New', domains: ['a.example'] }, group('n', 'New')),
      'broken-rule/createDomainGroup/200/members-in-the-same-call',
    ],
    [
      'keeps what was to be replaced',
      change('4fTq81Zb', { domains: ['c.example'] }, { group: group('4fTq81Zb', 'Shop', 'a.example', 'c.example') }),
      'broken-rule/updateDomainGroup/200/domains-replace-members',
    ],
    [
      'loses members when it adds one',
      change('4fTq81Zb', { add_domains: ['c.example'] }, { group: group('4fTq81Zb', 'Shop', 'c.example') }),
      'broken-rule/updateDomainGroup/200/additions-keep-members',
    ],
    [
      'adds after it has removed',
      change(
        '4fTq81Zb',
        { add_domains: ['c.example'], remove_domains: ['c.example'] },
        { group: group('4fTq81Zb', 'Shop', 'a.example', 'b.example', 'c.example') },
      ),
      'broken-rule/updateDomainGroup/200/additions-before-removals',
    ],
    [
      'keeps what was to be removed',
      change('4fTq81Zb', { remove_domains: ['a.example'] }, { group: SHOP }),
      'unexplained/updateDomainGroup/200/data',
    ],
    [
      'adds nothing',
      change('4fTq81Zb', { add_domains: ['c.example'] }, { group: SHOP }),
      'unexplained/updateDomainGroup/200/data',
    ],
  ])('is wrong if it %s', async (_, step, id) => {
    expect((await judgeLast([...KNOWN, step])).filter((each) => !each.startsWith('contract'))).toContain(id)
  })

  it.each<[what: string, ...steps: Step[]]>([
    ['a domain that is skipped because it is there', ...KNOWN, add(['a.example', 'x.example'], ['x.example'])],
    ['domains in the order of the service', ...KNOWN, list('c.example', 'a.example', 'b.example')],
    ['a name without the space around it', ...KNOWN, create({ name: ' New ' }, group('n', 'New'))],
    ['a hostname that is stored in lower case', ...KNOWN, add(['X.Example'], ['x.example'])],
    ['U-labels that are stored as A-labels', ...KNOWN, add(['bücher.example'], ['xn--bcher-kva.example'])],
    [
      'a group whose members a domain has left with its removal',
      ...KNOWN,
      remove(['b.example']),
      groups(group('4fTq81Zb', 'Shop', 'a.example')),
    ],
    [
      'a change that the answer does not show',
      ...KNOWN,
      change('4fTq81Zb', { add_domains: ['c.example'] }, { message: 'Done.' }),
      groups(group('4fTq81Zb', 'Shop', 'a.example', 'b.example', 'c.example')),
    ],
    [
      'a member that has moved to another group',
      ...KNOWN,
      create({ name: 'New', domains: ['a.example'] }, group('n', 'New', 'a.example')),
      one(group('4fTq81Zb', 'Shop', 'b.example')),
    ],
    [
      'a removal of a text that matches no member',
      ...KNOWN,
      change('4fTq81Zb', { remove_domains: ['A.example.', 'x'] }, { group: SHOP }),
    ],
  ])('may show %s', async (_, ...steps) => {
    expect(await judgeLast(steps)).toEqual([])
  })
})

describe('a refusal', () => {
  it.each<[what: string, step: Step, id: string]>([
    ['of a new domain', refused(add(['x.example']), 'invalid_domain'), 'unexplained/addDomains/400/invalid_domain'],
    ['of 50 domains', refused(add(FIFTY), 'request_too_large'), 'broken-rule/addDomains/400/at-most-50-domains'],
    [
      'of a name that keeps the limit',
      refused(create({ name: 'n'.repeat(100) }, {}), 'invalid_name'),
      'broken-rule/createDomainGroup/400/name-length',
    ],
    [
      'of a name that nobody has',
      refused(create({ name: 'New' }, {}), 'duplicate_name'),
      'unexplained/createDomainGroup/400/duplicate_name',
    ],
    [
      'of members that are monitored',
      refused(create({ name: 'New', domains: ['a.example'] }, {}), 'not_monitored'),
      'unexplained/createDomainGroup/400/not_monitored',
    ],
    ['of a group that is there', refused(one({}), 'not_found', 404), 'unexplained/listDomainGroups/404/not_found'],
    [
      'of entries to remove that nobody knows',
      refused(change('4fTq81Zb', { remove_domains: ['z.example'] }, {}), 'not_monitored'),
      'broken-rule/updateDomainGroup/400/unknown-removals-ignored',
    ],
    [
      'with another code than the one that is given',
      refused({ ...destroy(''), path: '/domaingroups' }, 'not_found', 404),
      'broken-rule/deleteDomainGroup/404/delete-needs-id',
    ],
    [
      'of a missing field as a wrong type',
      refused({ ...add([]), sent: {} }, 'invalid_field_type'),
      'unexplained/addDomains/400/invalid_field_type',
    ],
  ])('must not come %s', async (_, step, id) => {
    expect((await judgeLast([...KNOWN, step])).filter((each) => !each.startsWith('contract'))).toEqual([id])
  })

  it.each<[what: string, code: string, step: Step]>([
    ['any of several problems', 'invalid_domain', { ...add([]), sent: { domains: ['no host'], x: 1 } }],
    ['any of several problems', 'unknown_field', { ...add([]), sent: { domains: ['no host'], x: 1 } }],
    ['any code that may stand for a duplicate', 'invalid_request_body', add(['x.example', 'x.example'])],
    ['a domain that is monitored', 'invalid_domain', add(['a.example'])],
    ['a domain in use', 'domain_delete_failed', remove(['a.example'])],
    ['a body of another type', 'invalid_json', { ...add(['x.example']), fields: { 'Content-Type': 'text/plain' } }],
    ['a body that is no object', 'invalid_field_type', { ...add([]), sent: '[]' }],
    ['a parameter that nobody knows', 'unknown_field', { ...list(), path: '/domains?page=2' }],
    ['a name that some service finds equal', 'duplicate_name', create({ name: 'ＳＨＯＰ' }, {})],
    ['a domain of another group', 'invalid_domain', create({ name: 'New', domains: ['a.example'] }, {})],
  ])('may report %s: %s', async (_, code, step) => {
    expect((await judgeLast([...KNOWN, refused(step, code)])).filter((each) => !each.startsWith('contract'))).toEqual(
      [],
    )
  })
})

import { expect } from 'vitest'
import type { ServerOptions } from '../../src/start/options.ts'
import type { TestService } from '../support/service.ts'
import type { Behaviour } from './behaviours.ts'
import {
  add,
  answers,
  ask,
  change,
  columnsOf,
  create,
  FIGURES,
  GROUPS,
  LIST,
  monitoring,
  numbered,
  outcomes,
  remove,
  SHOP,
} from './service-requests.ts'

/** What becomes of each name, by a creation and by renaming: the name that the group has then, or the code. */
async function namesOf(service: TestService, names: readonly string[]): Promise<unknown[]> {
  const seen: unknown[] = []
  for (const name of names) {
    const created = await service.send('POST', '/domaingroups', { name })
    seen.push(created.body.data?.group.name ?? created.body.error.code)
  }
  const { id } = (await service.send('POST', '/domaingroups', { name: 'Other' })).body.data.group
  for (const [index, name] of names.entries()) {
    const renamed = await service.send('PATCH', `/domaingroups?id=${id}`, { name })
    const isRefused = String(seen[index]).includes('_')
    expect(renamed.body.error?.code, `${name} as a new name`).toBe(isRefused ? seen[index] : 'duplicate_name')
  }
  return seen
}

function names(id: string, rows: readonly [name: string, chosen: string, ...alternatives: string[]][]): Behaviour {
  return {
    id,
    observe: (service) =>
      namesOf(
        service,
        rows.map(([name]) => name),
      ),
    ...columnsOf(rows),
  }
}

/** What is no hostname, and a domain with the alternative: it can be added, listed, grouped and removed. */
function hostname(id: string, text: string, canonical: string): Behaviour {
  return answers(id, {}, [
    [add(text), '400 invalid_domain', `200 ${canonical}`],
    [LIST, '200', `200 ${canonical}`],
    [FIGURES, '200', `200 ${canonical}`],
    [create('X', text), '400 invalid_domain', `200 X: ${canonical}`],
    [remove(text), '400 invalid_domain', `200 ${canonical}`],
  ])
}

const TWO_AND_ONE_USED = {
  fixture: { domains: ['a.example', 'b.example', { name: 'used.example', features: ['mta-sts'] }] },
}
/** Groups by their name, with their members. */
const withGroups = (groups: Record<string, string[]>, monitored = ['a.example', 'b.example']): ServerOptions => ({
  fixture: { domains: monitored, groups: Object.entries(groups).map(([name, domains]) => ({ name, domains })) },
})
const NEW_AND_A = '200 X: new.example a.example'
const OLD_AND_NEW = [
  ...['200 old.example, new.example, a.example', '200 old.example, new.example, a.example'],
  '200 Old.Example, New.EXAMPLE., a.example',
]
const TOO_LARGE = '413 request_too_large'
const MISSING = '400 missing_field'
const NO_CHANGE = '400 no_fields_to_update'
const PUNY = 'xn--mnchen-3ya.example'

/** What shows of the choices about names, lists, groups and domains. */
export const DOMAIN_BEHAVIOURS: readonly Behaviour[] = [
  outcomes('final-dot', {}, [[add('b.example.'), '200', '400 invalid_domain']]),
  answers('international-names', {}, [
    [add('MÜNCHEN.example'), `200 ${PUNY}`, '400 invalid_domain', '200 münchen.example'],
    [add(PUNY), '400 invalid_domain', `200 ${PUNY}`, '400 invalid_domain'],
    [create('X', 'münchen.example'), `200 X: ${PUNY}`, '400 invalid_domain', '200 X: münchen.example'],
    [LIST, `200 ${PUNY}`, `200 ${PUNY}`, '200 münchen.example'],
    [FIGURES, `200 ${PUNY}`, `200 ${PUNY}`, '200 münchen.example'],
  ]),
  outcomes('underscores', {}, [[add('_dmarc.b.example'), '400 invalid_domain', '200']]),
  hostname('single-labels', 'LOCALHOST', 'localhost'),
  hostname('ipv4-addresses', '192.0.2.1', '192.0.2.1'),
  hostname('numeric-last-labels', 'example.123', 'example.123'),
  hostname('wildcards', '*.b.example', '*.b.example'),
  outcomes('public-suffixes', {}, [
    [add('co.uk'), '200', '400 invalid_domain'],
    [add('com.br'), '200', '400 invalid_domain'],
    [add('b.co.uk'), '200'],
    [add('b.example'), '200'],
  ]),
  hostname('space-around-hostnames', ' b.example\n', 'b.example'),
  hostname('invisible-in-hostnames', 'b\u200b.exam\u00adple', 'b.example'),
  answers('canonical-form', monitoring('Old.Example'), [
    [
      add('New.EXAMPLE.', 'a.example'),
      ...['200 new.example, a.example', '200 New.EXAMPLE., a.example', '200 New.EXAMPLE., a.example'],
    ],
    [add('NEW.example'), '400 invalid_domain'],
    [create('X', 'new.example', 'a.example'), NEW_AND_A, NEW_AND_A, '200 X: New.EXAMPLE. a.example'],
    [LIST, ...OLD_AND_NEW],
    [FIGURES, ...OLD_AND_NEW],
    [GROUPS, NEW_AND_A, NEW_AND_A, '200 X: New.EXAMPLE. a.example'],
    [remove('NEW.example'), '200 new.example', '200 NEW.example', '200 NEW.example'],
  ]),
  ...Object.entries({ 'domain-order': LIST, 'record-order': FIGURES }).map(([id, step]) =>
    answers(id, monitoring('b.example', 'c.example', 'a.example'), [
      [
        step,
        ...['200 b.example, c.example, a.example', '200 a.example, b.example, c.example'],
        '200 a.example, c.example, b.example',
      ],
    ]),
  ),
  answers('group-order', withGroups({ b: [], C: [], a: [] }), [[GROUPS, '200 b, C, a', '200 a, b, C', '200 a, C, b']]),
  answers('member-order', monitoring('a.example', 'b.example', 'c.example'), [
    [create('X', 'c.example', 'a.example'), '200 X: c.example a.example', '200 X: a.example c.example'],
    ...[change({ add_domains: ['b.example'] }), ask('GET /domaingroups?id={group}'), GROUPS].map(
      (step) => [step, '200 X: c.example a.example b.example', '200 X: a.example b.example c.example'] as const,
    ),
  ]),
  answers('echo-order', {}, [
    [
      add('b.example', 'c.example', 'a.example'),
      ...['200 b.example, c.example, a.example', '200 a.example, b.example, c.example'],
    ],
    [remove('c.example', 'b.example'), '200 c.example, b.example', '200 b.example, c.example'],
  ]),
  answers('already-monitored', monitoring('a.example'), [
    [add('a.example', 'b.example'), '400 invalid_domain', '200 b.example', '400 invalid_request_body'],
  ]),
  answers('repeated-domains', {}, [[add('b.example', 'B.example.'), '400 invalid_domain', '400 invalid_request_body']]),
  answers('repeated-deletions', monitoring('a.example'), [
    [remove('a.example', 'A.example'), '400 invalid_domain', '200 a.example', '400 invalid_request_body'],
  ]),
  answers('mixed-additions', monitoring('a.example'), [
    [add('b.example', 'a.example', 'c.example'), '400 invalid_domain', '200 b.example, c.example'],
    [add('a.example'), '400 invalid_domain'],
    [add('d.example', 'no host'), '400 invalid_domain'],
    [add('d.example', 'd.example'), '400 invalid_domain'],
  ]),
  answers('unmonitored-deletion', monitoring('a.example'), [
    [remove('a.example', 'b.example'), '409 domain_delete_failed', '400 not_monitored', '200 a.example'],
  ]),
  answers('mixed-deletions', TWO_AND_ONE_USED, [
    [remove('used.example', 'a.example', 'c.example'), '409 domain_delete_failed', '200 a.example'],
    [remove('used.example', 'c.example'), '409 domain_delete_failed'],
    [remove('b.example', 'b.example'), '400 invalid_domain'],
    [LIST, '200 a.example, b.example, used.example', '200 b.example, used.example'],
  ]),
  answers('deletion-of-members', SHOP, [
    [remove('a.example'), '200 a.example', '409 domain_delete_failed'],
    [GROUPS, '200 Shop', '200 Shop: a.example'],
  ]),
  answers('repeated-members', SHOP, [
    [create('X', 'a.example', 'A.example'), '200 X: a.example', '400 invalid_domain', '400 invalid_request_body'],
    [
      change({ domains: ['a.example', 'A.example'] }),
      ...['200 Shop: a.example', '400 invalid_domain', '400 invalid_request_body'],
    ],
  ]),
  answers('mixed-members', withGroups({ Shop: ['a.example'] }), [
    [change({ add_domains: ['no.example', 'b.example'] }), '400 not_monitored', '200 Shop: a.example b.example'],
    [GROUPS, '200 Shop: a.example', '200 Shop: a.example b.example'],
    [change({ domains: ['no.example', 'b.example'] }), '400 not_monitored', '200 Shop: b.example'],
    [GROUPS, '200 Shop: a.example', '200 Shop: b.example'],
    [change({ add_domains: ['no.example'] }), '400 not_monitored'],
    [create('X', 'no.example', 'b.example'), '400 not_monitored'],
  ]),
  answers('shared-domains', withGroups({ Shop: [], Mail: ['a.example', 'b.example'] }), [
    [create('X', 'a.example'), '200 X: a.example', '400 invalid_domain', '200 X: a.example'],
    [change({ domains: ['b.example'] }), '200 Shop: b.example', '400 invalid_domain', '200 Shop: b.example'],
    [
      change({ add_domains: ['a.example'] }),
      ...['200 Shop: b.example a.example', '400 invalid_domain', '200 Shop: b.example a.example'],
    ],
    [change({ name: 'Shops' }), '200 Shops: b.example a.example', '200 Shops', '200 Shops: b.example a.example'],
    [
      GROUPS,
      '200 Shops: b.example a.example, Mail: a.example b.example, X: a.example',
      '200 Shops, Mail: a.example b.example',
      '200 Shops: b.example a.example, Mail, X',
    ],
  ]),
  answers('domain-cap', monitoring(...numbered('a', 98)), [
    [add('b.example', 'c.example', 'd.example'), '200 b.example, c.example, d.example', '403 unauthorized'],
    [add('b.example', 'c.example'), '400 invalid_domain', '200 b.example, c.example'],
    [add('d.example'), '400 invalid_domain', '403 unauthorized'],
    [remove('b.example'), '200 b.example'],
    [add('d.example'), '400 invalid_domain', '200 d.example'],
  ]),
  outcomes('group-cap', withGroups(Object.fromEntries(numbered('g', 19).map((name) => [name, []]))), [
    [create('x'), '200'],
    [create('y'), '200', '403 unauthorized'],
    [change({ name: 'z' }), '200'],
  ]),
  outcomes('member-cap', withGroups({ X: numbered('a', 49) }, numbered('a', 52)), [
    [change({ add_domains: ['a49.example', 'a50.example'] }), '200', '403 unauthorized'],
    [change({ add_domains: ['a49.example', 'a0.example'] }), '200'],
    [change({ add_domains: ['a50.example'], remove_domains: ['a0.example'] }), '200'],
    [change({ domains: numbered('a', 52) }), '200', '403 unauthorized'],
    [create('Y', ...numbered('a', 52)), '200', '403 unauthorized'],
    [create('Z', ...numbered('a', 50)), '200'],
  ]),
  outcomes('own-name', withGroups({ Shop: [], Mail: [] }), [
    [change({ name: 'Shop' }), '200', '409 duplicate_name'],
    [change({ name: 'SHOP' }), '200', '409 duplicate_name'],
    [change({ name: 'mail' }), '409 duplicate_name'],
    [change({ name: 'New' }), '200'],
    [change({ name: 'new' }), '200', '409 duplicate_name'],
  ]),
  names('name-length-unit', [
    ['a'.repeat(100), 'a'.repeat(100)],
    ['\u00e9'.repeat(51), '\u00e9'.repeat(51), '\u00e9'.repeat(51), 'invalid_name'],
    ['\u20ac'.repeat(34), '\u20ac'.repeat(34), '\u20ac'.repeat(34), 'invalid_name'],
    ['e\u0301'.repeat(50), 'e\u0301'.repeat(50), 'e\u0301'.repeat(50), 'invalid_name'],
    ['e\u0301'.repeat(51), 'invalid_name'],
    ['😀'.repeat(100), '😀'.repeat(100), 'invalid_name', 'invalid_name'],
    ['😀'.repeat(101), 'invalid_name'],
  ]),
  names('space-around-names', [
    ['Mail', 'Mail'],
    [' Mail ', ' Mail ', 'duplicate_name', 'invalid_name'],
    ['a b', 'a b'],
    ['\u00a0x\u2003', '\u00a0x\u2003', 'x', 'invalid_name'],
    [` ${'y'.repeat(100)} `, 'invalid_name', 'y'.repeat(100), 'invalid_name'],
  ]),
  names('control-characters', [
    ['a\u0000b', 'invalid_name', 'invalid_name', 'a\u0000b'],
    ['a\nb', 'a\nb', 'invalid_name', 'a\nb'],
    ['a\u007fb', 'a\u007fb', 'invalid_name', 'a\u007fb'],
    ['a\u0085b', 'a\u0085b', 'invalid_name', 'a\u0085b'],
    ['a b', 'a b'],
  ]),
  names('lone-surrogates', [
    ['a\ud83d', 'invalid_name', 'a\ufffd', 'a\ud83d'],
    ['\ude00b', 'invalid_name', '\ufffdb', '\ude00b'],
    ['\ud83d\ude00', '😀'],
    ['a\ufffd', 'a\ufffd', 'duplicate_name', 'a\ufffd'],
  ]),
  names('invisible-in-names', [
    ['Mail', 'Mail'],
    ['Ma\u200bil', 'Ma\u200bil', 'duplicate_name', 'invalid_name'],
    ['x\u00ad', 'x\u00ad', 'x', 'invalid_name'],
    ['می\u200cخواهم', 'می\u200cخواهم'],
    ['👩\u200d💻', '👩\u200d💻'],
    ['\u200b', 'invalid_name'],
  ]),
  outcomes('name-comparison', {}, [
    [create('Mail'), '200'],
    [create('mAIL'), '409 duplicate_name'],
    [create('Äpfel'), '200'],
    [create('äPFEL'), '409 duplicate_name', '409 duplicate_name', '200'],
    [create('straße'), '200'],
    [create('STRASSE'), '409 duplicate_name', '200', '200'],
  ]),
  outcomes('too-many-domains', {}, [
    [add(...numbered('b', 51)), TOO_LARGE, '400 invalid_request_body', '400 invalid_domain'],
  ]),
  outcomes('no-domains', {}, [[add(), MISSING, '400 invalid_request_body', '200']]),
  outcomes('deletions-per-request', monitoring(...numbered('b', 51)), [
    [remove(...numbered('b', 51)), '200', TOO_LARGE],
  ]),
  outcomes('no-deletions', {}, [[remove(), MISSING, '400 invalid_request_body', '200']]),
  outcomes('empty-lists', SHOP, [
    [change({ add_domains: [] }), '200', NO_CHANGE, NO_CHANGE],
    [change({ remove_domains: [] }), '200', NO_CHANGE, NO_CHANGE],
    [change({ add_domains: [], remove_domains: [] }), '200', NO_CHANGE, NO_CHANGE],
    [change({ domains: [] }), '200', '200', NO_CHANGE],
    [change({ name: 'Mall', add_domains: [] }), '200'],
    [change({ name: 'Hall', domains: [] }), '200'],
    [change({ add_domains: ['a.example'], remove_domains: [] }), '200'],
    [ask('POST /domaingroups', { name: 'X', domains: [] }), '200'],
  ]),
  outcomes('deletion-entries', monitoring('a.example'), [
    [remove('no host'), '400 invalid_domain', '409 domain_delete_failed', '400 not_monitored'],
    [remove(7), '400 invalid_field_type'],
    [remove('A.example.'), '200'],
  ]),
  outcomes('member-entries', SHOP, [
    [create('X', 'no host'), '400 invalid_domain', '400 not_monitored'],
    [change({ domains: ['no host'] }), '400 invalid_domain', '400 not_monitored'],
    [change({ add_domains: ['no host'] }), '400 invalid_domain', '400 not_monitored'],
    [change({ add_domains: ['A.example.'] }), '200'],
  ]),
  outcomes('removal-entries', SHOP, [
    [change({ remove_domains: ['no host'] }), '200', '400 invalid_domain'],
    [change({ remove_domains: ['b.example'] }), '200'],
  ]),
  outcomes('blank-names', {}, [
    [create(' '), '400 invalid_name', '200', '400 invalid_name'],
    [create('\u200b\u2060'), '400 invalid_name', '200', '200'],
    [create(''), '400 invalid_name'],
    [create(' \u200bx'), '200'],
  ]),
]

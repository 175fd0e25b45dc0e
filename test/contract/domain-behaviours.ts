import { expect } from 'vitest'
import type { TestService } from '../support/service.ts'
import type { Behaviour } from './behaviours.ts'
import { outcome } from './outcome.ts'
import { firstChanges, monitoring, post, remove, SHOP } from './service-requests.ts'

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

/** What is no hostname, and a domain with the alternative: it can be added, listed, grouped and removed. */
function hostname(id: string, text: string, canonical: string): Behaviour {
  return {
    id,
    async observe(service) {
      const added = await service.send('POST', '/domains', { domains: [text] })
      const listed = (await service.get('/domains')).body.data.domains
      const figures: { domain: string }[] = (await service.get('/dmarc')).body.data
      const group = await service.send('POST', '/domaingroups', { name: 'X', domains: [text] })
      const removed = await service.send('DELETE', '/domains', { domains: [text] })
      return [
        ...[outcome(added), listed, figures.map(({ domain }) => domain)],
        ...[outcome(group), group.body.data?.group.domains, outcome(removed)],
      ]
    },
    chosen: ['400 invalid_domain', [], [], '400 invalid_domain', undefined, '400 invalid_domain'],
    alternatives: [['200', [canonical], [canonical], '200', [canonical], '200']],
  }
}

/** What shows of the choices about names, lists, groups and domains. */
export const DOMAIN_BEHAVIOURS: readonly Behaviour[] = [
  {
    id: 'final-dot',
    observe: post('/domains', { domains: ['b.example.'] }),
    chosen: '200',
    alternatives: ['400 invalid_domain'],
  },
  {
    id: 'international-names',
    async observe(service) {
      const added = await service.send('POST', '/domains', { domains: ['MÜNCHEN.example'] })
      const again = outcome(await service.send('POST', '/domains', { domains: ['xn--mnchen-3ya.example'] }))
      const group = await service.send('POST', '/domaingroups', { name: 'X', domains: ['münchen.example'] })
      return [
        outcome(added),
        again,
        (await service.get('/domains')).body.data.domains,
        (await service.get('/dmarc')).body.data[0]?.domain,
        group.body.data?.group.domains,
      ]
    },
    chosen: [
      ...['200', '400 invalid_domain', ['xn--mnchen-3ya.example'], 'xn--mnchen-3ya.example'],
      ['xn--mnchen-3ya.example'],
    ],
    alternatives: [
      ['400 invalid_domain', '200', ['xn--mnchen-3ya.example'], 'xn--mnchen-3ya.example', undefined],
      ['200', '400 invalid_domain', ['münchen.example'], 'münchen.example', ['münchen.example']],
    ],
  },
  {
    id: 'underscores',
    observe: post('/domains', { domains: ['_dmarc.b.example'] }),
    chosen: '400 invalid_domain',
    alternatives: ['200'],
  },
  hostname('single-labels', 'LOCALHOST', 'localhost'),
  hostname('ipv4-addresses', '192.0.2.1', '192.0.2.1'),
  hostname('numeric-last-labels', 'example.123', 'example.123'),
  hostname('wildcards', '*.b.example', '*.b.example'),
  {
    id: 'public-suffixes',
    observe: (service) =>
      Promise.all(
        ['co.uk', 'com.br', 'b.co.uk', 'b.example'].map((name) => post('/domains', { domains: [name] })(service)),
      ),
    chosen: ['200', '200', '200', '200'],
    alternatives: [['400 invalid_domain', '400 invalid_domain', '200', '200']],
  },
  hostname('space-around-hostnames', ' b.example\n', 'b.example'),
  hostname('invisible-in-hostnames', 'b\u200b.exam\u00adple', 'b.example'),
  {
    id: 'canonical-form',
    options: monitoring('Old.Example'),
    async observe(service) {
      const added = await service.send('POST', '/domains', { domains: ['New.EXAMPLE.', 'a.example'] })
      const again = await service.send('POST', '/domains', { domains: ['NEW.example'] })
      const group = await service.send('POST', '/domaingroups', { name: 'X', domains: ['new.example'] })
      const shown = [
        (await service.get('/domains')).body.data.domains,
        (await service.get('/dmarc')).body.data.map(({ domain }: { domain: string }) => domain),
        group.body.data.group.domains,
        (await service.get('/domaingroups')).body.data.groups[0].domains,
      ]
      const removed = await service.send('DELETE', '/domains', { domains: ['NEW.example'] })
      return [added.body.data.domains, outcome(again), ...shown, removed.body.data.domains]
    },
    chosen: [
      ...[['new.example', 'a.example'], '400 invalid_domain'],
      ...[
        ['old.example', 'new.example', 'a.example'],
        ['old.example', 'new.example', 'a.example'],
      ],
      ...[['new.example'], ['new.example'], ['new.example']],
    ],
    alternatives: [
      [
        ...[['New.EXAMPLE.', 'a.example'], '400 invalid_domain'],
        ...[
          ['old.example', 'new.example', 'a.example'],
          ['old.example', 'new.example', 'a.example'],
        ],
        ...[['new.example'], ['new.example'], ['NEW.example']],
      ],
      [
        ...[['New.EXAMPLE.', 'a.example'], '400 invalid_domain'],
        ...[
          ['Old.Example', 'New.EXAMPLE.', 'a.example'],
          ['Old.Example', 'New.EXAMPLE.', 'a.example'],
        ],
        ...[['New.EXAMPLE.'], ['New.EXAMPLE.'], ['NEW.example']],
      ],
    ],
  },
  {
    id: 'domain-order',
    options: monitoring('b.example', 'c.example', 'a.example'),
    observe: async (service) => (await service.get('/domains')).body.data.domains.join(' '),
    chosen: 'b.example c.example a.example',
    alternatives: ['a.example b.example c.example', 'a.example c.example b.example'],
  },
  {
    id: 'record-order',
    options: monitoring('b.example', 'c.example', 'a.example'),
    async observe(service) {
      const records: { domain: string }[] = (await service.get('/dmarc')).body.data
      return records.map(({ domain }) => domain).join(' ')
    },
    chosen: 'b.example c.example a.example',
    alternatives: ['a.example b.example c.example', 'a.example c.example b.example'],
  },
  {
    id: 'group-order',
    options: { fixture: { groups: [{ name: 'b' }, { name: 'C' }, { name: 'a' }] } },
    async observe(service) {
      const groups: { name: string }[] = (await service.get('/domaingroups')).body.data.groups
      return groups.map(({ name }) => name).join(' ')
    },
    chosen: 'b C a',
    alternatives: ['a b C', 'a C b'],
  },
  {
    id: 'member-order',
    options: monitoring('a.example', 'b.example', 'c.example'),
    async observe(service) {
      const sent = { name: 'X', domains: ['c.example', 'a.example'] }
      const { group } = (await service.send('POST', '/domaingroups', sent)).body.data
      const path = `/domaingroups?id=${group.id}`
      const changed = await service.send('PATCH', path, { add_domains: ['b.example'] })
      const read = [await service.get(path), await service.get('/domaingroups')].map(({ body }) => body.data)
      return [group, changed.body.data.group, read[0].group, read[1].groups[0]].map(({ domains }) => domains.join(' '))
    },
    chosen: ['c.example a.example', ...Array(3).fill('c.example a.example b.example')],
    alternatives: [['a.example c.example', ...Array(3).fill('a.example b.example c.example')]],
  },
  {
    id: 'echo-order',
    async observe(service) {
      const domains = ['b.example', 'c.example', 'a.example']
      const added = await service.send('POST', '/domains', { domains })
      const removed = await service.send('DELETE', '/domains', { domains: ['c.example', 'b.example'] })
      return [added, removed].map(({ body }) => body.data.domains.join(' '))
    },
    chosen: ['b.example c.example a.example', 'c.example b.example'],
    alternatives: [['a.example b.example c.example', 'b.example c.example']],
  },
  {
    id: 'already-monitored',
    options: monitoring('a.example'),
    async observe(service) {
      const response = await service.send('POST', '/domains', { domains: ['a.example', 'b.example'] })
      return [outcome(response), response.body.data?.domains, response.body.data?.count]
    },
    chosen: ['400 invalid_domain', undefined, undefined],
    alternatives: [
      ['200', ['b.example'], 1],
      ['400 invalid_request_body', undefined, undefined],
    ],
  },
  {
    id: 'repeated-domains',
    options: monitoring('a.example'),
    async observe(service) {
      const added = await service.send('POST', '/domains', { domains: ['b.example', 'B.example.'] })
      const removed = await service.send('DELETE', '/domains', { domains: ['a.example', 'A.example'] })
      return [outcome(added), added.body.data?.domains, outcome(removed), removed.body.data?.count]
    },
    chosen: ['400 invalid_domain', undefined, '400 invalid_domain', undefined],
    alternatives: [
      ['200', ['b.example'], '200', 1],
      ['400 invalid_request_body', undefined, '400 invalid_request_body', undefined],
    ],
  },
  {
    id: 'mixed-additions',
    options: monitoring('a.example'),
    async observe(service) {
      const add = (...domains: string[]) => service.send('POST', '/domains', { domains })
      const mixed = await add('b.example', 'a.example', 'c.example')
      const others = [await add('a.example'), await add('d.example', 'no host'), await add('d.example', 'd.example')]
      return [outcome(mixed), mixed.body.data?.domains, mixed.body.data?.count, ...others.map(outcome)]
    },
    chosen: ['400 invalid_domain', undefined, undefined, ...Array(3).fill('400 invalid_domain')],
    alternatives: [['200', ['b.example', 'c.example'], 2, ...Array(3).fill('400 invalid_domain')]],
  },
  {
    id: 'unmonitored-deletion',
    options: monitoring('a.example'),
    async observe(service) {
      const response = await service.send('DELETE', '/domains', { domains: ['a.example', 'b.example'] })
      return [outcome(response), response.body.data?.domains]
    },
    chosen: ['409 domain_delete_failed', undefined],
    alternatives: [
      ['400 not_monitored', undefined],
      ['200', ['a.example']],
    ],
  },
  {
    id: 'mixed-deletions',
    options: {
      fixture: { domains: ['a.example', 'b.example', { name: 'used.example', features: ['mta-sts'] }] },
    },
    async observe(service) {
      const drop = (...domains: string[]) => service.send('DELETE', '/domains', { domains })
      const mixed = await drop('used.example', 'a.example', 'c.example')
      const others = [await drop('used.example', 'c.example'), await drop('b.example', 'b.example')]
      const left = (await service.get('/domains')).body.data.domains
      return [outcome(mixed), mixed.body.data?.domains, mixed.body.data?.count, ...others.map(outcome), left]
    },
    chosen: [
      ...['409 domain_delete_failed', undefined, undefined, '409 domain_delete_failed', '400 invalid_domain'],
      ['a.example', 'b.example', 'used.example'],
    ],
    alternatives: [
      ['200', ['a.example'], 1, '409 domain_delete_failed', '400 invalid_domain', ['b.example', 'used.example']],
    ],
  },
  {
    id: 'deletion-of-members',
    options: SHOP,
    async observe(service) {
      const deletion = await service.send('DELETE', '/domains', { domains: ['a.example'] })
      return [outcome(deletion), (await service.get('/domaingroups')).body.data.groups[0].domains]
    },
    chosen: ['200', []],
    alternatives: [['409 domain_delete_failed', ['a.example']]],
  },
  {
    id: 'repeated-members',
    options: SHOP,
    async observe(service) {
      const members = ['a.example', 'A.example']
      const created = await service.send('POST', '/domaingroups', { name: 'X', domains: members })
      return [outcome(created), created.body.data?.group.domains, await firstChanges(service, { domains: members })]
    },
    chosen: ['200', ['a.example'], '200'],
    alternatives: [
      ['400 invalid_domain', undefined, '400 invalid_domain'],
      ['400 invalid_request_body', undefined, '400 invalid_request_body'],
    ],
  },
  {
    id: 'mixed-members',
    options: {
      fixture: { domains: ['a.example', 'b.example'], groups: [{ name: 'Shop', domains: ['a.example'] }] },
    },
    async observe(service) {
      const mixed = ['no.example', 'b.example']
      return [
        await firstChanges(service, { add_domains: mixed }),
        (await service.get('/domaingroups')).body.data.groups[0].domains,
        await firstChanges(service, { domains: mixed }),
        (await service.get('/domaingroups')).body.data.groups[0].domains,
        await firstChanges(service, { add_domains: ['no.example'] }),
        outcome(await service.send('POST', '/domaingroups', { name: 'X', domains: mixed })),
      ]
    },
    chosen: [
      ...['400 not_monitored', ['a.example'], '400 not_monitored', ['a.example']],
      ...['400 not_monitored', '400 not_monitored'],
    ],
    alternatives: [['200', ['a.example', 'b.example'], '200', ['b.example'], '400 not_monitored', '400 not_monitored']],
  },
  {
    id: 'shared-domains',
    options: {
      fixture: {
        domains: ['a.example', 'b.example'],
        groups: [{ name: 'Shop' }, { name: 'Mail', domains: ['a.example', 'b.example'] }],
      },
    },
    async observe(service) {
      const created = await service.send('POST', '/domaingroups', { name: 'X', domains: ['a.example'] })
      const changes = [{ domains: ['b.example'] }, { add_domains: ['a.example'] }, { name: 'Shops' }]
      const outcomes = [outcome(created)]
      for (const body of changes) outcomes.push(await firstChanges(service, body))
      const groups: { name: string; domains: string[] }[] = (await service.get('/domaingroups')).body.data.groups
      return [...outcomes, ...groups.map(({ name, domains }) => `${name}: ${domains}`)]
    },
    chosen: [
      ...['200', '200', '200', '200'],
      ...['Shops: b.example,a.example', 'Mail: a.example,b.example', 'X: a.example'],
    ],
    alternatives: [
      [...Array(3).fill('400 invalid_domain'), '200', 'Shops: ', 'Mail: a.example,b.example'],
      [...Array(4).fill('200'), 'Shops: b.example,a.example', 'Mail: ', 'X: '],
    ],
  },
  {
    id: 'domain-cap',
    options: monitoring(...Array.from({ length: 98 }, (_, index) => `a${index}.example`)),
    async observe(service) {
      const add = async (...domains: string[]) => outcome(await service.send('POST', '/domains', { domains }))
      return [
        await add('b.example', 'c.example', 'd.example'),
        await add('b.example', 'c.example'),
        await add('d.example'),
        await remove('/domains', { domains: ['b.example'] })(service),
        await add('d.example'),
      ]
    },
    chosen: ['200', '400 invalid_domain', '400 invalid_domain', '200', '400 invalid_domain'],
    alternatives: [['403 unauthorized', '200', '403 unauthorized', '200', '200']],
  },
  {
    id: 'group-cap',
    options: { fixture: { groups: Array.from({ length: 19 }, (_, index) => ({ name: `${index}` })) } },
    async observe(service) {
      const outcomes: string[] = []
      for (const name of ['x', 'y']) outcomes.push(await post('/domaingroups', { name })(service))
      outcomes.push(await firstChanges(service, { name: 'z' }))
      return outcomes
    },
    chosen: ['200', '200', '200'],
    alternatives: [['200', '403 unauthorized', '200']],
  },
  {
    id: 'member-cap',
    options: {
      fixture: {
        domains: Array.from({ length: 52 }, (_, index) => `a${index}.example`),
        groups: [{ name: 'X', domains: Array.from({ length: 49 }, (_, index) => `a${index}.example`) }],
      },
    },
    async observe(service) {
      const all = (await service.get('/domains')).body.data.domains
      return [
        await firstChanges(service, { add_domains: ['a49.example', 'a50.example'] }),
        await firstChanges(service, { add_domains: ['a49.example', 'a0.example'] }),
        await firstChanges(service, { add_domains: ['a50.example'], remove_domains: ['a0.example'] }),
        await firstChanges(service, { domains: all }),
        await post('/domaingroups', { name: 'Y', domains: all })(service),
        await post('/domaingroups', { name: 'Z', domains: all.slice(0, 50) })(service),
      ]
    },
    chosen: Array(6).fill('200'),
    alternatives: [['403 unauthorized', '200', '200', '403 unauthorized', '403 unauthorized', '200']],
  },
  {
    id: 'own-name',
    options: { fixture: { groups: [{ name: 'Shop' }, { name: 'Mail' }] } },
    async observe(service) {
      const names = ['Shop', 'SHOP', 'mail', 'New', 'new']
      const outcomes: string[] = []
      for (const name of names) outcomes.push(await firstChanges(service, { name }))
      return outcomes
    },
    chosen: ['200', '200', '409 duplicate_name', '200', '200'],
    alternatives: [['409 duplicate_name', '409 duplicate_name', '409 duplicate_name', '200', '409 duplicate_name']],
  },
  {
    id: 'name-length-unit',
    observe: (service) =>
      namesOf(service, ['a'.repeat(100), '\u00e9'.repeat(51), '\u20ac'.repeat(34), '😀'.repeat(51), '😀'.repeat(101)]),
    chosen: [...['a'.repeat(100), '\u00e9'.repeat(51), '\u20ac'.repeat(34), '😀'.repeat(51)], 'invalid_name'],
    alternatives: [
      ['a'.repeat(100), '\u00e9'.repeat(51), '\u20ac'.repeat(34), 'invalid_name', 'invalid_name'],
      ['a'.repeat(100), ...Array(4).fill('invalid_name')],
    ],
  },
  {
    id: 'space-around-names',
    observe: (service) => namesOf(service, ['Mail', ' Mail ', 'a b', '\u00a0x\u2003', ` ${'y'.repeat(100)} `]),
    chosen: ['Mail', ' Mail ', 'a b', '\u00a0x\u2003', 'invalid_name'],
    alternatives: [
      ['Mail', 'duplicate_name', 'a b', 'x', 'y'.repeat(100)],
      ['Mail', 'invalid_name', 'a b', 'invalid_name', 'invalid_name'],
    ],
  },
  {
    id: 'control-characters',
    observe: (service) => namesOf(service, ['a\u0000b', 'a\nb', 'a\u007fb', 'a\u0085b', 'a b']),
    chosen: ['invalid_name', 'a\nb', 'a\u007fb', 'a\u0085b', 'a b'],
    alternatives: [
      [...Array(4).fill('invalid_name'), 'a b'],
      ['a\u0000b', 'a\nb', 'a\u007fb', 'a\u0085b', 'a b'],
    ],
  },
  {
    id: 'lone-surrogates',
    observe: (service) => namesOf(service, ['a\ud83d', '\ude00b', '\ud83d\ude00', 'a\ufffd']),
    chosen: ['invalid_name', 'invalid_name', '😀', 'a\ufffd'],
    alternatives: [
      ['a\ufffd', '\ufffdb', '😀', 'duplicate_name'],
      ['a\ud83d', '\ude00b', '😀', 'a\ufffd'],
    ],
  },
  {
    id: 'invisible-in-names',
    observe: (service) => namesOf(service, ['Mail', 'Ma\u200bil', 'x\u00ad', 'می\u200cخواهم', '👩\u200d💻', '\u200b']),
    chosen: ['Mail', 'Ma\u200bil', 'x\u00ad', 'می\u200cخواهم', '👩\u200d💻', 'invalid_name'],
    alternatives: [
      ['Mail', 'duplicate_name', 'x', 'می\u200cخواهم', '👩\u200d💻', 'invalid_name'],
      ['Mail', 'invalid_name', 'invalid_name', 'می\u200cخواهم', '👩\u200d💻', 'invalid_name'],
    ],
  },
  {
    id: 'name-comparison',
    async observe(service) {
      const pairs = [
        ['Mail', 'mAIL'],
        ['Äpfel', 'äPFEL'],
        ['straße', 'STRASSE'],
      ]
      const statuses: number[] = []
      for (const [name, other] of pairs) {
        await service.send('POST', '/domaingroups', { name })
        statuses.push((await service.send('POST', '/domaingroups', { name: other })).status)
      }
      return statuses
    },
    chosen: [409, 409, 409],
    alternatives: [
      [409, 409, 200],
      [409, 200, 200],
    ],
  },
  {
    id: 'too-many-or-no-domains',
    async observe(service) {
      const many = Array.from({ length: 51 }, (_, index) => `b${index}.example`)
      return Promise.all([post('/domains', { domains: many })(service), post('/domains', { domains: [] })(service)])
    },
    chosen: ['413 request_too_large', '400 missing_field'],
    alternatives: [
      ['400 invalid_request_body', '400 missing_field'],
      ['400 invalid_domain', '400 missing_field'],
      ['413 request_too_large', '400 invalid_request_body'],
      ['413 request_too_large', '200'],
    ],
  },
  {
    id: 'deletions-per-request',
    options: monitoring(...Array.from({ length: 51 }, (_, index) => `b${index}.example`)),
    async observe(service) {
      const all = (await service.get('/domains')).body.data.domains
      return [await remove('/domains', { domains: [] })(service), await remove('/domains', { domains: all })(service)]
    },
    chosen: ['400 missing_field', '200'],
    alternatives: [
      ['400 missing_field', '413 request_too_large'],
      ['400 invalid_request_body', '200'],
      ['200', '200'],
    ],
  },
  {
    id: 'empty-lists',
    options: SHOP,
    async observe(service) {
      return [
        await firstChanges(service, { add_domains: [] }),
        await firstChanges(service, { remove_domains: [] }),
        await firstChanges(service, { add_domains: [], remove_domains: [] }),
        await firstChanges(service, { domains: [] }),
        await firstChanges(service, { name: 'Mall', add_domains: [] }),
        await firstChanges(service, { name: 'Hall', domains: [] }),
        await firstChanges(service, { add_domains: ['a.example'], remove_domains: [] }),
        outcome(await service.send('POST', '/domaingroups', { name: 'X', domains: [] })),
      ]
    },
    chosen: Array(8).fill('200'),
    alternatives: [
      [...Array(3).fill('400 no_fields_to_update'), ...Array(5).fill('200')],
      [...Array(4).fill('400 no_fields_to_update'), ...Array(4).fill('200')],
    ],
  },
  {
    id: 'deletion-entries',
    options: monitoring('a.example'),
    async observe(service) {
      return [
        await remove('/domains', { domains: ['no host'] })(service),
        await remove('/domains', { domains: [7] })(service),
        await remove('/domains', { domains: ['A.example.'] })(service),
      ]
    },
    chosen: ['400 invalid_domain', '400 invalid_field_type', '200'],
    alternatives: [
      ['409 domain_delete_failed', '400 invalid_field_type', '200'],
      ['400 not_monitored', '400 invalid_field_type', '200'],
    ],
  },
  {
    id: 'member-entries',
    options: SHOP,
    async observe(service) {
      return [
        outcome(await service.send('POST', '/domaingroups', { name: 'X', domains: ['no host'] })),
        await firstChanges(service, { domains: ['no host'] }),
        await firstChanges(service, { add_domains: ['no host'] }),
        await firstChanges(service, { add_domains: ['A.example.'] }),
      ]
    },
    chosen: [...Array(3).fill('400 invalid_domain'), '200'],
    alternatives: [[...Array(3).fill('400 not_monitored'), '200']],
  },
  {
    id: 'removal-entries',
    options: SHOP,
    async observe(service) {
      return [
        await firstChanges(service, { remove_domains: ['no host'] }),
        await firstChanges(service, { remove_domains: ['b.example'] }),
      ]
    },
    chosen: ['200', '200'],
    alternatives: [['400 invalid_domain', '200']],
  },
  {
    id: 'blank-names',
    async observe(service) {
      const names = [' ', '\u200b\u2060', '', ' \u200bx']
      const outcomes: string[] = []
      for (const name of names) outcomes.push(await post('/domaingroups', { name })(service))
      return outcomes
    },
    chosen: [...Array(3).fill('400 invalid_name'), '200'],
    alternatives: [
      ['200', '200', '400 invalid_name', '200'],
      ['400 invalid_name', '200', '400 invalid_name', '200'],
    ],
  },
]

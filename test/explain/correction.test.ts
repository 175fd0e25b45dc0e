import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { PlannedRequest } from '../../src/behaviour/planned-request.ts'
import { ACCOUNT, changeAccount, DISABLED_KEY, pathOf } from '../support/account.ts'
import { startService, type TestService } from '../support/service.ts'
import { AUTHORIZED, exchangeAsIs, type Header, JSON_BODY } from '../support/wire.ts'
import { codeOfRefusal, correctionOf, received, type SentRequest, sendCorrection } from './acceptance.ts'

/** A request on the service's plane as far as it matters: method, path and body. */
type Expected = readonly [method: string, path: string, body?: unknown]

type Row = readonly [
  what: string,
  sent: readonly [method: string, target: string, body?: unknown, headers?: Header[]],
  expected: Expected,
  ...changes: string[],
]

const BASE = '/api/v1'
const HOSTS = Array.from({ length: 51 }, (_, index) => `host-${index}.example`)

/** `{Sales}` stands for the id of that group. */
async function fill(service: TestService, path: string): Promise<string> {
  let filled = path
  for (const [placeholder, name = ''] of path.matchAll(/\{(\w+)\}/g)) {
    filled = filled.replace(placeholder, (await pathOf(service, name)).split('=')[1] ?? '')
  }
  return filled
}

function asSent(method: string, target: string, body: unknown, headers: Header[] = []): SentRequest {
  const content = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  const own = new Set(headers.map(([name]) => name.toLowerCase()))
  const usual = [AUTHORIZED, ...(body === undefined ? [] : [JSON_BODY])].filter(
    ([name]) => !own.has(name.toLowerCase()),
  )
  return { method, target, headers: [...usual, ...headers], ...(content !== undefined && { body: content }) }
}

const domains = (...names: unknown[]) => ({ domains: names })

const ROUTES: Row[] = [
  [
    'a path in other case',
    ['GET', `${BASE}/Domains`],
    ['GET', '/domains'],
    `The path is \`${BASE}/domains\` instead of \`${BASE}/Domains\`.`,
  ],
  ['a slash at the end', ['GET', `${BASE}/domains/`], ['GET', '/domains']],
  ['slashes doubled', ['GET', '//api//v1//domaingroups'], ['GET', '/domaingroups']],
  ['no base path', ['GET', '/dmarc'], ['GET', '/dmarc']],
  ['another version', ['GET', '/api/v2/domaingroups'], ['GET', '/domaingroups']],
  ['a misspelt path', ['POST', `${BASE}/domain`, domains('new.example')], ['POST', '/domains', domains('new.example')]],
  ['a shortened path', ['POST', `${BASE}/groups`, { name: 'New' }], ['POST', '/domaingroups', { name: 'New' }]],
  ['the convention of another language', ['GET', `${BASE}/domain-groups`], ['GET', '/domaingroups']],
  [
    'an id in the path',
    ['PATCH', `${BASE}/domaingroups/{Sales}`, { name: 'New' }],
    ['PATCH', '/domaingroups?id={Sales}', { name: 'New' }],
  ],
  ['a domain in the path', ['DELETE', `${BASE}/domains/two.example`], ['DELETE', '/domains', domains('two.example')]],
  ['a path that is nowhere', ['POST', '/'], ['POST', '/domains', domains('example-1.com')]],
  ['a path in bad percent-encoding', ['GET', `${BASE}/dmarc%zz`], ['GET', '/dmarc']],
  ['a path that is a property of objects', ['GET', `${BASE}/__proto__`], ['GET', '/domaingroups']],
  [
    'PUT of a group',
    ['PUT', `${BASE}/domaingroups?id={Sales}`, { name: 'New' }],
    ['PATCH', '/domaingroups?id={Sales}', { name: 'New' }],
    'The method is PATCH instead of `PUT`.',
  ],
  ['PUT of a new group', ['PUT', `${BASE}/domaingroups`, { name: 'New' }], ['POST', '/domaingroups', { name: 'New' }]],
  [
    'PATCH of domains',
    ['PATCH', `${BASE}/domains`, domains('new.example')],
    ['POST', '/domains', domains('new.example')],
  ],
  [
    'POST of DMARC',
    ['POST', `${BASE}/dmarc`, {}],
    ['GET', '/dmarc'],
    'The method is GET instead of `POST`.',
    'The body was left out, because none is read.',
  ],
  ['OPTIONS', ['OPTIONS', `${BASE}/domaingroups`], ['GET', '/domaingroups']],
  ['HEAD of a group that is none', ['HEAD', `${BASE}/domaingroups?id=x`], ['HEAD', '/domaingroups?id={Marketing}']],
]

const KEYS: Row[] = [
  [
    'no key',
    ['POST', `${BASE}/domains`, domains('new.example'), [['Authorization', '']]],
    ['POST', '/domains', domains('new.example')],
    'The header `Authorization` carries a valid key.',
  ],
  [
    'a disabled key',
    ['GET', `${BASE}/domains`, undefined, [['Authorization', `Bearer ${DISABLED_KEY}`]]],
    ['GET', '/domains'],
    'The header `Authorization` carries a valid key.',
  ],
  [
    'a key in the query',
    ['GET', `${BASE}/domains?api_key=secret&page=1`, undefined, [['Authorization', 'none']]],
    ['GET', '/domains?page=1'],
  ],
]

const IDS: Row[] = [
  ['an unknown id', ['GET', `${BASE}/domaingroups?id=00000000`], ['GET', '/domaingroups?id={Marketing}']],
  ['an empty id', ['GET', `${BASE}/domaingroups?id=`], ['GET', '/domaingroups?id={Marketing}']],
  ['no id', ['DELETE', `${BASE}/domaingroups`], ['DELETE', '/domaingroups?id={Marketing}']],
  [
    'a name as the id',
    ['PATCH', `${BASE}/domaingroups?id=sales`, { name: 'New' }],
    ['PATCH', '/domaingroups?id={Sales}', { name: 'New' }],
  ],
  ['a misspelt parameter', ['DELETE', `${BASE}/domaingroups?ID={Sales}`], ['DELETE', '/domaingroups?id={Sales}']],
  [
    'the id in another parameter',
    ['DELETE', `${BASE}/domaingroups?group={Sales}`],
    ['DELETE', '/domaingroups?id={Sales}&group={Sales}'],
  ],
  [
    'a property of objects as the id',
    ['GET', `${BASE}/domaingroups?id=__proto__&__proto__=1`],
    ['GET', '/domaingroups?id={Marketing}&__proto__=1'],
  ],
]

const BODIES: Row[] = [
  [
    'no body',
    ['POST', `${BASE}/domains`, '', [JSON_BODY]],
    ['POST', '/domains', domains('example-1.com')],
    'The body, which was empty, is an example.',
    '`domains` names "example-1.com", because a domain is needed that is not monitored yet.',
  ],
  [
    'another content type',
    ['POST', `${BASE}/domains`, domains('new.example'), [['Content-Type', 'text/plain']]],
    ['POST', '/domains', domains('new.example')],
    'The header `Content-Type` is application/json instead of `text/plain`.',
  ],
  [
    'a content coding',
    ['POST', `${BASE}/domains`, gzipSync(JSON.stringify(domains('new.example'))), [['Content-Encoding', 'gzip']]],
    ['POST', '/domains', domains('new.example')],
  ],
  [
    'a byte order mark',
    ['POST', `${BASE}/domains`, '\ufeff{"domains":["new.example"]}'],
    ['POST', '/domains', domains('new.example')],
    'The body has no byte order mark.',
  ],
  [
    'UTF-16',
    ['POST', `${BASE}/domaingroups`, Buffer.from('\ufeff{"name":"Café"}', 'utf16le')],
    ['POST', '/domaingroups', { name: 'Café' }],
  ],
  [
    'Latin-1',
    ['POST', `${BASE}/domaingroups`, Buffer.from('{"name":"Café"}', 'latin1')],
    ['POST', '/domaingroups', { name: 'Café' }],
  ],
  [
    'a comma too many',
    ['POST', `${BASE}/domains`, '{"domains":["new.example",],}'],
    ['POST', '/domains', domains('new.example')],
    'The body is valid JSON, which it nearly was.',
  ],
  [
    'single quotes, comments and bare keys',
    ['POST', `${BASE}/domains`, "{ domains: ['new.example'], // mine\n}"],
    ['POST', '/domains', domains('new.example')],
  ],
  [
    'JSON that breaks off',
    ['POST', `${BASE}/domains`, '{"domains":["new.example","other.exa'],
    ['POST', '/domains', domains('new.example')],
  ],
  ['no JSON at all', ['POST', `${BASE}/domaingroups`, '<group/>'], ['POST', '/domaingroups', { name: 'Marketing 2' }]],
  [
    'brackets without end',
    ['POST', `${BASE}/domains`, '['.repeat(100_000)],
    ['POST', '/domains', domains('example-1.com')],
  ],
  [
    'an array',
    ['POST', `${BASE}/domains`, ['new.example']],
    ['POST', '/domains', domains('new.example')],
    'The body is a JSON object.',
  ],
  [
    'an object in an array',
    ['POST', `${BASE}/domaingroups`, [{ name: 'New' }]],
    ['POST', '/domaingroups', { name: 'New' }],
  ],
  [
    'JSON within JSON',
    ['POST', `${BASE}/domains`, JSON.stringify('{"domains":["new.example"]}')],
    ['POST', '/domains', domains('new.example')],
  ],
  ['a name alone', ['POST', `${BASE}/domaingroups`, '"New"'], ['POST', '/domaingroups', { name: 'New' }]],
  [
    'null',
    ['PATCH', `${BASE}/domaingroups?id={Sales}`, 'null'],
    ['PATCH', '/domaingroups?id={Sales}', { name: 'Marketing 2' }],
  ],
  [
    'too many bytes',
    ['POST', `${BASE}/domains`, `{"domains":["new.example"]${' '.repeat(2 ** 20)}}`],
    ['POST', '/domains', domains('new.example')],
  ],
]

const FIELDS: Row[] = [
  [
    'an unknown field',
    ['POST', `${BASE}/domains`, { ...domains('new.example'), notes: 'x' }],
    ['POST', '/domains', domains('new.example')],
    '`notes` was left out: there is no such field.',
  ],
  [
    'a property of objects as a field',
    ['POST', `${BASE}/domains`, '{"__proto__":{"domains":[]},"domains":["new.example"]}'],
    ['POST', '/domains', domains('new.example')],
    '`__proto__` was left out: there is no such field.',
  ],
  [
    'a misspelt field',
    ['POST', `${BASE}/domains`, { domain: 'new.example' }],
    ['POST', '/domains', domains('new.example')],
  ],
  [
    'fields in the convention of another language',
    ['PATCH', `${BASE}/domaingroups?id={Sales}`, { addDomains: ['one.example'], removeDomains: ['two.example'] }],
    ['PATCH', '/domaingroups?id={Sales}', { add_domains: ['one.example'], remove_domains: ['two.example'] }],
  ],
  [
    'no name among the members to remove',
    ['PATCH', `${BASE}/domaingroups?id={Sales}`, { remove_domains: [null, 'two.example'] }],
    ['PATCH', '/domaingroups?id={Sales}', { remove_domains: ['two.example'] }],
  ],
  [
    'the id in the body',
    ['PATCH', `${BASE}/domaingroups`, { id: '{Sales}', name: 'New' }],
    ['PATCH', '/domaingroups?id={Sales}', { name: 'New' }],
  ],
  [
    'no name',
    ['POST', `${BASE}/domaingroups`, domains('one.example')],
    ['POST', '/domaingroups', { ...domains('one.example'), name: 'Marketing 2' }],
  ],
  [
    'nothing to update',
    ['PATCH', `${BASE}/domaingroups?id={Sales}`, {}],
    ['PATCH', '/domaingroups?id={Sales}', { name: 'Marketing 2' }],
  ],
  [
    'null',
    ['POST', `${BASE}/domaingroups`, { name: 'New', domains: null }],
    ['POST', '/domaingroups', { name: 'New' }],
    '`domains` was left out: null is not of type array.',
  ],
  [
    'a number as the name',
    ['POST', `${BASE}/domaingroups`, { name: 7 }],
    ['POST', '/domaingroups', { name: '7' }],
    '`name` is of type string, which 7 is not.',
  ],
  [
    'a string of domains',
    ['POST', `${BASE}/domains`, { domains: 'a.example, b.example' }],
    ['POST', '/domains', domains('a.example', 'b.example')],
  ],
  [
    'objects as domains',
    ['POST', `${BASE}/domains`, domains({ domain: 'a.example' }, 7, ['b.example'])],
    ['POST', '/domains', domains('a.example', 'b.example')],
  ],
  [
    'fields in conflict',
    ['PATCH', `${BASE}/domaingroups?id={Sales}`, { name: 'New', domains: [], add_domains: ['one.example'] }],
    ['PATCH', '/domaingroups?id={Sales}', { name: 'New', add_domains: ['one.example'] }],
  ],
  [
    'a blank name',
    ['POST', `${BASE}/domaingroups`, { name: ' ', domains: ['one.example'] }],
    ['POST', '/domaingroups', { name: 'Marketing 2', domains: ['one.example'] }],
  ],
  [
    'a long name',
    ['POST', `${BASE}/domaingroups`, { name: '😀'.repeat(101) }],
    ['POST', '/domaingroups', { name: '😀'.repeat(100) }],
    '`name` was cut to 100 characters.',
  ],
  [
    'a name that another group has',
    ['PATCH', `${BASE}/domaingroups?id={Sales}`, { name: 'mARKETING' }],
    ['PATCH', '/domaingroups?id={Sales}', { name: 'mARKETING 2' }],
    '`name` is "mARKETING 2", because another group is called "mARKETING".',
  ],
]

const DOMAINS: Row[] = [
  [
    'a text that is no hostname',
    ['POST', `${BASE}/domains`, domains('new.example', 'no_host')],
    ['POST', '/domains', domains('new.example')],
    '`domains[1]` was left out: "no_host" is no hostname.',
  ],
  [
    'hostnames with something around them',
    [
      'POST',
      `${BASE}/domains`,
      domains(' a.example\n', 'https://B.example:443/x?y', 'me@c.example', '*.d.example', 'e.example..'),
    ],
    ['POST', '/domains', domains('a.example', 'B.example', 'c.example', 'd.example', 'e.example')],
  ],
  [
    'nothing but strangers to the DNS',
    ['POST', `${BASE}/domains`, domains('', '192.0.2.1')],
    ['POST', '/domains', domains('example-1.com')],
  ],
  [
    '51 domains',
    ['POST', `${BASE}/domains`, { domains: HOSTS }],
    ['POST', '/domains', { domains: HOSTS.slice(0, 50) }],
    'Of `domains`, 1 entry at the end was left out: a request names at most 50.',
  ],
  [
    '51 domains of which one is monitored',
    ['POST', `${BASE}/domains`, { domains: ['one.example', ...HOSTS.slice(1)] }],
    ['POST', '/domains', { domains: HOSTS.slice(1) }],
  ],
  [
    'domains that are monitored, and one twice',
    ['POST', `${BASE}/domains`, domains('one.example', 'a.example', 'A.example.')],
    ['POST', '/domains', domains('a.example')],
    '`domains[0]` was left out: "one.example" is monitored already.',
    '`domains[2]` was left out: "A.example." is named more than once.',
  ],
  [
    'removal of a domain in use',
    ['DELETE', `${BASE}/domains`, domains('busy.example', 'two.example')],
    ['DELETE', '/domains', domains('two.example')],
    '`domains[0]` was left out: "busy.example" is in use by mta-sts, tls-rpt.',
  ],
  [
    'removal of a stranger',
    ['DELETE', `${BASE}/domains`, domains('two.example', 'x.example')],
    ['DELETE', '/domains', domains('two.example')],
    '`domains[1]` was left out: "x.example" is not monitored.',
  ],
  [
    'removal of nothing that can be removed',
    ['DELETE', `${BASE}/domains`, domains('*.two.example', 'x@two.example')],
    ['DELETE', '/domains', domains('one.example')],
    '`domains[0]` was left out: "*.two.example" is no hostname.',
    '`domains[1]` was left out: "x@two.example" is no hostname.',
    '`domains` names "one.example", because a domain is needed that can be removed, and the request named none.',
  ],
  [
    'members that are not monitored',
    ['POST', `${BASE}/domaingroups`, { name: 'New', domains: ['x.example', 'one.example'] }],
    ['POST', '/domaingroups', { name: 'New', domains: ['one.example'] }],
  ],
  [
    'nothing but strangers as new members',
    ['PATCH', `${BASE}/domaingroups?id={Marketing}`, domains('x.example')],
    ['PATCH', '/domaingroups?id={Marketing}', domains('one.example', 'used.example')],
  ],
]

describe.each<[what: string, rows: Row[]]>([
  ['for another path or method', ROUTES],
  ['for its key', KEYS],
  ['for its id', IDS],
  ['for its body', BODIES],
  ['for its fields', FIELDS],
  ['for its domains', DOMAINS],
])('a request refused %s has a correction that is accepted:', (_, rows) => {
  const cases = rows.map(([what, sent, expected, ...changes]) => ({ what, sent, expected, changes }))

  it.each(cases)(
    '$what',
    async ({ sent: [method, target, body, headers], expected: [verb, path, corrected], changes }) => {
      const service = await startService({ fixture: ACCOUNT })
      const content =
        typeof body === 'object' && !Buffer.isBuffer(body)
          ? JSON.parse(await fill(service, JSON.stringify(body)))
          : body
      const sent = asSent(method, await fill(service, target), content, headers)
      const expected: PlannedRequest = {
        plane: 'service',
        method: verb,
        path: await fill(service, path),
        key: 'valid',
        ...(corrected !== undefined && { body: corrected }),
      }

      const correction = await correctAndSend(service, sent)

      expect(correction.request).toEqual(expected)
      expect(correction.before).toEqual([])
      if (changes.length > 0) expect(correction.changes).toEqual(changes)
      else expect(correction.changes.length).toBeGreaterThan(0)
      expect(correction.changes.join('\n')).not.toMatch(/Nothing:|undefined|NaN/)
    },
  )
})

async function correctAndSend(service: TestService, sent: SentRequest) {
  const refusal = await exchangeAsIs(service, sent)
  expect(refusal.status).toBeGreaterThanOrEqual(400)
  const correction = await correctionOf(service, received(sent), codeOfRefusal(refusal))
  const response = await sendCorrection(service, correction)
  expect(response.status, `${JSON.stringify(correction).slice(0, 500)} → ${response.text}`).toBeLessThan(300)
  return correction
}

describe('what has to be sent before a correction', () => {
  it('is a higher plan where the account has one without access', async () => {
    const service = await startService({ fixture: ACCOUNT, plan: 'below-stone' })

    const { before, request, changes } = await correctAndSend(
      service,
      asSent('POST', `${BASE}/domains`, domains('new.example')),
    )

    expect(before).toEqual([{ plane: 'admin', method: 'PATCH', path: '/accounts/default', body: { plan: 'stone' } }])
    expect(request.body).toEqual(domains('new.example'))
    expect(changes).toContain('The account gets the plan stone first, because below-stone does not include API access.')
  })

  it('is a key where the account has none that is enabled', async () => {
    const service = await startService({ fixture: 'empty' })
    await changeAccount(service, (state) => ({ ...state, keys: state.keys.map((key) => ({ ...key, disabled: true })) }))

    const { before } = await correctAndSend(service, asSent('GET', `${BASE}/domains`, undefined))

    expect(before).toEqual([{ plane: 'admin', method: 'POST', path: '/accounts/default/keys', body: {} }])
  })

  it('is quota where it is used up, for the request and for all that goes before it', async () => {
    const service = await startService({ fixture: 'empty' })
    for (let request = 0; request < 100; request++) await service.get('/domaingroups')

    const { before, request } = await correctAndSend(service, asSent('DELETE', `${BASE}/domaingroups?id=x`, undefined))

    expect(before.map(({ plane, method, path, body }) => [plane, method, path, body])).toEqual([
      ['admin', 'PATCH', '/accounts/default/quotas', { bucket: 'domaingroups', remaining: 2 }],
      ['service', 'POST', '/domaingroups', { name: 'Marketing' }],
    ])
    expect(request.path).toMatch(/^\/domaingroups\?id=\w{8}$/)
  })

  it.each([
    ['GET', undefined],
    ['PATCH', { name: 'Marketing' }],
    ['DELETE', undefined],
  ])('is a group where %s asks for one and the account has none', async (method, body) => {
    const service = await startService({ fixture: 'empty' })

    const { before, changes } = await correctAndSend(service, asSent(method, `${BASE}/domaingroups?id=x`, body))

    expect(before).toEqual([
      { plane: 'service', method: 'POST', path: '/domaingroups', key: 'valid', body: { name: 'Marketing' } },
    ])
    expect(changes).toHaveLength(1)
  })

  it('is a domain where one is to be removed and none can be', async () => {
    const service = await startService({ fixture: { domains: [{ name: 'busy.example', features: ['mta-sts'] }] } })

    const { before, request } = await correctAndSend(
      service,
      asSent('DELETE', `${BASE}/domains`, domains('busy.example')),
    )

    expect(before).toEqual([
      { plane: 'service', method: 'POST', path: '/domains', key: 'valid', body: domains('example-1.com') },
    ])
    expect(request.body).toEqual(domains('example-1.com'))
  })
})

import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { correctRequest } from '../../src/explain/correction.ts'
import { runAtOnce } from '../../src/ground/work.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { overlayWith } from '../cli/overlays.ts'
import { ACCOUNT, changeAccount, DISABLED_KEY } from '../support/account.ts'
import { sample } from '../support/budget.ts'
import { withIds } from '../support/example-service.ts'
import { type ObservedService, startObserved } from '../support/observed-service.ts'
import { sendPlanned } from '../support/planned-requests.ts'
import { AUTHORIZED, codeOf, exchangeAsIs, type Header, JSON_BODY } from '../support/wire.ts'
import type { SentRequest } from './mutations.ts'

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

function asSent(method: string, target: string, body: unknown, headers: Header[] = []): SentRequest {
  const content = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  const own = new Set(headers.map(([name]) => name.toLowerCase()))
  const usual = [AUTHORIZED, ...(body === undefined ? [] : [JSON_BODY])].filter(
    ([name]) => !own.has(name.toLowerCase()),
  )
  return { method, target, headers: [...usual, ...headers], ...(content !== undefined && { body: content }) }
}

const domains = (...names: unknown[]) => ({ domains: names })

/** A request that should have been another one with the same body. Both are a method and a path, with the base path when sent. */
function route(what: string, sent: string, corrected: string, body?: unknown, ...changes: string[]): Row {
  const [method = '', target = ''] = sent.split(' ')
  const [verb = '', path = ''] = corrected.split(' ')
  return [what, [method, target, body], [verb, path, body], ...changes]
}

const NEW = domains('new.example')
const NAMED = { name: 'New' }

const ROUTES: Row[] = [
  route(
    'a path in other case',
    'GET /api/v1/Domains',
    'GET /domains',
    undefined,
    'The path is `/api/v1/domains` instead of `/api/v1/Domains`.',
  ),
  route('a slash at the end', 'GET /api/v1/domains/', 'GET /domains'),
  route('slashes doubled', 'GET //api//v1//domaingroups', 'GET /domaingroups'),
  route('no base path', 'GET /dmarc', 'GET /dmarc'),
  route('another version', 'GET /api/v2/domaingroups', 'GET /domaingroups'),
  route('a misspelt path', 'POST /api/v1/domain', 'POST /domains', NEW),
  route('a shortened path', 'POST /api/v1/groups', 'POST /domaingroups', NAMED),
  route('the convention of another language', 'GET /api/v1/domain-groups', 'GET /domaingroups'),
  route('an id in the path', 'PATCH /api/v1/domaingroups/{Sales}', 'PATCH /domaingroups?id={Sales}', NAMED),
  ['a domain in the path', ['DELETE', `${BASE}/domains/two.example`], ['DELETE', '/domains', domains('two.example')]],
  ['a path that is nowhere', ['POST', '/'], ['POST', '/domains', domains('example-1.com')]],
  route('a path in bad percent-encoding', 'GET /api/v1/dmarc%zz', 'GET /dmarc'),
  route('a path that is a property of objects', 'GET /api/v1/__proto__', 'GET /domaingroups'),
  route(
    'PUT of a group',
    'PUT /api/v1/domaingroups?id={Sales}',
    'PATCH /domaingroups?id={Sales}',
    NAMED,
    'The method is PATCH instead of `PUT`.',
  ),
  route('PUT of a new group', 'PUT /api/v1/domaingroups', 'POST /domaingroups', NAMED),
  route('PATCH of domains', 'PATCH /api/v1/domains', 'POST /domains', NEW),
  [
    'POST of DMARC',
    ['POST', `${BASE}/dmarc`, {}],
    ['GET', '/dmarc'],
    'The method is GET instead of `POST`.',
    'The body was left out, because none is read.',
  ],
  route('OPTIONS', 'OPTIONS /api/v1/domaingroups', 'GET /domaingroups'),
  route('HEAD of a group that is none', 'HEAD /api/v1/domaingroups?id=x', 'HEAD /domaingroups?id={Marketing}'),
]

const KEYLESS: Header = ['Authorization', '']
const DISABLED: Header = ['Authorization', `Bearer ${DISABLED_KEY}`]
const VALID_KEY = 'The header `Authorization` carries a valid key.'

const KEYS: Row[] = [
  ['no key', ['POST', `${BASE}/domains`, NEW, [KEYLESS]], ['POST', '/domains', NEW], VALID_KEY],
  ['a disabled key', ['GET', `${BASE}/domains`, undefined, [DISABLED]], ['GET', '/domains'], VALID_KEY],
  [
    'a key in the query',
    ['GET', `${BASE}/domains?api_key=secret&page=1`, undefined, [['Authorization', 'none']]],
    ['GET', '/domains?page=1'],
  ],
]

const IDS: Row[] = [
  route('an unknown id', 'GET /api/v1/domaingroups?id=00000000', 'GET /domaingroups?id={Marketing}'),
  route('an empty id', 'GET /api/v1/domaingroups?id=', 'GET /domaingroups?id={Marketing}'),
  route('a name as the id', 'PATCH /api/v1/domaingroups?id=sales', 'PATCH /domaingroups?id={Sales}', NAMED),
  route('a misspelt parameter', 'DELETE /api/v1/domaingroups?ID={Sales}', 'DELETE /domaingroups?id={Sales}'),
  route(
    'the id in another parameter',
    'DELETE /api/v1/domaingroups?group={Sales}',
    'DELETE /domaingroups?id={Sales}&group={Sales}',
  ),
  route(
    'a property of objects as the id',
    'GET /api/v1/domaingroups?id=__proto__&__proto__=1',
    'GET /domaingroups?id={Marketing}&__proto__=1',
  ),
]

/** Rows of one operation: what is sent to it, and what it should be. */
const operation =
  (method: string, path: string) =>
  (what: string, sent: unknown, corrected: unknown, ...changes: string[]): Row => [
    what,
    [method, BASE + path, sent],
    [method, path, corrected],
    ...changes,
  ]
const add = operation('POST', '/domains')
const remove = operation('DELETE', '/domains')
const create = operation('POST', '/domaingroups')
const update = operation('PATCH', '/domaingroups?id={Sales}')

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
    ['POST', `${BASE}/domains`, NEW, [['Content-Type', 'text/plain']]],
    ['POST', '/domains', NEW],
    'The header `Content-Type` is application/json instead of `text/plain`.',
  ],
  [
    'a content coding',
    ['POST', `${BASE}/domains`, gzipSync(JSON.stringify(NEW)), [['Content-Encoding', 'gzip']]],
    ['POST', '/domains', NEW],
  ],
  add('a byte order mark', '\ufeff{"domains":["new.example"]}', NEW, 'The body has no byte order mark.'),
  create('UTF-16', Buffer.from('\ufeff{"name":"Café"}', 'utf16le'), { name: 'Café' }),
  create('Latin-1', Buffer.from('{"name":"Café"}', 'latin1'), { name: 'Café' }),
  add('a comma too many', '{"domains":["new.example",],}', NEW, 'The body is valid JSON, which it nearly was.'),
  add('single quotes, comments and bare keys', "{ domains: ['new.example'], // mine\n}", NEW),
  add('JSON that breaks off', '{"domains":["new.example","other.exa', NEW),
  create('no JSON at all', '<group/>', { name: 'Marketing 2' }),
  add('brackets without end', '['.repeat(100_000), domains('example-1.com')),
  add('an array', ['new.example'], NEW, 'The body is a JSON object.'),
  create('an object in an array', [{ name: 'New' }], { name: 'New' }),
  add('JSON within JSON', JSON.stringify('{"domains":["new.example"]}'), NEW),
  create('a name alone', '"New"', { name: 'New' }),
  update('null', 'null', { name: 'Sales' }),
  add('too many bytes', `{"domains":["new.example"]${' '.repeat(2 ** 20)}}`, NEW),
]

const FIELDS: Row[] = [
  add('an unknown field', { ...NEW, notes: 'x' }, NEW, '`notes` was left out: there is no such field.'),
  add(
    'a property of objects as a field',
    '{"__proto__":{"domains":[]},"domains":["new.example"]}',
    NEW,
    '`__proto__` was left out: there is no such field.',
  ),
  add('a misspelt field', { domain: 'new.example' }, NEW),
  update(
    'fields in the convention of another language',
    { addDomains: ['one.example'], removeDomains: ['two.example'] },
    { add_domains: ['one.example'], remove_domains: ['two.example'] },
  ),
  update(
    'no name among the members to remove',
    { remove_domains: [null, 'two.example'] },
    { remove_domains: ['two.example'] },
  ),
  [
    'the id in the body',
    ['PATCH', `${BASE}/domaingroups`, { id: '{Sales}', name: 'New' }],
    ['PATCH', '/domaingroups?id={Sales}', { name: 'New' }],
  ],
  create('no name', domains('one.example'), { ...domains('one.example'), name: 'Marketing 2' }),
  update('nothing to update', {}, { name: 'Sales' }),
  update('a blank name of a group', { name: ' ' }, { name: 'Sales' }),
  create('an empty name', { name: '' }, { name: 'Marketing 2' }, '`name` is "Marketing 2", because "" is no name.'),
  create('null', { name: 'New', domains: null }, { name: 'New' }, '`domains` was left out: null is not of type array.'),
  create('a number as the name', { name: 7 }, { name: '7' }, '`name` is of type string, which 7 is not.'),
  add('a string of domains', { domains: 'a.example, b.example' }, domains('a.example', 'b.example')),
  add('objects as domains', domains({ domain: 'a.example' }, 7, ['b.example']), domains('a.example', 'b.example')),
  update(
    'fields in conflict',
    { name: 'New', domains: [], add_domains: ['one.example'] },
    { name: 'New', add_domains: ['one.example'] },
  ),
  create('a blank name', { name: ' ', ...domains('one.example') }, { name: 'Marketing 2', ...domains('one.example') }),
  create('a long name', { name: '😀'.repeat(101) }, { name: '😀'.repeat(100) }, '`name` was cut to 100 characters.'),
  update(
    'a name that another group has',
    { name: 'mARKETING' },
    { name: 'mARKETING 2' },
    '`name` is "mARKETING 2", because another group is called "mARKETING".',
  ),
]

const DOMAINS: Row[] = [
  add(
    'a text that is no hostname',
    domains('new.example', 'no_host'),
    NEW,
    '`domains[1]` was left out: "no_host" is no hostname.',
  ),
  add(
    'hostnames with something around them',
    domains(' a.example\n', 'https://B.example:443/x?y', 'me@c.example', '*.d.example', 'e.example..'),
    domains('a.example', 'B.example', 'c.example', 'd.example', 'e.example'),
  ),
  add('nothing but strangers to the DNS', domains('', '192.0.2.1'), domains('example-1.com')),
  add(
    '51 domains',
    domains(...HOSTS),
    domains(...HOSTS.slice(0, 50)),
    'Of `domains`, 1 entry at the end was left out: a request names at most 50.',
  ),
  add('51 domains of which one is monitored', domains('one.example', ...HOSTS.slice(1)), domains(...HOSTS.slice(1))),
  add(
    'domains that are monitored, and one twice',
    domains('one.example', 'a.example', 'A.example.'),
    domains('a.example'),
    '`domains[0]` was left out: "one.example" is monitored already.',
    '`domains[2]` was left out: "A.example." is named more than once.',
  ),
  remove(
    'removal of a domain in use',
    domains('busy.example', 'two.example'),
    domains('two.example'),
    '`domains[0]` was left out: "busy.example" is in use by mta-sts, tls-rpt.',
  ),
  remove(
    'removal of a stranger',
    domains('two.example', 'x.example'),
    domains('two.example'),
    '`domains[1]` was left out: "x.example" is not monitored.',
  ),
  create(
    'members that are not monitored',
    { name: 'New', ...domains('x.example', 'one.example') },
    { name: 'New', ...domains('one.example') },
  ),
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

  it.each(sample(cases, 5))(
    '$what',
    async ({ sent: [method, target, body, headers], expected: [verb, path, corrected], changes }) => {
      const service = await startObserved({ fixture: ACCOUNT })
      const content =
        typeof body === 'object' && !Buffer.isBuffer(body)
          ? JSON.parse(await withIds(service, JSON.stringify(body)))
          : body
      const sent = asSent(method, await withIds(service, target), content, headers)
      const wanted = { plane: 'service', method: verb, path: await withIds(service, path), key: 'valid' }
      const correction = await correctAndSend(service, sent)
      expect(correction.request).toEqual({ ...wanted, ...(corrected !== undefined && { body: corrected }) })
      expect(correction.before).toEqual([])
      if (changes.length > 0) expect(correction.changes).toEqual(changes)
      else expect(correction.changes.length).toBeGreaterThan(0)
      expect(correction.changes.join('\n')).not.toMatch(/Nothing:|undefined|NaN/)
    },
  )
})

/** The correction of a request of which no more is known than the code that it is refused with. */
async function correctionOf({ store, contract }: ObservedService, sent: SentRequest, code: string) {
  const { method, target, body } = sent
  const kept = sent.headers.filter(([name]) => name.toLowerCase() !== 'authorization')
  const headers = Object.fromEntries(kept.map(([name, value]) => [name.toLowerCase(), value]))
  const received = { method, target, headers, body: body === undefined ? undefined : Buffer.from(body) }
  return runAtOnce(correctRequest(received, [{ code }], await store.read('default'), contract))
}

/** Has a request refused, and sends its correction with all that comes before it. */
async function correctAndSend(service: ObservedService, sent: SentRequest) {
  const refusal = await exchangeAsIs(service, sent)
  expect(refusal.status).toBeGreaterThanOrEqual(400)
  // The answer to HEAD has but its status.
  const code = codeOf(refusal) ?? 'not_found'
  const correction = await correctionOf(service, sent, code)
  const response = await sendPlanned(service, [...correction.before, correction.request])
  expect(response?.status, `${JSON.stringify(correction).slice(0, 500)} → ${response?.text}`).toBeLessThan(300)
  return correction
}

/** Starts a service, has a request refused, and sends its correction. */
async function correct(options: ServerOptions, method: string, path: string, body?: unknown) {
  return correctAndSend(await startObserved(options), asSent(method, BASE + path, body))
}

describe('what has to be sent before a correction', () => {
  const groupFirst = {
    plane: 'service',
    method: 'POST',
    path: '/domaingroups',
    key: 'valid',
    body: { name: 'Marketing' },
  }

  it('is a higher plan where the account has one without access', async () => {
    const { before, request, changes } = await correct(
      { fixture: ACCOUNT, plan: 'below-stone' },
      'POST',
      '/domains',
      NEW,
    )
    expect(before).toEqual([{ plane: 'admin', method: 'PATCH', path: '/accounts/default', body: { plan: 'stone' } }])
    expect(request.body).toEqual(NEW)
    expect(changes).toContain('The account gets the plan stone first, because below-stone does not include API access.')
  })

  it('is a key where the account has none that is enabled', async () => {
    const service = await startObserved({ fixture: 'empty' })
    await changeAccount(service, (state) => ({ ...state, keys: state.keys.map((key) => ({ ...key, disabled: true })) }))
    const { before } = await correctionOf(service, asSent('GET', `${BASE}/domains`, undefined), 'unauthorized')
    expect(before).toEqual([{ plane: 'admin', method: 'POST', path: '/accounts/default/keys', body: {} }])
  })

  it('is quota where it is used up, for the request and for all that goes before it', async () => {
    const service = await startObserved({ fixture: 'empty' })
    for (let request = 0; request < 100; request++) await service.get('/domaingroups')
    const { before, request } = await correctAndSend(service, asSent('DELETE', `${BASE}/domaingroups?id=x`, undefined))
    const body = { bucket: 'domaingroups', remaining: 2 }
    expect(before).toEqual([{ plane: 'admin', method: 'PATCH', path: '/accounts/default/quotas', body }, groupFirst])
    expect(request.path).toMatch(/^\/domaingroups\?id=\w{8}$/)
  })

  it.each([
    ['GET', undefined],
    ['PATCH', { name: 'Marketing' }],
    ['DELETE', undefined],
  ])('is a group where %s asks for one and the account has none', async (method, body) => {
    const { before, changes } = await correct({ fixture: 'empty' }, method, '/domaingroups?id=x', body)
    expect(before).toEqual([groupFirst])
    expect(changes).toHaveLength(1)
  })

  it.each([
    ['DELETE without an id', 'DELETE', '/domaingroups', undefined],
    ['DELETE with the id of no group', 'DELETE', '/domaingroups?id=00000000', undefined],
    ['PATCH without an id', 'PATCH', '/domaingroups', { name: 'New' }],
    ['PATCH with the id of no group and nothing else', 'PATCH', '/domaingroups?id=00000000', {}],
    ['PURGE', 'PURGE', '/domaingroups', undefined],
    ['DELETE of nothing that can be removed', 'DELETE', '/domains', domains('*.two.example', 'x@two.example')],
    ['DELETE of no domain', 'DELETE', '/domains', domains()],
    ['DELETE without a body', 'DELETE', '/domains', undefined],
  ])('is what it removes or changes, where the request does not name it: %s', async (_, method, path, body) => {
    const service = await startObserved({ fixture: ACCOUNT })
    const before = await service.store.read('default')
    const correction = await correctAndSend(service, asSent(method, BASE + path, body))
    expect(correction.before).toMatchObject([{ plane: 'service', method: 'POST', path: path.split('?')[0] }])
    const after = await service.store.read('default')
    for (const [name] of before.domains.entries()) expect(after.domains.has(name), name).toBe(true)
    for (const [id, group] of before.groups.entries()) expect(after.groups.get(id)).toEqual(group)
  })

  it('is a snapshot where something is removed to make room', async () => {
    const overlays = [overlayWith("$['x-settings']['group-cap']", { value: 2 })]
    const fixture = { groups: [{ name: 'Corporate' }, { name: 'Sales' }] }
    const { before, changes } = await correct({ fixture, overlays }, 'DELETE', '/domaingroups')
    const [first] = before
    expect(first).toMatchObject({ path: '/accounts/default/snapshots', body: { name: 'before-correction' } })
    expect(changes.join()).toContain('the snapshot before-correction keeps the account as it was.')
  })

  it('is a domain where one is to be removed and none can be', async () => {
    const fixture = { domains: [{ name: 'busy.example', features: ['mta-sts'] }] }
    const { before, request } = await correct({ fixture }, 'DELETE', '/domains', domains('busy.example'))
    expect(before).toEqual([{ ...groupFirst, path: '/domains', body: domains('example-1.com') }])
    expect(request.body).toEqual(domains('example-1.com'))
  })
})

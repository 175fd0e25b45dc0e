import fc, { type Arbitrary } from 'fast-check'
import { weighted } from '../support/weighted.ts'
import { AUTHORIZED, type Header } from '../support/wire.ts'

/** A request as a client sends it, with its key. */
export interface SentRequest {
  method: string
  target: string
  headers: readonly Header[]
  body?: string | Buffer
}

/** A request on its way from one that is accepted to one that is not; `{group}` stands for the id of a group. */
interface Draft {
  method: string
  path: string
  query: string
  authorization: string | undefined
  contentType: string | undefined
  contentCoding: string | undefined
  fields: unknown
  /** What happens to the body once it is written. */
  rewrite: (body: Buffer) => Buffer
}

const CROWD_AND_ONE = Array.from({ length: 51 }, (_, index) => `n${index}.example`)
const OTHER_DOMAINS = [
  ...['a.example', 'A.Example', 'a.example.', 'ｂ.example', 'b。example', 'münchen.example', 'xn--fa-hia.example.'],
  ...['1.2.3.4.example', `${'l'.repeat(63)}.example`],
]
const BAD_DOMAINS = [
  ...['', '.', ' a.example', 'a\u200b.example', 'a b.example', 'a..example', 'localhost', 'a.example.1', '192.0.2.1'],
  ...['a@b.example', 'a.example:443', 'https://a.example', 'a%2eexample', 'a_b.example', '*.example', '-a.example'],
]
const OTHER_NAMES = ['Web', ' Web', 'Straße', 'STRASSE', 'cafe\u0301', '__proto__', 'a\tb', 'a\u200bb', 'x'.repeat(100)]
const BAD_NAMES = ['', ' ', '\u00a0\u3000', ' \u200b', 'a\0', '\ud83d', 'x'.repeat(101), '😀'.repeat(101)]

type Mutation = (draft: Draft) => Draft

const BASE = '/api/v1'

const domain = weighted(
  [3, fc.constantFrom('one.example', 'two.example', 'used.example', 'busy.example')],
  [2, fc.constantFrom(...OTHER_DOMAINS)],
  [1, fc.constantFrom(...BAD_DOMAINS)],
)
const usualDomain = fc.constantFrom('one.example', 'two.example', 'three.example')
const newDomain = fc.constantFrom('four.example', 'five.example', 'six.example')
const name = fc.oneof(
  fc.constantFrom('Marketing', 'mARKETING', 'sales'),
  fc.constantFrom(...OTHER_NAMES),
  fc.constantFrom(...BAD_NAMES),
  fc.string({ unit: 'binary', maxLength: 120 }),
)
const value: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, 0, 1.5, true, '', {}, [], [[]]),
  fc.constantFrom<unknown>('two.example', 'one.example, two.example', CROWD_AND_ONE),
  fc.array(fc.oneof(domain, fc.jsonValue({ maxDepth: 2 })), { maxLength: 5 }),
  fc.array(domain, { maxLength: 60, size: 'max' }),
  name,
  fc.record({ domain }),
  fc.jsonValue(),
)
const fieldName = fc.oneof(
  fc.constantFrom('name', 'domains', 'add_domains', 'remove_domains', 'domain', 'Domains', 'addDomains', 'id', 'names'),
  fc.constantFrom('__proto__', 'constructor', 'toString', '', 'length'),
  fc.string({ unit: 'binary' }),
)

/** A request that is accepted. */
function fine(method: string, path: string, fields?: unknown) {
  const [below = '', query] = path.split('?')
  return { method, path: below, query: query === undefined ? '' : `?${query}`, fields }
}
const members = fc.array(usualDomain, { maxLength: 3 })
const newName = fc.constantFrom('New', 'Neu', '新')

const accepted = fc.oneof(
  fc.constantFrom(...['/dmarc', '/domains', '/domaingroups'].map((path) => fine('GET', path))),
  fc.constantFrom(...['GET', 'DELETE', 'HEAD'].map((method) => fine(method, '/domaingroups?id={group}'))),
  fc.uniqueArray(newDomain, { minLength: 1 }).map((domains) => fine('POST', '/domains', { domains })),
  fc.uniqueArray(usualDomain, { minLength: 1 }).map((domains) => fine('DELETE', '/domains', { domains })),
  fc
    .record({ name: newName, domains: members }, { requiredKeys: ['name'] })
    .map((fields) => fine('POST', '/domaingroups', fields)),
  fc
    .record({ name: newName, add_domains: members, remove_domains: members }, { requiredKeys: [] })
    .map((fields) => fine('PATCH', '/domaingroups?id={group}', fields)),
)

const inPath: Arbitrary<Mutation> = fc
  .oneof(
    fc.constantFrom('', '/', '//', '/domain', '/Domains', '/domains/', '/groups', '/domaingroup', '/__proto__', '/%zz'),
    fc.webPath({ size: 'small' }),
    fc.constantFrom('/domaingroups/{group}', '/domains/two.example', '/domains/no_host', '/domaingroups/x'),
  )
  .chain((path) => fc.constantFrom(BASE, BASE, '/api/v2', '/API/v1', '').map((base) => base + path))
  .map((path) => (draft) => ({ ...draft, path: path.startsWith('/') ? path : `/${path}` }))

const inMethod: Arbitrary<Mutation> = fc
  .constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PURGE', 'UNLINK', 'PROPFIND')
  .map((method) => (draft) => ({ ...draft, method }))

const inQuery: Arbitrary<Mutation> = fc
  .oneof(
    fc.constantFrom('', '?', '?id', '?id=', '?id=Sales', '?id=00000000', '?id=%zz', '?id=%F0%9F', '?id=__proto__'),
    fc.constantFrom('?ID={group}', '?id=&id={group}', '?group_id={group}', '?api_key=x', '?__proto__=x', '?domains=x'),
    fc.constantFrom(`?page=${'1'.repeat(9000)}`, `?id={group}&id=${'1'.repeat(9000)}`),
    fc.webQueryParameters({ size: 'small' }).map((query) => `?${query}`),
  )
  .map((query) => (draft) => ({ ...draft, query }))

function fieldsOf({ fields }: Draft): [name: string, value: unknown][] {
  return typeof fields === 'object' ? Object.entries(fields ?? {}) : []
}

/** The draft with other fields. */
function withFields(draft: Draft, fields: readonly (readonly [name: string, value: unknown])[]): Draft {
  return { ...draft, fields: Object.fromEntries(fields) }
}

const withField =
  ([field, value]: readonly [string, unknown]): Mutation =>
  (draft) =>
    withFields(draft, [...fieldsOf(draft), [field, value]])

const someDomains = fc.oneof(
  fc.array(domain, { maxLength: 5 }),
  fc.array(domain, { maxLength: 60, size: 'max' }),
  value,
)

/** One more entry for every array that there is. */
const inEntries: Arbitrary<Mutation> = fc
  .tuple(fc.nat(3), weighted<unknown>([8, domain], [1, value]))
  .map(([index, entry]) => (draft) => {
    const more = (field: unknown) => (Array.isArray(field) ? field.toSpliced(index, 0, entry) : field)
    return withFields(
      draft,
      fieldsOf(draft).map(([name, field]) => [name, more(field)]),
    )
  })

/** What becomes of the fields as a whole. */
const inAllFields: Arbitrary<Mutation> = fc.oneof(
  fc.nat(3).map(
    (index): Mutation =>
      (draft) =>
        withFields(draft, fieldsOf(draft).toSpliced(index, 1)),
  ),
  value.map(
    (fields): Mutation =>
      (draft) => ({ ...draft, fields }),
  ),
  fc.constant<Mutation>((draft) => ({ ...draft, fields: [draft.fields] })),
  fc.constant<Mutation>((draft) => ({ ...draft, fields: JSON.stringify(draft.fields) })),
)

const inFields: Arbitrary<Mutation> = weighted(
  [5, inEntries],
  [4, fc.tuple(fc.constantFrom('domains', 'add_domains', 'remove_domains'), someDomains).map(withField)],
  [3, name.map((name) => withField(['name', name]))],
  [2, fc.tuple(fieldName, value).map(withField)],
  [4, inAllFields],
)

const rewritten: Arbitrary<Mutation> = fc
  .oneof(
    fc.constantFrom<Draft['rewrite']>(
      () => Buffer.alloc(0),
      (body) => Buffer.concat([Buffer.from('\ufeff'), body]),
      (body) => Buffer.from(`\ufeff${body}`, 'utf16le'),
      (body) => Buffer.from(body.toString(), 'latin1'),
      (body) => Buffer.from(body.toString().replaceAll('"', "'")),
      (body) => Buffer.from(body.toString().replaceAll(/[\]}]/g, ',$&')),
      (body) => Buffer.concat([body, Buffer.alloc(1 << 20, ' ')]),
      () => Buffer.alloc(50_000, '['),
    ),
    fc.nat().map(
      (cut): Draft['rewrite'] =>
        (body) =>
          body.subarray(0, cut % (body.length + 1)),
    ),
  )
  .map((rewrite) => (draft) => ({ ...draft, rewrite }))

const inHeaders: Arbitrary<Mutation> = fc
  .constantFrom<Partial<Draft>>(
    { authorization: undefined },
    { authorization: 'Bearer nobody' },
    { contentType: undefined },
    { contentType: 'text/plain' },
    { contentCoding: 'gzip' },
  )
  .map((headers) => (draft) => ({ ...draft, ...headers }))

const mutation = weighted([12, inFields], [3, rewritten], [3, inQuery], [2, inPath], [1, inMethod], [1, inHeaders])

/** Requests of which most are refused, for any reason that there is and for several at once. */
export const spoiltRequest: Arbitrary<(groupId: string) => SentRequest> = fc
  .tuple(accepted, fc.array(mutation, { minLength: 1, maxLength: 3 }))
  .map(([fine, mutations]) => {
    const headers = { authorization: AUTHORIZED[1], contentType: 'application/json', contentCoding: undefined }
    const draft: Draft = { ...fine, ...headers, path: BASE + fine.path, rewrite: (body) => body }
    const spoilt = mutations.reduce((spoilt, mutate) => mutate(spoilt), draft)
    return (groupId: string) => written(spoilt, groupId)
  })

function written({ method, path, query, fields, rewrite, ...draft }: Draft, groupId: string): SentRequest {
  const headers = {
    ...{ Authorization: draft.authorization, 'Content-Type': draft.contentType },
    'Content-Encoding': draft.contentCoding,
  }
  return {
    method,
    target: (path + query).replaceAll('{group}', groupId),
    headers: Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
    body: rewrite(Buffer.from(JSON.stringify(fields) ?? '')),
  }
}

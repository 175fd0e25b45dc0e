import fc, { type Arbitrary } from 'fast-check'
import { ALL_DOMAINS, ALL_NAMES, BAD_DOMAINS, BAD_NAMES, CROWD_AND_ONE } from '../model/pool.ts'
import { AUTHORIZED, type Header } from '../support/wire.ts'
import type { SentRequest } from './acceptance.ts'

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

type Mutation = (draft: Draft) => Draft

const BASE = '/api/v1'

const domain = fc.oneof(
  { arbitrary: fc.constantFrom('one.example', 'two.example', 'used.example', 'busy.example'), weight: 3 },
  { arbitrary: fc.constantFrom(...ALL_DOMAINS), weight: 2 },
  { arbitrary: fc.constantFrom(...BAD_DOMAINS), weight: 1 },
)
const usualDomain = fc.constantFrom('one.example', 'two.example', 'three.example')
const newDomain = fc.constantFrom('four.example', 'five.example', 'six.example')
const name = fc.oneof(
  fc.constantFrom('Marketing', 'mARKETING', 'sales'),
  fc.constantFrom(...ALL_NAMES),
  fc.constantFrom(...BAD_NAMES),
  fc.string({ unit: 'binary', maxLength: 120 }),
)
const value: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    0,
    1.5,
    true,
    '',
    'two.example',
    'one.example, two.example',
    {},
    [],
    [[]],
    CROWD_AND_ONE,
  ),
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

const READINGS = ['/dmarc', '/domains', '/domaingroups'].map((path) => ({
  method: 'GET',
  path,
  query: '',
  fields: undefined,
}))
const OF_A_GROUP = ['GET', 'DELETE', 'HEAD'].map((method) => {
  return { method, path: '/domaingroups', query: '?id={group}', fields: undefined }
})
const members = fc.array(usualDomain, { maxLength: 3 })
const newName = fc.constantFrom('New', 'Neu', '新')

const accepted: Arbitrary<Pick<Draft, 'method' | 'path' | 'query' | 'fields'>> = fc.oneof(
  fc.constantFrom(...READINGS, ...OF_A_GROUP),
  fc.uniqueArray(newDomain, { minLength: 1 }).map((domains) => {
    return { method: 'POST', path: '/domains', query: '', fields: { domains } }
  }),
  fc.uniqueArray(usualDomain, { minLength: 1 }).map((domains) => {
    return { method: 'DELETE', path: '/domains', query: '', fields: { domains } }
  }),
  fc.record({ name: newName, domains: members }, { requiredKeys: ['name'] }).map((fields) => {
    return { method: 'POST', path: '/domaingroups', query: '', fields }
  }),
  fc
    .record({ name: newName, add_domains: members, remove_domains: members }, { requiredKeys: [] })
    .map((fields) => ({ method: 'PATCH', path: '/domaingroups', query: '?id={group}', fields })),
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

function withField(draft: Draft, field: string, value: unknown): Draft {
  const given = typeof draft.fields === 'object' ? Object.entries(draft.fields ?? {}) : []
  return { ...draft, fields: Object.fromEntries([...given, [field, value]]) }
}

const someDomains = fc.oneof(
  fc.array(domain, { maxLength: 5 }),
  fc.array(domain, { maxLength: 60, size: 'max' }),
  value,
)

/** One more entry for every array that there is. */
const inEntries: Arbitrary<Mutation> = fc
  .tuple(fc.nat(3), fc.oneof({ arbitrary: domain, weight: 8 }, value))
  .map(([index, entry]) => (draft) => {
    const given = typeof draft.fields === 'object' ? Object.entries(draft.fields ?? {}) : []
    const more = given.map(([name, field]) => [name, Array.isArray(field) ? field.toSpliced(index, 0, entry) : field])
    return { ...draft, fields: Object.fromEntries(more) }
  })

const inFields: Arbitrary<Mutation> = fc.oneof(
  { arbitrary: inEntries, weight: 5 },
  {
    arbitrary: fc.tuple(fc.constantFrom('domains', 'add_domains', 'remove_domains'), someDomains).map(
      ([field, domains]): Mutation =>
        (draft) =>
          withField(draft, field, domains),
    ),
    weight: 4,
  },
  {
    arbitrary: name.map(
      (name): Mutation =>
        (draft) =>
          withField(draft, 'name', name),
    ),
    weight: 3,
  },
  {
    arbitrary: fc.tuple(fieldName, value).map(
      ([field, value]): Mutation =>
        (draft) =>
          withField(draft, field, value),
    ),
    weight: 2,
  },
  fc.nat(3).map(
    (index): Mutation =>
      (draft) => {
        const given = typeof draft.fields === 'object' ? Object.entries(draft.fields ?? {}) : []
        return { ...draft, fields: Object.fromEntries(given.toSpliced(index, 1)) }
      },
  ),
  value.map(
    (fields): Mutation =>
      (draft) => ({ ...draft, fields }),
  ),
  fc.constant<Mutation>((draft) => ({ ...draft, fields: [draft.fields] })),
  fc.constant<Mutation>((draft) => ({ ...draft, fields: JSON.stringify(draft.fields) })),
)

const rewritten: Arbitrary<Mutation> = fc
  .oneof(
    fc.constantFrom<Draft['rewrite']>(
      () => Buffer.alloc(0),
      (body) => Buffer.concat([Buffer.from('\ufeff'), body]),
      (body) => Buffer.from(`\ufeff${body}`, 'utf16le'),
      (body) => Buffer.from(body.toString(), 'latin1'),
      (body) => Buffer.concat([body, body]),
      (body) => Buffer.from(body.toString().replaceAll('"', "'")),
      (body) => Buffer.from(body.toString().replaceAll(/[\]}]/g, ',$&')),
      (body) => Buffer.from(body.toString().replaceAll(/"(\w+)":/g, '$1 : /* field */')),
      (body) => Buffer.concat([body, Buffer.alloc(1 << 20, ' ')]),
      () => Buffer.alloc(50_000, '['),
      () => Buffer.alloc(50_000, '{"a":'),
    ),
    fc.nat().map(
      (cut): Draft['rewrite'] =>
        (body) =>
          body.subarray(0, cut % (body.length + 1)),
    ),
    fc.uint8Array({ maxLength: 40 }).chain((bytes) =>
      fc.constantFrom<Draft['rewrite']>(
        () => Buffer.from(bytes),
        (body) => Buffer.concat([body.subarray(0, 9), bytes, body.subarray(9)]),
      ),
    ),
    fc.string({ unit: fc.constantFrom(...'{}[]"\':,\\/*u0trn 1-.') }).map((text) => () => Buffer.from(text)),
  )
  .map((rewrite) => (draft) => ({ ...draft, rewrite }))

const inHeaders: Arbitrary<Mutation> = fc
  .constantFrom<Partial<Draft>>(
    { authorization: undefined },
    { authorization: 'Bearer nobody' },
    { contentType: undefined },
    { contentType: 'text/plain' },
    { contentType: 'application/x-www-form-urlencoded' },
    { contentCoding: 'gzip' },
    { contentCoding: 'br' },
  )
  .map((headers) => (draft) => ({ ...draft, ...headers }))

const mutation = fc.oneof(
  { arbitrary: inFields, weight: 12 },
  { arbitrary: rewritten, weight: 3 },
  { arbitrary: inQuery, weight: 3 },
  { arbitrary: inPath, weight: 2 },
  { arbitrary: inMethod, weight: 1 },
  { arbitrary: inHeaders, weight: 1 },
)

/** Requests of which most are refused, for any reason that there is and for several at once. */
export const spoiltRequest: Arbitrary<(groupId: string) => SentRequest> = fc
  .tuple(accepted, fc.array(mutation, { minLength: 1, maxLength: 3 }))
  .map(([fine, mutations]) => {
    const draft: Draft = {
      ...fine,
      path: BASE + fine.path,
      authorization: AUTHORIZED[1],
      contentType: 'application/json',
      contentCoding: undefined,
      rewrite: (body) => body,
    }
    const spoilt = mutations.reduce((spoilt, mutate) => mutate(spoilt), draft)
    return (groupId: string) => written(spoilt, groupId)
  })

function written(
  { method, path, query, authorization, contentType, contentCoding, fields, rewrite }: Draft,
  groupId: string,
): SentRequest {
  const body = rewrite(Buffer.from(JSON.stringify(fields) ?? ''))
  const headers: (Header | false)[] = [
    authorization !== undefined && ['Authorization', authorization],
    contentType !== undefined && ['Content-Type', contentType],
    contentCoding !== undefined && ['Content-Encoding', contentCoding],
  ]
  return {
    method,
    target: (path + query).replaceAll('{group}', groupId),
    headers: headers.filter((header): header is Header => header !== false),
    body,
  }
}

import fc, { type Arbitrary } from 'fast-check'
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
  fields: unknown
  headers: readonly Header[]
  /** What happens to the body once it is written. */
  rewrite: (body: Buffer) => Buffer
}

type Mutation = (draft: Draft) => Draft

const BASE = '/api/v1'
const TYPE: Header = ['Content-Type', 'application/json']

const domain = fc.constantFrom(
  ...['one.example', 'two.example', 'used.example', 'busy.example', 'one.example', 'two.example'],
  ...['a.example', 'A.Example', 'a.example.', 'b。example', 'münchen.example', 'xn--fa-hia.example.'],
  ...['', '.', ' a.example', 'a..example', 'localhost', '192.0.2.1', 'a@b.example', 'https://a.example', '*.example'],
)
const name = fc.oneof(
  fc.constantFrom('Marketing', 'mARKETING', 'sales', ' Web', 'STRASSE', '__proto__', 'a\u200bb', 'x'.repeat(100)),
  fc.constantFrom('', ' ', '\u00a0\u3000', ' \u200b', 'a\0', '\ud83d', 'x'.repeat(101), '😀'.repeat(101)),
  fc.string({ unit: 'binary', maxLength: 120 }),
)
const value: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, 0, true, '', {}, [], [[]], 'one.example, two.example'),
  fc.array(fc.oneof(domain, fc.jsonValue({ maxDepth: 2 })), { maxLength: 5 }),
  fc.array(domain, { maxLength: 60, size: 'max' }),
  name,
  fc.record({ domain }),
)
const fieldName = fc.oneof(
  fc.constantFrom('name', 'domains', 'add_domains', 'remove_domains', 'domain', 'addDomains', 'id', '__proto__'),
  fc.string({ unit: 'binary' }),
)

const accepted = fc.constantFrom<[method: string, path: string, fields?: object]>(
  ['GET', '/dmarc'],
  ['GET', '/domaingroups?id={group}'],
  ['DELETE', '/domaingroups?id={group}'],
  ['POST', '/domains', { domains: ['four.example', 'five.example'] }],
  ['DELETE', '/domains', { domains: ['one.example', 'three.example'] }],
  ['POST', '/domaingroups', { name: 'New', domains: ['two.example'] }],
  ['PATCH', '/domaingroups?id={group}', { name: 'Neu', add_domains: ['one.example'], remove_domains: ['two.example'] }],
)

function fieldsOf({ fields }: Draft): [name: string, value: unknown][] {
  return typeof fields === 'object' ? Object.entries(fields ?? {}) : []
}

const inFields: Arbitrary<Mutation> = fc.oneof(
  fc.tuple(fc.oneof(fieldName, fc.constant('domains')), fc.oneof(value, name)).map(
    ([field, changed]): Mutation =>
      (draft) => ({ ...draft, fields: Object.fromEntries([...fieldsOf(draft), [field, changed]]) }),
  ),
  fc.nat(3).map(
    (index): Mutation =>
      (draft) => ({ ...draft, fields: Object.fromEntries(fieldsOf(draft).toSpliced(index, 1)) }),
  ),
  value.map(
    (fields): Mutation =>
      (draft) => ({ ...draft, fields }),
  ),
  fc.constantFrom<Mutation>(
    (draft) => ({ ...draft, fields: [draft.fields] }),
    (draft) => ({ ...draft, fields: JSON.stringify(draft.fields) }),
  ),
)

const inBytes: Arbitrary<Mutation> = fc
  .oneof(
    fc.constantFrom<Draft['rewrite']>(
      (body) => Buffer.from(`\ufeff${body}`),
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

const inTarget: Arbitrary<Mutation> = fc
  .constantFrom('', '/domains/', '/%zz', '/domaingroups/{group}', '/domaingroups?id=%F0%9F', '/dmarc?__proto__=x')
  .map((path) => (draft) => ({ ...draft, path }))

/** Requests of which most are refused, for any reason that there is and for several at once. */
export const spoiltRequest: Arbitrary<(groupId: string) => SentRequest> = fc
  .tuple(accepted, fc.array(fc.oneof(inFields, inFields, inFields, inBytes, inTarget), { minLength: 1, maxLength: 3 }))
  .map(([[method, path, fields], mutations]) => {
    const draft: Draft = { method, path, fields, headers: [AUTHORIZED, TYPE], rewrite: (body) => body }
    const spoilt = mutations.reduce((changed, mutate) => mutate(changed), draft)
    return (groupId) => ({
      method: spoilt.method,
      target: BASE + spoilt.path.replaceAll('{group}', groupId),
      headers: spoilt.headers,
      body: spoilt.rewrite(Buffer.from(JSON.stringify(spoilt.fields) ?? '')),
    })
  })

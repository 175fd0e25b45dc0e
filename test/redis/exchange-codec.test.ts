import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { bindBehaviours } from '../../src/behaviour/service-contract.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { describeCredentials } from '../../src/explain/credentials.ts'
import { hashKey } from '../../src/ground/secrets.ts'
import { describeEntry } from '../../src/journal/description.ts'
import type { Entry } from '../../src/journal/entry.ts'
import { Journal, type NewEntry } from '../../src/journal/journal.ts'
import { Secrets } from '../../src/journal/redaction/secrets.ts'
import { decodeExchange, encodeExchange, openExchange } from '../../src/redis/exchange-codec.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { budget } from '../support/budget.ts'
import { entry } from '../support/entry.ts'

const contract = bindBehaviours(await loadContract({ overlays: [] }), { behaviours: OPERATIONS, simulator: true })
const operations = new Map(contract.operations.map((operation) => [operation.id as string, operation]))
const KEY = 'key_Aa000000.0123456789abcdef'
const SECRET = 'Correct-Horse+Battery/Staple'

function journalWithSecrets(): Journal {
  const secrets = new Secrets(['the-token-of-the-control-plane'])
  secrets.update('default', { held: [KEY, SECRET].map(hashKey) }, [KEY, SECRET])
  return new Journal({}, undefined, secrets)
}

const journal = journalWithSecrets()

function encode(given: NewEntry, body?: unknown): string {
  return encodeExchange(given, body, contract, journal.redactorFor(given))
}

function pass(given: NewEntry, body?: unknown): Entry {
  return decodeExchange(encode(given, body), { ordinal: 1, account: given.account }, operations)
}

function describeAs(given: NewEntry): unknown {
  return describeEntry({ ...given, ordinal: 1, weight: 0 }, contract.catalogue, journal.redactorFor(given))
}

const encodeText = (text: string) => encodeURIComponent(Buffer.from(text).toString())

/** What clients can choose, with secrets in it now and then. */
const anyText = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.constantFrom(
    ...[KEY, SECRET, `x${SECRET}y`, encodeURIComponent(SECRET), `{"a":"${SECRET}"}`, '[redacted]'],
    ...[Buffer.from(SECRET).toString('base64'), 'é', '\ud800', '\u0000', ''],
  ),
)
const anyTarget = fc
  .tuple(anyText, fc.option(fc.tuple(fc.constantFrom('id', 'api_key', 'token'), anyText)))
  .map(([path, query]) => `/${encodeText(path)}${query === null ? '' : `?${query[0]}=${encodeText(query[1])}`}`)
const anyBody = fc.option(
  fc.oneof(
    anyText.map((text) => ({ held: text, size: Buffer.byteLength(text) })),
    fc.uint8Array({ maxLength: 20 }).map((bytes) => ({ held: Buffer.from(bytes), size: bytes.length })),
    anyText.map((text) => ({ held: Buffer.from(text), size: Buffer.byteLength(text) + 1 })),
    fc.nat(50).map((size) => ({ held: Buffer.alloc(0), size })),
  ),
  { nil: undefined },
)
const anyCredentials = fc.tuple(fc.constantFrom('', 'Bearer '), anyText).map(([scheme, text]) => scheme + text)
const anyHeaders = fc
  .array(
    fc.tuple(
      fc.constantFrom('X-Api-Key', 'Cookie', 'Accept', 'X-Custom'),
      fc.oneof(anyCredentials, fc.constant(`Bearer ${KEY}`)),
    ),
    { maxLength: 4 },
  )
  .map((fields) => fields.flatMap(([name, value]) => [name, value.trim()]))

const anyExchange = fc.record({
  account: fc.constantFrom('default', undefined),
  key: fc.constantFrom('key_Aa000000', undefined),
  method: anyText,
  target: anyTarget,
  headers: anyHeaders,
  authorization: anyCredentials,
  body: anyBody,
  responseBody: anyBody,
  responseHeaders: anyHeaders,
  value: fc.jsonValue({ maxDepth: 3 }),
  field: anyText,
  status: fc.constantFrom(200, 400, undefined),
})

type Chosen = typeof anyExchange extends fc.Arbitrary<infer Value> ? Value : never

/** A request has one header with its key; only one that has the key of an account has an account. */
function exchangeOf({ value, field, account, key, authorization, ...chosen }: Chosen): NewEntry {
  const isKnown = account !== undefined && key !== undefined
  const headers = ['Authorization', isKnown ? `Bearer ${KEY}` : authorization.trim(), ...chosen.headers]
  const problem = { code: 'invalid_domain', reason: 'format', field, value, about: { limit: 3, name: field } }
  const path = chosen.target.split('?')[0] ?? ''
  const operation = operations.get('addDomains')
  const ofAccount = isKnown ? { account, key } : { account: undefined, key: undefined }
  return entry({ ...chosen, headers, ...ofAccount, path, operation, problems: [problem] })
}

const INJECTION = { source: 'rule', id: undefined, rule: { respond: { status: 503 } }, effect: undefined } as const

describe('An exchange in the store', () => {
  it('is described as in the replica that has answered it', () => {
    fc.assert(
      fc.property(anyExchange, (chosen) => {
        const given = exchangeOf(chosen)
        expect(describeAs(pass(given))).toEqual(describeAs(given))
      }),
      { numRuns: budget({ quick: 300, full: 5_000 }) },
    )
  })

  it('is the same where its text is decoded only when somebody reads a part', () => {
    fc.assert(
      fc.property(anyExchange, (chosen) => {
        const text = encode(exchangeOf(chosen))
        const known = { ordinal: 7, account: chosen.account }
        const { weight, ...whole } = decodeExchange(text, known, operations)
        const opened = openExchange(text, { recorded: 7, account: chosen.account }, operations)
        const parts = Object.keys(whole).map((name) => [name, opened[name as keyof Entry]])
        expect(Object.fromEntries(parts)).toEqual(whole)
      }),
      { numRuns: 100 },
    )
  })

  it('has no secret of its account', () => {
    fc.assert(
      fc.property(anyExchange, (chosen) => {
        const text = encode(exchangeOf({ ...chosen, account: 'default', key: 'key_Aa000000' }))
        for (const secret of [KEY, SECRET]) expect(text).not.toContain(secret)
      }),
      { numRuns: budget({ quick: 300, full: 5_000 }) },
    )
  })

  it.each<[what: string, given: Partial<NewEntry>]>([
    ['an allowance', { allowance: { allowed: true, limit: 30, remaining: 3, resetAt: 1_800_000_000 } }],
    ['what the service had decided', { decided: { status: 200, code: undefined } }],
    ['evidence of its key', { keyEvidence: { ordinal: 2, disabled: true, inGrace: false } }],
    ['a moment', { moment: { incarnation: 123_456_789_012, version: '7 abc', sequence: 9 } }],
    ['an injection', { injected: true, injection: { ...INJECTION, id: 'f1', effect: 'It was so.' } }],
    ['an injection without an id', { injection: { ...INJECTION, source: 'prefer' } }],
    ['a violation of the response', { violations: [{ pointer: '/a', message: 'It is wrong.' } as never] }],
    ['a group', { group: { id: 'g', name: 'G', domains: ['a.example.com'] } }],
    ['that it violates the contract', { violatesContract: true }],
    ['no response', { status: undefined }],
    ['a body that is bytes', { body: { held: Buffer.from([0xff, 0x00, 0xfe]), size: 3 } }],
    ['a body that was cut', { responseBody: { held: Buffer.from('begin'), size: 1_000 } }],
    ['a path that is no part of the target', { target: 'http://h/a?b=1', path: '/a' }],
  ])('keeps %s', (_, given) => {
    const whole = entry({ ...given, account: 'default' })
    const { ordinal, weight, ...passed } = pass(whole)
    expect(passed).toEqual(whole)
  })

  it('keeps of a large group the members that explain the request', () => {
    const domains = Array.from({ length: 5_000 }, (_, number) => `d${number}.example.com`)
    const body = { remove_domains: ['D7.example.com', 'd9.example.com', 'x.example.com', 5] }
    const { group } = pass(entry({ group: { id: 'g', name: 'G', domains } }), body)
    expect(group?.domains).toEqual(['d0.example.com', 'd7.example.com', 'd9.example.com'])
  })

  it('keeps the text of a failure, and which problem the store had', () => {
    const { failure } = pass(entry({ failure: new StoreError('unavailable', 'The store is away') }))
    expect(failure).toBeInstanceOf(StoreError)
    expect(failure).toMatchObject({ problem: 'unavailable', message: 'The store is away' })
    expect((failure as Error).stack).toContain('exchange-codec.test.ts')
    expect(pass(entry({ failure: new Error(`Not ${SECRET}`) })).failure).toContain('Not [redacted]')
  })

  it('has the body that many problems are about once', () => {
    const value = { a: 'x'.repeat(5_000) }
    const given = entry({ problems: Array.from({ length: 100 }, () => ({ code: 'unknown_field', value })) })
    expect(encode(given).length).toBeLessThan(10_000)
    expect(pass(given).problems).toEqual(given.problems)
  })

  it('has a value that is nested too deeply to be written as it is shown', () => {
    let value: unknown = 1
    for (let depth = 0; depth < 20_000; depth++) value = [value]
    const { problems } = pass(entry({ problems: [{ code: 'invalid_domain', value }] }))
    expect(typeof problems[0]?.value).toBe('string')
  })

  it.each([
    ...[undefined, '', 'Bearer', 'Bearer  two-spaces', 'Bearer a b', 'bearer x', 'Basic abc', 'secret', 'Bearer <KEY>'],
    ...['Bearer your-key', 'Bearer {KEY}', 'Bearer nobodys'],
  ])('still tells what is wrong with the header Authorization %j', (authorization) => {
    const headers = authorization === undefined ? [] : ['Authorization', authorization]
    const given = entry({ account: undefined, headers })
    const tell = (each: NewEntry) => describeCredentials(each as Entry, contract.settings)
    expect(tell(pass(given))).toBe(tell(given))
    for (const word of ['two-spaces', 'secret', 'nobodys', 'abc']) expect(encode(given)).not.toContain(word)
  })

  it('of an account that has ended keeps neither its key nor its moment', () => {
    const given = entry({ key: 'key_1', moment: { incarnation: 1, version: '1', sequence: 1 } })
    const passed = decodeExchange(encode(given), { ordinal: 1, account: undefined }, operations)
    expect([passed.key, passed.moment]).toEqual([undefined, undefined])
  })
})

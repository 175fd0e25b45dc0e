import fc, { type Arbitrary } from 'fast-check'
import { weighted } from '../support/weighted.ts'
import {
  ALL_DOMAINS,
  ALL_NAMES,
  BAD_DOMAINS,
  BAD_NAMES,
  CROWD,
  CROWD_AND_ONE,
  USUAL_DOMAINS,
  USUAL_NAMES,
} from './pool.ts'

/** A body as it goes over the wire. */
export interface SentBody {
  contentType?: string
  content?: Buffer
}

const domain = weighted([8, fc.constantFrom(...USUAL_DOMAINS)], [1, fc.constantFrom(...ALL_DOMAINS)])
const anyText = fc.oneof(domain, fc.constantFrom(...BAD_DOMAINS))
const notTexts = fc.constantFrom<unknown>(
  ...[null, 1, true, 'a.example', {}, { 0: 'a.example', length: 1 }],
  ...[[null], [1], [[]], ['a.example', { domain: 'b.example' }]],
)

/** The members of a group, which may be none and may be repeated. */
const members: Arbitrary<unknown> = weighted(
  [30, fc.array(domain, { maxLength: 3 })],
  [2, fc.array(anyText, { minLength: 1, maxLength: 3 })],
  [1, fc.constant(CROWD)],
  [2, notTexts],
)
/** What is no member is ignored. */
const removals: Arbitrary<unknown> = fc.oneof(fc.array(anyText, { maxLength: 4 }), members)
/** Domains to add or to delete: a request must name some, and each once. */
const distinctDomains: Arbitrary<unknown> = fc.oneof(
  fc.uniqueArray(fc.constantFrom('c.a.example', 'd.example', 'e.example', 'just.example'), { minLength: 1 }),
  fc.uniqueArray(fc.constantFrom(...ALL_DOMAINS), { minLength: 1, maxLength: 3 }),
  fc.uniqueArray(domain, { minLength: 1, maxLength: 2 }),
)
const crowd = fc.constantFrom(CROWD, CROWD.toReversed(), CROWD_AND_ONE, ['.', ...CROWD], ['b.example', ...CROWD])
const domains = weighted<unknown>([20, distinctDomains], [3, members], [1, notTexts], [3, crowd])

const name: Arbitrary<unknown> = weighted(
  [20, fc.constantFrom(...USUAL_NAMES)],
  [6, fc.constantFrom(...ALL_NAMES)],
  [2, fc.constantFrom(...BAD_NAMES)],
  [1, fc.constantFrom<unknown>(null, 1, false, {}, ['Web'])],
)
const strangeField = fc
  .constantFrom('id', 'Domains', 'domain', 'names', 'constructor', '__proto__', '')
  .map((field) => Object.fromEntries([[field, 'a.example']]))

const BODY_LIMIT = 1024 * 1024

/** The fields as JSON, at times with one more; at times as something else altogether. */
function bodyOf(fields: Arbitrary<object>): Arbitrary<SentBody> {
  const value: Arbitrary<unknown> = weighted(
    [10, fields],
    [1, fc.tuple(fields, strangeField).map(([usual, strange]) => ({ ...strange, ...usual }))],
    [1, fc.constantFrom<unknown>({}, {}, [], null, 'a.example', 1, [{ name: 'Web' }])],
  )
  return weighted([8, value.map(jsonBody)], [1, value.chain(unusualBody)])
}

function jsonBody(value: unknown): SentBody {
  return { contentType: 'application/json', content: Buffer.from(JSON.stringify(value)) }
}

function unusualBody(value: unknown): Arbitrary<SentBody> {
  const content = Buffer.from(JSON.stringify(value))
  const types = fc.constantFrom(
    ...['application/json; charset=utf-8', 'APPLICATION/JSON;charset="UTF-8"', 'text/plain', undefined],
    ...['application/json; charset=latin1', 'application/jsonp', 'application/merge-patch+json'],
  )
  const texts = fc.constantFrom(
    ...[Buffer.alloc(0), Buffer.from(' '), Buffer.from('{"domains":["a.example"],}'), Buffer.from('{"name":"A"}]')],
    ...[Buffer.concat([Buffer.from('{'), content]), Buffer.concat([Buffer.from('\ufeff'), content])],
    ...[Buffer.from('{"name":"\xff"}', 'latin1'), Buffer.from('{"name":"A","name":"B"}')],
  )
  return fc.oneof(
    types.map((contentType) => ({ content, ...(contentType && { contentType }) })),
    fc.constant({}),
    fc.constantFrom(BODY_LIMIT, BODY_LIMIT + 1).map((length) => padded(content, length)),
    texts.map((text) => ({ contentType: 'application/json', content: text })),
  )
}

/** White space after a JSON text means nothing. */
function padded(content: Buffer, length: number): SentBody {
  const more = Buffer.alloc(Math.max(0, length - content.length), ' ')
  return { contentType: 'application/json', content: Buffer.concat([content, more]) }
}

export const bodyOfDomains = bodyOf(fc.record({ domains }))
export const bodyOfGroup = bodyOf(
  weighted(
    [4, fc.record({ name, domains: members })],
    [1, fc.record({ name, domains: members }, { requiredKeys: [] })],
  ),
)
const steps = { name, add_domains: members, remove_domains: removals }
export const bodyOfChanges = bodyOf(
  fc.oneof(
    fc.record({ name }),
    fc.record({ name, domains: members }, { requiredKeys: ['domains'] }),
    fc.record(steps, { requiredKeys: ['add_domains'] }),
    fc.record(steps, { requiredKeys: ['remove_domains'] }),
    fc.record({ ...steps, domains: members }, { requiredKeys: [] }),
  ),
)
/** A body that nobody reads. */
export const idleBody = fc.oneof(fc.constant({}), bodyOf(fc.constant({ name: 'Web' })))

import fc, { type Arbitrary } from 'fast-check'
import { weighted } from '../support/weighted.ts'
import type { Body } from './operations.ts'
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

/** A body as it goes over the wire, and as what it arrives. */
export interface SentBody {
  contentType?: string
  content?: Buffer
  arrives: Body
}

export const noBody: SentBody = { arrives: { refused: 'invalid_request_body' } }

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
  fc.uniqueArray(fc.constantFrom(...ALL_DOMAINS), { minLength: 1, maxLength: 3 }),
  fc.uniqueArray(domain, { minLength: 1, maxLength: 2 }),
)
const crowd = fc.constantFrom(CROWD, CROWD.toReversed(), CROWD_AND_ONE, ['.', ...CROWD])
const deletedCrowd = fc.constantFrom(['b.example', ...CROWD], ['a.example', ...CROWD], ['.', ...CROWD])

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
const OVERLAPPING = 256 * 1024

/** The fields as JSON, at times with one more; at times as something else altogether. */
function bodyOf(fields: Arbitrary<object>): Arbitrary<SentBody> {
  const value: Arbitrary<unknown> = weighted(
    [20, fields],
    [1, fc.tuple(fields, strangeField).map(([usual, strange]) => ({ ...strange, ...usual }))],
    [1, fc.constantFrom<unknown>({}, [], null, 'a.example', 1, [{ name: 'Web' }])],
  )
  return weighted([20, value.map(jsonBody)], [1, value.chain(unusualBody)])
}

function jsonBody(value: unknown): SentBody {
  return { contentType: 'application/json', content: Buffer.from(JSON.stringify(value)), arrives: { value } }
}

function unusualBody(value: unknown): Arbitrary<SentBody> {
  const body = jsonBody(value)
  const content = Buffer.from(JSON.stringify(value))
  const asIs = ['application/json; charset=utf-8', 'APPLICATION/JSON;charset="UTF-8"']
  const other = ['text/plain', 'application/json; charset=latin1', 'application/jsonp', 'application/merge-patch+json']
  const broken = [
    Buffer.concat([Buffer.from('{'), content]),
    Buffer.from('{"domains":["a.example"],}'),
    Buffer.from('{"name":"\xff"}', 'latin1'),
  ]
  return fc.oneof(
    fc.constantFrom(...asIs).map((contentType) => ({ ...body, contentType })),
    fc
      .constantFrom(...other)
      .map((contentType) => ({ ...body, contentType, arrives: { refused: 'invalid_request_body' } })),
    fc.constant({ content, arrives: { refused: 'invalid_request_body' } }),
    fc.constant({ arrives: { refused: 'invalid_request_body' } }),
    fc.constant({ ...body, content: Buffer.alloc(0), arrives: { refused: 'invalid_request_body' } }),
    fc.constant({ ...body, content: padded(content, BODY_LIMIT) }),
    fc.constant({ ...body, content: padded(content, BODY_LIMIT + 1), arrives: { refused: 'request_too_large' } }),
    fc
      .constantFrom(...broken, Buffer.from(' '), Buffer.concat([Buffer.from('\ufeff'), content]))
      .map((text) => ({ ...body, content: text, arrives: { refused: 'invalid_json' } })),
  )
}

/** The same, but so long that several of them sent at once do not arrive one after the other. */
export function overlapping(body: SentBody): SentBody {
  const { content, arrives } = body
  if (content === undefined || 'refused' in arrives || content.length > OVERLAPPING) return body
  return { ...body, content: padded(content, OVERLAPPING) }
}

/** White space after a JSON text means nothing. */
function padded(content: Buffer, length: number): Buffer {
  return Buffer.concat([content, Buffer.alloc(length - content.length, ' ')])
}

export const bodyOfAddition = bodyOf(fc.record({ domains: domainsWith(crowd, 5) }))
export const bodyOfDeletion = bodyOf(fc.record({ domains: domainsWith(deletedCrowd, 12) }))

function domainsWith(many: Arbitrary<readonly string[]>, weight: number): Arbitrary<unknown> {
  return weighted([20, distinctDomains], [3, members], [1, notTexts], [weight, many])
}

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
export const idleBody = fc.oneof(fc.constant(noBody), bodyOf(fc.constant({ name: 'Web' })))

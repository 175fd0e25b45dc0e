import type { Operation } from '../contract/api.ts'
import type { Problem } from '../domain/errors.ts'
import { define, isObject, type Json } from '../ground/json.ts'
import type { Prepare, Sent } from './accepted-requests.ts'
import type { Rehearsal } from './rehearsal.ts'

/** A request that departs from what the operation accepts, at least for most contracts. */
export interface Deviation {
  sent: Sent
  /** Why it is refused, where the schemas do not say it. */
  problem?: Problem
}

const UNSUPPORTED = 'unsupported'

/** Departures of every kind that the contract knows, from requests of which the operation accepts each. */
export function* deviationsOf(
  operation: Operation,
  rehearsal: Rehearsal,
  accepted: readonly Prepare[],
): Generator<Deviation> {
  const all = accepted.map((prepare) => prepare(rehearsal))
  const [plain = {}] = all
  yield* inQuery(operation, rehearsal, plain)
  if (!operation.readsBody) return
  const { settings } = rehearsal.contract
  yield { sent: { ...plain, body: '' }, problem: { code: 'invalid_request_body', reason: 'absent' } }
  yield { sent: { ...plain, body: '{' }, problem: { code: 'invalid_json' } }
  if (settings.contentType === 'required') {
    const sent = { ...plain, headers: { 'Content-Type': 'text/plain' } }
    yield { sent, problem: { code: 'invalid_request_body', reason: 'content-type' } }
  }
  const sent = { ...plain, headers: { 'Content-Encoding': 'gzip' } }
  yield { sent, problem: { code: 'invalid_request_body', reason: 'coding' } }
  const samples: Json = Object.assign({}, ...all.map(({ body }) => (isObject(body) ? body : {})))
  for (const body of bodiesBesides(operation, isObject(plain.body) ? plain.body : {}, samples)) {
    yield { sent: { ...plain, body } }
  }
}

function* inQuery({ parameterSchemas }: Operation, { contract }: Rehearsal, plain: Sent): Generator<Deviation> {
  const query = plain.query ?? {}
  for (const name of parameterSchemas.keys()) {
    yield { sent: { ...plain, query: without(query, name) as Record<string, string> } }
    yield { sent: { ...plain, query: { ...query, [name]: '' } } }
  }
  if (contract.settings.unknownQueryParameters === 'refused') {
    const sent = { ...plain, query: { ...query, [UNSUPPORTED]: '1' } }
    yield { sent, problem: { code: 'unknown_field', reason: 'query' } }
  }
}

function* bodiesBesides({ bodySchema }: Operation, plain: Json, samples: Json): Generator<unknown> {
  yield []
  yield {}
  yield { ...plain, [UNSUPPORTED]: true }
  for (const name of Object.keys(plain)) yield without(plain, name)
  const properties = isObject(bodySchema?.['properties']) ? bodySchema['properties'] : {}
  for (const [name, schema] of Object.entries(properties)) {
    for (const value of wrongValues(schema, samples[name])) yield replace(plain, name, value)
  }
  for (const [name, value] of Object.entries(samples)) {
    for (const [other, otherValue] of Object.entries(samples)) {
      if (name < other) yield replace(replace(plain, name, value), other, otherValue)
    }
  }
}

/** `sample` is what the field may hold. */
function wrongValues(schema: unknown, sample: unknown): unknown[] {
  const type = isObject(schema) ? schema['type'] : undefined
  const others = Array.isArray(sample) ? sample.slice(1) : []
  if (type === 'array') return ['text', [5, ...others], ['no hostname', ...others], []]
  return type === 'string' ? [5, ' ', ''] : ['text']
}

function replace(body: Json, name: string, value: unknown): Json {
  const replaced = { ...body }
  define(replaced, name, value)
  return replaced
}

function without(fields: Readonly<Record<string, unknown>>, name: string): Json {
  return Object.fromEntries(Object.entries(fields).filter(([each]) => each !== name))
}

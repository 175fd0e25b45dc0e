import type { OperationBehaviour, SampleRequest } from '../behaviour/operation.ts'
import type { Rehearsal } from '../behaviour/rehearsal.ts'
import type { Operation } from '../contract/api.ts'
import { define, isObject, type Json } from '../ground/json.ts'
import type { Query } from '../http/target.ts'

const UNSUPPORTED = 'unsupported'

/** Requests that each break one rule of the operation's schemas, its query, or its media type. */
export function* deviationsOf(
  operation: Operation,
  rehearsal: Rehearsal,
  { accepted }: OperationBehaviour,
): Generator<SampleRequest> {
  const all = accepted.map((sample) => sample(rehearsal))
  const [plain = {}] = all
  yield* inQuery(operation, plain)
  if (!operation.readsBody) return
  yield { ...plain, body: '' }
  yield { ...plain, body: '{' }
  yield { ...plain, headers: { 'Content-Type': 'text/plain' } }
  yield { ...plain, headers: { 'Content-Encoding': 'gzip' } }
  const samples: Json = Object.assign({}, ...all.map(({ body }) => (isObject(body) ? body : {})))
  for (const body of bodiesBesides(operation, isObject(plain.body) ? plain.body : {}, samples)) {
    yield { ...plain, body }
  }
}

function* inQuery({ parameterSchemas }: Operation, plain: SampleRequest): Generator<SampleRequest> {
  const query = plain.query ?? {}
  for (const name of parameterSchemas.keys()) {
    yield { ...plain, query: without(query, name) as Query }
    yield { ...plain, query: { ...query, [name]: '' } }
  }
  yield { ...plain, query: { ...query, [UNSUPPORTED]: '1' } }
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

/** `sample` is a value that the field accepts. */
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

import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { type CodeByKeyword, codeFor } from '../contract/problems.ts'
import { isObject, type Json, pointTo, stepsOf } from '../ground/json.ts'
import type { Observation } from './observation.ts'

/** One side of a limit in the contract: the last size that it permits, or the first that it does not. */
export interface LimitEdge {
  /** Such as `addDomains domains maxItems 50 beyond`. */
  id: string
  operation: Operation | undefined
  /** Path of the operations that share the limit. */
  path: string
  /** JSON pointer into the body (`*` for every item), the name of a query parameter, or another limited thing. */
  field: string
  limit: number
  side: Side
  /** The size that shows this edge. */
  size: number
  /** The place of the limited value. */
  of: 'body' | 'query' | 'bytes' | 'quota'
  /** Whether an answered request shows this edge. Injected answers never do. */
  isShownBy(observation: Observation): boolean
}

type Side = 'at' | 'beyond'

/** Sizes below or above which a value is refused. */
const KEYWORDS = {
  minLength: -1,
  maxLength: 1,
  minItems: -1,
  maxItems: 1,
  minProperties: -1,
  maxProperties: 1,
} as const

type Keyword = keyof typeof KEYWORDS

/** Codes of responses that reveal nothing about the schemas. */
const BESIDE_SCHEMAS = ['unauthorized', 'rate_limited', 'internal_error']

/** Every limit edge of the contract, in the order of its operations. */
export function limitEdgesOf(contract: Contract): LimitEdge[] {
  const { operations, settings } = contract
  const defaults = (contract.document.source['x-error-defaults'] ?? {}) as CodeByKeyword
  const edges = operations.flatMap((operation) => [
    ...[...operation.parameters].flatMap(([name, schema]) => limitsIn(schema, name, 'query', operation, defaults)),
    ...limitsIn(operation.bodySchema, '', 'body', operation, defaults),
    ...(operation.readsBody ? bodyLimit(operation, settings.bodyLimit) : []),
  ])
  const paths = new Map(operations.map((operation) => [operation.path, operation.quota]))
  return [
    ...edges,
    ...[...paths].flatMap(([path, quota]) => (quota === undefined ? [] : quotaLimit(path, quota.limit))),
  ]
}

/** Both edges of each limit in a schema and in its subschemas. */
function limitsIn(
  schema: unknown,
  field: string,
  of: 'body' | 'query',
  operation: Operation,
  defaults: CodeByKeyword,
): LimitEdge[] {
  if (!isObject(schema)) return []
  const own = (Object.keys(KEYWORDS) as Keyword[]).flatMap((keyword) => {
    const limit = schema[keyword]
    if (typeof limit !== 'number') return []
    const code = codeFor(keyword, schema, defaults)
    const edges = sidesOf({ operation, path: operation.path, field, limit, of }, KEYWORDS[keyword], (side, size) => {
      const here = measure(field, of, keyword, size)
      return {
        id: `${operation.id} ${named(field)}${keyword} ${limit} ${side}`,
        isShownBy: (observation) =>
          side === 'at'
            ? here(observation) && passedSchemas(observation, operation)
            : observation.code === code && observation.reason === keyword && here(observation),
      }
    })
    // Nothing has a negative size.
    return edges.filter(({ size }) => size >= 0)
  })
  const properties = isObject(schema['properties']) ? Object.entries(schema['properties']) : []
  return [
    ...own,
    ...properties.flatMap(([name, property]) => limitsIn(property, pointTo(field, name), of, operation, defaults)),
    ...limitsIn(schema['items'], pointTo(field, '*'), of, operation, defaults),
  ]
}

function bodyLimit(operation: Operation, limit: number): LimitEdge[] {
  return sidesOf({ operation, path: operation.path, field: '', limit, of: 'bytes' }, 1, (side, size) => ({
    id: `${operation.id} body-limit ${limit} ${side}`,
    isShownBy: ({ bodyBytes, code, reason }) =>
      bodyBytes === size && (side === 'at' ? code === undefined : code === 'request_too_large' && reason === 'bytes'),
  }))
}

/**
 * The two edges are: no request is left, and one request too many. The higher limit of a new key has the same edges.
 */
function quotaLimit(path: string, limit: number): LimitEdge[] {
  return sidesOf({ operation: undefined, path, field: 'x-quota', limit, of: 'quota' }, 1, (side) => ({
    id: `${path} x-quota ${limit} ${side}`,
    isShownBy: ({ operation, allowance, code }) =>
      operation?.path === path &&
      allowance !== undefined &&
      (side === 'at' ? allowance.allowed && allowance.remaining === 0 : !allowance.allowed && code === 'rate_limited'),
  }))
}

type Limited = Pick<LimitEdge, 'operation' | 'path' | 'field' | 'limit' | 'of'>

/** Both edges of a limit. A value beyond it is larger or smaller by `step`. */
function sidesOf(
  limited: Limited,
  step: 1 | -1,
  describe: (side: Side, size: number) => Pick<LimitEdge, 'id' | 'isShownBy'>,
): LimitEdge[] {
  const sizes = { at: limited.limit, beyond: limited.limit + step }
  return (['at', 'beyond'] as const).map((side) => {
    const { id, isShownBy } = describe(side, sizes[side])
    return { id, ...limited, side, size: sizes[side], isShownBy }
  })
}

/** Whether the request was checked against its schemas and passed. */
function passedSchemas({ code, query, body }: Observation, operation: Operation): boolean {
  if (code === undefined) return true
  if (BESIDE_SCHEMAS.includes(code)) return false
  if (operation.readsBody && body === undefined) return false
  return operation.checkQuery({ ...query }).length === 0 && operation.checkBody(body).length === 0
}

/** Returns a function that tests for a value of this size at the field. */
function measure(
  field: string,
  of: 'body' | 'query',
  keyword: Keyword,
  size: number,
): (observation: Observation) => boolean {
  const fits = (value: unknown) => hasSize(value, keyword, size)
  if (of === 'query') return ({ query }) => fits(query[field])
  const steps = stepsOf(field)
  return ({ body }) => holds(body, steps, 0, fits)
}

function holds(value: unknown, steps: readonly string[], from: number, test: (value: unknown) => boolean): boolean {
  const step = steps[from]
  if (step === undefined) return test(value)
  if (step === '*') return Array.isArray(value) && value.some((item) => holds(item, steps, from + 1, test))
  return isObject(value) && Object.hasOwn(value, step) && holds((value as Json)[step], steps, from + 1, test)
}

function hasSize(value: unknown, keyword: Keyword, size: number): boolean {
  if (keyword === 'minItems' || keyword === 'maxItems') return Array.isArray(value) && value.length === size
  if (keyword === 'minProperties' || keyword === 'maxProperties') {
    return isObject(value) && Object.keys(value).length === size
  }
  // JSON Schema counts code points. A code point is one or two UTF-16 units.
  return typeof value === 'string' && value.length >= size && value.length <= size * 2 && [...value].length === size
}

function named(field: string): string {
  return field === '' ? '' : `${field.replace(/^\//, '')} `
}

import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { type CodeByKeyword, codeFor, defaultCodesOf } from '../contract/problems.ts'
import { isRefusedBy, type Rule } from '../contract/rules.ts'
import { isObject, pointTo, stepsOf } from '../ground/json.ts'
import { memoizeWeakly } from '../ground/memo.ts'
import type { Observation, RuleEvidence } from './observation.ts'

/** A rule or the edge of a limit that a request can show. The name is also that of a field in a shared store. */
export type Item = { name: string } & ({ rule: Rule } | { edge: LimitEdge })

/** One side of a limit in the contract: the last size that it permits, or the first that it does not. */
interface LimitEdge {
  /** Such as `addDomains domains maxItems 50 beyond`. */
  id: string
  /** Absent if the operations of the path share the limit. */
  operation?: Operation
  path: string
  /** JSON pointer into the body (`*` for every item), the name of a query parameter, or another limited thing. */
  field: string
  limit: number
  side: Side
  /** Whether an answered request shows this edge. Injected answers never do. */
  isShownBy(observation: Observation): boolean
}

type Side = 'at' | 'beyond'

/** The items of a contract. */
export const itemsOf = memoizeWeakly((contract: Contract): readonly Item[] => {
  const rules = new Set(contract.operations.flatMap((operation) => operation.rules))
  return [
    ...[...rules].map((rule) => ({ name: `rule ${rule.id}`, rule })),
    ...limitEdgesOf(contract).map((edge) => ({ name: `edge ${edge.id}`, edge })),
  ]
})

/** The items that an answer of each operation may show. */
export const itemsByOperation = memoizeWeakly((contract: Contract): ReadonlyMap<Operation, readonly Item[]> => {
  const concerns = (item: Item, operation: Operation) => {
    if ('rule' in item) return item.rule.unobservable === undefined && operation.rules.includes(item.rule)
    return item.edge.operation === undefined ? item.edge.path === operation.path : item.edge.operation === operation
  }
  return new Map(
    contract.operations.map((operation) => [operation, itemsOf(contract).filter((item) => concerns(item, operation))]),
  )
})

/** Whether the request shows the item, which is one of its operation. */
export function shows(item: Item, observation: Observation, findEvidence: () => RuleEvidence): boolean {
  if ('edge' in item) return item.edge.isShownBy(observation)
  const { code, reason } = observation
  const { rule } = item
  const isAnswered = code === undefined ? rule.refuses.length === 0 : isRefusedBy(rule, code, reason)
  return isAnswered && rule.matches(findEvidence())
}

/** Sizes below or above which a value is refused, and the size of a value. JSON Schema counts code points. */
const KEYWORDS: Readonly<Record<string, { step: 1 | -1; sizeOf(value: unknown): number | undefined }>> = {
  minLength: { step: -1, sizeOf: lengthOf },
  maxLength: { step: 1, sizeOf: lengthOf },
  minItems: { step: -1, sizeOf: countOf },
  maxItems: { step: 1, sizeOf: countOf },
  minProperties: { step: -1, sizeOf: fieldsOf },
  maxProperties: { step: 1, sizeOf: fieldsOf },
}

function lengthOf(value: unknown): number | undefined {
  return typeof value === 'string' ? [...value].length : undefined
}

function countOf(value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined
}

function fieldsOf(value: unknown): number | undefined {
  return isObject(value) ? Object.keys(value).length : undefined
}

/** Every limit edge of the contract, in the order of its operations. */
function limitEdgesOf({ operations, settings, document }: Contract): LimitEdge[] {
  const defaults = defaultCodesOf(document.source)
  const edges = operations.flatMap((operation) => [
    ...[...operation.parameters].flatMap(([name, schema]) => edgesIn(schema, name, 'query', operation, defaults)),
    ...edgesIn(operation.bodySchema, '', 'body', operation, defaults),
    ...(operation.readsBody ? edgesOfBody(operation, settings.bodyLimit) : []),
  ])
  const paths = new Map(operations.map(({ path, quota }) => [path, quota]))
  return [
    ...edges,
    ...[...paths].flatMap(([path, quota]) => (quota === undefined ? [] : edgesOfQuota(path, quota.limit))),
  ]
}

/** Both edges of each limit in a schema and in its subschemas. */
function edgesIn(
  schema: unknown,
  field: string,
  of: 'body' | 'query',
  operation: Operation,
  defaults: CodeByKeyword,
): LimitEdge[] {
  if (!isObject(schema)) return []
  const named = field === '' ? '' : `${field.replace(/^\//, '')} `
  const steps = stepsOf(field)
  const own = Object.entries(KEYWORDS).flatMap(([keyword, { step, sizeOf }]) => {
    const limit = schema[keyword]
    if (typeof limit !== 'number') return []
    const code = codeFor(keyword, schema, defaults)
    const limited = { operation, path: operation.path, field, limit }
    return bothSides(`${operation.id} ${named}${keyword}`, limited, step, (observation, side, size) => {
      if (side === 'beyond' && (observation.code !== code || observation.reason !== keyword)) return false
      const values = of === 'query' ? [observation.query[field]] : valuesAt(observation.body, steps)
      return (
        values.some((value) => sizeOf(value) === size) && (side === 'beyond' || passedSchemas(observation, operation))
      )
    })
  })
  const properties = isObject(schema['properties']) ? Object.entries(schema['properties']) : []
  return [
    ...own,
    ...properties.flatMap(([name, property]) => edgesIn(property, pointTo(field, name), of, operation, defaults)),
    ...edgesIn(schema['items'], pointTo(field, '*'), of, operation, defaults),
  ]
}

function edgesOfBody(operation: Operation, limit: number): LimitEdge[] {
  const limited = { operation, path: operation.path, field: '', limit }
  return bothSides(`${operation.id} body-limit`, limited, 1, ({ bodyBytes, code, reason }, side, size) => {
    const isAnswered = side === 'at' ? code === undefined : code === 'request_too_large' && reason === 'bytes'
    return bodyBytes === size && isAnswered
  })
}

/**
 * The two edges are: no request is left, and one request too many. The higher limit of a new key has the same edges.
 */
function edgesOfQuota(path: string, limit: number): LimitEdge[] {
  return bothSides(`${path} x-quota`, { path, field: 'x-quota', limit }, 1, ({ operation, allowance, code }, side) => {
    if (operation?.path !== path || allowance === undefined) return false
    const { allowed, remaining } = allowance
    return side === 'at' ? allowed && remaining === 0 : !allowed && code === 'rate_limited'
  })
}

/** Both edges of a limit. A value beyond it is larger or smaller by `step`. */
function bothSides(
  name: string,
  limited: Pick<LimitEdge, 'operation' | 'path' | 'field' | 'limit'>,
  step: 1 | -1,
  isShown: (observation: Observation, side: Side, size: number) => boolean,
): LimitEdge[] {
  return (['at', 'beyond'] as const).flatMap((side) => {
    const size = side === 'at' ? limited.limit : limited.limit + step
    const id = `${name} ${limited.limit} ${side}`
    // Nothing has a negative size.
    return size < 0 ? [] : [{ id, ...limited, side, isShownBy: (observation) => isShown(observation, side, size) }]
  })
}

/** Whether the request was checked against its schemas and passed. */
function passedSchemas({ code, query, body }: Observation, operation: Operation): boolean {
  if (code === undefined) return true
  if (operation.readsBody && body === undefined) return false
  return operation.checkQuery({ ...query }).length === 0 && operation.checkBody(body).length === 0
}

/** The values at the steps; `*` stands for every item. */
function valuesAt(value: unknown, [step, ...rest]: readonly string[]): unknown[] {
  if (step === undefined) return [value]
  if (step === '*') return Array.isArray(value) ? value.flatMap((item) => valuesAt(item, rest)) : []
  return isObject(value) && Object.hasOwn(value, step) ? valuesAt(value[step], rest) : []
}

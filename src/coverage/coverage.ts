import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { type CodeByKeyword, codeFor, defaultCodesOf } from '../contract/problems.ts'
import { isRefusedBy, type Rule } from '../contract/rules.ts'
import { refreshDay } from '../domain/dmarc.ts'
import { isObject, pointTo, stepsOf } from '../ground/json.ts'
import { memoizeWeakly } from '../ground/memo.ts'
import { evidenceOf, type Observation, type RuleEvidence } from './observation.ts'

/** A kind of response, and how often the service and faults have given it. */
export interface ResponseCount {
  /** `undefined` for an unknown path and for an unsupported method. */
  operation: Operation | undefined
  status: number
  /** The code of a refusal. */
  code: string | undefined
  genuine: number
  injected: number
}

/** What requests have shown of the contract: responses, rules and edges of limits, all by their names. */
export class Coverage {
  readonly contract: Contract
  /** By operation, because a client meets few responses of each. */
  readonly #responses = new Map<Operation | undefined, ResponseCount[]>()
  readonly #shown = new Set<string>()
  /** By operation: the refresh day of its last success, and the number of successes on that day. */
  readonly #successes = new Map<Operation, { day: number; times: number }>()
  readonly #onShown: ((item: string) => void) | undefined

  /** `onShown` is called with the name of each item at the first request that shows it. */
  constructor(contract: Contract, onShown?: (item: string) => void) {
    this.contract = contract
    this.#onShown = onShown
  }

  /** Records an answered request. */
  observe(observation: Observation): void {
    const { operation, status, code, injected, now } = observation
    const count = this.#countOf(operation, status, code)
    if (injected) count.injected++
    else count.genuine++
    if (operation === undefined || injected) return
    const timesToday = code === undefined ? this.#noteSuccess(operation, now) : 0
    let evidence: RuleEvidence | undefined
    // Most requests come when all rules that they show are shown.
    const findEvidence = () => (evidence ??= evidenceOf(observation, this.contract, timesToday))
    for (const item of itemsByOperation(this.contract).get(operation) ?? []) {
      if (this.#shown.has(item.name) || !shows(item, observation, findEvidence)) continue
      this.#shown.add(item.name)
      this.#onShown?.(item.name)
    }
  }

  /** Returns the number of successes of the operation on this refresh day. `now` is on the account's clock. */
  #noteSuccess(operation: Operation, now: number): number {
    const day = refreshDay(now, this.contract.settings.refresh)
    const last = this.#successes.get(operation)
    const times = last?.day === day ? last.times + 1 : 1
    this.#successes.set(operation, { day, times })
    return times
  }

  #countOf(operation: Operation | undefined, status: number, code: string | undefined): ResponseCount {
    const counts = this.#responses.get(operation) ?? []
    if (counts.length === 0) this.#responses.set(operation, counts)
    for (const count of counts) if (count.status === status && count.code === code) return count
    const count = { operation, status, code, genuine: 0, injected: 0 }
    counts.push(count)
    return count
  }

  /** Adds a number of responses, with the same counts as `observe`. */
  addResponses({ operation, status, code, genuine, injected }: ResponseCount): void {
    const count = this.#countOf(operation, status, code)
    count.genuine += genuine
    count.injected += injected
  }

  /** Records that the item with this name was shown. */
  addShown(name: string): void {
    this.#shown.add(name)
  }

  /** Adds the records of another coverage of the same contract. */
  add(other: Coverage): void {
    for (const response of other.responses.values()) this.addResponses(response)
    for (const name of other.#shown) this.#shown.add(name)
  }

  hasShown(name: string): boolean {
    return this.#shown.has(name)
  }

  /** The responses by `nameOfResponse`. */
  get responses(): ReadonlyMap<string, ResponseCount> {
    const all = [...this.#responses.values()].flat()
    return new Map(all.map((count) => [nameOfResponse(count.operation?.id, count.status, count.code), count]))
  }
}

/** A response as text: the operation, the status and the code. None of them contains a space. */
export function nameOfResponse(operation: string | undefined, status: number, code: string | undefined): string {
  return `${operation ?? ''} ${status} ${code ?? ''}`
}

/** The combined records of several coverages, such as those of all accounts. */
export function mergeCoverage(all: Iterable<Coverage>, contract: Contract): Coverage {
  const sum = new Coverage(contract)
  for (const coverage of all) sum.add(coverage)
  return sum
}

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
const itemsByOperation = memoizeWeakly((contract: Contract): ReadonlyMap<Operation, readonly Item[]> => {
  const concerns = (item: Item, operation: Operation) => {
    if ('rule' in item) return item.rule.unobservable === undefined && operation.rules.includes(item.rule)
    return item.edge.operation === undefined ? item.edge.path === operation.path : item.edge.operation === operation
  }
  return new Map(
    contract.operations.map((operation) => [operation, itemsOf(contract).filter((item) => concerns(item, operation))]),
  )
})

/** Whether the request shows the item, which is one of its operation. */
function shows(item: Item, observation: Observation, findEvidence: () => RuleEvidence): boolean {
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

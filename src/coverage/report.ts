import type { PlannedRequest } from '../behaviour/planned-request.ts'
import type { Contract } from '../contract/contract.ts'
import type { Rule } from '../contract/rules.ts'
import type { Coverage, OtherResponse } from './coverage.ts'
import type { GapPlans } from './gap-requests.ts'
import { layoutOf, type ResponseSlot } from './layout.ts'
import type { Side } from './limit-edges.ts'

/** The parts of the contract that were shown and those that were not, as JSON. */
export interface CoverageReport {
  summary: Record<'operations' | 'responses' | 'rules' | 'edges', ShownShare>
  operations: OperationCoverage[]
  /** Answers to requests that belong to no operation. */
  outside: ResponseCoverage[]
  rules: RuleCoverage[]
  edges: EdgeCoverage[]
  /** Parts that no client can show, and the reasons. The shares do not include them. */
  apart: Apart[]
}

interface ShownShare {
  seen: number
  total: number
  percent: number
}

/** The report about a part that was never shown. */
export interface Gap {
  /** The requests in the order of sending. */
  request?: readonly PlannedRequest[]
  /** The same requests as shell commands. */
  curl?: readonly string[]
  /** The reason why there is no request. */
  hint?: string
}

interface OperationCoverage {
  operation: string
  method: string
  path: string
  responses: ResponseCoverage[]
}

interface ResponseCoverage extends Gap {
  status: number
  code?: string
  genuine: number
  injected: number
  documented: boolean
}

interface RuleCoverage extends Gap {
  id: string
  /** The single operation that it applies to; absent if there are several. */
  operation?: string
  says: string
  seen: boolean
}

interface EdgeCoverage extends Gap {
  id: string
  /** Absent if all operations of the path share it. */
  operation?: string
  path: string
  field: string
  limit: number
  side: Side
  seen: boolean
}

type Apart =
  | { kind: 'response'; operation: string; status: number; code: string; why: string }
  | { kind: 'rule'; id: string; says: string; why: string }

const FAILURE = 'internal_error'
const WHY_NO_FAILURE = 'It tells of a failure of the server itself, which no request can cause.'
const NO_REQUEST = 'As the contract stands, no request is known that shows it.'

/** With `plans`, each gap has the requests that would fill it, or a hint that none is known. */
export function reportCoverage(coverage: Coverage, plans?: GapPlans): CoverageReport {
  const { contract } = coverage
  const { slots, items } = layoutOf(contract)
  const rules: RuleCoverage[] = []
  const edges: EdgeCoverage[] = []
  const apart: Apart[] = [
    ...slots.filter(isFailure).map(({ operation, status }): Apart => {
      return { kind: 'response', operation: operation.id, status, code: FAILURE, why: WHY_NO_FAILURE }
    }),
    ...items.flatMap((item): Apart[] => {
      if (!('rule' in item) || item.rule.unobservable === undefined) return []
      const { id, says, unobservable } = item.rule
      return [{ kind: 'rule', id, says, why: unobservable }]
    }),
  ]
  for (const [number, item] of items.entries()) {
    const seen = coverage.hasShown(number)
    const gap = seen || plans === undefined ? {} : gapOf(plans.items.get(number))
    if ('edge' in item) {
      const { id, operation, path, field, limit, side } = item.edge
      edges.push({ id, ...(operation && { operation: operation.id }), path, field, limit, side, seen, ...gap })
    } else if (item.rule.unobservable === undefined) rules.push({ ...describeRule(item.rule, contract), seen, ...gap })
  }
  const responses = slots.map((slot, number) => {
    const { genuine, injected } = coverage.count(number)
    const asked = genuine === 0 && plans !== undefined && !isFailure(slot)
    return {
      slot,
      response: response({ ...slot, genuine, injected }, true, asked ? gapOf(plans.slots.get(number)) : {}),
    }
  })
  const others = [...coverage.others]
  const operations = contract.operations.map((operation): OperationCoverage => {
    const documented = responses.filter(({ slot }) => slot.operation === operation)
    const listed = documented.filter(
      ({ slot, response }) => !isFailure(slot) || response.genuine + response.injected > 0,
    )
    const undocumented = others.filter((other) => other.operation === operation)
    return {
      operation: operation.id,
      method: operation.method,
      path: operation.path,
      responses: [...listed.map(({ response }) => response), ...undocumented.map((other) => response(other, false))],
    }
  })
  const expected = responses.filter(({ slot }) => !isFailure(slot)).map(({ response }) => response)
  return {
    summary: {
      operations: share(operations, ({ responses }) => responses.some(({ genuine }) => genuine > 0)),
      responses: share(expected, ({ genuine }) => genuine > 0),
      rules: share(rules, ({ seen }) => seen),
      edges: share(edges, ({ seen }) => seen),
    },
    operations,
    outside: others.filter(({ operation }) => operation === undefined).map((other) => response(other, false)),
    rules,
    edges,
    apart,
  }
}

function isFailure({ code }: ResponseSlot): boolean {
  return code === FAILURE
}

function gapOf(request: readonly PlannedRequest[] | undefined): Gap {
  return request === undefined ? { hint: NO_REQUEST } : { request }
}

function response(
  { status, code, genuine, injected }: Omit<OtherResponse, 'operation'>,
  documented: boolean,
  gap: Gap = {},
): ResponseCoverage {
  return { status, ...(code !== undefined && { code }), genuine, injected, documented, ...gap }
}

function describeRule(rule: Rule, { operations }: Contract): Omit<RuleCoverage, 'seen'> {
  const [operation, another] = operations.filter(({ rules }) => rules.includes(rule))
  const alone = another === undefined ? operation : undefined
  return { id: rule.id, ...(alone && { operation: alone.id }), says: rule.says }
}

function share<Thing>(things: readonly Thing[], isSeen: (thing: Thing) => boolean): ShownShare {
  const seen = things.filter(isSeen).length
  const total = things.length
  // The share is rounded down, so 100 means all.
  return { seen, total, percent: total === 0 ? 100 : Math.floor((seen / total) * 1000) / 10 }
}

import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { isRefusedBy, type Rule } from '../contract/rules.ts'
import { memoizeWeakly } from '../ground/memo.ts'
import type { RuleEvidence } from './evidence.ts'
import { type LimitEdge, limitEdgesOf } from './limit-edges.ts'
import type { Observation } from './observation.ts'

/** A response that an operation documents: a status, and for a refusal, a code. */
export interface ResponseSlot {
  operation: Operation
  status: number
  code: string | undefined
}

/** A rule or the edge of a limit that a request can show. */
export type Item = { rule: Rule } | { edge: LimitEdge }

/** Everything in the contract that requests can show. The number of each part is its index. */
export interface Layout {
  slots: readonly ResponseSlot[]
  items: readonly Item[]
  operations: ReadonlyMap<Operation, OperationLayout>
}

interface OperationLayout {
  /** Status → code, or '' for success → number of the slot. */
  slots: ReadonlyMap<number, ReadonlyMap<string, number>>
  /** The numbers of the items that a success, or a refusal, of the operation may show. */
  onSuccess: readonly number[]
  onRefusal: readonly number[]
}

/** The layout of a contract, computed once. */
export const layoutOf = memoizeWeakly((contract: Contract): Layout => {
  const rules = [...new Set(contract.operations.flatMap((operation) => operation.rules))]
  const items: Item[] = [...rules.map((rule) => ({ rule })), ...limitEdgesOf(contract).map((edge): Item => ({ edge }))]
  const slots: ResponseSlot[] = []
  const operations = new Map<Operation, OperationLayout>()
  for (const operation of contract.operations) {
    const byStatus = new Map<number, Map<string, number>>()
    for (const { status, codes } of operation.responses.values()) {
      const byCode = new Map<string, number>()
      for (const code of codes.size === 0 ? [''] : codes) {
        byCode.set(code, slots.push({ operation, status, code: code === '' ? undefined : code }) - 1)
      }
      byStatus.set(status, byCode)
    }
    const own = [...items.entries()].filter(([, item]) => concerns(item, operation))
    operations.set(operation, {
      slots: byStatus,
      onSuccess: own.filter(([, item]) => !awaitsRefusal(item)).map(([number]) => number),
      onRefusal: own.filter(([, item]) => !awaitsSuccess(item)).map(([number]) => number),
    })
  }
  return { slots, items, operations }
})

/** The names of the items by number. Other versions of the program understand these names, too. */
export const itemNames = memoizeWeakly((contract: Contract): readonly string[] =>
  layoutOf(contract).items.map((item) => ('rule' in item ? `rule ${item.rule.id}` : `edge ${item.edge.id}`)),
)

function concerns(item: Item, operation: Operation): boolean {
  if ('rule' in item) return item.rule.unobservable === undefined && operation.rules.includes(item.rule)
  return item.edge.operation === undefined ? item.edge.path === operation.path : item.edge.operation === operation
}

function awaitsRefusal(item: Item): boolean {
  return 'rule' in item ? item.rule.refuses.length > 0 : item.edge.side === 'beyond'
}

function awaitsSuccess(item: Item): boolean {
  return 'rule' in item && item.rule.refuses.length === 0
}

/** Whether the request shows the item. The caller passes only items of the request's operation. */
export function shows(item: Item, observation: Observation, evidence: RuleEvidence): boolean {
  if ('edge' in item) return item.edge.isShownBy(observation)
  const { code, reason } = observation
  return (code === undefined || isRefusedBy(item.rule, code, reason)) && item.rule.matches(evidence)
}

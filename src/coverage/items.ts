import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { isRefusedBy, type Rule } from '../contract/rules.ts'
import { memoizeWeakly } from '../ground/memo.ts'
import type { RuleEvidence } from './evidence.ts'
import { type LimitEdge, limitEdgesOf } from './limit-edges.ts'
import type { Observation } from './observation.ts'

/** A rule or the edge of a limit that a request can show. The name is also that of a field in a shared store. */
export type Item = { name: string } & ({ rule: Rule } | { edge: LimitEdge })

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
export function shows(item: Item, observation: Observation, evidence: RuleEvidence): boolean {
  if ('edge' in item) return item.edge.isShownBy(observation)
  const { code, reason } = observation
  const { rule } = item
  const isAnswered = code === undefined ? rule.refuses.length === 0 : isRefusedBy(rule, code, reason)
  return isAnswered && rule.matches(evidence)
}

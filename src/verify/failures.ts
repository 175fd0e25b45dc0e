import type { JudgedDifference } from '../conformance/finding.ts'
import type { Contract } from '../contract/contract.ts'
import type { JudgedExchange } from './conversation.ts'

/**
 * A lawful request that made the service fail. The answer of a gateway is none of the service, unless it came each time.
 */
export function findFailures(
  exchanges: readonly JudgedExchange[],
  { operations }: Pick<Contract, 'operations'>,
): JudgedDifference[] {
  const found = new Map<string, JudgedDifference>()
  for (const { exchange, sent, isLawful } of exchanges) {
    const status = exchange.response?.status ?? 0
    const path = sent.path.split('?')[0]
    const operation = operations.find((each) => each.method === sent.method && each.path === path)
    if (status < 500 || !isLawful || operation === undefined) continue
    const id = `unexplained/${operation.id}/${status}/failure`
    const message = `The request is as the contract demands, and the service failed with ${status}. Its log should have the reason.`
    if (!found.has(id)) found.set(id, { id, label: 'unexplained', request_id: exchange.id, ...sent, status, message })
  }
  return [...found.values()]
}

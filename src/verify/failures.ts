import type { JudgedDifference } from '../conformance/finding.ts'
import type { Contract } from '../contract/contract.ts'
import { codeIn } from '../exchanges/reading.ts'
import type { AskedExchange } from './conversation.ts'

/**
 * A service must not fail, whatever it is asked: the contract has a code for each wrong request. The answer of a
 * gateway counts only if it came each time.
 */
export function findFailures(
  exchanges: readonly AskedExchange[],
  { operations, catalogue }: Pick<Contract, 'operations' | 'catalogue'>,
): JudgedDifference[] {
  const found = new Map<string, JudgedDifference>()
  for (const { exchange, sent, isLawful } of exchanges) {
    const { response } = exchange
    const path = sent.path.split('?')[0]
    const operation = operations.find((each) => each.method === sent.method && each.path === path)
    if (response === undefined || response.status < 500 || operation === undefined) continue
    const code = codeIn(response)
    // The specification shows no status of an error code.
    if (!isLawful && code !== undefined && code !== 'internal_error' && catalogue.has(code)) continue
    const { status } = response
    const id = `unexplained/${operation.id}/${status}/failure`
    const what = isLawful
      ? 'The request is as the contract demands'
      : 'The contract has an error code for such a request'
    const message = `${what}, but the service failed with ${status}. Its log should say why.`
    if (!found.has(id)) found.set(id, { id, label: 'unexplained', request_id: exchange.id, ...sent, status, message })
  }
  return [...found.values()]
}

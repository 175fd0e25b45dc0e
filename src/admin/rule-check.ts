import type { Contract } from '../contract/contract.ts'
import type { Problem } from '../domain/errors.ts'
import type { FaultRule } from '../domain/faults.ts'
import { loadControlApi, readLimits } from './control.ts'
import { findUnlawfulRule } from './faults.ts'

/** A check of fault rules that come from files, by the document that also holds those that come over HTTP. */
export async function createRuleCheck(
  contract: Contract,
): Promise<(rule: unknown) => Promise<{ pointer: string; reason: string } | undefined>> {
  const api = await loadControlApi()
  const { answerLimit } = readLimits(api)
  const operation = api.operations.find(({ id }) => id === 'addFault')
  return async function check(rule) {
    const problems: readonly Problem<string>[] = operation?.checkBody(rule) ?? []
    const unlawful = problems.length > 0 ? undefined : findUnlawfulRule(rule as FaultRule, contract, answerLimit)
    const [first] = unlawful?.problems ?? problems
    if (first === undefined) return undefined
    return { pointer: first.field ?? '', reason: api.catalogue.answer(first).message }
  }
}

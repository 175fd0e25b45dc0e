import type { Contract } from '../contract/contract.ts'
import type { Problem } from '../domain/errors.ts'
import type { FaultRule } from '../domain/faults.ts'
import { pointTo } from '../ground/json.ts'
import { loadControlApi, readLimits } from './document.ts'
import { checkFaultRule } from './fault-rule-check.ts'
import { FaultSetError, type FaultSetFile } from './fault-sets.ts'

/**
 * A function that checks the fault sets of a file in the same way as rules that come over HTTP.
 * @throws FaultSetError with the place of the first rule that is refused
 */
export async function createSetCheck(contract: Contract): Promise<(path: string, sets: FaultSetFile) => void> {
  const api = await loadControlApi()
  const { answerLimit, faultsPerAccount } = readLimits(api)
  const operation = api.operations.find(({ id }) => id === 'addFault')
  if (operation === undefined) throw new Error('The control plane has no operation addFault.')

  function findProblem(rule: FaultRule): Problem<string> | undefined {
    const [misshapen] = operation?.checkBody(rule) ?? []
    return misshapen ?? checkFaultRule(rule, contract, answerLimit)?.problems[0]
  }

  return function check(path, sets) {
    for (const [name, { rules }] of Object.entries(sets)) {
      const place = `${pointTo('', name)}/rules`
      if (rules.length > faultsPerAccount) {
        throw new FaultSetError(
          `${path}#${place}: There are ${rules.length} rules; an account has at most ${faultsPerAccount}.`,
        )
      }
      for (const [index, rule] of rules.entries()) {
        const problem = findProblem(rule)
        if (problem === undefined) continue
        const field = `${place}/${index}${problem.field ?? ''}`
        throw new FaultSetError(`${path}#${field}: ${api.catalogue.answer({ ...problem, field }).message}`)
      }
    }
  }
}

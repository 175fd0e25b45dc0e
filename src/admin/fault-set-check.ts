import type { Contract } from '../contract/contract.ts'
import type { Problem } from '../domain/errors.ts'
import type { FaultRule } from '../domain/faults.ts'
import { pointTo } from '../ground/json.ts'
import { isDeeperThan } from '../ground/nesting.ts'
import { loadControlApi, readLimits } from './document.ts'
import { checkFaultRule } from './fault-rule-check.ts'
import { FaultSetError, type FaultSetFile } from './fault-sets.ts'

/** The reason for the refusal of a rule in a file: a JSON pointer into the rule, and a sentence. */
export interface RuleProblem {
  pointer: string
  message: string
}

/** A function that checks a rule of a file like a rule that comes over HTTP. `place` is a JSON pointer to the rule. */
export async function createRuleCheck(
  contract: Contract,
): Promise<(rule: FaultRule, place: string) => RuleProblem | undefined> {
  const api = await loadControlApi()
  const { answerLimit, nestingLimit } = readLimits(api)
  const operation = api.operations.find(({ id }) => id === 'addFault')
  if (operation === undefined) throw new Error('The control plane has no operation addFault.')

  function findProblem(rule: FaultRule): Problem<string> | undefined {
    if (isDeeperThan(nestingLimit, rule)) return { code: 'invalid_value', reason: 'too-deep', field: '' }
    const [misshapen] = operation?.checkBody(rule) ?? []
    return misshapen ?? checkFaultRule(rule, contract, answerLimit)?.problems[0]
  }

  return function check(rule, place) {
    const problem = findProblem(rule)
    if (problem === undefined) return undefined
    const pointer = place + (problem.field ?? '')
    return { pointer, message: api.catalogue.answer({ ...problem, field: pointer }).message }
  }
}

/** A function that checks the fault sets of a file. @throws FaultSetError with the place of the first refused rule */
export async function createSetCheck(contract: Contract): Promise<(path: string, sets: FaultSetFile) => void> {
  const { faultsPerAccount } = readLimits(await loadControlApi())
  const check = await createRuleCheck(contract)

  return function checkSets(path, sets) {
    for (const [name, { rules }] of Object.entries(sets)) {
      const place = `${pointTo('', name)}/rules`
      if (rules.length > faultsPerAccount) {
        throw new FaultSetError(
          `${path}#${place}: There are ${rules.length} rules; an account has at most ${faultsPerAccount}.`,
        )
      }
      for (const [index, rule] of rules.entries()) {
        const problem = check(rule, `${place}/${index}`)
        if (problem !== undefined) throw new FaultSetError(`${path}#${problem.pointer}: ${problem.message}`)
      }
    }
  }
}

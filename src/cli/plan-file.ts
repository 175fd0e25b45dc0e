import type { Contract } from '../contract/contract.ts'
import type { FaultRule } from '../domain/faults.ts'
import { readText } from '../evidence/evidence-input.ts'
import { loadRuleCheck } from '../faults/rule-check.ts'
import { isObject, parseJson, valueAt } from '../ground/json.ts'
import { shorten } from '../ground/show.ts'
import { UsageError } from './errors.ts'

/** The largest file that is read as a plan or as a report, in bytes. */
const LARGEST_PLAN = 64 << 20

/** What is run again. */
export interface Replay {
  plan: FaultRule[]
  /** The length of a shortened quota window in seconds, if a finding names it. */
  window?: number
}

/**
 * Reads the fault rules of `--replay`: a list of rules, a finding, or a report, whose first finding counts. They are in
 * a file, or as JSON in the argument. @throws UsageError, EvidenceError
 */
export async function readReplay(given: string, contract: Contract): Promise<Replay> {
  const source = `--replay ${shorten(given)}`
  const text = /^\s*[[{]/.test(given) ? given : await readText(given, LARGEST_PLAN, 'plan')
  const content = parseJson(text, (reason) => new UsageError(`${source}: ${reason}`))
  const { limits, findProblem } = await loadRuleCheck(contract)
  const { plan, pointer, window } = locatePlan(content, source)
  if (plan.length === 0) throw new UsageError(`${source}: The plan has no fault rule.`)
  if (plan.length > limits.faultsPerAccount) {
    throw new UsageError(`${source}: There are ${plan.length} rules; a plan has at most ${limits.faultsPerAccount}.`)
  }
  for (const [index, rule] of plan.entries()) {
    const problem = findProblem(rule, `${pointer}/${index}`)
    if (problem !== undefined) throw new UsageError(`${source}#${problem.pointer}: ${problem.message}`)
  }
  return { plan, ...(typeof window === 'number' && window > 0 && { window }) }
}

/** Finds the list in the JSON. @throws UsageError */
function locatePlan(content: unknown, source: string): { plan: FaultRule[]; pointer: string; window?: unknown } {
  if (Array.isArray(content)) return { plan: content, pointer: '' }
  for (const place of ['', '/findings/0']) {
    const found = valueAt(content, place)
    if (isObject(found) && Array.isArray(found['plan'])) {
      return { plan: found['plan'], pointer: `${place}/plan`, window: found['window'] }
    }
  }
  throw new UsageError(`${source}: must hold a list of fault rules, a finding of explore, or a report with a finding.`)
}

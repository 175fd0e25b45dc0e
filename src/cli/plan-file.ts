import type { Contract } from '../contract/contract.ts'
import type { FaultRule } from '../domain/faults.ts'
import { readText } from '../evidence/evidence-input.ts'
import { loadRuleCheck } from '../faults/rule-check.ts'
import { isObject, parseJson } from '../ground/json.ts'
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
  const isJson = /^\s*[[{]/.test(given)
  const source = `--replay ${shorten(given)}`
  const text = isJson ? given : await readText(given, LARGEST_PLAN, 'plan')
  const content = parseJson(text, (reason) => new UsageError(`${source}: ${reason}`))
  const { items: rules, pointer, window } = locateItems(content, source)
  const { limits, findProblem } = await loadRuleCheck(contract)
  if (rules.length === 0) throw new UsageError(`${source}: The plan has no fault rule.`)
  if (rules.length > limits.faultsPerAccount) {
    throw new UsageError(`${source}: There are ${rules.length} rules; a plan has at most ${limits.faultsPerAccount}.`)
  }
  for (const [index, rule] of rules.entries()) {
    const problem = findProblem(rule as FaultRule, `${pointer}/${index}`)
    if (problem !== undefined) throw new UsageError(`${source}#${problem.pointer}: ${problem.message}`)
  }
  return { plan: rules as FaultRule[], ...(typeof window === 'number' && window > 0 && { window }) }
}

interface PlanContent {
  items: readonly unknown[]
  /** Where they are in the JSON. */
  pointer: string
  /** The quota window of a finding. */
  window?: unknown
}

/** Finds the list in the JSON. */
function locateItems(content: unknown, source: string): PlanContent {
  if (Array.isArray(content)) return { items: content, pointer: '' }
  if (isObject(content) && Array.isArray(content['plan'])) {
    return { items: content['plan'], pointer: '/plan', window: content['window'] }
  }
  const findings = isObject(content) ? content['findings'] : undefined
  if (Array.isArray(findings)) {
    const [first] = findings
    if (first === undefined)
      throw new UsageError(`${source}: The report has no finding, so there is nothing to replay.`)
    if (isObject(first) && Array.isArray(first['plan'])) {
      return { items: first['plan'], pointer: '/findings/0/plan', window: first['window'] }
    }
  }
  throw new UsageError(`${source}: must hold a list of fault rules, a finding of explore, or a report of explore.`)
}

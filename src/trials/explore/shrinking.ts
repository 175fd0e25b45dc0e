import type { FaultRule } from '../../domain/faults.ts'

/** Whether a plan still breaks the client in the same way. */
export type StillFails = (plan: readonly FaultRule[]) => Promise<boolean>

/** How many earlier requests are tried for a rule. */
const EARLIER = 8

/**
 * The smallest plan that still fails: the fewest rules, then the earliest requests, then the mildest effects. No rule
 * of the result can be removed. `milder` returns rules for the same requests, with the mildest first.
 */
export async function shrinkPlan(
  plan: readonly FaultRule[],
  stillFails: StillFails,
  milder: (rule: FaultRule) => readonly FaultRule[],
): Promise<readonly FaultRule[]> {
  const fewest = await removeRules(plan, stillFails)
  const earliest = await replaceRules(fewest, stillFails, earlierRules)
  return replaceRules(earliest, stillFails, milder)
}

/** Removes rules until no rule can be removed. The plans of an exploration have at most two. */
async function removeRules(plan: readonly FaultRule[], stillFails: StillFails): Promise<readonly FaultRule[]> {
  for (const rule of plan.length > 1 ? plan : []) {
    const rest = plan.filter((each) => each !== rule)
    if (await stillFails(rest)) return removeRules(rest, stillFails)
  }
  return plan
}

/** Replaces each rule by its first substitute with which the plan still fails. */
async function replaceRules(
  plan: readonly FaultRule[],
  stillFails: StillFails,
  substitutesOf: (rule: FaultRule) => readonly FaultRule[],
): Promise<readonly FaultRule[]> {
  let current = plan
  for (const [index, rule] of plan.entries()) {
    for (const substitute of substitutesOf(rule)) {
      const changed = current.with(index, substitute)
      if (!(await stillFails(changed))) continue
      current = changed
      break
    }
  }
  return current
}

/** The same rule for earlier requests, with the earliest first. */
function earlierRules(rule: FaultRule): FaultRule[] {
  const { skip = 0, description: _, ...rest } = rule
  return Array.from({ length: Math.min(skip, EARLIER) }, (__, earlier) => ({
    ...rest,
    ...(earlier > 0 && { skip: earlier }),
  }))
}

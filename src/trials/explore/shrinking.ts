import type { FaultRule } from '../../domain/faults.ts'

/** Whether a plan still breaks the client in the same way. */
export type StillFails = (plan: readonly FaultRule[]) => Promise<boolean>

/** How many earlier requests are tried for a rule. */
export const EARLIER = 8

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

/** Delta debugging: it removes large parts first and then smaller ones, until no single rule can be removed. */
async function removeRules(plan: readonly FaultRule[], stillFails: StillFails): Promise<readonly FaultRule[]> {
  let left = plan
  let size = Math.ceil(left.length / 2)
  while (left.length > 1) {
    const smaller = await removePart(left, size, stillFails)
    if (smaller !== undefined) {
      left = smaller
      size = Math.min(size, Math.ceil(left.length / 2))
    } else if (size > 1) size = Math.ceil(size / 2)
    else break
  }
  return left
}

/** The plan without a part of this size, if it still fails. */
async function removePart(
  plan: readonly FaultRule[],
  size: number,
  stillFails: StillFails,
): Promise<readonly FaultRule[] | undefined> {
  for (let start = 0; start < plan.length; start += size) {
    const rest = plan.filter((_, index) => index < start || index >= start + size)
    if (rest.length > 0 && (await stillFails(rest))) return rest
  }
  return undefined
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

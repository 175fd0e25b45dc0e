import type { Reach } from './counterfactual.ts'

/** The most alternatives in one trial. With more of them, it is more likely that one breaks the trial. */
export const LARGEST = 8

/**
 * Divides alternatives into bundles for one trial each. If the trial passes and the command sends the usual requests,
 * the command has seen all changes of the bundle. This is certain because the members change different parts of the
 * responses, and no state for later responses:
 *
 * - no two members belong to the same assumption;
 * - no two members change the same part of the response to the same request;
 * - an alternative that changes the state or the creation of an account is alone.
 */
export function bundle(reached: readonly Reach[]): Reach[][] {
  const bundles: { members: Reach[]; taken: Set<string> }[] = []
  for (const reach of reached) {
    const parts = partsOf(reach)
    const open = parts && bundles.find(({ members, taken }) => members.length < LARGEST && !meet(taken, parts))
    if (open === undefined) bundles.push({ members: [reach], taken: new Set(parts ?? [ALONE]) })
    else {
      open.members.push(reach)
      for (const part of parts ?? []) open.taken.add(part)
    }
  }
  return bundles.map(({ members }) => members)
}

const ALONE = 'alone'

/** The parts that no other member may have; `undefined` for an alternative that must be alone. */
function partsOf({ alternative, changes, changesCreation }: Reach): string[] | undefined {
  if (changesCreation || changes.length === 0) return undefined
  if (changes.some(({ parts }) => parts.includes('state'))) return undefined
  const parts = changes.flatMap(({ index, parts }) => parts.map((part) => `${index} ${part}`))
  return [`assumption ${alternative.id}`, ...parts]
}

function meet(taken: ReadonlySet<string>, parts: readonly string[]): boolean {
  return taken.has(ALONE) || parts.some((part) => taken.has(part))
}

import type { Reach } from './counterfactual.ts'

/** How many alternatives one trial tries at most: the more there are, the more often one of them breaks it. */
export const LARGEST = 8

/**
 * Divides alternatives into bundles that one trial can try together. When a trial passes, and the command has sent the
 * same requests as without them, it has seen what each of them changes. That is so because the members of a bundle change
 * different parts of the responses, and nothing of what later responses depend on:
 *
 * - no two of them belong to one assumption;
 * - no two of them change the same part of the response to the same request;
 * - one that changes the state of an account, or how accounts begin, is alone.
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

/** What no other member may have; `undefined` for an alternative that has to be alone. */
function partsOf({ alternative, changes, changesCreation }: Reach): string[] | undefined {
  if (changesCreation || changes.length === 0) return undefined
  if (changes.some(({ parts }) => parts.includes('state'))) return undefined
  const parts = changes.flatMap(({ index, parts }) => parts.map((part) => `${index} ${part}`))
  return [`assumption ${alternative.id}`, ...parts]
}

function meet(taken: ReadonlySet<string>, parts: readonly string[]): boolean {
  return taken.has(ALONE) || parts.some((part) => taken.has(part))
}

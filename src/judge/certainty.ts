import type { Belief } from './belief.ts'

/** What the corridor of a request rests on. */
export type Known = Pick<
  Belief,
  'isMonitored' | 'isGroup' | 'groups' | 'gone' | 'groupsNamed' | 'mayBeTaken' | 'mayBeElsewhere'
>

const NONE: ReadonlySet<string> = new Set()

/**
 * The part of a belief that is so whatever other clients have done. They may have removed or changed anything, so of what
 * was there nothing is certain; but what has an own name and was not there is not there now.
 */
export function certainPart(belief: Belief): Known {
  if (belief.isSoleWriter) return belief
  const { groups, gone, isOwn } = belief
  return {
    isMonitored: (name) => (isOwn(name) && belief.isMonitored(name) === false ? false : undefined),
    // A run can invent an id that no service gives.
    isGroup: (id) => (isOwn(gone.get(id)?.name ?? id) && belief.isGroup(id) === false ? false : undefined),
    groups,
    gone,
    groupsNamed: () => NONE,
    mayBeTaken: (name) => !isOwn(name) || belief.mayBeTaken(name),
    mayBeElsewhere: () => true,
  }
}

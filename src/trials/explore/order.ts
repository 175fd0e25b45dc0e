import { canonical, kindOf, type PlannedFault, TIERS, type Tier } from './faults.ts'

/** Faults that are tried one after the other, before any fault of the next phase. */
export interface Phase {
  tier: Tier
  /** Whether the result of the exploration rests on them. */
  isNeeded: boolean
  /** Whether they are tried by default, even if that takes longer. */
  isUsual: boolean
  faults: readonly PlannedFault[]
}

/**
 * The faults in the order of the trials: first one of each kind in the tiers on which the result rests; then each other
 * fault once, at one request; then one of each kind in the other tiers; and last the repetitions. So a short budget
 * meets every fault, and all operations with all their subjects before any repetition.
 */
export function planFaults(faults: readonly PlannedFault[]): Phase[] {
  const ranked = faults.toSorted((one, other) => one.rank - other.rank || one.point.index - other.point.index)
  const firsts = ranked.filter(isFirst(kindOf))
  const needed = neededOf(firsts.map(({ tier }) => tier))
  const isNeeded = ({ tier }: PlannedFault) => needed.includes(tier)
  const once = firsts.filter((fault) => !isNeeded(fault)).filter(isFirst(({ effect }) => canonical(effect)))
  const others = firsts.filter((fault) => !isNeeded(fault) && !once.includes(fault))
  const repetitions = ranked.filter((fault) => !firsts.includes(fault))
  return [
    ...byTier(firsts.filter(isNeeded), true, true),
    ...byTier(once, false, true),
    ...byTier(others, false, false),
    ...byTier(repetitions, false, false),
  ]
}

/**
 * Changes of another client come after the other faults of their tier, because each may need a second run. Slow faults
 * come last, because each takes until the client gives up.
 */
function byTier(faults: readonly PlannedFault[], isNeeded: boolean, isUsual: boolean): Phase[] {
  const costOf = ({ slow, foreign }: PlannedFault) => (slow ? 2 : foreign ? 1 : 0)
  return Object.values(TIERS)
    .flatMap((tier) => {
      const ofTier = faults.filter((fault) => fault.tier === tier)
      return [0, 1, 2].map((cost) => ({
        ...{ tier, isNeeded, isUsual },
        faults: ofTier.filter((fault) => costOf(fault) === cost),
      }))
    })
    .filter((phase) => phase.faults.length > 0)
}

/** The tiers on which the result rests, of those that have a fault: the first two, or all if the command only reads. */
export function neededOf(tiers: readonly Tier[]): readonly Tier[] {
  const ofWrites: readonly Tier[] = [TIERS.lostWrites, TIERS.account]
  const needed = ofWrites.filter((tier) => tiers.includes(tier))
  return needed.length > 0 ? needed : tiers
}

/** Passes the first item with each name. */
function isFirst<Item>(nameOf: (item: Item) => string): (item: Item) => boolean {
  const seen = new Set<string>()
  return (item) => {
    const name = nameOf(item)
    return !seen.has(name) && seen.add(name) !== undefined
  }
}

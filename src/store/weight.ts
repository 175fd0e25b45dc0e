import type { AccountState, DomainGroup, MonitoredDomain } from '../domain/account.ts'
import type { Fault, FaultRule } from '../domain/faults.ts'
import type { Fixture, Scene } from '../domain/fixture.ts'
import type { PersistentMap } from '../domain/persistent-map.ts'
import { memoizeWeakly } from '../ground/memo.ts'

/**
 * Approximate bytes in memory. They include the places in maps, the counts and the coverage of an account, and the
 * texts that a folder of accounts keeps of each part. A test compares them with the heap.
 */
const ACCOUNT = 10_000
const DOMAIN = 600
const FORMER_DOMAIN = 400
const GROUP = 800
const MEMBER = 40
/** Two thirds of it are for the search of the secret in texts of the journal. */
const KEY = 2_400
const FAULT = 500
/** A part of the fixture that an account keeps for a reset, and a member of a group in it. */
const ORIGINAL = 150
const ORIGINAL_MEMBER = 50
/** The data of a map that makes an older version readable. */
const VERSION = 120
/** The data of older counters for a key or a fault rule whose count has changed since. */
const COUNT = 400
/** A place in the list of keys or of fault rules, which each change of them replaces. */
const PLACE = 8
/** The share of maps in the weight of an account. */
export const OF_MAPS = 0.25

/** The approximate bytes of an account. */
export function weighAccount({ domains, formerDomains, groups, keys, faults, origin }: AccountState): number {
  let weight = ACCOUNT + keys.length * KEY + weighFaults(faults) + weighOrigin(origin)
  for (const domain of domains.values()) weight += weighDomain(domain)
  for (const group of groups.values()) weight += weighGroup(group)
  return weight + (formerDomains?.size ?? 0) * FORMER_DOMAIN
}

/** How a change of an account changes its weight, in bytes. */
export interface WeightChange {
  /** The increase of the account's weight; negative for a decrease. */
  growth: number
  /** The weight of what only older states still hold, if older states are kept. */
  outdated: number
}

/** Compares two states of an account. One must be made from the other. The cost depends on the difference. */
export function weighChange(before: AccountState, after: AccountState): WeightChange {
  const change = { growth: 0, outdated: 0 }
  addDifference(change, before.domains, after.domains, weighDomain)
  addDifference(change, before.groups, after.groups, weighGroup)
  addDifference(change, before.formerDomains, after.formerDomains, () => FORMER_DOMAIN)
  if (before.keys !== after.keys) {
    const added = (after.keys.length - before.keys.length) * KEY
    change.growth += added
    change.outdated += PLACE * before.keys.length + KEY + Math.max(0, -added)
  }
  if (before.faults !== after.faults) {
    const added = weighFaults(after.faults) - weighFaults(before.faults)
    change.growth += added
    change.outdated += PLACE * before.faults.length + Math.max(0, -added)
  }
  if (before.origin !== after.origin) {
    change.growth += weighOrigin(after.origin) - weighOrigin(before.origin)
  }
  return change
}

/**
 * The weight of what only older states still hold after the account was replaced. `since` is what became outdated since
 * the state from which the new one was copied. The new state shares its parts with that state, but not the maps of
 * them. `since` is absent if the new state shares nothing with older ones.
 */
export function weighReplaced(former: number, present: number, since: number | undefined): number {
  if (since === undefined) return former
  // Parts that only the former state has were added since the copied state, and replace outdated parts.
  const added = Math.max(0, former - present + since)
  return Math.min(former, Math.ceil(OF_MAPS * former) + added)
}

/** The approximate bytes of older counters for this number of changed counts. */
export function weighCounts(changed: number): number {
  return COUNT * changed
}

/** The approximate bytes of a fault rule. Its size in memory is about that of its text. */
export const weighRule: (rule: FaultRule) => number = memoizeWeakly((rule) => FAULT + 2 * JSON.stringify(rule).length)

function addDifference<Part extends object>(
  change: WeightChange,
  before: PersistentMap<string, Part> | undefined,
  after: PersistentMap<string, Part> | undefined,
  weigh: (part: Part) => number,
): void {
  if (before === after) return
  const steps = before === undefined ? undefined : after?.changesSince(before)
  if (steps === undefined) {
    // Neither state was made from the other.
    const weight = sum(before?.values() ?? [], weigh)
    change.growth += sum(after?.values() ?? [], weigh) - weight
    change.outdated += weight
    return
  }
  for (const [, former, present] of steps) {
    const weight = former === undefined ? 0 : weigh(former)
    change.growth += (present === undefined ? 0 : weigh(present)) - weight
    change.outdated += weight + VERSION
  }
}

function weighDomain({ features, pin, formerPins = [] }: MonitoredDomain): number {
  const pins = formerPins.length + (pin === undefined ? 0 : 1)
  return DOMAIN + pins * ORIGINAL + sum(features, ({ length }) => 2 * length + 16)
}

function weighGroup({ name, domains }: DomainGroup): number {
  return GROUP + 2 * name.length + MEMBER * domains.length
}

function weighFaults(faults: readonly Fault[]): number {
  return sum(faults, ({ rule }) => weighRule(rule))
}

const weighFixture = memoizeWeakly(
  ({ domains = [], former_domains = [], groups = [], keys = [], scenes = [] }: Fixture) => {
    const parts = domains.length + former_domains.length + groups.length + keys.length
    return ORIGINAL * parts + ORIGINAL_MEMBER * sum(groups, (group) => group.domains?.length ?? 0) + weighScenes(scenes)
  },
)

/** The approximate bytes of scenes. Their size in memory is about that of their text. */
const weighScenes = memoizeWeakly((scenes: readonly Scene[]) => 2 * JSON.stringify(scenes).length)

function weighOrigin({ fixture, story }: AccountState['origin']): number {
  return (
    (typeof fixture === 'string' ? 0 : weighFixture(fixture)) + (story === undefined ? 0 : weighScenes(story.scenes))
  )
}

function sum<Part>(parts: Iterable<Part>, weigh: (part: Part) => number): number {
  let total = 0
  for (const part of parts) total += weigh(part)
  return total
}

import { createHash } from 'node:crypto'
import type { ServiceContract } from '../../behaviour/operation.ts'
import { changesBy } from './effects.ts'
import {
  canonical,
  changesState,
  faultsAt,
  kindOf,
  type PlannedFault,
  placeOf,
  TIERS,
  type Tier,
  weightOf,
} from './faults.ts'
import type { ObservedRequest, RunObservation } from './observation.ts'
import { targetOf } from './plan.ts'
import { aboutOf, type Point, pointsOf } from './points.ts'
import type { TriedPlan } from './tried-plans.ts'
import type { FaultlessRun } from './verdict.ts'

/** Two faults. The request of the second one comes after the request of the first one. */
type FaultPair = readonly [first: PlannedFault, second: PlannedFault]

/** Single faults that are tried one after the other, before any fault of the next phase. */
export interface Phase {
  tier: Tier
  /** Whether the result of the exploration rests on them. */
  isNeeded: boolean
  faults: readonly PlannedFault[]
}

/**
 * Single faults in the order of the trials: first one of each kind, by tier, and then the repetitions, by tier. So a
 * short budget covers all operations with all their subjects. The first slow response follows the tiers on which the
 * result rests: a client that waits for ever does so for all of them.
 */
export function planSingles(faults: readonly PlannedFault[]): Phase[] {
  const different = faults.filter(
    isFirst(({ point, effect, family }) => {
      const target = family === 'instant' ? point.predecessor : point
      return `${target?.index} ${canonical(effect)}`
    }),
  )
  const ranked = different.toSorted((one, other) => compareRanks(rankOf(one), rankOf(other)))
  const firsts = ranked.filter(isFirst(kindOf))
  const repetitions = ranked.filter((fault) => !firsts.includes(fault))
  const slow = firsts.find((fault) => fault.slow && changesState(fault.point)) ?? firsts.find((fault) => fault.slow)
  const needed = neededOf(firsts.map(({ tier }) => tier))
  const phasesOf = (some: readonly PlannedFault[], areFirsts: boolean) =>
    Object.values(TIERS).flatMap((tier) => {
      const ofTier = some.filter((fault) => fault.tier === tier && fault !== slow)
      const isNeeded = areFirsts && needed.includes(tier)
      // Slow faults come last, because each takes until the client gives up.
      return [false, true].map((isSlow) => ({
        tier,
        isNeeded,
        faults: ofTier.filter((fault) => (fault.slow === true) === isSlow),
      }))
    })
  const first = { tier: TIERS.rest, isNeeded: needed.includes(TIERS.rest), faults: slow === undefined ? [] : [slow] }
  const usual = phasesOf(firsts, true)
  return [
    ...usual.filter(({ isNeeded }) => isNeeded),
    first,
    ...usual.filter(({ isNeeded }) => !isNeeded),
    ...phasesOf(repetitions, false),
  ].filter(({ faults }) => faults.length > 0)
}

/** The tiers on which the result rests, of those that have a fault: the first two, or all if the command only reads. */
export function neededOf(tiers: readonly Tier[]): readonly Tier[] {
  const ofWrites: readonly Tier[] = [TIERS.lostWrites, TIERS.refusedWrites]
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

const FAMILIES = ['unanswered', 'odd', 'refused', 'instant'] as const

/** Refusals that nothing but the request can cause come last. They are many, and a client that sends it knows them. */
function rankOf(fault: PlannedFault): number[] {
  const { point, family, effect, survivable } = fault
  const error = effect.respond !== undefined && 'error' in effect.respond ? effect.respond.error : undefined
  const isLate = error !== undefined && error !== 'unauthorized' && survivable === undefined
  return [isLate ? 1 : 0, FAMILIES.indexOf(family), weightOf(fault), point.index]
}

function compareRanks(one: readonly number[], other: readonly number[]): number {
  const index = one.findIndex((number, at) => number !== other[at])
  return (one[index] ?? 0) - (other[index] ?? 0)
}

/** A run in which the client survived one fault. */
type Survived = Pick<TriedPlan, 'faults' | 'observation'>

/**
 * Pairs of a fault that the client survived, and a fault at a request that it sent because of it. Redundant pairs are
 * left out. Two first faults are equal if the client reacted with the same requests in the same state. Two pairs are
 * equal if the answers and the state before the second fault are. `expects` says if a second fault is worth a try.
 */
export function pairsAfter(
  survived: readonly Survived[],
  contract: ServiceContract,
  { observation }: Pick<FaultlessRun, 'observation'>,
  expects: (second: PlannedFault) => boolean,
): FaultPair[] {
  const known = new Set<string>()
  const isNew = (id: string) => !known.has(id) && known.add(id) !== undefined
  const kinds = alikeEffects(survived)
  const pairs = survived
    .toSorted((one, other) => costOf(one) - costOf(other))
    .filter((run) => isNew(tailOf(run)))
    .flatMap(({ faults: [first], observation: run }) => {
      if (first === undefined) return []
      const brought = broughtAbout(run, observation, targetOf(first).index)
      return withSignatures(run)
        .filter(({ point }) => brought.has(point.index))
        .flatMap(({ point, signature }) =>
          faultsAt(point, contract)
            .filter((second) => second.survivable && expects(second))
            .toSorted((one, other) => COSTS.indexOf(canonical(one.effect)) - COSTS.indexOf(canonical(other.effect)))
            .map((second) => ({ pair: [first, second] as const, distance: point.index, signature })),
        )
    })
  return pairs
    .toSorted((one, other) => rankPair(one) - rankPair(other))
    .filter(({ pair: [, second], signature }) => isNew(`${signature} ${kinds(second)}`))
    .map(({ pair }) => pair)
}

/** Effects, from the least expensive in time. */
const COSTS: readonly string[] = [
  { connection: 'reset', phase: 'after' },
  { respond: { error: 'internal_error' } },
  { connection: 'reset' },
  { event: 'quota-used-up' },
  { connection: 'hang', phase: 'after' },
].map(canonical)

function costOf({ faults: [fault] }: Survived): number {
  return fault === undefined ? 0 : COSTS.indexOf(canonical(fault.effect))
}

/**
 * The requests after index `from` that the run without faults does not have. It removes the common end of both runs and
 * returns the rest.
 */
function broughtAbout({ requests }: RunObservation, baseline: RunObservation, from: number): ReadonlySet<number> {
  const usual = baseline.requests.slice(from + 1).map(meaningOf)
  const tail = requests.slice(from + 1).map(meaningOf)
  let same = 0
  while (same < Math.min(usual.length, tail.length) && usual.at(-1 - same) === tail.at(-1 - same)) same++
  return new Set(tail.slice(0, tail.length - same).map((_, index) => from + 1 + index))
}

function meaningOf({ entry }: ObservedRequest): string {
  const { method, operation, key, status, code } = entry
  return JSON.stringify([method, operation, key, aboutOf(entry), status, code])
}

/**
 * The reaction of a client to a fault, with the changes by the request of the fault. It is equal for faults that the
 * client handles in the same way.
 */
function tailOf({ faults: [fault], observation: { requests } }: Survived): string {
  if (fault === undefined) return ''
  const from = targetOf(fault).index
  const hit = requests[from]
  return hash([from, hit && changesBy(hit.entry), requests.slice(from + 1).map(meaningOf)])
}

/** Gives effects at an operation the same name if the client has always handled them in the same way. */
function alikeEffects(survived: readonly Survived[]): (fault: PlannedFault) => string {
  const tails = new Map<string, string[]>()
  for (const run of survived) {
    const [fault] = run.faults
    if (fault === undefined) continue
    const place = placeOf(fault)
    tails.set(place, [...(tails.get(place) ?? []), tailOf(run)])
  }
  return (fault) => tails.get(placeOf(fault))?.join() ?? canonical(fault.effect)
}

function rankPair({ distance, pair: [first, second] }: { distance: number; pair: FaultPair }): number {
  // A slow response takes until the client gives up.
  const slow = (first.slow ? 1 : 0) + (second.slow ? 1 : 0)
  const waits = [first, second].filter(({ effect }) => effect.event !== undefined).length
  return slow * 10_000_000 + waits * 1_000_000 + distance * 10 + COSTS.indexOf(canonical(second.effect))
}

/**
 * The points of a run, each with a signature of what the client has seen and of the content of the account. Points with
 * equal histories have equal signatures.
 */
function withSignatures({ requests }: RunObservation): { point: Point; signature: string }[] {
  const points = new Map(pointsOf(requests).map((point) => [point.index, point]))
  let signature = ''
  return requests.flatMap(({ entry }, index) => {
    const { operation, method, key, status, code, injection } = entry
    const about = injection === undefined ? aboutOf(entry) : ''
    const point = points.get(index)
    const request = [signature, operation, method, key]
    const arrived = point && { point, signature: hash([...request, about]) }
    const corrupted = injection?.rule.corrupt
    const silence = status === undefined ? injection?.rule.connection : undefined
    signature = hash([...request, status, code, corrupted, silence, changesBy(entry).toSorted()])
    return arrived ?? []
  })
}

function hash(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64')
}

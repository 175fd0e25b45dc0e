import type { Contract } from '../contract/contract.ts'
import type { Foresight } from './foresight.ts'
import { isHarmless } from './probes.ts'

export interface PlanOptions {
  /** Whether anything but GET and HEAD may be sent. */
  writes: boolean
  /** Whether quotas may be used up. */
  exhaust: boolean
}

/** A probe of a plan, with what it shows beyond the probes before it. */
export interface PlannedProbe extends Foresight {
  /** The assumptions whose alternatives it tells apart, and the rules that it shows. */
  decides: readonly string[]
}

/** The cost of setting up one item, in requests of a path. It is below 1 because several probes share a pool. */
const SHARE = { '/domains': 0.1, '/domaingroups': 0.5 }

/**
 * The probes in the order in which they are sent. Read-only probes come first. Then, each time, the probe follows with
 * the most new facts for its share of the quotas. So a short budget decides most. Probes without new facts come last:
 * they show the same rules at other places.
 */
export function planProbes(
  foresight: readonly Foresight[],
  contract: Contract,
  { writes, exhaust }: PlanOptions,
): PlannedProbe[] {
  const allowed = foresight.filter(({ probe }) => probe.exhausts !== true)
  const told = new Set<string>()
  const reads = orderByGain(
    allowed.filter(({ probe }) => isHarmless(probe)),
    contract,
    told,
  )
  const others = writes
    ? orderByGain(
        allowed.filter(({ probe }) => !isHarmless(probe)),
        contract,
        told,
      )
    : []
  const exhaustions = exhaust ? foresight.filter(({ probe }) => probe.exhausts === true) : []
  return [
    ...reads,
    ...others,
    ...exhaustions.map((each) => ({ ...each, decides: ['status-rate-limited', 'retry-after'] })),
  ]
}

function orderByGain(foresight: readonly Foresight[], contract: Contract, told: Set<string>): PlannedProbe[] {
  const facts = new Map(foresight.map((each) => [each, factsOf(each)]))
  const price = new Map(foresight.map((each) => [each, priceOf(each, contract)]))
  const open = [...foresight]
  const planned: PlannedProbe[] = []
  while (open.length > 0) {
    let best = 0
    let most = -1
    for (const [index, each] of open.entries()) {
      const gain = (facts.get(each) ?? []).filter(({ fact }) => !told.has(fact)).length / (price.get(each) ?? 1)
      if (gain > most) [best, most] = [index, gain]
    }
    const [chosen] = open.splice(best, 1)
    if (chosen === undefined) break
    const fresh = (facts.get(chosen) ?? []).filter(({ fact }) => !told.has(fact))
    for (const { fact } of fresh) told.add(fact)
    planned.push({ ...chosen, decides: [...new Set(fresh.map(({ about }) => about))] })
  }
  return planned
}

/** All facts that a probe shows: pairs of alternatives that it tells apart, and rules. */
function factsOf({ tells, rules }: Foresight): { fact: string; about: string }[] {
  const facts = rules.map((id) => ({ fact: `rule ${id}`, about: id }))
  for (const [id, alike] of Object.entries(tells)) {
    for (const pair of pairsToldApart(alike)) facts.push({ fact: `${id} ${pair}`, about: id })
  }
  return facts
}

/** All pairs of alternatives with different answers. `alike` has groups of alternatives with equal answers. */
export function pairsToldApart(alike: readonly (readonly number[])[]): string[] {
  return alike.flatMap((some, index) =>
    alike.slice(index + 1).flatMap((others) => some.flatMap((one) => others.map((other) => `${one} ${other}`))),
  )
}

/** The share of the hourly quotas that a probe uses. */
function priceOf({ probe, cost }: Foresight, contract: Contract): number {
  const limits = new Map(contract.operations.map(({ path, quota }) => [path, quota?.limit ?? Number.POSITIVE_INFINITY]))
  const setUp: Record<string, number> = {
    '/domains': SHARE['/domains'] * ((probe.domains ?? 0) + (probe.groups ?? []).reduce((sum, each) => sum + each, 0)),
    '/domaingroups': SHARE['/domaingroups'] * (probe.groups?.length ?? 0),
  }
  const all: Record<string, number> = { ...setUp }
  for (const [path, count] of Object.entries(cost)) all[path] = (all[path] ?? 0) + count
  return Object.entries(all).reduce((sum, [path, count]) => sum + count / (limits.get(path) ?? 1_000), 0) || 0.001
}

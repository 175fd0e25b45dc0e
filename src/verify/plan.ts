import type { Contract } from '../contract/contract.ts'
import { shorten } from '../ground/show.ts'
import type { Reserve } from './budget.ts'
import type { ForeseenProbe } from './foresight.ts'
import { describeRequest, isRead } from './probe.ts'
import { isReadOnly, SIDES } from './probes.ts'
import { costOfRestoring } from './restoration.ts'
import { inWords } from './target-check.ts'

export interface PlanOptions {
  /** Whether anything but GET and HEAD may be sent. */
  writes: boolean
  /** Whether quotas may be used up. */
  exhaust: boolean
}

/** A probe of a plan, with what it shows beyond the probes before it. */
export interface PlannedProbe extends ForeseenProbe {
  /** The assumptions whose alternatives it tells apart, and the rules that it shows. */
  decides: readonly string[]
  /** Why the run may not ask it. */
  barrier?: string
}

/** The cost of setting up one item, in requests of a path. It is below 1 because several probes share a pool. */
const SHARE = { '/domains': 0.1, '/domaingroups': 0.5 }
/** A side of a rule counts as much as this many pairs of alternatives. */
const SIDE_WEIGHT = 8

/**
 * The probes in the order in which they are sent. Read-only probes come first. Then, each time, the probe follows with
 * the most new facts for its share of the quotas. So a short budget decides most. Probes without new facts come last:
 * they show the same rules at other places. Probes that the run may not ask stand behind all others.
 */
export function planProbes(
  foresight: readonly ForeseenProbe[],
  contract: Contract,
  { writes, exhaust }: PlanOptions,
): PlannedProbe[] {
  const told = new Set<string>()
  const usual = foresight.filter(({ exhausts }) => exhausts !== true)
  const reads = orderByGain(usual.filter(isOnlyRead), contract, told)
  const others = orderByGain(
    usual.filter((each) => !isOnlyRead(each)),
    contract,
    told,
  )
  const exhaustions = foresight
    .filter(({ exhausts }) => exhausts === true)
    .map((each) => ({ ...each, decides: ['status-rate-limited', 'retry-after'] }))
  const barred = (probes: readonly PlannedProbe[], barrier: string) => probes.map((each) => ({ ...each, barrier }))
  return [
    ...reads,
    ...(writes ? others : []),
    ...(exhaust ? exhaustions : []),
    ...(writes ? [] : barred(others, 'it is a write, which --allow-writes permits')),
    ...(exhaust ? [] : barred(exhaustions, 'it uses up a quota, for which --exhaust asks')),
  ]
}

function isOnlyRead(probe: ForeseenProbe): boolean {
  return isReadOnly(probe, probe.rehearsed)
}

function orderByGain(foresight: readonly ForeseenProbe[], contract: Contract, told: Set<string>): PlannedProbe[] {
  const facts = new Map(foresight.map((each) => [each, factsOf(each)]))
  const price = new Map(foresight.map((each) => [each, priceOf(each, contract)]))
  const open = [...foresight]
  const planned: PlannedProbe[] = []
  const freshOf = (each: ForeseenProbe) => (facts.get(each) ?? []).filter(({ fact }) => !told.has(fact))
  while (open.length > 0) {
    let best = 0
    let most = -1
    for (const [index, each] of open.entries()) {
      const gain = freshOf(each).reduce((sum, { weight }) => sum + weight, 0) / (price.get(each) ?? 1)
      if (gain > most) [best, most] = [index, gain]
    }
    const [chosen] = open.splice(best, 1)
    if (chosen === undefined) break
    const fresh = freshOf(chosen)
    for (const { fact } of fresh) told.add(fact)
    planned.push({ ...chosen, decides: [...new Set(fresh.map(({ about }) => about))] })
  }
  return planned
}

interface ShownFact {
  fact: string
  /** The rule or the assumption. */
  about: string
  weight: number
}

/** All facts that a probe shows: pairs of alternatives that it tells apart, rules, and their sides. */
function factsOf({ id: probe, tells, rules }: ForeseenProbe): ShownFact[] {
  const facts = rules.map((id) => ({ fact: `rule ${id}`, about: id, weight: 1 }))
  for (const [rule, sides] of Object.entries(SIDES)) {
    if (sides.some(([id]) => id === probe))
      facts.push({ fact: `${rule} by ${probe}`, about: rule, weight: SIDE_WEIGHT })
  }
  for (const [id, alike] of Object.entries(tells)) {
    for (const pair of pairsToldApart(alike)) facts.push({ fact: `${id} ${pair}`, about: id, weight: 1 })
  }
  return facts
}

/** All pairs of alternatives with different answers. `alike` has groups of alternatives with equal answers. */
export function pairsToldApart(alike: readonly (readonly number[])[]): string[] {
  return alike.flatMap((some, index) =>
    alike.slice(index + 1).flatMap((others) => some.flatMap((one) => others.map((other) => `${one} ${other}`))),
  )
}

/** The share of the quotas that a probe uses. */
function priceOf({ domains = 0, groups = [], cost }: ForeseenProbe, contract: Contract): number {
  const limits = new Map(contract.operations.map(({ path, quota }) => [path, quota?.limit ?? Number.POSITIVE_INFINITY]))
  const all: Record<string, number> = {
    '/domains': SHARE['/domains'] * (domains + groups.reduce((sum, each) => sum + each, 0)),
    '/domaingroups': SHARE['/domaingroups'] * groups.length,
  }
  for (const [path, count] of Object.entries(cost)) all[path] = (all[path] ?? 0) + count
  return Object.entries(all).reduce((sum, [path, count]) => sum + count / (limits.get(path) ?? 1_000), 0) || 0.001
}

/** What a run would send, in lines for the user. */
export function describePlan(
  planned: readonly PlannedProbe[],
  contract: Contract,
  { writes, reserve }: { writes: boolean; reserve: Reserve },
): string[] {
  const plan = planned.filter(({ barrier }) => barrier === undefined)
  const quotas = new Map(contract.operations.flatMap(({ path, quota }) => (quota === undefined ? [] : [[path, quota]])))
  const totals = [...quotas].map(([path, { limit, window }]) => {
    const count = plan.reduce((sum, { cost }) => sum + (cost[path] ?? 0), 0)
    const held = writes ? (costOfRestoring(0, 0)[path] ?? 0) : 0
    const windows = Math.ceil(count / Math.max(1, limit - reserve(path) - held))
    return { path, limit, count, window, windows, wait: Math.max(0, windows - 1) * window }
  })
  const [longest] = totals.toSorted((one, other) => other.wait - one.wait)
  const time =
    longest === undefined || longest.wait === 0
      ? 'All of it fits into one window of each quota.'
      : `It takes ${longest.windows} windows of ${inWords(longest.window)} (--wait), at least ${inWords(longest.wait)}.`
  const end = writes
    ? 'What these requests need is set up before, and everything that they make is removed at the end; that costs some more.'
    : 'Only GET and HEAD are sent.'
  return [
    ...plan.flatMap((probe, index) => describeProbe(probe, index + 1, quotas)),
    '',
    ...totals.map(
      ({ path, limit, count, window }) =>
        `${path}: ${count} requests; ${limit} in ${inWords(window)}, less ${reserve(path)} for others`,
    ),
    `${time} ${end}`,
  ]
}

/** How many requests of a probe are shown. Only one probe has more, and its requests are all alike. */
const SHOWN = 4

function describeProbe(
  { id, rehearsed, cost, decides }: PlannedProbe,
  number: number,
  quotas: ReadonlyMap<string, unknown>,
): string[] {
  const charged = Object.entries(cost).filter(([path]) => quotas.has(path))
  const price = charged.map(([path, count]) => `${count} of ${path}`).join(', ')
  const told = decides.length === 0 ? 'shows again what others show' : `decides ${shorten(decides.join(', '), 300)}`
  return [
    `${number}. ${id} (costs ${price === '' ? 'nothing' : price}): ${told}`,
    ...rehearsed.slice(0, SHOWN).map((each) => `     ${describeRequest(each)}${isRead(each) ? '' : ' (write)'}`),
    ...(rehearsed.length > SHOWN ? [`     and ${rehearsed.length - SHOWN} more like these`] : []),
  ]
}

import type { ServiceContract } from '../behaviour/operation.ts'
import { type AccountState, type DomainGroup, type MonitoredDomain, replicateAccount } from '../domain/account.ts'
import { refreshDay } from '../domain/dmarc.ts'
import { comparedName } from '../domain/groups.ts'
import { characterIn, policyOn } from '../figures/figures.ts'
import { writeJson } from '../ground/json.ts'
import type { Work } from '../ground/work.ts'
import {
  compareLists,
  type Holding,
  isAlike,
  type ListComparison,
  type ListedHolding,
  type ListLimits,
} from './lists.ts'

/** One side of a comparison: the state of an account at a time. */
export interface HeldState {
  state: AccountState
  /** Milliseconds since the Unix epoch, on the account's clock. */
  now: number
  /** What is left of the quotas. The key is null if the keys of the account share them. */
  quotas: readonly { key: string | null; bucket: string; limit: number; remaining: number }[]
}

/** What two sides hold, compared by meaning: ids, order and times are no differences. */
export interface HoldingsComparison {
  /** The settings of the account that differ. */
  settings: ('plan' | 'seed' | 'clock')[]
  domains: ListComparison
  groups: ListComparison
  keys: ListComparison
  faults: ListComparison
  quotas: ListComparison
}

/** The maximum number of listed members that a group has on one side only. */
const LISTED_MEMBERS = 10

/** Compares what two sides hold. */
export function* compareHoldings(
  one: HeldState,
  other: HeldState,
  limits: ListLimits,
  contract: ServiceContract,
): Work<HoldingsComparison> {
  // A state that changes in a pause would be copied whenever it is read.
  const [former, latter] = [yield* replicate(one), yield* replicate(other)]
  const terms = { ...limits, describe: ({ meaning }: Holding) => meaning }
  return {
    settings: differingSettings(former, latter, contract),
    domains: yield* compareLists(domainsOf(former, contract), domainsOf(latter, contract), terms),
    groups: yield* compareLists(groupsOf(former, contract), groupsOf(latter, contract), {
      ...limits,
      describe: describeGroup,
    }),
    keys: yield* compareLists(keysOf(former), keysOf(latter), terms),
    faults: yield* compareLists(faultsOf(former), faultsOf(latter), terms),
    quotas: yield* compareLists(quotasOf(former), quotasOf(latter), terms),
  }
}

/** Whether two sides hold the same. */
export function holdsTheSame({ settings, ...lists }: HoldingsComparison): boolean {
  return settings.length === 0 && Object.values(lists).every(isAlike)
}

function* replicate(side: HeldState): Work<HeldState> {
  return { ...side, state: yield* replicateAccount(side.state) }
}

/** A running clock never stands still, so two clocks differ if one stands, or if their figures are of different days. */
function differingSettings(one: HeldState, other: HeldState, { settings: { refresh } }: ServiceContract) {
  const [first, second] = [one.state, other.state]
  const isFrozen = ({ clock }: AccountState) => 'frozenAt' in clock
  const isClockSame =
    isFrozen(first) === isFrozen(second) && refreshDay(one.now, refresh) === refreshDay(other.now, refresh)
  return [
    ...(first.plan === second.plan ? [] : ['plan' as const]),
    ...(first.seed === second.seed ? [] : ['seed' as const]),
    ...(isClockSame ? [] : ['clock' as const]),
  ]
}

function* domainsOf({ state, now }: HeldState, contract: ServiceContract): Generator<Holding> {
  const today = refreshDay(now, contract.settings.refresh)
  for (const domain of state.domains.values()) yield domainHolding(state, domain, today, contract)
}

function domainHolding(state: AccountState, domain: MonitoredDomain, today: number, contract: ServiceContract) {
  const { name, spelling = name, features, pin } = domain
  const { profile, monthly, usual } = characterIn(state.seed, domain)
  const meaning = {
    policy: policyOn(state, domain, today, contract) ?? null,
    pinned: sorted(pin ?? {}),
    features: features.toSorted(),
    profile,
    volume: Math.round(usual.volume * monthly),
    spelling,
  }
  return { name, key: name, meaning }
}

interface GroupHolding extends Holding {
  group: DomainGroup
}

function* groupsOf({ state }: HeldState, { settings }: ServiceContract): Generator<GroupHolding> {
  for (const group of state.groups.values()) {
    const { name, domains } = group
    const meaning = { name, members: domains.toSorted() }
    yield { name, key: comparedName(name, settings.nameComparison), meaning, group }
  }
}

/** A group without its list of members, which can be long: only those that the other side does not have. */
function describeGroup({ group }: GroupHolding, counterpart: GroupHolding | undefined): ListedHolding {
  const { id, name, domains } = group
  const others = new Set(counterpart?.group.domains)
  const only = counterpart === undefined ? [] : domains.filter((member) => !others.has(member))
  return { id, name, members: domains.length, only_here: only.slice(0, LISTED_MEMBERS), only_here_count: only.length }
}

function keysOf({ state }: HeldState): Holding[] {
  return state.keys.map(({ label, disabled }) => ({
    ...{ name: label ?? '', key: label ?? '' },
    meaning: { label: label ?? null, disabled },
  }))
}

/** Rules are alike if they do the same. The requests that they have matched do not count. */
function faultsOf({ state }: HeldState): Holding[] {
  return state.faults.map(({ id, rule }) => {
    const { description = id, ...effect } = rule
    return { name: description, key: writeJson(sorted(effect)) ?? id, meaning: { rule: effect } }
  })
}

/** The keys have their labels in place of their ids, which two accounts never share. */
function quotasOf({ state, quotas }: HeldState): Holding[] {
  const labels = new Map(state.keys.map(({ id, label }) => [id, label ?? null]))
  return quotas.map(({ key, bucket, limit, remaining }) => {
    const label = key === null ? null : (labels.get(key) ?? null)
    return { name: bucket, key: `${bucket} ${label ?? ''}`, meaning: { key: label, bucket, limit, remaining } }
  })
}

/** The same fields in the order of their names. */
function sorted(fields: object): object {
  return Object.fromEntries(Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1)))
}

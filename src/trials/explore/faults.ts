import { judge } from '../../behaviour/judge.ts'
import type { ConformingRequest, ServiceContract } from '../../behaviour/operation.ts'
import { hostnamesIn } from '../../behaviour/presentation.ts'
import { operationOf } from '../../contract/api.ts'
import type { AccountState, DomainGroup, MonitoredDomain } from '../../domain/account.ts'
import type { FaultRule } from '../../domain/faults.ts'
import { comparedName } from '../../domain/groups.ts'
import { OrderedMap } from '../../domain/immutable.ts'
import { corruptBody } from '../../faults/corruption.ts'
import { FOREIGN_CHANGES, type ForeignClient, foreignClientBefore } from '../../faults/foreign-change.ts'
import { isObject, type Json, readJson } from '../../ground/json.ts'
import { queryOf, readQuery } from '../../ground/target.ts'
import { bytesOf, type Entry, isBodyUnknown, PAST, textOf } from '../../journal/entry.ts'
import type { Point } from './points.ts'

export type Effect = Pick<FaultRule, 'phase' | 'respond' | 'connection' | 'corrupt' | 'event'>

/** The tiers of faults, with those first that show most about a client. A result rests on the first two. */
export const TIERS = {
  lostWrites: 1,
  account: 2,
  limits: 3,
  rest: 4,
} as const
export type Tier = (typeof TIERS)[keyof typeof TIERS]

interface FaultKind {
  effect: Effect
  words: string
  tier: Tier
  /** Whether a client may wait for it until the trial ends. */
  slow?: true
  /** The other client whose change comes first, for a fault that is such a change. */
  foreign?: ForeignClient
}

export interface PlannedFault extends FaultKind {
  point: Point
}

const fault = (effect: Effect, words: string): FaultKind => ({ effect, words, tier: TIERS.rest })

const LOST_RESPONSE = fault({ connection: 'reset', phase: 'after' }, 'the change is made, and its response is lost')
const LIMIT = { ...fault({ event: 'quota-used-up' }, 'the quota of the path is used up (429)'), tier: TIERS.limits }
const LOST_REQUEST = fault({ connection: 'reset' }, 'the connection is lost before the request is read')
const NO_JSON = fault({ corrupt: 'malformed-json' }, 'the response is no JSON')
const FAILURE = fault({ respond: { error: 'internal_error' } }, 'the service fails (500)')
const NEW_FIELD = fault({ corrupt: 'extra-field' }, 'the response has a new field')
const NEW_VALUE = fault({ corrupt: 'unknown-enum' }, 'each listed value of the response is a new one')
const LATE_RESPONSE: FaultKind = {
  ...fault({ connection: 'hang', phase: 'after' }, 'the request is executed, and its response does not come'),
  slow: true,
}

/** All faults that can make a difference at a point, with those first that more clients may meet. */
export function faultsAt(point: Point, contract: ServiceContract): PlannedFault[] {
  const { entry } = point
  const refused = refusals(point, contract)
  const isLikely = ({ tier, effect }: FaultKind) =>
    tier === TIERS.account || (effect.respond as { error?: string }).error === 'unauthorized'
  const kinds: FaultKind[] = [
    ...(entry[PAST]?.after === undefined ? [] : [{ ...LOST_RESPONSE, tier: TIERS.lostWrites }]),
    ...(entry.allowance === undefined ? [] : [LIMIT]),
    ...[LOST_REQUEST, NO_JSON, FAILURE, NEW_FIELD, NEW_VALUE].filter((each) => canAct(each, point)),
    LATE_RESPONSE,
    ...refused.filter(isLikely),
    ...foreignChanges(point, contract),
    // Those that nothing but the request can cause are many, so they come last.
    ...refused.filter((each) => !isLikely(each)),
  ]
  return kinds.map((each) => ({ ...each, point }))
}

/** A response to HEAD has no body, so it cannot have an odd body. Few responses have values that the contract lists. */
function canAct({ effect: { corrupt } }: FaultKind, { entry, operation }: Point): boolean {
  const { method, status = 0, responseBody } = entry
  if (corrupt === undefined) return true
  const response = operation.responses.get(status)
  const isKnown = response !== undefined && responseBody !== undefined && !responseBody.isCut
  if (method === 'HEAD' || corrupt !== 'unknown-enum' || !isKnown) return method !== 'HEAD'
  return corruptBody('unknown-enum', bytesOf(responseBody), response, () => 0) !== undefined
}

function refusals({ operation, entry }: Point, contract: ServiceContract): FaultKind[] {
  const byState = operation.method === 'GET' ? new Set() : refusalsByState(entry, contract)
  return [...operation.responses.values()].flatMap(({ status, codes }) =>
    [...codes].flatMap((error): FaultKind[] => {
      // A single 429 would be milder than the service, which refuses every request until the reset. See `LIMIT`.
      if (error === 'rate_limited' || error === 'internal_error') return []
      // The command has met this answer without a fault.
      if (error === entry.code && status === entry.status) return []
      const [usual] = contract.catalogue.statusesOf(error)
      const isUsual = status === usual
      const respond = isUsual ? { error } : { error, status }
      const words = `the answer is ${error}${isUsual ? '' : ` (${status})`}`
      return [{ effect: { respond }, words, tier: byState.has(error) ? TIERS.account : TIERS.rest }]
    }),
  )
}

/** The changes of another client that the judge accepts just before this request. */
function foreignChanges({ entry, operation }: Point, contract: ServiceContract): FaultKind[] {
  const request = conformingRequest(entry, contract)
  const account = entry[PAST]?.account
  if (request === undefined || account === undefined) return []
  const tier = operation.method === 'GET' ? TIERS.rest : TIERS.account
  return FOREIGN_CHANGES.flatMap((event) => {
    const foreign = foreignClientBefore(event, request, account, contract, entry.at)
    return foreign === undefined
      ? []
      : [{ effect: { event }, words: `another client ${foreign.words} just before`, tier, foreign }]
  })
}

/**
 * The error codes with which the service would refuse this very request if the account held something else, for example
 * because another client has made the same change. The service itself is asked, so no rule is written a second time.
 */
export function refusalsByState(entry: Entry, contract: ServiceContract): ReadonlySet<string> {
  const { at, code } = entry
  const request = conformingRequest(entry, contract)
  const before = entry[PAST]?.account
  const codes = new Set<string>()
  if (request === undefined || before === undefined) return codes
  const { operation, query, body: value } = request
  const received = { operation, query, body: operation.readsBody ? { ok: true as const, value } : undefined }
  for (const account of otherStates(before, value, contract)) {
    const judgement = judge(received, account, contract, at)
    if (!judgement.ok) codes.add(judgement.problems[0].code)
  }
  // The refusal of the run without faults is nothing new for the command.
  if (code !== undefined) codes.delete(code)
  return codes
}

/** A recorded request as the judge reads it; `undefined` if it has no operation or its body is no JSON object. */
function conformingRequest(entry: Entry, contract: ServiceContract): ConformingRequest | undefined {
  const operation = operationOf(contract, entry.operation)
  if (operation === undefined || isBodyUnknown(entry)) return undefined
  const body = entry.body === undefined ? {} : readJson(textOf(entry.body))
  return isObject(body) ? { operation, query: readQuery(queryOf(entry.target)), body } : undefined
}

/** The account without domains, without groups, and with all that the body names, each in use. */
function otherStates(account: AccountState, body: Json, contract: ServiceContract): AccountState[] {
  const names = Object.keys(body).flatMap((field) =>
    Array.isArray(body[field]) ? hostnamesIn(body, field, contract) : [],
  )
  const used = names.map((name): [string, MonitoredDomain] => [name, { name, addedAt: 0, features: ['dmarc'] }])
  const name = typeof body['name'] === 'string' ? body['name'] : undefined
  // Taken by a group that no account has.
  const taken = name === undefined ? {} : { [comparedName(name, contract.settings.nameComparison)]: 'another group' }
  return [
    { ...account, domains: OrderedMap<string, MonitoredDomain>() },
    { ...account, groups: OrderedMap<string, DomainGroup>(), groupNames: OrderedMap<string, string>() },
    { ...account, domains: account.domains.merge(used), groupNames: account.groupNames.merge(taken) },
  ]
}

/** Faults of one kind meet the same operation with the same subject. All but the first one are repetitions. */
export function kindOf({ point, effect }: PlannedFault): string {
  return JSON.stringify([point.operation.id, point.about, canonical(effect)])
}

/** Serialises a plan, or a part of it. Plans with the same effect have the same text. */
export function canonical(plan: unknown): string {
  return JSON.stringify(plan, (name, value: unknown) => {
    if (name === 'description') return undefined
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  })
}

/** Faults that are tried one after the other, before any fault of the next phase. */
export interface Phase {
  tier: Tier
  /** Whether the result of the exploration rests on them. */
  isNeeded: boolean
  /** Whether they are tried by default, even if that takes longer. */
  isUsual: boolean
  faults: readonly PlannedFault[]
}

/** The parts of a search, one after the other. */
const STAGES = { needed: 0, once: 1, otherKinds: 2, repetitions: 3 } as const
/** Changes of another client come late within a tier, because each may need a second run; slow faults come last. */
const COSTS = [0, 1, 2] as const

/**
 * The faults in the order of the trials: first one of each kind in the tiers on which the result rests; then each other
 * fault once, at one request; then one of each kind in the other tiers; and last the repetitions. So a short budget
 * meets every fault, and all operations with all their subjects before any repetition.
 */
export function planFaults(faults: readonly PlannedFault[]): Phase[] {
  const effects = faults.map(({ effect }) => canonical(effect))
  const ranks = new Map(faults.map((each, index) => [each, effects.indexOf(effects[index] ?? '')]))
  const rankOf = (each: PlannedFault) => ranks.get(each) ?? 0
  const ranked = faults.toSorted((one, other) => rankOf(one) - rankOf(other) || one.point.index - other.point.index)
  const firsts = new Set(onePer(kindOf, ranked))
  const tiers = neededOf([...firsts].map(({ tier }) => tier))
  const rest = [...firsts].filter(({ tier }) => !tiers.includes(tier))
  const once = new Set(onePer(rankOf, rest))
  function stageOf(each: PlannedFault): number {
    if (!firsts.has(each)) return STAGES.repetitions
    if (tiers.includes(each.tier)) return STAGES.needed
    return once.has(each) ? STAGES.once : STAGES.otherKinds
  }
  return Object.values(STAGES).flatMap((stage) =>
    Object.values(TIERS).flatMap((tier) =>
      COSTS.flatMap((cost): Phase[] => {
        const same = ranked.filter((each) => stageOf(each) === stage && each.tier === tier && costOf(each) === cost)
        return same.length === 0
          ? []
          : [{ tier, isNeeded: stage === STAGES.needed, isUsual: stage <= STAGES.once, faults: same }]
      }),
    ),
  )
}

function costOf({ slow, foreign }: PlannedFault): (typeof COSTS)[number] {
  return slow ? 2 : foreign ? 1 : 0
}

/** The first item with each name. */
function onePer<Item>(nameOf: (item: Item) => unknown, items: readonly Item[]): Item[] {
  // Of several items with one name, a map keeps the last.
  return [...new Map(items.toReversed().map((item) => [nameOf(item), item])).values()]
}

/** The tiers on which the result rests, of those that have a fault: the first two, or all if the command only reads. */
export function neededOf(tiers: readonly Tier[]): readonly Tier[] {
  const ofWrites: readonly Tier[] = [TIERS.lostWrites, TIERS.account]
  const needed = ofWrites.filter((tier) => tiers.includes(tier))
  return needed.length > 0 ? needed : tiers
}

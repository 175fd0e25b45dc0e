import type { ServiceContract } from '../../behaviour/operation.ts'
import { ERROR_CODES } from '../../domain/errors.ts'
import type { FaultRule } from '../../domain/faults.ts'
import { corruptBody } from '../../faults/corruption.ts'
import { FOREIGN_CHANGES, type ForeignClient, foreignClientBefore } from '../../faults/foreign-change.ts'
import { isObject } from '../../ground/json.ts'
import { bytesOf, PAST } from '../../journal/entry.ts'
import type { Point } from './points.ts'
import { conformingRequest, refusalsByState } from './refusals.ts'

/** The effect of a rule, without its match. */
export type Effect = Pick<FaultRule, 'phase' | 'respond' | 'connection' | 'corrupt' | 'event'>

/** The tiers of faults, with those first that show most about a client. A result rests on the first two. */
export const TIERS = {
  lostWrites: 1,
  account: 2,
  limits: 3,
  rest: 4,
} as const
export type Tier = (typeof TIERS)[keyof typeof TIERS]

/** A kind of fault. */
interface FaultKind {
  effect: Effect
  /** The fault as a clause. */
  words: string
  tier: Tier
  /** Its place among the kinds, with those first that more clients may meet. */
  rank: number
  /** Whether a client may wait for it until the trial ends. */
  slow?: true
  /** The other client whose change comes first, for a fault that is such a change. */
  foreign?: ForeignClient
}

/** A fault at a point. */
export interface PlannedFault extends FaultKind {
  point: Point
}

const LOST_RESPONSE = kind({ connection: 'reset', phase: 'after' }, 'the change is made, and its response is lost')
const LIMIT = { ...kind({ event: 'quota-used-up' }, 'the quota of the path is used up (429)'), tier: TIERS.limits }
const LATE_RESPONSE = kind(
  { connection: 'hang', phase: 'after' },
  'the request is executed, and its response does not come',
)

/** The kinds of the last tier that any request can meet, in their order. */
const COMMON = {
  lostRequest: kind({ connection: 'reset' }, 'the connection is lost before the request is read'),
  noJson: kind({ corrupt: 'malformed-json' }, 'the response is no JSON'),
  failure: kind({ respond: { error: 'internal_error' } }, 'the service fails (500)'),
  newField: kind({ corrupt: 'extra-field' }, 'the response has a new field'),
  newValue: kind({ corrupt: 'unknown-enum' }, 'each listed value of the response is a new one'),
}
const RANKED: readonly { effect: Effect }[] = [LOST_RESPONSE, LIMIT, ...Object.values(COMMON)]
const TABLE: readonly Pick<FaultKind, 'effect' | 'words'>[] = [
  LOST_RESPONSE,
  LIMIT,
  LATE_RESPONSE,
  ...Object.values(COMMON),
]
/** The ranks after those of the table. Refusals that nothing but the request can cause are many, so they come last. */
const RANKS = { refused: RANKED.length, foreign: RANKED.length + 100, others: RANKED.length + 200 }

function kind(effect: Effect, words: string) {
  return { effect, words, tier: TIERS.rest }
}

/** All faults that can make a difference at a point. */
export function faultsAt(point: Point, contract: ServiceContract): PlannedFault[] {
  const { entry, operation } = point
  const isRead = operation.method === 'GET'
  const common = [
    ...(changesState(point) ? [{ ...LOST_RESPONSE, tier: TIERS.lostWrites }] : []),
    ...(entry.allowance === undefined ? [] : [LIMIT]),
    COMMON.lostRequest,
    COMMON.failure,
    ...oddities(point),
  ].map((each) => ({ ...each, rank: RANKED.findIndex(({ effect }) => effect === each.effect) }))
  const late = { ...LATE_RESPONSE, slow: true as const, rank: changesState(point) ? 0 : 1 }
  const kinds: FaultKind[] = [...common, late, ...refusals(point, contract), ...foreignChanges(point, contract, isRead)]
  return kinds.map((each) => ({ ...each, point }))
}

/** Whether the request changed the state in the run without faults. */
function changesState({ entry }: Pick<Point, 'entry'>): boolean {
  return entry[PAST]?.after !== undefined
}

const CODES: readonly string[] = ERROR_CODES

function refusals({ operation, entry }: Point, contract: ServiceContract): FaultKind[] {
  const byState = operation.method === 'GET' ? NONE : refusalsByState(entry, contract)
  return [...operation.responses.values()].flatMap(({ status, codes }) =>
    [...codes].flatMap((error): FaultKind[] => {
      // A single 429 would be milder than the service, which refuses every request until the reset. See `LIMIT`.
      if (error === 'rate_limited' || error === 'internal_error') return []
      // The command has met this answer without a fault.
      if (error === entry.code && status === entry.status) return []
      const [usual] = contract.catalogue.statusesOf(error)
      const respond = status === usual ? { error } : { error, status }
      const isPossible = byState.has(error)
      const rank = CODES.indexOf(error) + (isPossible || error === 'unauthorized' ? RANKS.refused : RANKS.others)
      return [{ effect: { respond }, words: wordRefusal(respond), tier: isPossible ? TIERS.account : TIERS.rest, rank }]
    }),
  )
}

const NONE: ReadonlySet<string> = new Set()

function wordRefusal({ error, status }: { error: string; status?: number }): string {
  return `the answer is ${error}${status === undefined ? '' : ` (${status})`}`
}

/** The changes of another client that the judge accepts just before this request. */
function foreignChanges({ entry }: Point, contract: ServiceContract, isRead: boolean): FaultKind[] {
  const request = conformingRequest(entry, contract)
  const account = entry[PAST]?.account
  if (request === undefined || account === undefined) return []
  return FOREIGN_CHANGES.flatMap((event, index) => {
    const foreign = foreignClientBefore(event, request, account, contract, entry.at)
    if (foreign === undefined) return []
    const words = `another client ${foreign.words} just before`
    return [
      { effect: { event }, words, tier: isRead ? TIERS.rest : TIERS.account, rank: RANKS.foreign + index, foreign },
    ]
  })
}

/** A response to HEAD has no body, so it cannot have an odd body. Few responses have values that the contract lists. */
function oddities({ entry, operation }: Point) {
  const { method, status, responseBody } = entry
  if (method === 'HEAD') return []
  const response = operation.responses.get(status ?? 0)
  const hasListed =
    response === undefined ||
    responseBody === undefined ||
    responseBody.isCut ||
    corruptBody('unknown-enum', bytesOf(responseBody), response, () => 0) !== undefined
  return [COMMON.noJson, COMMON.newField, ...(hasListed ? [COMMON.newValue] : [])]
}

/** The effect of a rule as a clause. */
export function wordEffect(effect: Effect): string {
  const known = TABLE.find((each) => canonical(each.effect) === canonical(effect))
  if (known !== undefined) return known.words
  const { respond } = effect
  if (respond === undefined) return `the fault is ${canonical(effect)}`
  return 'error' in respond ? wordRefusal(respond) : `the answer has the status ${respond.status}`
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

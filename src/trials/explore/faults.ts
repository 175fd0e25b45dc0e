import type { ServiceContract } from '../../behaviour/operation.ts'
import { ERROR_CODES } from '../../domain/errors.ts'
import type { FaultRule } from '../../domain/faults.ts'
import { corruptBody } from '../../faults/corruption/corruption.ts'
import { isObject } from '../../ground/json.ts'
import { bytesOf, PAST } from '../../journal/entry.ts'
import type { Point } from './points.ts'
import { refusalsByState } from './refusals.ts'

/**
 * The effect of a fault for the client: the service refuses the change, gives no answer, gives an odd answer, or only
 * the time changes.
 */
type Family = 'refused' | 'unanswered' | 'odd' | 'instant'

/** The effect of a rule, without its match. */
export type Effect = Pick<FaultRule, 'phase' | 'respond' | 'connection' | 'corrupt' | 'event'>

/** The tiers of single faults, with those first that show most about a client. A result rests on the first two. */
export const TIERS = {
  lostWrites: 1,
  refusedWrites: 2,
  limits: 3,
  rest: 4,
} as const
export type Tier = (typeof TIERS)[keyof typeof TIERS]

/** A kind of fault. */
export interface PlannedFaultKind {
  family: Family
  effect: Effect
  /** The fault as a clause. */
  words: string
  tier: Tier
  /** Whether a client can be expected to survive it. Only then a second fault is worth a try. */
  survivable?: true
  /** Whether a client may wait for it until the trial ends. */
  slow?: true
}

/** A fault at a point. */
export interface PlannedFault extends PlannedFaultKind {
  point: Point
}

/** All kinds except refusals with other error codes. Each family begins with its mildest kind. */
const KINDS = {
  failure: {
    family: 'refused',
    effect: { respond: { error: 'internal_error' } },
    words: 'the service fails (500)',
    tier: TIERS.rest,
    survivable: true,
  },
  limit: {
    family: 'refused',
    effect: { event: 'quota-used-up' },
    words: 'the quota of the path is used up (429)',
    tier: TIERS.limits,
    survivable: true,
  },
  lostRequest: {
    family: 'unanswered',
    effect: { connection: 'reset' },
    words: 'the connection is lost before the request is read',
    tier: TIERS.rest,
    survivable: true,
  },
  lostResponse: {
    family: 'unanswered',
    effect: { connection: 'reset', phase: 'after' },
    words: 'the change is made, and its response is lost',
    tier: TIERS.lostWrites,
    survivable: true,
  },
  lateResponse: {
    family: 'unanswered',
    effect: { connection: 'hang', phase: 'after' },
    words: 'the request is executed, and its response does not come',
    tier: TIERS.rest,
    survivable: true,
    slow: true,
  },
  newField: odd('extra-field', 'the response has a new field'),
  newValue: odd('unknown-enum', 'each listed value of the response is a new one'),
  noJson: odd('malformed-json', 'the response is no JSON'),
  windowEnd: instant('window-end', 'a quota window ends'),
  refresh: instant('refresh', 'the figures are refreshed'),
  graceEnd: instant('grace-end', 'the grace period of the key ends'),
} as const satisfies Readonly<Record<string, PlannedFaultKind>>

function odd(corrupt: string, words: string) {
  return { family: 'odd', effect: { corrupt }, words, tier: TIERS.rest } as const
}

function instant(event: string, words: string) {
  return { family: 'instant', effect: { event }, words, tier: TIERS.rest } as const
}

const TABLE: readonly PlannedFaultKind[] = Object.values(KINDS)
const CODES: readonly string[] = ERROR_CODES

/** All faults that can make a difference at a point. */
export function faultsAt(point: Point, contract: ServiceContract): PlannedFault[] {
  const kinds = [...refusals(point, contract), ...silences(point), ...oddities(point), ...instants(point)]
  return kinds.map((kind) => ({ ...kind, point }))
}

/** Whether the request changed the state in the run without faults. */
export function changesState({ entry }: Pick<Point, 'entry'>): boolean {
  return entry[PAST]?.after !== undefined
}

function refusals({ operation, entry }: Point, contract: ServiceContract): PlannedFaultKind[] {
  const byState = operation.method === 'GET' ? NONE : refusalsByState(entry, contract)
  const refused = [...operation.responses.values()].flatMap(({ status, codes }) =>
    [...codes].flatMap((error): PlannedFaultKind[] => {
      // A single 429 would be milder than the service, which refuses every request until the reset. See `limit`.
      if (error === 'rate_limited') return []
      if (error === 'internal_error') return [KINDS.failure]
      // The command has met this answer without a fault.
      if (error === entry.code && status === entry.status) return []
      const [usual] = contract.catalogue.statusesOf(error)
      const tier = byState.has(error) ? TIERS.refusedWrites : TIERS.rest
      const respond = status === usual ? { error } : { error, status }
      return [{ family: 'refused', effect: { respond }, words: wordRefusal(respond), tier }]
    }),
  )
  return entry.allowance === undefined ? refused : [KINDS.limit, ...refused]
}

const NONE: ReadonlySet<string> = new Set()

function wordRefusal({ error, status }: { error: string; status?: number }): string {
  return `the answer is ${error}${status === undefined ? '' : ` (${status})`}`
}

/** If a request changes nothing, a lost response is equal to a connection that is lost before the request. */
function silences(point: Point): PlannedFaultKind[] {
  const { lostRequest, lostResponse, lateResponse } = KINDS
  return changesState(point) ? [lostRequest, lostResponse, lateResponse] : [lostRequest, lateResponse]
}

/** A response to HEAD has no body, so it cannot have an odd body. Few responses have values that the contract lists. */
function oddities({ entry, operation }: Point): PlannedFaultKind[] {
  const { method, status, responseBody } = entry
  if (method === 'HEAD') return []
  const response = operation.responses.get(status ?? 0)
  const hasListed =
    response === undefined ||
    responseBody === undefined ||
    responseBody.isCut ||
    corruptBody('unknown-enum', bytesOf(responseBody), response, () => 0) !== undefined
  return [KINDS.newField, ...(hasListed ? [KINDS.newValue] : []), KINDS.noJson]
}

/** The fault changes the clock at the end of the previous request, so that this request comes after that instant. */
function instants({ predecessor, operation }: Point): PlannedFaultKind[] {
  if (predecessor === undefined) return []
  const { allowance, keyEvidence } = predecessor.entry
  return [
    ...(allowance === undefined ? [] : [KINDS.windowEnd]),
    // Only a GET request can see what a refresh changes.
    ...(operation.method === 'GET' ? [KINDS.refresh] : []),
    ...(keyEvidence.inGrace ? [KINDS.graceEnd] : []),
  ]
}

/** The kind of this list with this effect. */
function indexOf(effect: Effect, kinds: readonly PlannedFaultKind[]): number {
  return kinds.findIndex((kind) => canonical(kind.effect) === canonical(effect))
}

/** The effect of a rule as a clause. */
export function wordEffect(effect: Effect): string {
  const kind = TABLE[indexOf(effect, TABLE)]
  if (kind !== undefined) return kind.words
  const { respond } = effect
  if (respond === undefined) return `the fault is ${canonical(effect)}`
  return 'error' in respond ? wordRefusal(respond) : `the answer has the status ${respond.status}`
}

/** The position of a fault in its family, from the mildest. */
export function weightOf({ family, effect }: PlannedFaultKind): number {
  const ofFamily = TABLE.filter((kind) => kind.family === family)
  const place = indexOf(effect, ofFamily)
  if (place >= 0) return place
  const { respond } = effect
  return TABLE.length + (respond !== undefined && 'error' in respond ? CODES.indexOf(respond.error) : 0)
}

/**
 * The milder effects of the same family, and the effects of other families that a client can survive: faults of
 * different families may show the same mistake of the client.
 */
export function milderEffects(effect: Effect): Effect[] {
  const isRefusal = effect.respond !== undefined && 'error' in effect.respond
  const family = TABLE[indexOf(effect, TABLE)]?.family ?? (isRefusal ? 'refused' : undefined)
  const kinds = TABLE.filter((kind) => kind.survivable || kind.family === family)
  const place = indexOf(effect, kinds)
  return (place < 0 ? kinds : kinds.slice(0, place)).map((kind) => kind.effect)
}

/** Faults of one kind meet the same operation with the same subject. All but the first one are repetitions. */
export function kindOf({ point, effect }: PlannedFault): string {
  return JSON.stringify([point.operation.id, point.about, canonical(effect)])
}

/** The operation at which a fault acts, and its effect. */
export function placeOf({ point, effect }: PlannedFault): string {
  return `${point.operation.id} ${canonical(effect)}`
}

/** Serialises a plan, or a part of it. Plans with the same effect have the same text. */
export function canonical(plan: unknown): string {
  return JSON.stringify(plan, (name, value: unknown) => {
    if (name === 'description') return undefined
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  })
}

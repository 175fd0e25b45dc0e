import { codesOf } from '../../contract/api.ts'
import type { Contract } from '../../contract/contract.ts'
import { ERROR_CODES } from '../../domain/errors.ts'
import type { FaultRule } from '../../domain/faults.ts'
import { isObject } from '../../ground/json.ts'
import { memoizeWeakly } from '../../ground/memo.ts'
import type { Point } from './points.ts'

/**
 * The effect of a fault for the client: the service refuses the change, gives no answer, gives an odd answer, or only
 * the time changes.
 */
type Family = 'refused' | 'unanswered' | 'odd' | 'instant'

/** The effect of a rule, without its match. */
export type Effect = Pick<FaultRule, 'phase' | 'respond' | 'connection' | 'corrupt' | 'event'>

/** A kind of fault. */
export interface PlannedFaultKind {
  family: Family
  effect: Effect
  /** The fault as a clause. */
  words: string
  /** A lower tier is tried earlier, because it shows more about a client. */
  tier: number
  /** Whether a client can be expected to survive it. Only then a second fault is worth a try. */
  survivable?: true
  /** Whether a client may wait for it until the trial ends. */
  slow?: true
}

/** A fault at a point. */
export interface PlannedFault extends PlannedFaultKind {
  point: Point
}

/** The tiers, with the most informative first. */
export const TIERS = { lostWrite: 0, refusedWrite: 1, firstSlow: 2, limited: 3, rest: 4, slow: 5 } as const
const { rest } = TIERS

/** All kinds except refusals with other error codes. Each family begins with its mildest kind. */
const KINDS = {
  failure: {
    family: 'refused',
    effect: { respond: { error: 'internal_error' } },
    words: 'the service fails (500)',
    tier: TIERS.refusedWrite,
    survivable: true,
  },
  limit: {
    family: 'refused',
    effect: { event: 'quota-used-up' },
    words: 'the quota of the path is used up (429)',
    tier: TIERS.limited,
    survivable: true,
  },
  lostRequest: {
    family: 'unanswered',
    effect: { connection: 'reset' },
    words: 'the connection is lost before the request is read',
    tier: rest,
    survivable: true,
  },
  lostResponse: {
    family: 'unanswered',
    effect: { connection: 'reset', phase: 'after' },
    words: 'the change is made, and its response is lost',
    tier: TIERS.lostWrite,
    survivable: true,
  },
  lateResponse: {
    family: 'unanswered',
    effect: { connection: 'hang', phase: 'after' },
    words: 'the request is executed, and its response does not come',
    tier: TIERS.slow,
    survivable: true,
    slow: true,
  },
  newField: { family: 'odd', effect: { corrupt: 'extra-field' }, words: 'the response has a new field', tier: rest },
  newValue: { family: 'odd', effect: { corrupt: 'unknown-enum' }, words: 'the response has a new value', tier: rest },
  noJson: { family: 'odd', effect: { corrupt: 'malformed-json' }, words: 'the response is no JSON', tier: rest },
  windowEnd: { family: 'instant', effect: { event: 'window-end' }, words: 'a quota window ends', tier: rest },
  refresh: { family: 'instant', effect: { event: 'refresh' }, words: 'the figures are refreshed', tier: rest },
  graceEnd: {
    family: 'instant',
    effect: { event: 'grace-end' },
    words: 'the grace period of the key ends',
    tier: rest,
  },
} as const satisfies Readonly<Record<string, PlannedFaultKind>>

const TABLE: readonly PlannedFaultKind[] = Object.values(KINDS)
const CODES: readonly string[] = ERROR_CODES

/** All faults that can make a difference at a point. */
export function faultsAt(point: Point, contract: Contract): PlannedFault[] {
  const kinds = [...refusals(point, contract), ...silences(point), ...oddities(point), ...instants(point)]
  return kinds.map((kind) => ({ ...kind, point }))
}

/** Whether the request changed the state in the run without faults. */
export function changesState({ entry }: Point): boolean {
  return entry.after !== undefined
}

function refusals({ operation, entry }: Point, contract: Contract): PlannedFaultKind[] {
  const codes = codesOf([operation])
  const byRequest = codesOfRequests(contract)
  const isWrite = operation.method !== 'GET'
  const refused = [...codes].flatMap((error): PlannedFaultKind[] => {
    // A single 429 would be milder than the service, which refuses every request until the reset. See `limit`.
    if (error === 'rate_limited') return []
    if (error === 'internal_error') return [isWrite ? KINDS.failure : { ...KINDS.failure, tier: rest }]
    // The account can cause a refusal at any time. An error in the request itself is refused every time.
    const isLikely = isWrite && error !== 'unauthorized' && !byRequest.has(error)
    const tier = isLikely ? TIERS.refusedWrite : rest
    return [{ family: 'refused', effect: { respond: { error } }, words: `the answer is ${error}`, tier }]
  })
  return entry.allowance === undefined ? refused : [KINDS.limit, ...refused]
}

/** If a request changes nothing, a lost response is equal to a connection that is lost before the request. */
function silences(point: Point): PlannedFaultKind[] {
  const { lostRequest, lostResponse, lateResponse } = KINDS
  return changesState(point) ? [lostRequest, lostResponse, lateResponse] : [lostRequest, lateResponse]
}

/** A response to HEAD has no body, so it cannot have an odd body. */
function oddities({ entry }: Point): PlannedFaultKind[] {
  return entry.method === 'HEAD' ? [] : [KINDS.newField, KINDS.newValue, KINDS.noJson]
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

/** The error codes that depend only on the request and not on the account, as far as the document names them. */
const codesOfRequests = memoizeWeakly(({ document }: Contract): ReadonlySet<string> => {
  const codes = new Set<string>(['invalid_json', 'request_too_large'])
  collectCodes(document.source, codes)
  return codes
})

function collectCodes(value: unknown, codes: Set<string>): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, child] of Object.entries(value)) {
    if ((name === 'x-error' || name === 'x-error-defaults') && isObject(child)) {
      for (const code of Object.values(child)) if (typeof code === 'string') codes.add(code)
    } else collectCodes(child, codes)
  }
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
  return 'error' in respond ? `the answer is ${respond.error}` : `the answer has the status ${respond.status}`
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

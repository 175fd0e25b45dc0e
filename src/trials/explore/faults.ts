import type { Contract } from '../../contract/contract.ts'
import { ERROR_CODES } from '../../domain/errors.ts'
import type { FaultRule } from '../../domain/faults.ts'
import { isObject } from '../../ground/json.ts'
import type { Point } from './points.ts'

/**
 * What faults have in common for a client: it is told that nothing was done; or is told nothing; or gets an odd answer; or
 * only the time is another one.
 */
type Family = 'refused' | 'unanswered' | 'odd' | 'instant'

/** What a rule does, without what it matches. */
export type Effect = Pick<FaultRule, 'phase' | 'respond' | 'connection' | 'corrupt' | 'event'>

/** A way in which something goes wrong. */
export interface FaultKind {
  family: Family
  effect: Effect
  /** What goes wrong, as a clause. */
  words: string
  /** The lower, the earlier it is tried: it shows more of a client. */
  tier: number
  /** Whether a client can be expected to survive it, so that it is worth a try together with another one. */
  survivable?: true
  /** Whether a client may keep waiting for as long as the trial lasts. */
  slow?: true
}

/** A fault at a point. */
export interface Fault extends FaultKind {
  point: Point
}

/** The tiers, from the most informative on. */
export const TIERS = { lostWrite: 0, refusedWrite: 1, firstSlow: 2, limited: 3, rest: 4, slow: 5 } as const
const { rest } = TIERS

/** All but the refusals with one of the other codes, each family from the mildest on. */
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
} as const satisfies Readonly<Record<string, FaultKind>>

const TABLE: readonly FaultKind[] = Object.values(KINDS)
const CODES: readonly string[] = ERROR_CODES

/** Every fault that can make a difference at a point. */
export function faultsAt(point: Point, contract: Contract): Fault[] {
  const kinds = [...refusals(point, contract), ...silences(point), ...oddities(point), ...instants(point)]
  return kinds.map((kind) => ({ ...kind, point }))
}

/** Whether the request changed something without a fault. */
export function changesState({ entry }: Point): boolean {
  return entry.after !== undefined
}

function refusals({ operation, entry }: Point, contract: Contract): FaultKind[] {
  const codes = new Set([...operation.responses.values()].flatMap((response) => [...response.codes]))
  const byRequest = codesOfRequests(contract)
  const isWrite = operation.method !== 'GET'
  const refused = [...codes].flatMap((error): FaultKind[] => {
    // One 429 alone would be kinder than the service, which goes on to refuse until the reset.
    if (error === 'rate_limited') return []
    if (error === 'internal_error') return [isWrite ? KINDS.failure : { ...KINDS.failure, tier: rest }]
    // What the account holds may change at any time; what is wrong with a request is wrong each time.
    const isLikely = isWrite && error !== 'unauthorized' && !byRequest.has(error)
    const tier = isLikely ? TIERS.refusedWrite : rest
    return [{ family: 'refused', effect: { respond: { error } }, words: `the answer is ${error}`, tier }]
  })
  return entry.allowance === undefined ? refused : [KINDS.limit, ...refused]
}

/** A lost response of a request that changes nothing is the same as a connection that is lost before. */
function silences(point: Point): FaultKind[] {
  const { lostRequest, lostResponse, lateResponse } = KINDS
  return changesState(point) ? [lostRequest, lostResponse, lateResponse] : [lostRequest, lateResponse]
}

/** A response to HEAD has no body in which anything could be odd. */
function oddities({ entry }: Point): FaultKind[] {
  return entry.method === 'HEAD' ? [] : [KINDS.newField, KINDS.newValue, KINDS.noJson]
}

/** The request itself comes after the instant, so the request before it ends with the change of the clock. */
function instants({ predecessor, operation }: Point): FaultKind[] {
  if (predecessor === undefined) return []
  const { allowance, keyEvidence } = predecessor.entry
  return [
    ...(allowance === undefined ? [] : [KINDS.windowEnd]),
    // What changes with a refresh can only be read.
    ...(operation.method === 'GET' ? [KINDS.refresh] : []),
    ...(keyEvidence.inGrace ? [KINDS.graceEnd] : []),
  ]
}

const known = new WeakMap<Contract, ReadonlySet<string>>()

/** The codes by which a request itself is refused, whatever the account holds, as far as the document says it. */
function codesOfRequests(contract: Contract): ReadonlySet<string> {
  const remembered = known.get(contract)
  if (remembered !== undefined) return remembered
  const codes = new Set<string>(['invalid_json', 'request_too_large'])
  collectCodes(contract.document.source, codes)
  known.set(contract, codes)
  return codes
}

function collectCodes(value: unknown, codes: Set<string>): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, child] of Object.entries(value)) {
    if ((name === 'x-error' || name === 'x-error-defaults') && isObject(child)) {
      for (const code of Object.values(child)) if (typeof code === 'string') codes.add(code)
    } else collectCodes(child, codes)
  }
}

/** What the effect of a rule is, as a clause. */
export function wordEffect(effect: Effect): string {
  const kind = TABLE.find((each) => canonical(each.effect) === canonical(effect))
  if (kind !== undefined) return kind.words
  const { respond } = effect
  if (respond === undefined) return `the fault is ${canonical(effect)}`
  return 'error' in respond ? `the answer is ${respond.error}` : `the answer has the status ${respond.status}`
}

/** The place of a fault in its family, from the mildest on. */
export function weightOf({ family, effect }: FaultKind): number {
  const place = TABLE.filter((kind) => kind.family === family).findIndex((kind) => isSame(kind.effect, effect))
  if (place >= 0) return place
  const { respond } = effect
  return TABLE.length + (respond !== undefined && 'error' in respond ? CODES.indexOf(respond.error) : 0)
}

/** The effects that are milder and of the same family; with `anyFamily`, all that a client can survive. */
export function milderEffects(effect: Effect, anyFamily = false): Effect[] {
  const found = TABLE.find((kind) => isSame(kind.effect, effect))
  const isRefusal = effect.respond !== undefined && 'error' in effect.respond
  const family = found?.family ?? (isRefusal ? 'refused' : undefined)
  const kinds = TABLE.filter((kind) => (anyFamily && kind.survivable) || kind.family === family)
  const place = kinds.findIndex((kind) => isSame(kind.effect, effect))
  return (place < 0 ? kinds : kinds.slice(0, place)).map((kind) => kind.effect)
}

function isSame(one: Effect, other: Effect): boolean {
  return canonical(one) === canonical(other)
}

/** A plan, or a part of one, as a text that is the same for plans that do the same. */
export function canonical(plan: unknown): string {
  return JSON.stringify(plan, (name, value: unknown) => {
    if (name === 'description') return undefined
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  })
}

import { parseDuration } from './iso-8601.ts'

export type FaultPhase = 'before' | 'after'
export type ConnectionFault = 'reset' | 'hang' | 'empty' | 'truncate' | 'drip'
export const CORRUPTIONS = [
  'malformed-json',
  'missing-field',
  'wrong-type',
  'extra-field',
  'unknown-enum',
  'bad-envelope',
  'compatible',
] as const
/** How an answer is spoilt; `compatible` keeps it lawful. */
export type Corruption = (typeof CORRUPTIONS)[number]

/** Which requests a rule is for; what is absent matches all. `path` is the part after the version segment. */
export interface FaultMatch {
  operation?: string
  method?: string
  path?: string
  /** Id of a key. */
  key?: string
}

/** An answer in place of the service's: one of its errors, where it has several statuses with that one; or any. */
export type InjectedAnswer =
  | { error: string; status?: number }
  | { status: number; headers?: Readonly<Record<string, string>>; body?: unknown }

/** A fault rule as the control plane and files speak of it; its document says what each field means. */
export interface FaultRule {
  description?: string
  match?: FaultMatch
  skip?: number
  times?: number
  probability?: number
  phase?: FaultPhase
  delay_ms?: number
  jitter_ms?: number
  respond?: InjectedAnswer
  connection?: ConnectionFault
  corrupt?: Corruption
  /** ISO 8601 duration on the account's clock. */
  expires_after?: string
}

/** A rule that an account has. */
export interface Fault {
  id: string
  /** The set that it came with. */
  set?: string
  /** Milliseconds since the Unix epoch, on the account's clock. */
  createdAt: number
  rule: FaultRule
}

/** What was counted for a rule: the requests that it was for, and those that it struck. */
export interface FaultTally {
  matched: number
  hits: number
}

export const UNTOUCHED: FaultTally = { matched: 0, hits: 0 }

/** A request, as far as rules ask. */
export interface FaultTarget {
  operation: string
  method: string
  path: string
  /** Id of the key. */
  key: string
  /** Whether the contract lets the operation answer with the code. */
  answersWith(code: string): boolean
}

export interface FaultStrike {
  fault: Fault
  /** How many requests the rule was for so far, this one included; chance derives from it. */
  ordinal: number
}

/** When a rule acts. To spoil an answer, there must be one. */
export function phaseOf({ phase, corrupt, connection }: FaultRule): FaultPhase {
  if (corrupt !== undefined || connection === 'truncate' || connection === 'drip') return 'after'
  return phase ?? 'before'
}

export function isExpired({ createdAt, rule }: Fault, now: number): boolean {
  const life = rule.expires_after === undefined ? undefined : parseDuration(rule.expires_after)
  return life !== undefined && now >= createdAt + life
}

/**
 * The first rule, in order of creation, that strikes; each rule before it counts the request as one that it was for.
 * Of the requests that it is for, a rule lets the first `skip` pass, then strikes each with its `probability`, until
 * it has struck `times` times. One that has, or has expired, counts no more. `draw` gives a number from 0 up to 1 that
 * depends on its arguments alone.
 */
export function strikeFault(
  faults: readonly Fault[],
  tallies: ReadonlyMap<string, FaultTally>,
  target: FaultTarget,
  now: number,
  draw: (fault: Fault, ordinal: number) => number,
): { counted: readonly (readonly [id: string, tally: FaultTally])[]; strike?: FaultStrike } {
  const counted: [string, FaultTally][] = []
  for (const fault of faults) {
    const { skip = 0, times = Number.POSITIVE_INFINITY, probability = 1 } = fault.rule
    const { matched, hits } = tallies.get(fault.id) ?? UNTOUCHED
    if (hits >= times || !isFor(fault.rule, target) || isExpired(fault, now)) continue
    const ordinal = matched + 1
    const strikes = ordinal > skip && draw(fault, ordinal) < probability
    counted.push([fault.id, { matched: ordinal, hits: strikes ? hits + 1 : hits }])
    if (strikes) return { counted, strike: { fault, ordinal } }
  }
  return { counted }
}

function isFor({ match = {}, respond }: FaultRule, target: FaultTarget): boolean {
  return (
    (match.operation === undefined || match.operation === target.operation) &&
    (match.method === undefined || match.method === target.method) &&
    (match.path === undefined || match.path === target.path) &&
    (match.key === undefined || match.key === target.key) &&
    // An error that the operation never answers with would teach a client what does not happen.
    (respond === undefined || !('error' in respond) || target.answersWith(respond.error))
  )
}

/** The id of the account's `ordinal`th rule, from 1. */
export function faultId(ordinal: number): string {
  return `fault_${ordinal}`
}

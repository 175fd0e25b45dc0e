import { parseDuration } from './iso-8601.ts'

export type FaultPhase = 'before' | 'after'

/** Which requests a rule is for; what is absent matches all. `path` is the part after the version segment. */
export interface FaultMatch {
  operation?: string
  method?: string
  path?: string
  /** Id of a key. */
  key?: string
}

/** A response in place of the service's: one of its errors, where it has several statuses with that one; or any. */
export type InjectedResponse =
  | { error: string; status?: number }
  | { status: number; headers?: Readonly<Record<string, string>>; body?: unknown }

/**
 * A fault rule, as the control plane and files write it. The document of the control plane says what each field means;
 * which values `connection`, `corrupt` and `event` have is not decided here.
 */
export interface FaultRule {
  description?: string
  match?: FaultMatch
  skip?: number
  times?: number
  probability?: number
  phase?: FaultPhase
  delay_ms?: number
  jitter_ms?: number
  respond?: InjectedResponse
  connection?: string
  corrupt?: string
  /** What happens to the account; see the table of kinds. */
  event?: string
  /** ISO 8601 duration on the account's clock. */
  expires_after?: string
}

/** A fault rule that an account has. */
export interface Fault {
  id: string
  /** The set that it came with. */
  set?: string
  /** Milliseconds since the Unix epoch, on the account's clock. */
  createdAt: number
  rule: FaultRule
}

/** What was counted for a rule: the requests that it matched, and those that it acted on. */
export interface FaultTally {
  matched: number
  hits: number
}

export const NO_TALLY: FaultTally = { matched: 0, hits: 0 }

/** What rules need to know of a request. */
export interface FaultTarget {
  operation: string
  method: string
  path: string
  /** Id of the key. */
  key: string
  /** Whether the contract lets the operation answer with the code. */
  answersWith(code: string): boolean
}

/** A rule that acts on a request. */
export interface TriggeredFault {
  fault: Fault
  /** How many requests the rule has matched, this one included; chance derives from it. */
  ordinal: number
}

export function isExpired({ createdAt, rule }: Fault, now: number): boolean {
  const life = rule.expires_after === undefined ? undefined : parseDuration(rule.expires_after)
  return life !== undefined && now >= createdAt + life
}

/**
 * The first rule, in order of creation, that acts on a request. A rule lets the first `skip` requests that it matches
 * pass. It acts on each of the others with its `probability`, at most `times` times. Each rule that was asked counts the
 * request if it matches; rules after the one that acts are not asked. A rule that is spent or has expired counts no more.
 * `draw` gives a number from 0 up to 1 that depends on its arguments alone.
 */
export function triggerFault(
  faults: readonly Fault[],
  tallies: Pick<ReadonlyMap<string, FaultTally>, 'get'>,
  target: FaultTarget,
  now: number,
  draw: (fault: Fault, ordinal: number) => number,
): { counted: readonly (readonly [id: string, tally: FaultTally])[]; triggered?: TriggeredFault } {
  const counted: [string, FaultTally][] = []
  for (const fault of faults) {
    const { skip = 0, times = Number.POSITIVE_INFINITY, probability = 1 } = fault.rule
    const { matched, hits } = tallies.get(fault.id) ?? NO_TALLY
    if (hits >= times || !matches(fault.rule, target) || isExpired(fault, now)) continue
    const ordinal = matched + 1
    const acts = ordinal > skip && draw(fault, ordinal) < probability
    counted.push([fault.id, { matched: ordinal, hits: acts ? hits + 1 : hits }])
    if (acts) return { counted, triggered: { fault, ordinal } }
  }
  return { counted }
}

function matches({ match = {}, respond }: FaultRule, target: FaultTarget): boolean {
  return (
    (match.operation === undefined || match.operation === target.operation) &&
    (match.method === undefined || match.method === target.method) &&
    (match.path === undefined || match.path === target.path) &&
    (match.key === undefined || match.key === target.key) &&
    // An error that the operation never answers with would teach a client something that does not happen.
    (respond === undefined || !('error' in respond) || target.answersWith(respond.error))
  )
}

/** The id of the account's `ordinal`th rule, from 1. */
export function faultId(ordinal: number): string {
  return `fault_${ordinal}`
}

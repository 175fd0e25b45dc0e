import { parseDuration } from './iso-8601.ts'

export type FaultPhase = 'before' | 'after'

/** The requests that a rule applies to. An absent field matches all. `path` is the part after the version segment. */
export interface FaultMatch {
  operation?: string
  method?: string
  path?: string
  /** Id of a key. */
  key?: string
}

/** A response that replaces the service's: one of its errors (with a status if it has several), or any response. */
export type InjectedResponse =
  | { error: string; status?: number }
  | { status: number; headers?: Readonly<Record<string, string>>; body?: unknown }

/**
 * A fault rule, as in the control plane and in files. The document of the control plane explains each field. The values
 * of `connection`, `corrupt` and `event` are defined elsewhere.
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
  /** The event in the account, see the table of kinds. */
  event?: string
  /** ISO 8601 duration on the account's clock. */
  expires_after?: string
}

export interface Fault {
  id: string
  set?: string
  /** Milliseconds since the Unix epoch, on the account's clock. */
  createdAt: number
  rule: FaultRule
}

/** The counts of a rule: the requests that it matched, and those that it acted on. */
export interface FaultTally {
  matched: number
  hits: number
}

export const NO_TALLY: FaultTally = { matched: 0, hits: 0 }

/** The facts about a request that rules need. */
export interface FaultTarget {
  operation: string
  method: string
  path: string
  /** Id of the key. */
  key: string
  /** Whether the contract permits the operation to answer with the code. */
  answersWith(code: string): boolean
}

/** A rule that matches a request: the data that decides whether it acts, without its tally. */
export interface MatchingRule {
  id: string
  skip: number
  times: number
  probability: number
  /** Its expiry, in milliseconds on the account's clock; infinite for a rule that never expires. */
  ends: number
}

export interface TriggeredRule {
  id: string
  /** The number of requests that the rule has matched, including this one. Chance is derived from it. */
  ordinal: number
}

/** A triggered rule with the rule itself. */
export interface TriggeredFault {
  fault: Fault
  ordinal: number
}

/** The changes of a request to the tallies of matching rules, and the rule that acts on it. */
export interface RuleCount {
  counted: readonly (readonly [id: string, tally: FaultTally])[]
  triggered: TriggeredRule | undefined
}

export function isExpired(fault: Fault, now: number): boolean {
  return now >= endOf(fault)
}

function endOf({ createdAt, rule }: Fault): number {
  const life = rule.expires_after === undefined ? undefined : parseDuration(rule.expires_after)
  return life === undefined ? Number.POSITIVE_INFINITY : createdAt + life
}

/** The rules that match a request, in order of creation. */
export function findMatchingRules(faults: readonly Fault[], target: FaultTarget): MatchingRule[] {
  return faults.flatMap((fault) => {
    if (!matches(fault.rule, target)) return []
    const { skip = 0, times = Number.POSITIVE_INFINITY, probability = 1 } = fault.rule
    return { id: fault.id, skip, times, probability, ends: endOf(fault) }
  })
}

/**
 * The first matching rule that acts on the request. A rule skips the first `skip` requests that it matches. It acts on
 * each other request with its `probability`, at most `times` times. Each tried rule counts the request. Rules after the
 * one that acts are not tried. A rule that is spent or has expired no longer counts. `draw` returns a number from 0 up
 * to 1 that depends only on its arguments.
 */
export function triggerRule(
  rules: readonly MatchingRule[],
  tallies: Pick<ReadonlyMap<string, FaultTally>, 'get'>,
  now: number,
  draw: (id: string, ordinal: number) => number,
): RuleCount {
  const counted: [string, FaultTally][] = []
  for (const { id, skip, times, probability, ends } of rules) {
    const { matched, hits } = tallies.get(id) ?? NO_TALLY
    if (hits >= times || now >= ends) continue
    const ordinal = matched + 1
    const acts = ordinal > skip && draw(id, ordinal) < probability
    counted.push([id, { matched: ordinal, hits: acts ? hits + 1 : hits }])
    if (acts) return { counted, triggered: { id, ordinal } }
  }
  return { counted, triggered: undefined }
}

function matches({ match = {}, respond }: FaultRule, target: FaultTarget): boolean {
  return (
    (match.operation === undefined || match.operation === target.operation) &&
    (match.method === undefined || match.method === target.method) &&
    (match.path === undefined || match.path === target.path) &&
    (match.key === undefined || match.key === target.key) &&
    // An error that the operation never answers with would teach clients something that does not happen.
    (respond === undefined || !('error' in respond) || target.answersWith(respond.error))
  )
}

/** The id of the account's rule number `ordinal`, from 1. */
export function faultId(ordinal: number): string {
  return `fault_${ordinal}`
}

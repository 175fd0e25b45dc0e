import type { Operation } from '../contract/api.ts'
import type { DomainGroup } from '../domain/account.ts'
import type { Problem } from '../domain/errors.ts'
import type { FaultRule } from '../domain/faults.ts'
import type { Allowance } from '../domain/quotas.ts'
import type { ViolationReport } from '../ground/schema.ts'
import type { Content } from '../http/content.ts'

/** Something that made the answer other than the service's own. */
export interface Injection {
  source: 'rule' | 'prefer' | 'simulator'
  /** Of the rule. */
  id?: string
  rule: FaultRule
  /** Numbers from 0 up to 1, the same at every run of the same seed. */
  draw?: () => number
  /** Which preferences an answer with this status honours, as `Preference-Applied` says it. */
  applied?: (status: number) => string
  /** Milliseconds over which the body is spread, once it is known. */
  drip?: number
  /** What became of the answer, one sentence. */
  effect?: string
}

/** An answer that was never sent as it was. */
export interface Decided {
  status: number
  code: string | undefined
}

/** One exchange as it happened. Texts are derived when somebody asks, not while a client waits. */
export interface Entry {
  /** Counts all exchanges of the process. */
  ordinal: number
  requestId: string
  /** Absent where nobody could tell whose request it was. */
  account: string | undefined
  /** Id of the key. */
  key: string | undefined
  /** Milliseconds since the Unix epoch, on the account's clock, when the request came in. */
  at: number
  method: string
  target: string
  /** Of the target, without scheme and authority. */
  path: string
  /** Names and values in turns, as received. */
  headers: readonly string[]
  body: Content | undefined
  operation: Operation | undefined
  allowance: Allowance | undefined
  /** Absent where no answer was sent. */
  status: number | undefined
  code: string | undefined
  /** What is wrong with the request, as much as is kept of it; the first is the one that was answered. */
  problems: readonly Problem<string>[]
  /** Whether the contract itself forbids the request, by its path, method, parameters or body, whatever the state is. */
  unlawful: boolean
  /** What the service had decided, where a fault put something else, or nothing, in the place of its answer. */
  decided: Decided | undefined
  /** Names and values in turns, as sent. */
  responseHeaders: readonly (string | number)[]
  responseBody: Content | undefined
  /** Where the answer departed from the contract. */
  violations: readonly ViolationReport[]
  injection: Omit<Injection, 'draw'> | undefined
  /** Whether the answer, or its absence, is no evidence of how the service behaves. */
  injected: boolean
  keyEvidence: KeyEvidence
  /** The group that the query names, as it was before. */
  group: DomainGroup | undefined
  /** Milliseconds of real time. */
  duration: number
  /** About how many bytes it holds; set once, because to ask an old entry costs as much as to make a new one. */
  weight: number
  /** What failed inside, when the answer is 500. */
  failure: unknown
}

/** What is known of the key of a request. */
export interface KeyEvidence {
  /** Its place among the account's keys, from 1; 0 where it is none of them. */
  ordinal: number
  disabled: boolean
  inGrace: boolean
}

/** A request without a key, or with one that belongs to no account. */
export const NO_KEY: KeyEvidence = { ordinal: 0, disabled: false, inGrace: false }

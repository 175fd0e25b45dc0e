import type { Principal } from '../behaviour/gate.ts'
import type { Operation } from '../contract/api.ts'
import type { AccountState, DomainGroup } from '../domain/account.ts'
import type { Counting } from '../domain/counting.ts'
import type { Problem } from '../domain/errors.ts'
import type { FaultRule } from '../domain/faults.ts'
import { isInGrace } from '../domain/keys.ts'
import type { Allowance, Hits } from '../domain/quotas.ts'
import type { Content } from '../http/content.ts'
import type { Moment } from '../store/store.ts'

/** The cause of a response that is not the service's own. */
export interface InjectionRecord {
  source: 'rule' | 'prefer' | 'simulator'
  /** The id of the fault rule. */
  id: string | undefined
  rule: FaultRule
  /** The changes to the response, in sentences. */
  effect: string | undefined
}

/** A response of the service that was not sent in this form. */
export interface UnsentResponse {
  status: number
  code: string | undefined
}

/** One exchange: a request and its response. Texts about it are created on demand. */
export interface Entry {
  /** The number of this exchange among all exchanges of all servers that share the store. */
  ordinal: number
  requestId: string
  /** The account whose key the request presents, also if it was refused before the key counted. */
  account: string | undefined
  /** Id of the key. */
  key: string | undefined
  /** The time of the request: milliseconds since the Unix epoch on the account's clock. */
  at: number
  method: string
  target: string
  /** The path of the target, without scheme and authority. */
  path: string
  /** Names and values alternate, as received. */
  headers: readonly string[]
  body: Content | undefined
  operation: Operation | undefined
  allowance: Allowance | undefined
  /** Absent if no response was sent. */
  status: number | undefined
  code: string | undefined
  /** The problems of the request, up to a limit. The first problem was answered. */
  problems: readonly Problem<string>[]
  /** Whether the contract always forbids the request, because of its path, method, parameters or body. */
  violatesContract: boolean
  /** The response of the service, if a fault replaced or prevented it. */
  decided: UnsentResponse | undefined
  /** Names and values alternate, as sent. */
  responseHeaders: readonly (string | number)[]
  responseBody: Content | undefined
  /** The violations of the contract in the response. Of an exchange with a real service, what its judgement found. */
  violations: readonly { message: string; by?: 'client' | 'service' }[]
  injection: InjectionRecord | undefined
  /** Whether the response, or its absence, does not show how the service behaves. */
  injected: boolean
  keyEvidence: KeyEvidence
  /** The group in the query, as it was before the request. */
  group: DomainGroup | undefined
  /** The account as the request found it; absent if it has none, or if that is no longer kept. */
  before: Past | undefined
  /** The reference to the state that the request found, if the store keeps it. */
  moment: Moment | undefined
  /** The account that the store keeps because of the request; absent if it changed nothing or is not kept. */
  after: AccountState | undefined
  /** In milliseconds of real time. */
  duration: number
  /** Its approximate size in bytes. It is stored, because reading an old entry costs as much as making a new one. */
  weight: number
  /** The error that caused a response with status 500. */
  failure: unknown
  /** Whether its parts are made when they are first read. It shares none with its neighbours, and knows its weight. */
  isLazy?: true
  /** The ordinal that the shared store has given to it, which may differ a little. */
  recorded?: number
}

/**
 * The state that a request found: its account, and the counts before it. It costs no copy, because states and counters
 * share unchanged parts with later ones. An old version of a map makes a copy when it is read. So a caller that reads
 * all of it reads `replicateAccount` instead.
 */
export interface Past extends Readonly<Counting> {
  /** For a write, the state of the store's final decision. For other requests, the state at the gate. */
  account: AccountState
  /** The bucket that the request was charged to; absent if it has no quota. */
  bucket: string | undefined
  /** The earlier hits of that bucket; absent if there were none. */
  hits: Hits | undefined
  /** The bytes that the account had replaced at that time, see `Ring`. */
  mark: number
}

/** The known facts about the key of a request, if the gate looked at it. */
export interface KeyEvidence {
  /** Its position among the account's keys, from 1; 0 if it is none of them, or did not count. */
  ordinal: number
  disabled: boolean
  inGrace: boolean
}

/** The evidence of a request without a key, with a key that belongs to no account, or with a key that did not count. */
export const NO_KEY: KeyEvidence = { ordinal: 0, disabled: false, inGrace: false }

/** What is the same for all exchanges that the gate of the service has not seen. */
export const NOT_ADMITTED = {
  allowance: undefined,
  decided: undefined,
  injection: undefined,
  injected: false,
  keyEvidence: NO_KEY,
  ...{ group: undefined, before: undefined, moment: undefined, after: undefined },
  failure: undefined,
}

/** The evidence about the key of a request. `gracePeriod` is in seconds. */
export function keyEvidenceOf(principal: Principal | undefined, gracePeriod: number): KeyEvidence {
  if (principal === undefined) return NO_KEY
  const { account, key, now } = principal
  const ordinal = account.keys.indexOf(key) + 1
  return { ordinal, disabled: key.disabled, inGrace: isInGrace(key, now, gracePeriod) }
}

/** Whether a request id is one of its account. All other ids come from one sequence of the server. */
export function hasIdOfAccount({ keyEvidence }: Pick<Entry, 'keyEvidence'>): boolean {
  return keyEvidence.ordinal > 0 && !keyEvidence.disabled
}

/** The first value of a header field. Names and values alternate in `headers`. */
export function fieldOf(headers: readonly string[], name: string): string | undefined {
  const index = headers.findIndex((each, place) => place % 2 === 0 && each.toLowerCase() === name)
  return index < 0 ? undefined : headers[index + 1]
}

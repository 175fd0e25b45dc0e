import type { Principal } from '../behaviour/gate.ts'
import type { Operation } from '../contract/api.ts'
import type { AccountState, DomainGroup } from '../domain/account.ts'
import type { Problem } from '../domain/errors.ts'
import type { FaultRule } from '../domain/faults.ts'
import { isInGrace } from '../domain/keys.ts'
import type { Allowance } from '../domain/quotas.ts'
import type { ViolationReport } from '../ground/schema.ts'
import type { Content } from '../http/content.ts'
import type { Moment } from '../store/store.ts'
import type { Past } from './past.ts'

/** What made the response other than that of the service. */
interface InjectionRecord {
  source: 'rule' | 'prefer' | 'simulator'
  /** The id of the fault rule. */
  id: string | undefined
  rule: FaultRule
  /** What happened to the response, in sentences. */
  effect: string | undefined
}

/** A response that was not sent as the service had made it. */
export interface Decided {
  status: number
  code: string | undefined
}

/** One exchange: a request and its response. Texts about it are made when somebody asks for them. */
export interface Entry {
  /** Counts all exchanges of the process. */
  ordinal: number
  requestId: string
  /** Absent if the request has no valid key. */
  account: string | undefined
  /** Id of the key. */
  key: string | undefined
  /** When the request came in: milliseconds since the Unix epoch on the account's clock. */
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
  /** What is wrong with the request, up to a limit. The first problem was answered. */
  problems: readonly Problem<string>[]
  /** Whether the contract forbids the request in every state, because of its path, method, parameters or body. */
  violatesContract: boolean
  /** The response of the service, if a fault replaced or prevented it. */
  decided: Decided | undefined
  /** Names and values alternate, as sent. */
  responseHeaders: readonly (string | number)[]
  responseBody: Content | undefined
  /** Where the response violates the contract. */
  violations: readonly ViolationReport[]
  injection: InjectionRecord | undefined
  /** Whether the response, or its absence, does not show how the service behaves. */
  injected: boolean
  keyEvidence: KeyEvidence
  /** The group that the query names, as it was before the request. */
  group: DomainGroup | undefined
  /** What it found in its account; absent where it has none, and where that is no longer kept. */
  before: Past | undefined
  /** Names what it found, where the store keeps that. */
  moment: Moment | undefined
  /** The account as the store keeps it because of the request; absent where it changed nothing or that is not kept. */
  after: AccountState | undefined
  /** In milliseconds of real time. */
  duration: number
  /**
   * Its approximate size in bytes. It is stored, because to read an old entry again costs as much as to make a new one.
   */
  weight: number
  /** The error behind a response with status 500. */
  failure: unknown
}

/** What is known about the key of a request. */
export interface KeyEvidence {
  /** Its position among the account's keys, from 1; 0 if it is none of them. */
  ordinal: number
  disabled: boolean
  inGrace: boolean
}

/** A request without a key, or with one that belongs to no account. */
export const NO_KEY: KeyEvidence = { ordinal: 0, disabled: false, inGrace: false }

/** What a request shows of the key that it carries. `gracePeriod` in seconds. */
export function keyEvidenceOf(principal: Principal | undefined, gracePeriod: number): KeyEvidence {
  if (principal === undefined) return NO_KEY
  const { account, key, now } = principal
  const ordinal = account.keys.indexOf(key) + 1
  return { ordinal, disabled: key.disabled, inGrace: isInGrace(key, now, gracePeriod) }
}

import type { Principal } from '../behaviour/gate.ts'
import { type AccountState, type DomainGroup, isInGrace } from '../domain/account.ts'
import type { Problem } from '../domain/errors.ts'
import type { FaultRule } from '../domain/faults.ts'
import type { Allowance, Counters } from '../domain/quotas.ts'
import type { Content } from '../ground/message.ts'

/** The cause of a response that is not the service's own. */
export interface InjectionRecord {
  source: 'rule' | 'prefer' | 'simulator'
  /** The id of the fault rule. */
  id?: string | undefined
  rule: FaultRule
  /** The changes to the response, in sentences. */
  effect?: string | undefined
}

/** A response of the service that was not sent in this form. */
export interface UnsentResponse {
  status: number
  code?: string | undefined
}

/**
 * A body, or the beginning of one, without secrets. Both texts are absent if only its size is known. Bytes that are no
 * UTF-8 are in base64.
 */
export interface RecordedBody {
  text?: string
  base64?: string
  /** The size of the whole original body in bytes. */
  size: number
  /** Present if `text` or `base64` is only the beginning. */
  isCut?: true
}

/** The name of the part of an entry that is no JSON and never leaves the process. */
export const PAST = Symbol('past')

/**
 * One exchange: a request and its response. It is plain JSON without secrets: what `JSON.stringify` writes is safe to
 * send, to store and to print, and means the same when it is read again.
 */
export interface Entry {
  /** The number of this exchange among all exchanges of all servers that share the store. */
  ordinal: number
  /** Names this exchange alone: an account that was reset, and another start with the same seed, use request ids again. */
  id: string
  requestId: string
  /** The account whose key the request presents, also if it was refused before the key counted. */
  account?: string | undefined
  /** Id of the key. */
  key?: string | undefined
  /** The hash of the secret in the field Authorization, which is hidden in `headers`. */
  presented?: string | undefined
  /** The time of the request: milliseconds since the Unix epoch on the account's clock. */
  at: number
  method: string
  target: string
  /** The path of the target, without scheme and authority. */
  path: string
  /** Names and values alternate, as received. */
  headers: readonly string[]
  body?: RecordedBody | undefined
  /** Id of the operation. */
  operation?: string | undefined
  allowance?: Allowance | undefined
  /** Absent if no response was sent. */
  status?: number | undefined
  code?: string | undefined
  /** The problems of the request, up to a limit. The first problem was answered. */
  problems: readonly Problem<string>[]
  /** Whether the contract always forbids the request, because of its path, method, parameters or body. */
  violatesContract: boolean
  /** The response of the service, if a fault replaced or prevented it. */
  decided?: UnsentResponse | undefined
  /** Names and values alternate, as sent. */
  responseHeaders: readonly (string | number)[]
  responseBody?: RecordedBody | undefined
  /** The violations of the contract in the response. Of an exchange with a real service, what its judgement found. */
  violations: readonly { message: string; by?: 'client' | 'service' }[]
  injection?: InjectionRecord | undefined
  /** Whether the response, or its absence, does not show how the service behaves. */
  injected: boolean
  keyEvidence: KeyEvidence
  /** The group in the query, as it was before the request. Of a large group, only the members that matter. */
  group?: DomainGroup | undefined
  /** In milliseconds of real time. */
  duration: number
  /** The error that caused a response with status 500, with its stack. */
  failure?: string | undefined
  /** Names the state that the request found, if the store can recall it. */
  moment?: { incarnation: number; version: number } | undefined
  /** The counts before the request, in an entry from a store that several servers share. */
  found?: Counters | undefined
  /** Absent if the request has no account, in an exchange of another process, or if it is no longer kept. */
  [PAST]?: Past | undefined
}

/** What a request found in its account, and what it left there. */
export interface Past {
  /** For a write, the state of the store's final decision. For other requests, the state at the gate. */
  account: AccountState
  /** The counts before the request. */
  counters: Counters
  /** The account after the request; absent if the request changed nothing. */
  after?: AccountState | undefined
}

/** An exchange before it is recorded. Its ordinal is 0 or absent, unless a shared store has given it one. */
export type NewEntry = Omit<Entry, 'ordinal' | 'id'> & Partial<Pick<Entry, 'ordinal' | 'id'>>

/** The known facts about the key of a request, if the gate looked at it. */
export interface KeyEvidence {
  /** Its position among the account's keys, from 1; 0 if it is none of them, or did not count. */
  ordinal: number
  disabled: boolean
  inGrace: boolean
}

/** The evidence of a request without a key, with a key that belongs to no account, or with a key that did not count. */
export const NO_KEY: KeyEvidence = { ordinal: 0, disabled: false, inGrace: false }

/** The evidence about the key of a request. `gracePeriod` is in seconds. */
export function keyEvidenceOf(principal: Principal | undefined, gracePeriod: number): KeyEvidence {
  if (principal === undefined) return NO_KEY
  const { account, key, now } = principal
  const ordinal = account.keys.indexOf(key) + 1
  return { ordinal, disabled: key.disabled, inGrace: isInGrace(key, now, gracePeriod) }
}

/** The first value of a header field. Names and values alternate in `headers`. */
export function fieldOf(headers: readonly string[], name: string): string | undefined {
  const index = headers.findIndex((each, place) => place % 2 === 0 && each.toLowerCase() === name)
  return index < 0 ? undefined : headers[index + 1]
}

/** The text of a body, as far as it is kept. */
export function textOf({ text, base64 = '' }: RecordedBody): string {
  return text ?? Buffer.from(base64, 'base64').toString()
}

/** The bytes of a body, as far as they are kept. */
export function bytesOf({ text, base64 }: RecordedBody): Buffer {
  return text === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text)
}

/** A body in the form in which the service reads it. */
export function contentOf(body: RecordedBody): Content {
  const { text, size, isCut = false } = body
  if (text !== undefined && !isCut) return { held: text, size }
  // The replacements of secrets may be longer than the secrets, but the beginning must be shorter than the whole.
  return { held: isCut ? bytesOf(body).subarray(0, size - 1) : bytesOf(body), size }
}

/** Whether only the size of a body is known. */
export function isUnread({ text, base64 }: RecordedBody): boolean {
  return text === undefined && base64 === undefined
}

/**
 * Whether the journal lacks the body of a request, or a part of it: the service did not read it, or it is long. What is
 * unknown is equal to nothing.
 */
export function isBodyUnknown({ body, headers }: Pick<Entry, 'body' | 'headers'>): boolean {
  // Only a body that comes in chunks declares no size.
  if (body === undefined) return fieldOf(headers, 'transfer-encoding') !== undefined
  return body.isCut === true || isUnread(body)
}

/**
 * What browsers and other user agents ask a server for by themselves, at the root of its origin: icons, the rules for
 * robots (RFC 9309), and well-known URIs (RFC 8615), for example those of the developer tools of Chrome.
 */
const UNBIDDEN = /^\/(?:favicon\.ico|apple-touch-icon(?:-\d+x\d+)?(?:-precomposed)?\.png|robots\.txt|\.well-known\/.*)$/

/** The parts of a request that tell who sends it. */
interface AskedFile {
  method: string | undefined
  path: string
  /** The header field with the key. */
  authorization: string | undefined
}

/**
 * Whether a user agent sends the request, and no client of the service: it asks for one of these files without a key. A
 * client that has forgotten the base path asks for a path of the service.
 */
export function isUnbidden({ method, path, authorization }: AskedFile): boolean {
  return authorization === undefined && (method === 'GET' || method === 'HEAD') && UNBIDDEN.test(path)
}

import type { OperationId } from '../behaviour/operations/operations.ts'
import type { Catalogue } from '../contract/catalogue.ts'
import type { Open } from '../contract/names.ts'
import type { ErrorCode, Problem } from '../domain/errors.ts'
import type { FaultRule } from '../domain/faults.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import type { Allowance } from '../domain/quotas.ts'
import { writeJson } from '../ground/json.ts'
import { outline, shorten } from '../ground/show.ts'
import { type Content, isCut, textOf } from '../http/content.ts'
import { queryOf } from '../http/target.ts'
import { type Entry, fieldOf } from './entry.ts'
import { type Redact, redactField, redactQuery, redactWithin } from './redaction/redaction.ts'

/** Characters of a received value that a problem shows. */
const RECEIVED = 500

/** A request or a response. A long body is cut off. */
export interface MessageReport {
  headers: Record<string, string>
  body: string | null
  body_size: number
  truncated: boolean
}

/** One thing that was wrong with a request. */
export interface ProblemReport {
  code: Open<ErrorCode>
  field: string | null
  message: string
  received: string | null
}

/** A request to the service with its response, without secrets. The control plane's document describes every field. */
export interface RequestReport {
  ordinal: number
  request_id: string
  account: string | null
  key: string | null
  at: string
  method: string
  path: string
  query: string
  operation: Open<OperationId> | null
  status: number | null
  code: Open<ErrorCode> | null
  injected: boolean
  fault: { source: 'rule' | 'prefer' | 'simulator'; id: string | null; effect: string | null; rule: FaultRule } | null
  problems: ProblemReport[]
  violates_contract: boolean
  violations: readonly { message: string; by?: 'client' | 'service' }[]
  quota: { limit: number; remaining: number; resets_at: string } | null
  duration_ms: number
  request: MessageReport
  response: MessageReport
}

export function describeEntry(entry: Entry, catalogue: Catalogue, redact: Redact): RequestReport {
  const responseHeaders = entry.responseHeaders.map(String)
  return {
    ordinal: entry.ordinal,
    request_id: entry.requestId,
    account: entry.account ?? null,
    key: entry.key ?? null,
    at: writeInstant(entry.at),
    method: redact(entry.method),
    path: redact(entry.path),
    query: redactQuery(queryOf(entry.target), redact),
    operation: entry.operation?.id ?? null,
    status: entry.status ?? null,
    code: entry.code ?? null,
    injected: entry.injected,
    fault: describeInjection(entry.injection, redact),
    problems: entry.problems.map((problem) => describeProblem(problem, catalogue, redact)),
    violates_contract: entry.violatesContract,
    violations: entry.violations.length === 0 ? [] : redactWithin([...entry.violations], redact),
    quota: describeQuota(entry.allowance),
    duration_ms: entry.duration,
    request: describeMessage(entry.headers, entry.body, redact),
    response: describeMessage(responseHeaders, entry.responseBody, redact),
  }
}

export function describeProblem(problem: Problem<string>, catalogue: Catalogue, redact: Redact): ProblemReport {
  const { field, value } = problem
  const { code, message } = catalogue.answer(problem)
  const received = value === undefined ? undefined : shortenReceived(writeJson(value) ?? outline(value), redact)
  return {
    code,
    field: field === undefined ? null : redact(field),
    message: redact(message),
    received: received ?? null,
  }
}

/** The text of a received value in the form for a report. */
export function shortenReceived(text: string, redact: Redact): string {
  return shorten(redact(text), RECEIVED)
}

export function describeQuota(allowance: Allowance | undefined): RequestReport['quota'] {
  if (allowance === undefined) return null
  const { limit, remaining, resetAt } = allowance
  return { limit, remaining, resets_at: writeInstant(resetAt * 1000) }
}

function describeInjection(injection: Entry['injection'], redact: Redact): RequestReport['fault'] {
  if (injection === undefined) return null
  const { source, id = null, effect, rule } = injection
  return { source, id, effect: effect === undefined ? null : redact(effect), rule: redactWithin(rule, redact) }
}

function describeMessage(fields: readonly string[], body: Content | undefined, redact: Redact): MessageReport {
  const headers: Record<string, string> = Object.create(null)
  for (let index = 0; index < fields.length; index += 2) {
    const name = (fields[index] ?? '').toLowerCase()
    const value = redactField(name, fields[index + 1] ?? '', redact)
    const shown = redact(name)
    headers[shown] = headers[shown] === undefined ? value : `${headers[shown]}, ${value}`
  }
  const size = body?.size ?? 0
  const truncated = body !== undefined && isCut(body)
  return {
    headers: { ...headers },
    body: body === undefined || isUnread(body) ? null : readableBody(body, redact),
    body_size: size,
    truncated,
  }
}

/** Whether only the size of a body is known. */
export function isUnread({ held, size }: Content): boolean {
  return held.length === 0 && size > 0
}

/**
 * Whether the journal lacks the body of a request, or a part of it: the service did not read it, or it is long. What is
 * unknown is equal to nothing.
 */
export function isBodyUnknown({ body, headers }: Pick<Entry, 'body' | 'headers'>): boolean {
  // Only a body that comes in chunks declares no size.
  if (body === undefined) return fieldOf(headers, 'transfer-encoding') !== undefined
  return isCut(body) || isUnread(body)
}

/** The ellipsis after a cut body tells `redact` that a secret may begin at its end. */
export function readableBody(body: Content, redact: Redact): string {
  return isCut(body) ? redact(`${textOf(body)}…`).slice(0, -1) : redact(textOf(body))
}

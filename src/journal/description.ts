import type { Catalogue } from '../contract/catalogue.ts'
import type { Problem } from '../domain/errors.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import type { Allowance } from '../domain/quotas.ts'
import { writeJson } from '../ground/json.ts'
import { outline, shorten } from '../ground/show.ts'
import { type Content, isCut, textOf } from '../http/content.ts'
import { queryOf } from '../http/target.ts'
import type { Entry } from './entry.ts'
import { type Redact, redactField, redactQuery, redactWithin } from './redaction.ts'

/** Characters of a received value that a problem shows. */
const RECEIVED = 500

/** An entry of the journal as the control plane tells it; its document describes every field. Without secrets. */
export function describeEntry(entry: Entry, catalogue: Catalogue, redact: Redact): Record<string, unknown> {
  const responseHeaders = entry.responseHeaders.map(String)
  return {
    ordinal: entry.ordinal,
    request_id: entry.requestId,
    account: entry.account ?? null,
    key: entry.key ?? null,
    at: writeInstant(entry.at),
    method: entry.method,
    path: redact(entry.path),
    query: redactQuery(queryOf(entry.target), redact),
    operation: entry.operation?.id ?? null,
    status: entry.status ?? null,
    code: entry.code ?? null,
    injected: entry.injected,
    fault: describeInjection(entry.injection),
    problems: entry.problems.map((problem) => describeProblem(problem, catalogue, redact)),
    violations: entry.violations.length === 0 ? [] : redactWithin(entry.violations, redact),
    quota: describeQuota(entry.allowance),
    duration_ms: entry.duration,
    request: message(entry.headers, entry.body, redact),
    response: message(responseHeaders, entry.responseBody, redact),
  }
}

export function describeProblem(
  problem: Problem<string>,
  catalogue: Catalogue,
  redact: Redact,
): { code: string; field: string | null; message: string; received: unknown } {
  const { code, field, value } = problem
  const received = value === undefined ? undefined : shorten(redact(writeJson(value) ?? outline(value)), RECEIVED)
  return { code, field: field ?? null, message: redact(catalogue.answer(problem).message), received: received ?? null }
}

export function describeQuota(allowance: Allowance | undefined): object | null {
  if (allowance === undefined) return null
  const { limit, remaining, resetAt } = allowance
  return { limit, remaining, resets_at: writeInstant(resetAt * 1000) }
}

export function describeInjection(injection: Entry['injection']): object | null {
  if (injection === undefined) return null
  const { source, id, effect, rule } = injection
  return { source, id: id ?? null, effect: effect ?? null, rule }
}

function message(fields: readonly string[], body: Content | undefined, redact: Redact): object {
  const headers: Record<string, string> = Object.create(null)
  for (let index = 0; index < fields.length; index += 2) {
    const name = (fields[index] ?? '').toLowerCase()
    const value = redactField(name, fields[index + 1] ?? '', redact)
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  const size = body?.size ?? 0
  const truncated = body !== undefined && isCut(body)
  return {
    headers: { ...headers },
    body: body === undefined || isUnread(body) ? null : text(body, redact),
    body_size: size,
    truncated,
  }
}

/** Whether nothing is known of a body but its size. */
export function isUnread({ held, size }: Content): boolean {
  return held.length === 0 && size > 0
}

/** Of what was cut off, the ellipsis shows that the last characters may be those of a secret. */
function text(body: Content, redact: Redact): string {
  return isCut(body) ? redact(`${textOf(body)}…`).slice(0, -1) : redact(textOf(body))
}

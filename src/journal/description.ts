import type { Catalogue } from '../contract/catalogue.ts'
import type { Schemas } from '../contract/control-plane.ts'
import type { Problem } from '../domain/errors.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import type { Allowance } from '../domain/quotas.ts'
import { writeJson } from '../ground/json.ts'
import { outline, shorten } from '../ground/show.ts'
import { queryOf } from '../ground/target.ts'
import { type Entry, isUnread, type RecordedBody, textOf } from './entry.ts'

/** Characters of a received value that a problem shows. */
const RECEIVED = 500

/** A request or a response. A long body is cut off. */
export type MessageReport = Schemas['Message']

/** One thing that was wrong with a request. */
export type ProblemReport = Schemas['Problem']

/** A request to the service with its response, without secrets. */
export type RequestReport = Schemas['JournalEntry']

export function describeEntry(entry: Entry, catalogue: Catalogue): RequestReport {
  return {
    ordinal: entry.ordinal,
    id: entry.id,
    request_id: entry.requestId,
    account: entry.account ?? null,
    key: entry.key ?? null,
    at: writeInstant(entry.at),
    method: entry.method,
    path: entry.path,
    query: queryOf(entry.target),
    operation: entry.operation ?? null,
    status: entry.status ?? null,
    code: entry.code ?? null,
    injected: entry.injected,
    fault: describeInjection(entry.injection),
    problems: entry.problems.map((problem) => describeProblem(problem, catalogue)),
    violates_contract: entry.violatesContract,
    violations: [...entry.violations],
    quota: describeQuota(entry.allowance),
    duration_ms: entry.duration,
    request: describeMessage(entry.headers, entry.body),
    response: describeMessage(entry.responseHeaders, entry.responseBody),
  }
}

function describeProblem(problem: Problem<string>, catalogue: Catalogue): ProblemReport {
  const { field = null, value } = problem
  const { code, message } = catalogue.answer(problem)
  const received = value === undefined ? null : shorten(writeJson(value) ?? outline(value), RECEIVED)
  return { code, field, message, received }
}

function describeQuota(allowance: Allowance | undefined): RequestReport['quota'] {
  if (allowance === undefined) return null
  const { limit, remaining, resetAt } = allowance
  return { limit, remaining, resets_at: writeInstant(resetAt * 1000) }
}

function describeInjection(injection: Entry['injection']): RequestReport['fault'] {
  if (injection === undefined) return null
  const { source, id = null, effect = null, rule } = injection
  // The schema admits only rules of known kinds.
  return { source, id, effect, rule: rule as Schemas['FaultRule'] }
}

function describeMessage(fields: Entry['responseHeaders'], body: RecordedBody | undefined): MessageReport {
  const headers: Record<string, string> = Object.create(null)
  for (let index = 0; index < fields.length; index += 2) {
    const name = String(fields[index]).toLowerCase()
    const value = String(fields[index + 1] ?? '')
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  return {
    headers: { ...headers },
    body: body === undefined || isUnread(body) ? null : textOf(body),
    body_size: body?.size ?? 0,
    truncated: body !== undefined && (body.isCut === true || (isUnread(body) && body.size > 0)),
  }
}

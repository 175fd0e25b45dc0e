import type { Catalogue } from '../contract/catalogue.ts'
import type { Problem } from '../domain/errors.ts'
import type { Allowance } from '../domain/quotas.ts'
import type { Entry, Injection, KeptBody } from './entry.ts'
import { redactField, redactorFor } from './redaction.ts'

/** An entry of the journal as the control plane tells it; its document describes every field. Without secrets. */
export function describeEntry(entry: Entry, catalogue: Catalogue): Record<string, unknown> {
  const redact = redactorFor(entry.headers, entry.key)
  const [path = '', query = ''] = splitTarget(entry.target)
  const responseHeaders = Object.entries(entry.responseHeaders).flatMap(([name, value]) => [name, String(value)])
  return {
    ordinal: entry.ordinal,
    request_id: entry.requestId,
    account: entry.account ?? null,
    key: entry.key ?? null,
    at: instant(entry.at),
    method: entry.method,
    path: redact(path),
    query: redact(query),
    operation: entry.operation?.id ?? null,
    status: entry.status ?? null,
    code: entry.code ?? null,
    injected: entry.injected,
    fault: describeInjection(entry.injection),
    problems: entry.problems.map((problem) => describeProblem(problem, catalogue, redact)),
    violations: entry.violations,
    quota: describeQuota(entry.allowance),
    duration_ms: entry.duration,
    request: message(entry.headers, entry.body, redact),
    response: message(responseHeaders, entry.responseBody, redact),
  }
}

export function describeProblem(
  problem: Problem<string>,
  catalogue: Catalogue,
  redact: (text: string) => string,
): { code: string; field: string | null; message: string; received: unknown } {
  const { code, field, value } = problem
  const received = value === undefined ? undefined : redact(shorten(JSON.stringify(value) ?? ''))
  return { code, field: field ?? null, message: redact(catalogue.answer(problem).message), received: received ?? null }
}

export function describeQuota(allowance: Allowance | undefined): object | null {
  if (allowance === undefined) return null
  const { limit, remaining, resetAt } = allowance
  return { limit, remaining, resets_at: instant(resetAt * 1000) }
}

export function describeInjection(injection: Injection | undefined): object | null {
  if (injection === undefined) return null
  const { source, id, effect, rule } = injection
  return { source, id: id ?? null, effect: effect ?? null, rule }
}

/** Path and query of a request target. */
export function splitTarget(target: string): [path: string, query: string] {
  const mark = target.indexOf('?')
  return mark < 0 ? [target, ''] : [target.slice(0, mark), target.slice(mark + 1)]
}

function message(fields: readonly string[], body: KeptBody | undefined, redact: (text: string) => string): object {
  const headers: Record<string, string> = Object.create(null)
  for (let index = 0; index < fields.length; index += 2) {
    const name = (fields[index] ?? '').toLowerCase()
    const value = redactField(name, fields[index + 1] ?? '', redact)
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  const size = body?.size ?? 0
  return {
    headers: { ...headers },
    body: body === undefined ? null : redact(body.bytes.toString()),
    body_size: size,
    truncated: size > (body?.bytes.length ?? 0),
  }
}

function shorten(text: string): string {
  return text.length <= 500 ? text : `${text.slice(0, 499)}…`
}

function instant(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('.000Z', 'Z')
}

import { isObject } from '../contract/json.ts'
import type { Entry } from './entry.ts'
import { splitTarget } from './report.ts'

/** What a request must be like; all that is named must fit. */
export interface RequestMatch {
  operation?: string
  method?: string
  /** Below the version segment. */
  path?: string
  key?: string
  status?: number
  code?: string
  injected?: boolean
  /** Whether the request was refused as unlawful, or its answer departed from the contract. */
  violation?: boolean
  query?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, string>>
  /** What the JSON body must contain. */
  body?: unknown
}

/** Where a request is not as it should be. */
export interface Difference {
  field: string
  expected: unknown
  received: unknown
}

/** Everything in which an entry departs from what is asked for; none when it matches. */
export function differencesOf(entry: Entry, match: RequestMatch, basePath: string): Difference[] {
  const differences: Difference[] = []
  const demand = (field: string, expected: unknown, received: unknown, fits = received === expected) => {
    if (expected !== undefined && !fits) differences.push({ field, expected, received: received ?? null })
  }
  const [path, query] = splitTarget(entry.target)
  demand('operation', match.operation, entry.operation?.id)
  demand('method', match.method, entry.method)
  demand('path', match.path, path.startsWith(basePath) ? path.slice(basePath.length) : path)
  demand('key', match.key, entry.key)
  demand('status', match.status, entry.status)
  demand('code', match.code, entry.code)
  demand('injected', match.injected, entry.injected)
  demand('violation', match.violation, violates(entry))
  const parameters = new URLSearchParams(query)
  for (const [name, value] of Object.entries(match.query ?? {})) demand(`query.${name}`, value, parameters.get(name))
  for (const [name, value] of Object.entries(match.headers ?? {}))
    demand(`headers.${name}`, value, fieldOf(entry, name))
  if ('body' in match) {
    const received = bodyOf(entry)
    demand('body', match.body, received, contains(received, match.body))
  }
  return differences
}

/** Whether the contract was violated by either side. What the state forbade, such as a taken name, is no violation. */
export function violates({ problems, violations, injected }: Entry): boolean {
  return violations.length > 0 || (!injected && problems.some(({ code }) => UNLAWFUL.has(code)))
}

/** The codes of requests that no state of an account would make lawful. */
const UNLAWFUL = new Set([
  ...['invalid_json', 'invalid_request_body', 'unknown_field', 'missing_field', 'invalid_field_type', 'missing_id'],
  ...['no_fields_to_update', 'conflicting_fields', 'request_too_large', 'invalid_name', 'invalid_domain'],
])

function fieldOf({ headers }: Entry, name: string): string | undefined {
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]?.toLowerCase() === name.toLowerCase()) return headers[index + 1]
  }
  return undefined
}

function bodyOf({ body }: Entry): unknown {
  if (body === undefined) return undefined
  try {
    return JSON.parse(body.bytes.toString())
  } catch {
    return body.bytes.toString()
  }
}

/** Whether a value has everything that another has: objects may have more fields, all else is equal. */
function contains(value: unknown, part: unknown): boolean {
  if (Array.isArray(part)) {
    return (
      Array.isArray(value) && value.length === part.length && part.every((item, index) => contains(value[index], item))
    )
  }
  if (!isObject(part)) return value === part
  return (
    isObject(value) &&
    Object.entries(part).every(([name, item]) => Object.hasOwn(value, name) && contains(value[name], item))
  )
}

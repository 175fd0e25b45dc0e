import { isObject, readJson, writeJson } from '../ground/json.ts'
import { outline, shorten } from '../ground/show.ts'
import { textOf } from '../http/content.ts'
import { queryOf, readQuery } from '../http/target.ts'
import { isUnread } from './description.ts'
import type { Entry } from './entry.ts'

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
  /** Whether the contract forbids the request, whatever the state is, or its answer departed from the contract. */
  violation?: boolean
  query?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, string>>
  /** What the JSON body must contain. */
  body?: unknown
}

/** How many things are asked for. */
export function demandsOf({ query = {}, headers = {}, ...others }: RequestMatch): number {
  return Object.keys(others).length + Object.keys(query).length + Object.keys(headers).length
}

/** Where a request is not as it should be. */
export interface Difference {
  field: string
  expected: unknown
  received: unknown
}

/** Characters of a body that a difference shows. */
const SHOWN = 2_000

/** Everything in which an entry departs from what is asked for; none when it matches. */
export function differencesOf(entry: Entry, match: RequestMatch, basePath: string): Difference[] {
  const differences: Difference[] = []
  const demand = (field: string, expected: unknown, received: unknown, fits = received === expected) => {
    if (expected !== undefined && !fits) differences.push({ field, expected, received: received ?? null })
  }
  demand('operation', match.operation, entry.operation?.id)
  demand('method', match.method, entry.method)
  demand('path', match.path, pathBelow(entry, basePath))
  demand('key', match.key, entry.key)
  demand('status', match.status, entry.status)
  demand('code', match.code, entry.code)
  demand('injected', match.injected, entry.injected)
  demand('violation', match.violation, violates(entry))
  const parameters = readQuery(queryOf(entry.target))
  for (const [name, value] of Object.entries(match.query ?? {})) demand(`query.${name}`, value, parameters[name])
  for (const [name, value] of Object.entries(match.headers ?? {}))
    demand(`headers.${name}`, value, fieldOf(entry, name))
  if ('body' in match) {
    const received = bodyOf(entry)
    demand('body', match.body, shown(received), contains(received, match.body))
  }
  return differences
}

/** Whether the contract was violated by either side. What the state forbade, such as a taken name, is no violation. */
export function violates({ unlawful, violations, injected }: Entry): boolean {
  return violations.length > 0 || (unlawful && !injected)
}

/** The path of the operation or, where there is none, what was asked for below the version segment. */
function pathBelow({ operation, path }: Entry, basePath: string): string {
  return operation?.path ?? (path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path)
}

/** Of several fields with this name, all. */
function fieldOf({ headers }: Entry, name: string): string | undefined {
  const values = headers.filter(
    (_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === name.toLowerCase(),
  )
  return values.length === 0 ? undefined : values.join(', ')
}

function bodyOf({ body }: Entry): unknown {
  if (body === undefined || isUnread(body)) return undefined
  const text = textOf(body)
  const value = readJson(text)
  return value === undefined ? text : value
}

/** As much of a body as helps to see what is wrong with it; one that is nested too deeply cannot be written at all. */
function shown(body: unknown): unknown {
  const text = body === undefined ? '' : writeJson(body)
  if (text === undefined) return outline(body)
  return text.length <= SHOWN ? body : shorten(text, SHOWN)
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

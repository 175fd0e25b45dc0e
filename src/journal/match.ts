import type { OperationId } from '../behaviour/operations/operations.ts'
import { type Api, operationOf } from '../contract/api.ts'
import type { ErrorCode } from '../domain/errors.ts'
import { isObject, readJson, writeJson } from '../ground/json.ts'
import { outline, shorten } from '../ground/show.ts'
import { queryOf, readQuery } from '../ground/target.ts'
import { type Entry, isBodyUnknown, isUnread, textOf } from './entry.ts'

/** Conditions for a request. It matches if all of them are met. */
export interface RequestMatch {
  operation?: OperationId
  method?: string
  /** Relative to the version segment, such as /domaingroups. */
  path?: string
  key?: string
  status?: number
  code?: ErrorCode
  /** Whether a fault or a simulation made the response. */
  injected?: boolean
  /** Id of the fault rule that acted on it. */
  fault?: string
  /** Whether the contract always forbids the request, or its response violates the contract. */
  violation?: boolean
  /** Whether the status of the response is 400 or more. */
  refused?: boolean
  query?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, string>>
  /** The part that the JSON body must contain. */
  body?: unknown
}

/** The number of conditions. */
export function countConditions({ query = {}, headers = {}, ...others }: RequestMatch): number {
  return Object.keys(others).length + Object.keys(query).length + Object.keys(headers).length
}

/** A condition that a request does not meet. */
export interface Difference {
  field: string
  expected: unknown
  received: unknown
}

/** The maximum number of characters of a body in a difference. */
const SHOWN = 2_000

type Described = Pick<Api, 'basePath' | 'operations'>
type Attribute = Exclude<keyof RequestMatch, 'query' | 'headers' | 'body'>

/** The values that are compared with the conditions about one value. */
const ATTRIBUTES: Readonly<Record<Attribute, (entry: Entry, contract: Described) => unknown>> = {
  operation: ({ operation }) => operation,
  method: ({ method }) => method,
  path: pathBelow,
  key: ({ key }) => key,
  status: ({ status }) => status,
  code: ({ code }) => code,
  injected: ({ injected }) => injected,
  fault: ({ injection }) => injection?.id,
  violation: violates,
  refused: ({ status }) => status !== undefined && status >= 400,
}
const ATTRIBUTE_NAMES = Object.keys(ATTRIBUTES) as Attribute[]

/**
 * A function that tests whether an entry meets all conditions about one value. It creates no object, because it may
 * test hundreds of thousands of entries.
 */
export function matcherOf(match: Pick<RequestMatch, Attribute>, contract: Described): (entry: Entry) => boolean {
  const conditions = ATTRIBUTE_NAMES.filter((name) => match[name] !== undefined)
  return (entry) => conditions.every((name) => ATTRIBUTES[name](entry, contract) === match[name])
}

/** The conditions that an entry does not meet; none if it matches. */
export function differencesOf(entry: Entry, match: RequestMatch, contract: Described): Difference[] {
  const differences: Difference[] = []
  const compare = (field: string, expected: unknown, received: unknown, fits = received === expected) => {
    if (expected !== undefined && !fits) differences.push({ field, expected, received: received ?? null })
  }
  for (const name of ATTRIBUTE_NAMES) compare(name, match[name], ATTRIBUTES[name](entry, contract))
  const parameters = readQuery(queryOf(entry.target))
  for (const [name, value] of Object.entries(match.query ?? {})) compare(`query.${name}`, value, parameters[name])
  for (const [name, value] of Object.entries(match.headers ?? {}))
    compare(`headers.${name}`, value, fieldOf(entry, name))
  if ('body' in match) {
    const received = bodyOf(entry)
    compare('body', match.body, shown(received), !isBodyUnknown(entry) && contains(received, match.body))
  }
  return differences
}

/** Whether only the body is missing to tell that an entry matches: the journal lacks it, or a part of it. */
export function mayMatch(entry: Entry, differences: readonly Difference[]): boolean {
  return differences.every(({ field }) => field === 'body') && isBodyUnknown(entry)
}

/** Whether the request or the response violates the contract. A refusal because of the state is no violation. */
function violates({ violatesContract, violations }: Entry): boolean {
  return violations.length > 0 || violatesContract
}

/** The path of the operation, or without an operation, the path of the request after the version segment. */
function pathBelow({ operation, path }: Entry, { basePath, operations }: Described): string {
  return (
    operationOf({ operations }, operation)?.path ??
    (path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path)
  )
}

/** The value of a header field. Several fields with this name are joined. */
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

/** The body, or its beginning as text if it is long. If it is nested too deeply, only its type. */
function shown(body: unknown): unknown {
  const text = body === undefined ? '' : writeJson(body)
  if (text === undefined) return outline(body)
  return text.length <= SHOWN ? body : shorten(text, SHOWN)
}

/** Whether a value contains another. Objects can have more fields. All other values must be equal. */
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

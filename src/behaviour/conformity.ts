import type { Operation } from '../contract/api.ts'
import type { Catalogue } from '../contract/catalogue.ts'
import { type Problem, type Problems, type Refusal, refusalOf } from '../domain/errors.ts'
import { type NameSettings, nameProblems, storedName } from '../domain/group-names.ts'
import type { Settings } from '../domain/settings.ts'
import { isObject, type Json, valueAt } from '../ground/json.ts'
import type { Query } from '../http/target.ts'
import type { ConformingRequest } from './operation.ts'

/** A request to an operation, read as far as HTTP goes. */
export interface ReceivedRequest {
  operation: Operation
  query: Query
  /** A JSON value, or why there is none. Absent where no body is read. */
  body: { ok: true; value: unknown } | Refusal | undefined
}

/** Settings of an API that decide which requests conform. */
export type ConformitySettings = Pick<Settings, 'nullFields' | 'unknownQueryParameters'> & NameSettings

/** `value` is the body of a refused request, where it is JSON. */
export type Conformity = ({ ok: true } & ConformingRequest) | (Refusal<string> & { value?: unknown })

const NO_PROBLEMS: readonly Problem<string>[] = []
const NO_BODY: Json = {}

/**
 * Holds a request to the parameters and the schema of its operation, whatever the account holds. A refusal has all
 * problems; the one that is answered comes first.
 */
export function conform(
  { operation, query, body }: ReceivedRequest,
  settings: ConformitySettings,
  catalogue: Catalogue,
): Conformity {
  const wrong = operation.checkQuery(query)
  const unknown = settings.unknownQueryParameters === 'refused' ? unknownParameters(query, operation) : NO_PROBLEMS
  const inQuery = joined(wrong, unknown)
  if (body === undefined) {
    return refusalFor(inQuery, catalogue) ?? { ok: true, operation, query: singleValues(query), body: NO_BODY }
  }
  if (!body.ok) return refusalFor(joined(inQuery, body.problems), catalogue) ?? body
  const sent = settings.nullFields === 'absent' ? withoutNulls(body.value) : body.value
  const { value, problems } = readName(sent, operation, settings)
  const refusal = refusalFor(joined(joined(inQuery, operation.checkBody(value)), problems), catalogue)
  if (refusal !== undefined) return { ...refusal, value }
  // The check of the body has just shown that it is an object.
  return { ok: true, operation, query: singleValues(query), body: value as Json }
}

/** A refusal for the problems, if there are any. The one that the catalogue ranks highest comes first. */
export function refusalFor(problems: readonly Problem<string>[], catalogue: Catalogue): Refusal<string> | undefined {
  const refusal = refusalOf(problems)
  if (refusal === undefined || problems.length === 1) return refusal
  const foremost = catalogue.foremost(refusal.problems)
  if (foremost === refusal.problems[0]) return refusal
  return { ok: false, problems: [foremost, ...problems.filter((each) => each !== foremost)] as Problems<string> }
}

/** Query parameters that the operation does not have. */
function unknownParameters(query: Readonly<Record<string, unknown>>, { parameters }: Operation): Problem<string>[] {
  const unknown = Object.keys(query).filter((name) => !parameters.has(name))
  return unknown.map((name) => ({ code: 'unknown_field', reason: 'query', field: name, value: query[name] }))
}

/** Both lists in one; most often there is nothing in either. */
function joined<Item>(some: readonly Item[], others: readonly Item[]): readonly Item[] {
  if (others.length === 0) return some
  return some.length === 0 ? others : [...some, ...others]
}

/** The check of the query has just shown that each parameter of the operation has one value. */
function singleValues(query: Query): Readonly<Record<string, string>> {
  return query as Readonly<Record<string, string>>
}

interface NamedBody {
  value: unknown
  problems: readonly Problem<string>[]
}

/** The body with the name of a group as it is stored, and what of the name no schema can say. */
function readName(body: unknown, operation: Operation, settings: NameSettings): NamedBody {
  const rule = nameRuleOf(operation)
  const sent = rule !== undefined && isObject(body) && Object.hasOwn(body, 'name') ? body['name'] : undefined
  if (rule === undefined || typeof sent !== 'string') return { value: body, problems: NO_PROBLEMS }
  const { code, limit } = rule
  const name = storedName(sent, settings)
  const problems = nameProblems(name, settings, limit)
  return {
    value: name === sent ? body : { ...(body as Json), name },
    problems: problems.length === 0 ? NO_PROBLEMS : problems.map((problem) => ({ code, field: '/name', ...problem })),
  }
}

interface NameRule {
  /** The code for a name with characters that it must not have. */
  code: string
  limit: number
}

const nameRules = new WeakMap<Operation, NameRule | 'none'>()

/** What the schema of the body says about the name of a group; remembered, because each request asks. */
function nameRuleOf(operation: Operation): NameRule | undefined {
  let rule = nameRules.get(operation)
  if (rule === undefined) {
    const schema = valueAt(operation.bodySchema, '/properties/name')
    const code = valueAt(schema, '/x-error/pattern')
    const limit = Number(valueAt(schema, '/maxLength') ?? Number.POSITIVE_INFINITY)
    rule = typeof code === 'string' ? { code, limit } : 'none'
    nameRules.set(operation, rule)
  }
  return rule === 'none' ? undefined : rule
}

function withoutNulls(value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null)) : value
}

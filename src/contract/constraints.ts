import { isObject, type Json } from '../ground/json.ts'

/** The JSON Schema keywords that a value can violate. */
export const ASSERTIONS: readonly string[] = [
  ...['type', 'enum', 'const', 'required', 'additionalProperties', 'minProperties', 'maxProperties', 'not', 'oneOf'],
  ...['propertyNames', 'anyOf', 'minItems', 'maxItems', 'uniqueItems', 'minLength', 'maxLength', 'pattern', 'format'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'dependentRequired'],
]

/**
 * A schema as the service reads it, with the keywords of its `x-constraints` merged into it. They are separate in
 * openapi.yaml because other tools misread them. For example, binary fractions are no exact multiples of 0.1.
 */
export function withConstraints(schema: Json): Json {
  // Every object of the document is passed here at each start. Few objects have constraints.
  if (schema['x-constraints'] === undefined) return schema
  const { 'x-constraints': constraints, ...rest } = schema
  return isObject(constraints) ? { ...rest, ...constraints } : schema
}

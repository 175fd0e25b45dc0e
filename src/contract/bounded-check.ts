import type { ErrorObject } from 'ajv/dist/2020.js'
import { define, isObject, type Json, mapValues, pointTo } from '../ground/json.ts'

/** A body with a longer array or with more fields is checked in pieces. */
const MANY = 1_000
/** The maximum number of listed errors of such an array or object, plus the first error of each further kind. */
const LISTED = 100

const NONE: readonly never[] = []

export interface Validate {
  (value: unknown): boolean
  errors?: ErrorObject[] | null | undefined
}

/**
 * A check that finds the errors of a body and needs little memory. A body of a megabyte can have half a million errors,
 * and ajv would create an object for each. At least one error of every kind is listed. So the answered error code does
 * not depend on the omitted errors. `compile` takes a part of the schema and the JSON pointer to it.
 */
export function boundErrors(
  schema: Json,
  compile: (schema: unknown, pointer: string) => Validate,
): (body: unknown) => readonly ErrorObject[] {
  const validate = compile(schema, '')
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const piecewise = checkPiecewise(schema, properties, compile)
  return (body) => {
    if (!isObject(body) || !isLong(body)) return validate(body) ? NONE : (validate.errors ?? [])
    return piecewise(body)
  }
}

function isLong(body: Json): boolean {
  let fields = 0
  for (const name in body) {
    const value = body[name]
    if (++fields > MANY || (Array.isArray(value) && value.length > MANY)) return true
  }
  return false
}

/** Finds the errors of the body without its items, then those of each item. */
function checkPiecewise(
  schema: Json,
  properties: Json,
  compile: (schema: unknown, pointer: string) => Validate,
): (body: Json) => ErrorObject[] {
  const whole = compile({ ...schema, properties: mapValues(properties, withoutItems) }, '')
  const items = new Map<string, Validate>()
  for (const [name, property] of Object.entries(properties)) {
    if (!isObject(property) || property['items'] === undefined) continue
    items.set(name, compile(property['items'], `${pointTo('/properties', name)}/items`))
  }
  return (body) => {
    const errors = whole(withFewUnknown(body, schema, properties)) ? [] : [...(whole.errors ?? [])]
    for (const [name, validate] of items) {
      const array = Object.hasOwn(body, name) ? body[name] : undefined
      if (Array.isArray(array)) errors.push(...errorsOfItems(array, name, validate))
    }
    return errors
  }
}

function errorsOfItems(array: readonly unknown[], name: string, validate: Validate): ErrorObject[] {
  const listed: ErrorObject[] = []
  const kinds = new Set<string>()
  for (const [index, item] of array.entries()) {
    if (validate(item)) continue
    for (const error of validate.errors ?? []) {
      if (listed.length >= LISTED && kinds.has(error.schemaPath)) continue
      kinds.add(error.schemaPath)
      const instancePath = pointTo(pointTo('', name), index) + error.instancePath
      const schemaPath = error.schemaPath.replace('#', `#${pointTo('/properties', name)}/items`)
      listed.push({ ...error, instancePath, schemaPath })
    }
  }
  return listed
}

/** The body without most of its unknown fields. As many unknown fields stay as errors are listed. */
function withFewUnknown(body: Json, { additionalProperties }: Json, properties: Json): Json {
  if (additionalProperties !== false) return body
  const few: Json = {}
  let unknown = 0
  for (const name of Object.keys(body)) {
    if (Object.hasOwn(properties, name) || ++unknown <= LISTED) define(few, name, body[name])
  }
  return few
}

function withoutItems(property: unknown): unknown {
  if (!isObject(property)) return property
  const { items: _, ...rest } = property
  return rest
}

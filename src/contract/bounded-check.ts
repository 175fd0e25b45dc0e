import type { ErrorObject } from 'ajv/dist/2020.js'
import { define, isObject, type Json, pointTo } from '../ground/json.ts'

/** Items or fields of one value that are held to the schema at once. */
const MANY = 1_000
/** Of an array or object with more, so many errors are told; beyond them, one of each kind that was not told yet. */
const TOLD = 100

const NONE: readonly never[] = []

export interface Validate {
  (value: unknown): boolean
  errors?: ErrorObject[] | null | undefined
}

/**
 * A check for all that is wrong with a body, whose cost in memory is bounded: a megabyte can be wrong in half a million
 * places, and ajv would make an object of each. Of every kind of error at least one is told, so that it makes no
 * difference to the code which of them are not. `compile` takes a part of the schema and the JSON pointer to it.
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

/** The same as one validation, but item by item: first what is wrong with the whole, then with the items of each array. */
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
  const told: ErrorObject[] = []
  const kinds = new Set<string>()
  for (const [index, item] of array.entries()) {
    if (validate(item)) continue
    for (const error of validate.errors ?? []) {
      if (told.length >= TOLD && kinds.has(error.schemaPath)) continue
      kinds.add(error.schemaPath)
      const instancePath = pointTo(pointTo('', name), index) + error.instancePath
      const schemaPath = error.schemaPath.replace('#', `#${pointTo('/properties', name)}/items`)
      told.push({ ...error, instancePath, schemaPath })
    }
  }
  return told
}

/** The body without most of the fields that must not be there; enough of them are left to be refused alike. */
function withFewUnknown(body: Json, { additionalProperties }: Json, properties: Json): Json {
  if (additionalProperties !== false) return body
  const few: Json = {}
  let unknown = 0
  for (const name of Object.keys(body)) {
    if (Object.hasOwn(properties, name) || ++unknown <= TOLD) define(few, name, body[name])
  }
  return few
}

function withoutItems(property: unknown): unknown {
  if (!isObject(property)) return property
  const { items: _, ...rest } = property
  return rest
}

function mapValues(object: Json, change: (value: unknown) => unknown): Json {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]))
}

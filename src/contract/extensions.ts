import { LIMITS } from '../domain/limits.ts'
import { isObject, type Json, pointTo, valueAt } from '../ground/json.ts'
import { findViolation } from '../ground/schema.ts'

/** A document or an overlay is unusable. The message is the place, as `file#/json/pointer`, and one sentence. */
export class ContractError extends Error {
  override name = 'ContractError'

  constructor(file: string, pointer: string, reason: string) {
    super(`${file}${pointer === '' ? '' : `#${pointer}`}: ${reason}`)
  }
}

/** The JSON Schema keywords that a value can violate. */
export const ASSERTIONS: readonly string[] = [
  ...['type', 'enum', 'const', 'required', 'additionalProperties', 'minProperties', 'maxProperties', 'not', 'oneOf'],
  ...['propertyNames', 'anyOf', 'minItems', 'maxItems', 'uniqueItems', 'minLength', 'maxLength', 'pattern', 'format'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'dependentRequired'],
]

const text: Json = { type: 'string', minLength: 1 }
const texts: Json = { type: 'array', minItems: 1, uniqueItems: true, items: text }
const mapOf = (additionalProperties: Json): Json => ({ type: 'object', additionalProperties })
const only = (required: readonly string[], properties: Json, type: unknown = 'object'): Json => {
  return { type, additionalProperties: false, required, properties }
}
const refusal: Json = { status: { type: 'integer', minimum: 400, maximum: 599 }, message: text, 'x-assumption': {} }
const reason = only(['message'], { ...refusal, code: text, as: text, outside: { type: 'boolean' } })
const rule: Json = { says: text, refuses: texts, when: { type: 'object' }, unobservable: text }
const open = { type: 'object', properties: { codes: texts, success: { const: true } } }
const patches: Json = { type: 'array', items: { type: 'object', minProperties: 1 } }

/** The schema of each `x-` key that openapi.yaml can have. docs/choices.md explains each key. */
const EXTENSIONS: Readonly<Record<string, Json>> = {
  'x-assumption': only(['id', 'spec', 'alternatives'], {
    ...{ id: text, spec: text, alternatives: patches, reason: text, open },
    // The reason why exchanges cannot show the alternatives, or reasons for single alternatives by their numbers.
    unobservable: { ...mapOf(text), type: ['string', 'object'] },
  }),
  'x-codes': texts,
  'x-codes-by-setting': mapOf(mapOf(text)),
  'x-constraints': { type: 'object', propertyNames: { enum: ASSERTIONS } },
  'x-error': mapOf(text),
  'x-error-defaults': mapOf(text),
  'x-errors': {
    ...mapOf(only(['status', 'message'], { ...refusal, reasons: mapOf(reason) })),
    properties: { 'x-assumption': {} },
  },
  'x-quota': only(['limit', 'window'], {
    limit: { type: 'integer', minimum: 1, maximum: LIMITS.quota },
    window: { type: 'integer', minimum: 1, maximum: LIMITS.period },
  }),
  'x-retry-after': { type: 'boolean' },
  // The value is a sentence, or an object with the sentence and with the evidence for the rule.
  'x-rule': mapOf(only(['says'], rule, ['string', 'object'])),
  'x-settings': mapOf(only(['value'], { value: {}, description: text, 'x-assumption': {} })),
}

/** The extensions that a schema can have. Ajv must ignore them. */
export const SCHEMA_EXTENSIONS = Object.keys(EXTENSIONS)

/** Keys with data that is no part of the description. An alternative is checked when an overlay selects it. */
export const DATA = new Set(['example', 'examples', 'default', 'const', 'enum', 'alternatives'])
/** Keys with maps whose keys are names that the author of the document has chosen. */
export const NAMES = new Set(['properties', 'patternProperties', '$defs', 'headers', 'variables', 'mapping'])

/** One extension and its place. */
interface Extension {
  key: string
  value: unknown
  /** JSON pointer to the object that contains it. */
  holder: string
}

/** Every extension of the document, in order, except in data. */
export function extensionsOf(document: Json): Extension[] {
  const found: Extension[] = []
  function descend(value: unknown, pointer: string, keysAreNames: boolean): void {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) descend(item, pointTo(pointer, index), false)
    } else if (isObject(value)) {
      for (const [key, item] of Object.entries(value)) {
        if (!keysAreNames && key.startsWith('x-')) found.push({ key, value: item, holder: pointer })
        if (!DATA.has(key) || keysAreNames) descend(item, pointTo(pointer, key), NAMES.has(key) && !keysAreNames)
      }
    }
  }
  descend(document, '', false)
  return found
}

/** Validates the value of each extension. @throws ContractError, also for an unknown extension. */
export async function checkExtensions(document: Json, file: string): Promise<void> {
  for (const { key, value, holder } of extensionsOf(document)) {
    const pointer = pointTo(holder, key)
    const schema = EXTENSIONS[key]
    if (schema === undefined) {
      const known = SCHEMA_EXTENSIONS.join(', ')
      throw new ContractError(file, pointer, `The extension ${key} is unknown; known are ${known}.`)
    }
    const violation = await findViolation(schema, value)
    if (violation) throw new ContractError(file, pointer + violation.pointer, `The value ${violation.reason}.`)
  }
}

/**
 * A schema as the service reads it, with the keywords of its `x-constraints` besides its own. They are separate in
 * openapi.yaml because other tools misread them. For example, binary fractions are no exact multiples of 0.1.
 */
export function withConstraints(schema: Json): Json {
  // Every object of the document is passed here at each start. Few objects have constraints.
  if (schema['x-constraints'] === undefined) return schema
  const { 'x-constraints': constraints, ...rest } = schema
  return { ...(constraints as Json), ...rest }
}

/** The target of a local reference. Any other value is returned unchanged. */
export function follow(document: object, value: unknown): unknown {
  const reference = isObject(value) ? value['$ref'] : undefined
  return typeof reference === 'string' && reference.startsWith('#/')
    ? follow(document, valueAt(document, reference.slice(1)))
    : value
}

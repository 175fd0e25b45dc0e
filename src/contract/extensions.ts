import { LIMITS } from '../domain/limits.ts'
import { isObject, type Json, pointTo } from '../ground/json.ts'
import { findViolation } from '../ground/schema.ts'
import { ContractError } from './contract-error.ts'
import { GRACE_MOVED } from './settled-choices.ts'

/** The JSON Schema keywords that a value can violate. */
export const ASSERTIONS: readonly string[] = [
  ...['type', 'enum', 'const', 'required', 'additionalProperties', 'minProperties', 'maxProperties', 'not', 'oneOf'],
  ...['propertyNames', 'anyOf', 'minItems', 'maxItems', 'uniqueItems', 'minLength', 'maxLength', 'pattern', 'format'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'dependentRequired'],
]

const text: Json = { type: 'string', minLength: 1 }
const status: Json = { type: 'integer', minimum: 400, maximum: 599 }
const codeByName: Json = { type: 'object', additionalProperties: text }

/** The schema of each `x-` key that openapi.yaml can have. docs/choices.md explains each key. */
const EXTENSIONS: Readonly<Record<string, Json>> = {
  'x-assumption': {
    type: 'object',
    additionalProperties: false,
    required: ['id', 'spec', 'alternatives'],
    properties: {
      id: {
        type: 'string',
        pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
        title: 'lower-case words and digits, joined by hyphens',
      },
      spec: text,
      alternatives: { type: 'array', items: { type: 'object', minProperties: 1 } },
      reason: text,
      open: {
        type: 'object',
        additionalProperties: false,
        minProperties: 1,
        properties: {
          codes: { type: 'array', minItems: 1, uniqueItems: true, items: text },
          success: { const: true },
        },
      },
      // The reason why exchanges cannot show the alternatives, or reasons for single alternatives by their numbers.
      unobservable: {
        type: ['string', 'object'],
        minLength: 1,
        minProperties: 1,
        propertyNames: { pattern: '^[1-9][0-9]*$', title: 'the number of an alternative' },
        additionalProperties: text,
      },
    },
    // An assumption without alternatives must give a reason.
    if: { required: ['alternatives'], properties: { alternatives: { maxItems: 0 } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['reason'] },
  },
  'x-codes': { type: 'array', minItems: 1, uniqueItems: true, items: text },
  'x-codes-by-setting': { type: 'object', minProperties: 1, additionalProperties: codeByName },
  'x-constraints': {
    type: 'object',
    minProperties: 1,
    propertyNames: { enum: ASSERTIONS },
  },
  'x-error': codeByName,
  'x-error-defaults': codeByName,
  'x-errors': {
    type: 'object',
    properties: { 'x-assumption': {} },
    additionalProperties: {
      type: 'object',
      additionalProperties: false,
      required: ['status', 'message'],
      properties: {
        status,
        message: text,
        'x-assumption': {},
        reasons: {
          type: 'object',
          additionalProperties: {
            type: 'object',
            additionalProperties: false,
            required: ['message'],
            properties: {
              status,
              code: text,
              as: text,
              message: text,
              outside: { type: 'boolean' },
              'x-assumption': {},
            },
          },
        },
      },
    },
  },
  'x-quota': {
    type: 'object',
    additionalProperties: false,
    required: ['limit', 'window'],
    properties: {
      limit: { type: 'integer', minimum: 1, maximum: LIMITS.quota },
      window: { type: 'integer', minimum: 1, maximum: LIMITS.period },
    },
  },
  'x-retry-after': { type: 'boolean' },
  'x-rule': {
    type: 'object',
    minProperties: 1,
    propertyNames: { pattern: '^[a-z0-9-]+$', title: 'lower-case letters, digits and hyphens' },
    // The value is a sentence, or an object with the sentence and with the evidence for the rule.
    additionalProperties: {
      type: ['string', 'object'],
      minLength: 1,
      additionalProperties: false,
      required: ['says'],
      properties: {
        says: text,
        refuses: {
          type: 'array',
          minItems: 1,
          items: {
            type: 'string',
            pattern: '^([a-z_]+(/[A-Za-z-]+)?|/[A-Za-z-]+)$',
            title: 'code, code/reason or /reason',
          },
        },
        when: { type: 'object', minProperties: 1 },
        unobservable: text,
      },
    },
  },
  'x-settings': {
    type: 'object',
    additionalProperties: {
      type: 'object',
      additionalProperties: false,
      required: ['value'],
      properties: { value: {}, description: text, 'x-assumption': {} },
    },
  },
}

/** Keys with data that is no part of the description. An alternative is checked when an overlay selects it. */
export const DATA = new Set(['example', 'examples', 'default', 'const', 'enum', 'alternatives'])
/** Keys with maps whose keys are names that the author of the document has chosen. */
export const NAMES = new Set(['properties', 'patternProperties', '$defs', 'headers', 'variables', 'mapping'])

/** One extension and its place. */
export interface Extension {
  key: string
  value: unknown
  /** JSON pointer to the object that contains it. */
  holder: string
}

/** Visits every field of the document in order, except in data. `holder` is the JSON pointer to its object. */
export function visitFields(document: Json, visit: (key: string, value: unknown, holder: string) => void): void {
  function descend(value: unknown, pointer: string, keysAreNames: boolean): void {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) descend(item, pointTo(pointer, index), false)
    } else if (isObject(value)) {
      for (const [key, item] of Object.entries(value)) {
        if (!keysAreNames) visit(key, item, pointer)
        if (!DATA.has(key) || keysAreNames) descend(item, pointTo(pointer, key), NAMES.has(key) && !keysAreNames)
      }
    }
  }
  descend(document, '', false)
}

/** Every extension of the document, in order. */
export function extensionsOf(document: Json): Extension[] {
  const found: Extension[] = []
  visitFields(document, (key, value, holder) => {
    if (key.startsWith('x-')) found.push({ key, value, holder })
  })
  return found
}

/** Validates the value of each extension. @throws ContractError, also for an unknown extension. */
export async function checkExtensions(extensions: readonly Extension[], file: string): Promise<void> {
  for (const { key, value, holder } of extensions) {
    const pointer = pointTo(holder, key)
    const schema = EXTENSIONS[key]
    if (schema === undefined) {
      const known = Object.keys(EXTENSIONS).join(', ')
      throw new ContractError(file, pointer, `The extension ${key} is unknown; known are ${known}.`)
    }
    if (key === 'x-quota' && isObject(value) && Object.hasOwn(value, 'grace'))
      throw new ContractError(file, pointTo(pointer, 'grace'), GRACE_MOVED)
    const violation = await findViolation(schema, value)
    if (violation) throw new ContractError(file, pointer + violation.pointer, `The value ${violation.reason}.`)
  }
}

/** The extensions that a schema can have. Ajv must ignore them. */
export const SCHEMA_EXTENSIONS = Object.keys(EXTENSIONS)

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

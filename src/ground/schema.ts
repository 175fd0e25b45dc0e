import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js'
import { isInstant, parseDuration } from '../domain/iso-8601.ts'
import { type Json, pointTo } from './json.ts'
import { plural, show } from './show.ts'

/** Where a value violates a JSON schema. */
export interface Violation {
  /** JSON pointer to the value, or to the field that is missing or not allowed. */
  pointer: string
  /** The JSON Schema keyword that is violated. */
  keyword: string
  /** The rest of a sentence about the value, such as `is 7 but must be of type string`. */
  reason: string
  /** The value; for a field that is missing or not allowed, its object. */
  value: unknown
}

/** A violation as logs and the control plane show it. The message is a sentence. */
export interface DescribedViolation extends Omit<Violation, 'reason'> {
  message: string
}

export function reportViolation({ reason, ...violation }: Violation): DescribedViolation {
  return { ...violation, message: `${violation.pointer === '' ? 'The value' : violation.pointer} ${reason}.` }
}

let shared: Promise<Ajv2020> | undefined

/** The first violation of `value`, or none. `schema` must be one of this program's own: it is not validated. */
export async function findViolation(schema: object, value: unknown): Promise<Violation | undefined> {
  shared ??= createAjv()
  const validate = (await shared).compile(schema)
  const errors = validate(value) ? [] : (validate.errors ?? [])
  // If all alternatives fail, the errors of one of them would mislead.
  const error = errors.find(({ keyword }) => keyword === 'anyOf') ?? errors[0]
  return error && violationOf(error)
}

async function createAjv(): Promise<Ajv2020> {
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  return new Ajv2020({
    strictTypes: false,
    allowUnionTypes: true,
    verbose: true,
    // Tests validate these schemas. The meta-schema would take longer to compile than everything else.
    validateSchema: false,
    formats: { 'date-time': isInstant, duration: (text: string) => parseDuration(text) !== undefined },
  })
}

/** An ajv error as a violation. Without ajv's option `verbose`, the reason cannot name the value. */
export function violationOf(error: ErrorObject): Violation {
  const { keyword, data } = error
  return { pointer: pointerOf(error), keyword, reason: reasonOf(error), value: data }
}

/** The place of an ajv error: the field that is missing or not allowed, or else the value. */
export function pointerOf({ instancePath, params }: ErrorObject): string {
  const field = params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty']
  return field === undefined ? instancePath : pointTo(instancePath, field)
}

function reasonOf(error: ErrorObject): string {
  switch (error.keyword) {
    case 'required':
      return 'is missing'
    case 'dependentRequired':
      return `is missing, which the field ${error.params['property']} needs`
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const allowed = Object.keys((error.parentSchema?.['properties'] ?? {}) as Json)
      return `is not allowed here${allowed.length > 0 ? `; allowed fields are ${allowed.join(', ')}` : ''}`
    }
    default:
      if (error.propertyName !== undefined)
        return `has the field ${show(error.propertyName)}, whose name ${demandOf(error)}`
      return 'data' in error ? `is ${shownValue(error)} but ${demandOf(error)}` : demandOf(error)
  }
}

/** The value of an error; for a secret only whether there is one. */
function shownValue({ data, parentSchema }: ErrorObject): string {
  return parentSchema?.['writeOnly'] === true && data !== '' ? '"…"' : show(data)
}

/** What the value must be, in words. The `title` of a schema says it best. */
function demandOf({ keyword, params, message, parentSchema }: ErrorObject): string {
  const title = parentSchema?.['title']
  const demand = title !== undefined && TITLED.has(keyword) ? `be ${title}` : DEMANDS[keyword]?.(params)
  return demand === undefined ? (message ?? `violates ${keyword}`) : `must ${demand}`
}

const TITLED = new Set(['pattern', 'format', 'anyOf'])

const DEMANDS: Readonly<Record<string, (params: ErrorObject['params']) => string>> = {
  type: ({ type }) => `be of type ${[type].flat().join(' or ')}`,
  enum: ({ allowedValues }) => `be one of ${allowedValues.map((value: unknown) => JSON.stringify(value)).join(', ')}`,
  const: ({ allowedValue }) => `be ${JSON.stringify(allowedValue)}`,
  minimum: ({ limit }) => `be at least ${limit}`,
  maximum: ({ limit }) => `be at most ${limit}`,
  multipleOf: ({ multipleOf }) => `be a multiple of ${multipleOf}`,
  minLength: ({ limit }) => `have at least ${plural(limit, 'character')}`,
  maxLength: ({ limit }) => `have at most ${plural(limit, 'character')}`,
  minItems: ({ limit }) => `have at least ${plural(limit, 'item')}`,
  maxItems: ({ limit }) => `have at most ${plural(limit, 'item')}`,
  minProperties: ({ limit }) => `have at least ${plural(limit, 'field')}`,
  maxProperties: ({ limit }) => `have at most ${plural(limit, 'field')}`,
  uniqueItems: ({ i, j }) => `not have the same item twice, as at ${Math.min(i, j)} and ${Math.max(i, j)}`,
  pattern: ({ pattern }) => `match the pattern ${pattern}`,
  format: ({ format }) => `have the format ${format}`,
  anyOf: () => 'match one of the alternatives',
}

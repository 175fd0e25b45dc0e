import type { Ajv2020, ErrorObject } from 'ajv/dist/2020.js'
import { isInstant, parseDuration } from '../domain/iso-8601.ts'
import { pointTo } from './json.ts'
import { show } from './show.ts'

let shared: Promise<Ajv2020> | undefined

/** Where a value departs from its schema, as JSON pointer, and the rest of a sentence that names value and remedy. */
export interface Fault {
  pointer: string
  reason: string
}

/** The first fault of `value`, or none. The schema is one of this program's own. */
export async function findFault(schema: object, value: unknown): Promise<Fault | undefined> {
  shared ??= createAjv()
  const validate = (await shared).compile(schema)
  const errors = validate(value) ? [] : (validate.errors ?? [])
  // Of alternatives that all fail, no single one is what would be right.
  const error = errors.find(({ keyword }) => keyword === 'anyOf') ?? errors[0]
  return error && explain(error)
}

async function createAjv(): Promise<Ajv2020> {
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  return new Ajv2020({
    strictTypes: false,
    allowUnionTypes: true,
    verbose: true,
    // Tests have proved them; compiling the schema of schemas first would take longer than all that is to be checked.
    validateSchema: false,
    formats: { 'date-time': isInstant, duration: (text: string) => parseDuration(text) !== undefined },
  })
}

function explain({ instancePath, keyword, params, message, data, parentSchema }: ErrorObject): Fault {
  const value = parentSchema?.['writeOnly'] === true && data !== '' ? '"…"' : show(data)
  const at = (reason: string, pointer = instancePath) => ({ pointer, reason })
  switch (keyword) {
    case 'additionalProperties': {
      const known = Object.keys(parentSchema?.['properties'] ?? {})
      const pointer = pointTo(instancePath, params['additionalProperty'])
      return at(`is no field here${known.length > 0 ? `; there are ${known.join(', ')}` : ''}`, pointer)
    }
    case 'required':
      return at(`needs the field ${params['missingProperty']}`)
    case 'enum':
      return at(
        `is ${value} but must be one of ${params['allowedValues'].map((each: unknown) => JSON.stringify(each)).join(', ')}`,
      )
    case 'type':
      return at(`is ${value} but must be of type ${[params['type']].flat().join(' or ')}`)
    case 'pattern':
    case 'format':
    case 'anyOf': {
      const description = parentSchema?.['description']
      return at(description === undefined ? `is ${value} but ${message}` : `is ${value} but must be ${description}`)
    }
    default:
      return at(`is ${value} but ${message}`)
  }
}

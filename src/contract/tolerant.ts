import { isObject, type Json, mapValues, pointTo, valueAt } from '../ground/json.ts'
import { METHODS } from './codes.ts'
import { ASSERTIONS, DATA, NAMES } from './extensions.ts'
import { codeFor, defaultCodesOf } from './problems.ts'
import { follow } from './references.ts'
import { isRefusedBy, readRules } from './rules.ts'

/** The keywords for the shape of a value. All other keywords limit values. */
const SHAPE = new Set(['type', 'required', 'oneOf', 'anyOf'])
/** Keys with maps whose keys are names. Extensions may be beside these. */
const COLLECTIONS = new Set(['schemas', 'responses', 'parameters', 'securitySchemes', 'paths'])

const NOTE = `This is the tolerant form of the document, for generating clients. It has only the limits that the
specification of the service gives: fields may be added, deprecated ones may go, enumerations are open, and other
statuses may refuse a request.
`

/**
 * A document for generators of clients that keep working when the service grows. It describes the same operations
 * without our choices: closed objects, enumerations, formats, limits that no rule of the specification demands, and our
 * extensions. Deprecated properties are optional. Any undeclared status is a refusal.
 */
export function tolerantDocument(source: Json): Json {
  const demanded = demandedKeywords(source)

  function convert(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(convert)
    if (!isObject(value)) return value
    return mapValues(loosen(value, demanded.get(value)), (item, key) => {
      if (DATA.has(key)) return item
      if (NAMES.has(key) && isObject(item)) return mapValues(item, convert)
      return COLLECTIONS.has(key) && isObject(item) ? mapValues(withoutExtensions(item), convert) : convert(item)
    })
  }

  const document = convert(source) as { info: { description: string }; paths: Json; components: Json }
  document.info.description = `${document.info.description}\n${NOTE}`
  for (const item of Object.values(document.paths) as Json[]) {
    for (const { responses } of METHODS.flatMap((method) => (item[method] ?? []) as { responses: Json })) {
      responses['default'] = { $ref: '#/components/responses/OtherRefusal' }
    }
  }
  const refusal = { description: 'Any other refusal.', content: { 'application/json': { schema: FAILURE } } }
  Object.assign(document.components['responses'] as Json, { OtherRefusal: refusal })
  return document as unknown as Json
}

const FAILURE = { $ref: '#/components/schemas/Failure' }

/** The document as YAML, with a comment about its origin. */
export async function writeTolerantDocument(source: Json): Promise<string> {
  const { dump } = await import('js-yaml')
  const comment = '# Made from openapi.yaml by the build. A change belongs there.\n'
  return comment + dump(tolerantDocument(source), { lineWidth: -1, noRefs: true })
}

/** An object without extensions. A schema also loses the limits that are not demanded. */
function loosen(object: Json, demanded: ReadonlySet<string> = new Set()): Json {
  const { enum: values, ...rest } = withoutDeprecated(withoutExtensions(object))
  const kept = Object.entries(rest).filter(([key, value]) => {
    if (key === 'default') return object['type'] === undefined
    if (key === 'const') return typeof value === 'boolean'
    return !ASSERTIONS.includes(key) || SHAPE.has(key) || demanded.has(key)
  })
  const loosened = Object.fromEntries(kept)
  if (!Array.isArray(values)) return loosened
  const known = `Known values: ${values.map((value) => `\`${value}\``).join(', ')}. There may be others.`
  const { description } = loosened
  return {
    ...loosened,
    description: description === undefined ? known : `${String(description).trimEnd()} ${known}`,
    examples: values,
  }
}

function withoutExtensions(object: Json): Json {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !key.startsWith('x-')))
}

/** A schema that requires no deprecated property, because the service may remove it one day. */
function withoutDeprecated(object: Json): Json {
  const { required, properties } = object
  if (!Array.isArray(required) || !isObject(properties)) return object
  const lasting = required.filter((name) => valueAt(properties, `${pointTo('', name)}/deprecated`) !== true)
  return { ...object, required: lasting }
}

/** The keywords of request body schemas whose violation is refused by a rule of the specification. */
function demandedKeywords(document: Json): ReadonlyMap<Json, ReadonlySet<string>> {
  const demanded = new Map<Json, Set<string>>()
  const defaults = defaultCodesOf(document)
  for (const [path, item] of Object.entries(document['paths'] as Json)) {
    for (const method of METHODS) {
      const operation = valueAt(item, `/${method}`)
      const rules = readRules(valueAt(operation, '/x-rule'), pointTo(path, method))
      const visit = (reference: unknown): void => {
        const schema = follow(document, reference)
        if (!isObject(schema)) return
        for (const keyword of ASSERTIONS.filter((each) => schema[each] !== undefined)) {
          const code = codeFor(keyword, schema, defaults) ?? ''
          if (!rules.some((rule) => isRefusedBy(rule, code, keyword))) continue
          demanded.set(schema, (demanded.get(schema) ?? new Set()).add(keyword))
        }
        for (const property of Object.values(isObject(schema['properties']) ? schema['properties'] : {}))
          visit(property)
        visit(schema['items'])
      }
      visit(valueAt(follow(document, valueAt(operation, '/requestBody')), '/content/application~1json/schema'))
    }
  }
  return demanded
}

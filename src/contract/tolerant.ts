import { isObject, type Json, pointTo, valueAt } from '../ground/json.ts'
import { METHODS } from './codes.ts'
import { ASSERTIONS } from './extensions.ts'
import { demandedKeywords, rewrite, withoutExtensions } from './widening.ts'

/** The keywords for the shape of a value. All other keywords limit values. */
const SHAPE = new Set(['type', 'required', 'oneOf', 'anyOf'])

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

  const document = rewrite(source, (object) => loosen(object, demanded.get(object))) as {
    info: { description: string }
    paths: Json
    components: Json
  }
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

/** A schema that requires no deprecated property, because the service may remove it one day. */
function withoutDeprecated(object: Json): Json {
  const { required, properties } = object
  if (!Array.isArray(required) || !isObject(properties)) return object
  const lasting = required.filter((name) => valueAt(properties, `${pointTo('', name)}/deprecated`) !== true)
  return { ...object, required: lasting }
}

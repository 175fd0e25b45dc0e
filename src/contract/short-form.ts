import { isObject, type Json, mapValues } from '../ground/json.ts'

/** What every request body has besides its fields. */
const BODY = { type: 'object', additionalProperties: false, 'x-error': { type: 'invalid_request_body' } }
const REFUSAL = { $ref: '#/components/responses/Refusal' }

/**
 * The OpenAPI document that the control plane serves, from its short form, which leaves out what is the same for each
 * operation:
 *
 * - `$ref: Name` is the schema with this name.
 * - The parameters of the path follow from the path. The others are named. `components/parameters` has the rest of both.
 * - A request body is the schema of the JSON object, or only its own part of that.
 * - A response is the schema of the `data` in the envelope, or only the fields of that. Every other answer is a refusal.
 * - `properties` alone are those of an object that has them all.
 */
export function expandShortForm(short: Json): Json {
  const { paths, components, ...rest } = short as Json & { components: Record<string, Json> }
  const { parameters = {}, ...kept } = components
  const expandItem = (item: unknown, path: string) =>
    mapValues(item as Json, (operation) => expandOperation(operation as Json, path, parameters))
  return complete({ ...rest, paths: mapValues(paths as Json, expandItem), components: kept }) as Json
}

function expandOperation({ parameters = [], requestBody, responses, ...rest }: Json, path: string, known: Json): Json {
  const parameter = (name: string, place: object) => ({
    name,
    ...place,
    schema: { type: 'string' },
    ...(known[name] as Json),
  })
  const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) =>
    parameter(name, { in: 'path', required: true }),
  )
  const inQuery = (parameters as unknown[]).map((each) =>
    typeof each === 'string' ? parameter(each, { in: 'query' }) : each,
  )
  const all = [...inPath, ...inQuery]
  return {
    ...rest,
    ...(all.length > 0 && { parameters: all }),
    ...(isObject(requestBody) && { requestBody: expandBody(requestBody) }),
    responses: { ...mapValues(responses as Json, expandResponse), default: REFUSAL },
  }
}

function expandBody({ optional = false, ...schema }: Json): Json {
  const whole = '$ref' in schema ? schema : { ...BODY, ...schema }
  return { required: !optional, content: { 'application/json': { schema: whole } } }
}

function expandResponse(response: unknown): unknown {
  if (!isObject(response) || 'content' in response) return response
  const hasFields = Object.keys(response).length > 0
  const own = hasFields ? { properties: response } : { type: 'object' }
  const data = '$ref' in response ? response : own
  const schema = { properties: { success: { type: 'boolean', const: true }, data } }
  return { description: 'Success.', content: { 'application/json': { schema } } }
}

/** The value with whole references and whole schemas of objects. */
function complete(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(complete)
  if (!isObject(value)) return value
  const whole = mapValues(value, (each, key) =>
    key === '$ref' && typeof each === 'string' && !each.includes('/') ? `#/components/schemas/${each}` : complete(each),
  )
  const { properties } = whole
  if (!isObject(properties) || 'required' in whole || 'additionalProperties' in whole) return whole
  return { type: 'object', required: Object.keys(properties), ...whole }
}

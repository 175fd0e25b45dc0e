import type { Settings } from '../domain/settings.ts'
import { isObject, type Json, pointTo, stepsOf, valueAt } from '../ground/json.ts'
import type { Catalogue } from './catalogue.ts'
import { ASSERTIONS, ContractError, follow, withConstraints } from './extensions.ts'
import { codeFor, defaultCodesOf } from './problems.ts'

/** The methods that an operation can have. HEAD is answered like GET. OPTIONS is not supported. */
export const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const

/** Setting → value of the setting → the error code that operations then answer with. */
export type CodesBySetting = Readonly<Record<string, Readonly<Record<string, string>>>>

/**
 * A copy of the document in which each operation declares all of its codes. They are in `x-codes`, under the statuses
 * of the catalogue. These are its own declared codes, those of its request schemas, and those that settings decide
 * about. When an overlay changes a status or the code of a schema, the code moves to the right response.
 * @throws ContractError for an assertion of a request schema without a code: each one needs a code.
 */
export function placeCodes(source: Json, catalogue: Catalogue, file: string): Json {
  const document = structuredClone(source)
  const ofSettings = settingCodes(document, '')
  // The responses of each operation are arranged from the components, which no operation changes.
  for (const [path, item] of Object.entries((document['paths'] ?? {}) as Json)) {
    if (!isObject(item)) continue
    for (const method of METHODS) {
      const operation = item[method]
      if (!isObject(operation) || !isObject(operation['responses'])) continue
      const pointer = pointTo(pointTo('/paths', path), method)
      const codes = new Set([
        ...declaredCodes(document, operation),
        ...schemaCodes(document, operation, pointer, file),
        ...ofSettings,
        ...settingCodes(document, pointer),
      ])
      operation['responses'] = arrange(document, operation['responses'], codes, catalogue)
    }
  }
  return document
}

/** The codes that the settings select in the `x-codes-by-setting` of the object at `pointer`. */
function settingCodes(document: Json, pointer: string): string[] {
  const bySetting = (valueAt(document, `${pointer}/x-codes-by-setting`) ?? {}) as CodesBySetting
  return Object.entries(bySetting).flatMap(([setting, codes]) => {
    const value = String(valueAt(document, `${pointTo('/x-settings', setting)}/value`))
    return Object.hasOwn(codes, value) ? (codes[value] ?? []) : []
  })
}

/** The codes that its responses have, and those of its own, which no schema leads to. */
function declaredCodes(document: Json, operation: Json): string[] {
  const ofResponses = Object.values(operation['responses'] as Json).flatMap((each) => codesOf(follow(document, each)))
  return [...ofResponses, ...codesOf(operation)]
}

/**
 * The responses, with each code under its statuses. A new one is a copy of those that had its codes. Empty ones go. A
 * `default` alone has all codes.
 */
function arrange(document: Json, responses: Json, codes: ReadonlySet<string>, catalogue: Catalogue): Json {
  const arranged = { ...responses }
  const errors = Object.entries(responses).flatMap(([status, reference]) => {
    const response = follow(document, reference)
    return isObject(response) && response['x-codes'] !== undefined ? [{ status: Number(status), response }] : []
  })
  if (errors.length === 0 && responses['default'] !== undefined) return responses
  const wanted = new Map<number, string[]>()
  for (const code of codes) {
    for (const status of catalogue.statusesOf(code)) wanted.set(status, [...(wanted.get(status) ?? []), code])
  }
  for (const { status, response } of errors) {
    if (!sameMembers(codesOf(response), wanted.get(status) ?? [])) delete arranged[status]
  }
  for (const [status, statusCodes] of wanted) {
    if (Object.hasOwn(arranged, status)) continue
    const carriers = errors.filter((each) => codesOf(each.response).some((code) => statusCodes.includes(code)))
    const models = (carriers.length > 0 ? carriers : [likeliest(errors)]).map(({ response }) => response)
    const description =
      models.length === 1 && carriers.length === 1
        ? models[0]?.['description']
        : 'The request is refused with one of these codes.'
    arranged[status] = { ...models.reduce(joinResponses), description, 'x-codes': statusCodes }
  }
  return arranged
}

/** The model for a new response if no response has its codes: one with the headers of a charged quota. */
function likeliest(errors: readonly { status: number; response: Json }[]): { status: number; response: Json } {
  const charged = ({ response: { headers } }: { response: Json }) =>
    isObject(headers) && Object.hasOwn(headers, 'X-RateLimit-Limit')
  const model = errors.find(charged) ?? errors[0]
  if (model === undefined) throw new Error('An operation with error codes has no response with `x-codes`.')
  return model
}

/** A response that combines both. A header that only one of them has becomes optional. */
function joinResponses(one: Json, other: Json): Json {
  const [first, second] = [one['headers'], other['headers']].map((headers) => (isObject(headers) ? headers : {}))
  const headers = Object.entries({ ...first, ...second }).map(([name, header]) => {
    const inBoth = Object.hasOwn(first ?? {}, name) && Object.hasOwn(second ?? {}, name)
    return [name, inBoth ? header : optional(header)]
  })
  return { ...one, ...other, headers: Object.fromEntries(headers) }
}

function optional(header: unknown): Json {
  const reference = isObject(header) ? header['$ref'] : undefined
  if (typeof reference === 'string') return optionalHeader(stepsOf(reference).at(-1) ?? '')
  return isObject(header) ? { ...header, required: false } : {}
}

/** The codes of the operation's parameters and body. */
function schemaCodes(document: Json, operation: Json, pointer: string, file: string): string[] {
  const defaults = defaultCodesOf(document)
  const codes: string[] = []
  const seen = new Set<unknown>()
  function visit(reference: unknown, at: string): void {
    const written = follow(document, reference)
    if (!isObject(written) || seen.has(written)) return
    seen.add(written)
    const schema = withConstraints(written)
    for (const keyword of ASSERTIONS) {
      if (!asserts(keyword, schema[keyword])) continue
      const code = codeFor(keyword, schema, defaults)
      if (code === undefined) {
        const place = isObject(reference) && typeof reference['$ref'] === 'string' ? reference['$ref'].slice(1) : at
        throw new ContractError(file, pointTo(place, keyword), `No x-error gives a code to a violation of ${keyword}.`)
      }
      codes.push(code)
    }
    for (const [name, property] of Object.entries(isObject(schema['properties']) ? schema['properties'] : {})) {
      visit(property, pointTo(pointTo(at, 'properties'), name))
    }
    for (const keyword of ['items', 'additionalProperties']) visit(schema[keyword], pointTo(at, keyword))
    // The error of `anyOf` summarises those of its branches.
    for (const keyword of ['allOf', 'oneOf']) {
      const branches = Array.isArray(schema[keyword]) ? schema[keyword] : []
      for (const [index, branch] of branches.entries()) visit(branch, pointTo(pointTo(at, keyword), index))
    }
  }
  for (const [index, reference] of (Array.isArray(operation['parameters']) ? operation['parameters'] : []).entries()) {
    const parameter = follow(document, reference)
    if (!isObject(parameter) || parameter['in'] !== 'query') continue
    const at = pointTo(pointTo(pointer, 'parameters'), index)
    // A value in a query is always a string, so its type cannot be wrong.
    const { type: _, ...schema } = follow(document, parameter['schema']) as Json
    visit(parameter['required'] === true ? { required: [parameter['name']], ...schema } : schema, at)
  }
  const body = follow(document, operation['requestBody'])
  visit(valueAt(body, '/content/application~1json/schema'), `${pointer}/requestBody/content/application~1json/schema`)
  return codes
}

/** Whether a keyword with this value can be violated. */
function asserts(keyword: string, value: unknown): boolean {
  if (keyword === 'additionalProperties') return value === false
  return value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0)
}

function codesOf(response: unknown): string[] {
  const codes = isObject(response) ? response['x-codes'] : undefined
  return Array.isArray(codes) ? codes : []
}

function sameMembers(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((member) => other.includes(member))
}

const QUOTA_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const

/**
 * Changes a document from `placeCodes` so that each response declares its headers under these settings. The document as
 * written declares the headers for `charged`.
 */
export function placeHeaders(document: Json, { quotaHeaders }: Pick<Settings, 'quotaHeaders'>): void {
  if (quotaHeaders === 'charged') return
  for (const item of Object.values((document['paths'] ?? {}) as Json)) {
    if (!isObject(item) || item['x-quota'] === undefined) continue
    for (const operation of Object.values(item)) {
      const responses = isObject(operation) ? operation['responses'] : undefined
      if (!isObject(responses)) continue
      for (const [status, reference] of Object.entries(responses)) {
        const response = follow(document, reference)
        if (!status.startsWith('x-') && isObject(response)) responses[status] = withQuota(response, quotaHeaders)
      }
    }
  }
}

/** The response with quota headers that are always present, optional, or absent. */
function withQuota(response: Json, shown: Settings['quotaHeaders']): Json {
  const headers = isObject(response['headers']) ? response['headers'] : {}
  const codes = (response['x-codes'] ?? []) as string[]
  const declared = Object.hasOwn(headers, QUOTA_HEADERS[0])
  switch (shown) {
    case 'charged':
      return response
    case 'valid-key':
      return declared ? response : { ...response, headers: { ...headers, ...quotaHeaders(optionalHeader) } }
    case 'any-request':
      return { ...response, headers: { ...headers, ...quotaHeaders(referenceTo) } }
    case 'success-or-limited': {
      if (codes.length === 0 || (codes.length === 1 && codes[0] === 'rate_limited')) return response
      const others = Object.entries(headers).filter(([name]) => !QUOTA_HEADERS.some((header) => header === name))
      const limited = codes.includes('rate_limited') ? quotaHeaders(optionalHeader) : {}
      return { ...response, headers: { ...Object.fromEntries(others), ...limited } }
    }
  }
}

function quotaHeaders(make: (name: string) => Json): Json {
  return Object.fromEntries(QUOTA_HEADERS.map((name) => [name, make(name)]))
}

function referenceTo(name: string): Json {
  return { $ref: `#/components/headers/${name}` }
}

/** An optional header from the components. A reference cannot have `required` beside it. */
function optionalHeader(name: string): Json {
  const schema = { $ref: `#/components/headers/${name}/schema` }
  return { description: `See ${name}.`, schema, required: false }
}

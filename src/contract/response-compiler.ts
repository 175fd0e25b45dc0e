import { isObject, type Json, valueAt } from '../ground/json.ts'
import type { Violation } from '../ground/schema.ts'
import { show } from '../ground/show.ts'
import type { ResponseContract } from './api.ts'
import type { DocumentValidators } from './document-validators.ts'
import type { WriterCompiler } from './writer.ts'

type HeaderSchemas = Readonly<Record<string, { required?: boolean; schema: Json }>>

/** Compiles the response object at `pointer`. @throws ContractError */
export function compileResponse(
  status: string,
  response: Json,
  pointer: string,
  validators: DocumentValidators,
  compileWriter: WriterCompiler,
): ResponseContract {
  if (!/^[2-5][0-9]{2}$/.test(status)) throw validators.error(pointer, 'A response has an explicit status.')
  const [anyType] = Object.keys((response['content'] ?? {}) as Json)
  // The schema of a body that is not JSON accepts everything.
  const schema = valueAt(response, '/content/application~1json/schema') ?? (anyType === undefined ? undefined : {})
  if (schema === undefined) throw validators.error(pointer, 'A response needs content.')
  const headers = (response['headers'] ?? {}) as HeaderSchemas
  const codes = new Set((response['x-codes'] ?? []) as string[])
  const data = valueAt(schema, '/properties/data')
  const checkSchema = validators.check(schema, `${pointer}/content/application~1json/schema`)
  return {
    status: Number(status),
    codes,
    defaults: defaultsOf(data),
    fields: openFieldsOf(data),
    constantHeaders: constantsOf(headers),
    showsQuota: Object.hasOwn(headers, 'X-RateLimit-Limit'),
    retryAfter: response['x-retry-after'] === true,
    schema: schema as Json,
    check: codes.size === 0 ? checkSchema : (body) => [...checkSchema(body), ...undeclaredCode(body, codes)],
    checkHeaders: compileHeaderCheck(headers, `${pointer}/headers`, validators),
    write: compileWriter(schema),
    writeData: compileWriter(data),
  }
}

function defaultsOf(data: unknown): Json | undefined {
  const properties = isObject(data) && isObject(data['properties']) ? data['properties'] : {}
  const given = Object.entries(properties).filter(([, schema]) => isObject(schema) && schema['default'] !== undefined)
  if (given.length === 0) return undefined
  return Object.fromEntries(given.map(([name, schema]) => [name, (schema as Json)['default']]))
}

function openFieldsOf(data: unknown): ReadonlySet<string> | undefined {
  if (!isObject(data) || valueAt(data, '/x-assumption/open/success') !== true) return undefined
  return new Set(Object.keys(isObject(data['properties']) ? data['properties'] : {}))
}

function constantsOf(headers: HeaderSchemas): Record<string, string> {
  const constant = Object.entries(headers).filter(([, { required, schema }]) => {
    return required === true && schema['const'] !== undefined
  })
  return Object.fromEntries(constant.map(([name, { schema }]) => [name, String(schema['const'])]))
}

function undeclaredCode(body: unknown, codes: ReadonlySet<string>): Violation[] {
  const code = valueAt(body, '/error/code')
  if (typeof code !== 'string' || codes.has(code)) return []
  const reason = `is ${show(code)} but must be one of ${[...codes].join(', ')} with this status`
  return [{ pointer: '/error/code', keyword: 'x-codes', reason, value: code }]
}

function compileHeaderCheck(
  headers: HeaderSchemas,
  pointer: string,
  validators: DocumentValidators,
): ResponseContract['checkHeaders'] {
  const declared = Object.entries(headers).map(([name, header]) => ({ name: name.toLowerCase(), ...header }))
  const schema = {
    type: 'object',
    required: declared.filter(({ required }) => required === true).map(({ name }) => name),
    properties: Object.fromEntries(declared.map(({ name, schema }) => [name, schema])),
  }
  const check = validators.check(schema, pointer)
  return (given) => {
    const fields: Json = {}
    // A service may send any other header fields. They are not checked.
    for (const { name, schema } of declared) {
      if (Object.hasOwn(given, name))
        fields[name] = schema['type'] === 'integer' ? readInteger(given[name]) : given[name]
    }
    return check(fields)
  }
}

/** The number that a field is; its text if it is none, such as `30, 30` of a field that came twice. */
function readInteger(text: string | undefined): number | string | undefined {
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : text
}

import type { ErrorObject } from 'ajv/dist/2020.js'
import type { OpenAPIV3_1 } from 'openapi-types'
import type { Problem } from '../domain/errors.ts'
import type { Quota } from '../domain/quotas.ts'
import { type Json, pointTo, valueAt } from '../ground/json.ts'
import { memoize } from '../ground/memo.ts'
import { type Violation, violationOf } from '../ground/schema.ts'
import { show } from '../ground/show.ts'
import { type Api, type Operation, pointerOf, type ResponseContract } from './api.ts'
import { METHODS } from './codes.ts'
import type { ApiDocument } from './document.ts'
import { ContractError } from './extensions.ts'
import { defaultCodesOf, problemOf, problemsOf } from './problems.ts'
import { compileWriter as compileFixedWriter } from './reply.ts'
import { type Rule, readRules } from './rules.ts'
import type { FindErrors, SchemaCompiler } from './schema-compiler.ts'

/** A parameter object of OpenAPI, without references. */
interface Parameter {
  name: string
  in: string
  required?: boolean
  schema: Json
}

const NONE: readonly never[] = []

interface CompilerOptions {
  /** Compiles a schema. */
  compile: SchemaCompiler
  /** Creates the writer of a response; by default one that keeps decimals. */
  compileWriter?: typeof compileFixedWriter
  /** Whether schemas are compiled now, so that their mistakes show, and not at their first use. */
  atOnce?: boolean | undefined
  /** In seconds: a longer quota window is cut to this. */
  longestWindow?: number | undefined
}

/** Compiles a document. @throws ContractError for anything that would fail later. */
export function compileApi(document: ApiDocument, options: CompilerOptions): Api {
  const { resolved, catalogue, file } = document
  const {
    compile,
    compileWriter = compileFixedWriter,
    atOnce = false,
    longestWindow = Number.POSITIVE_INFINITY,
  } = options
  const defaults = defaultCodesOf(document.source)
  const grace = Number(valueAt(document.source, '/x-settings/grace/value') ?? 1)
  // Objects that several operations refer to, such as a response or a security scheme's rules, are compiled once.
  const known = new Map<Json, ResponseContract>()
  const rulesOf = memoize(compileRulesAt, { limit: Number.POSITIVE_INFINITY })
  const routes = new Map<string, Map<string, Operation>>()
  for (const [path, item] of Object.entries(resolved.paths ?? {})) {
    const operations = METHODS.flatMap((method) => {
      const operation = item?.[method]
      return operation === undefined ? [] : [compileOperation(path, method, item as Json, operation)]
    })
    routes.set(path, new Map(operations.map((operation) => [operation.method, operation])))
  }
  const failure = '/components/schemas/Failure'
  return {
    document,
    basePath: new URL(resolved.servers?.[0]?.url ?? '/', 'http://localhost').pathname.replace(/\/$/, ''),
    catalogue,
    operations: [...routes.values()].flatMap((methods) => [...methods.values()]),
    routes,
    checkFailure: violationsOf(valueAt(resolved, failure), failure),
  }

  /** The errors of values by the schema at `pointer`. */
  function errorsOf(schema: unknown, pointer: string): FindErrors {
    let find: FindErrors | undefined
    function compileSchema(): FindErrors {
      try {
        return compile(schema as Json)
      } catch (cause) {
        throw new ContractError(file, pointer, `The schema cannot be compiled: ${(cause as Error).message}.`)
      }
    }
    if (atOnce) find = compileSchema()
    return (value) => {
      find ??= compileSchema()
      return find(value)
    }
  }

  function violationsOf(schema: unknown, pointer: string): (value: unknown) => readonly Violation[] {
    const find = errorsOf(schema, pointer)
    return (value) => {
      const errors = find(value)
      return errors.length === 0 ? NONE : errors.map(violationOf)
    }
  }

  function compileOperation(
    path: string,
    method: string,
    item: Json,
    operation: OpenAPIV3_1.OperationObject,
  ): Operation {
    const pointer = pointerOf({ path, method })
    const answers = Object.entries((operation.responses ?? {}) as Record<string, Json>)
    // Where no status has codes of its own, `default` stands for all refusals, and the envelope alone is checked.
    const hasCodes = answers.some(([, response]) => response['x-codes'] !== undefined)
    const responses = answers
      .filter(([status]) => !status.startsWith('x-') && (hasCodes || status !== 'default'))
      .map(([status, response]) => compileResponse(status, response, pointTo(`${pointer}/responses`, status)))
    const [success, ...others] = responses.filter(({ status }) => status < 300)
    if (!operation.operationId) throw new ContractError(file, pointer, 'The operation needs an operationId.')
    if (success === undefined || others.length > 0) {
      const reason = 'An operation has one successful response with an explicit status.'
      throw new ContractError(file, `${pointer}/responses`, reason)
    }
    const bodySchema = valueAt(operation, '/requestBody/content/application~1json/schema') as Json | undefined
    const parameters = ((operation.parameters ?? []) as unknown as Parameter[]).filter((each) => each.in === 'query')
    const schemes = (operation.security ?? resolved.security ?? []).flatMap(Object.keys)
    const holders = [...schemes.map((name) => pointTo('/components/securitySchemes', name)), pointTo('/paths', path)]
    const quota = item['x-quota'] as Omit<Quota, 'grace'> | undefined
    return {
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      quota: quota && { ...quota, window: Math.min(quota.window, longestWindow), grace },
      rules: [...holders, pointer].flatMap((holder) => rulesOf(holder)),
      readsBody: bodySchema !== undefined,
      bodyOptional: valueAt(operation, '/requestBody/required') !== true,
      bodySchema,
      parameters: new Map(parameters.map(({ name, schema }) => [name, schema])),
      checkQuery: compileQueryCheck(parameters, pointer),
      checkBody: compileBodyCheck(bodySchema, `${pointer}/requestBody/content/application~1json/schema`),
      success,
      responses: new Map(responses.map((response) => [response.status, response])),
    }
  }

  function compileQueryCheck(parameters: readonly Parameter[], pointer: string): Operation['checkQuery'] {
    if (parameters.length === 0) return () => NONE
    const schemas = new Map(parameters.map(({ name, schema }) => [name, schema]))
    const find = errorsOf(objectOf(parameters), `${pointer}/parameters`)
    function problemIn(error: ErrorObject): Problem<string> {
      // In OpenAPI, `required` is beside the schema of a parameter, so its code is in that schema's `x-error`.
      const missing = error.params['missingProperty'] as string | undefined
      const parentSchema = missing === undefined ? error.parentSchema : schemas.get(missing)
      const problem = problemOf({ ...error, ...(parentSchema && { parentSchema }) }, defaults)
      return { ...problem, field: problem.field?.slice(1) ?? '' }
    }
    return (query) => {
      const errors = find(query)
      return errors.length === 0 ? NONE : errors.map(problemIn)
    }
  }

  /** Without a schema, every body passes. */
  function compileBodyCheck(schema: Json | undefined, pointer: string): Operation['checkBody'] {
    if (schema === undefined) return () => NONE
    const find = errorsOf(schema, pointer)
    return (body) => {
      const errors = find(body)
      return errors.length === 0 ? NONE : problemsOf(errors, defaults)
    }
  }

  /** The rules of the object at a JSON pointer. */
  function compileRulesAt(holder: string): readonly Rule[] {
    return readRules(valueAt(resolved, `${holder}/x-rule`), holder).map((rule) => {
      const { id, when } = rule
      if (when === undefined) return { ...rule, matches: () => true }
      const find = errorsOf(when, `${pointTo(`${holder}/x-rule`, id)}/when`)
      return { ...rule, matches: (evidence) => find(evidence).length === 0 }
    })
  }

  function compileResponse(status: string, response: Json, pointer: string): ResponseContract {
    const former = known.get(response)
    if (former?.status === Number(status)) return former
    if (!/^[2-5][0-9]{2}$/.test(status)) throw new ContractError(file, pointer, 'A response has an explicit status.')
    const [anyType] = Object.keys((response['content'] ?? {}) as Json)
    // The schema of a body that is not JSON accepts everything.
    const schema = valueAt(response, '/content/application~1json/schema') ?? (anyType === undefined ? undefined : {})
    if (schema === undefined) throw new ContractError(file, pointer, 'A response needs content.')
    const headers = (response['headers'] ?? {}) as ResponseContract['headers']
    const codes = new Set((response['x-codes'] ?? []) as string[])
    const data = valueAt(schema, '/properties/data')
    const check = violationsOf(schema, `${pointer}/content/application~1json/schema`)
    const compiled: ResponseContract = {
      status: Number(status),
      codes,
      defaults: defaultsOf(data),
      fields: openFieldsOf(data),
      constantHeaders: constantsOf(headers),
      showsQuota: Object.hasOwn(headers, 'X-RateLimit-Limit'),
      retryAfter: response['x-retry-after'] === true,
      schema: schema as Json,
      check: codes.size === 0 ? check : (body) => [...check(body), ...undeclaredCode(body, codes)],
      headers,
      write: compileWriter(schema),
      writeData: compileWriter(data),
    }
    known.set(response, compiled)
    return compiled
  }
}

/** The schema of an object with these fields. */
function objectOf(fields: readonly { name: string; required?: boolean; schema: Json }[]): Json {
  return {
    type: 'object',
    required: fields.filter(({ required }) => required === true).map(({ name }) => name),
    properties: Object.fromEntries(fields.map(({ name, schema }) => [name, schema])),
  }
}

function defaultsOf(data: unknown): Json | undefined {
  const properties = (valueAt(data, '/properties') ?? {}) as Record<string, Json>
  const given = Object.entries(properties).flatMap(([name, schema]) =>
    schema['default'] === undefined ? [] : [[name, schema['default']]],
  )
  return given.length === 0 ? undefined : Object.fromEntries(given)
}

function openFieldsOf(data: unknown): ReadonlySet<string> | undefined {
  if (valueAt(data, '/x-assumption/open/success') !== true) return undefined
  return new Set(Object.keys((valueAt(data, '/properties') ?? {}) as Json))
}

function constantsOf(headers: ResponseContract['headers']): Record<string, string> {
  const constant = Object.entries(headers).filter(
    ([, { required, schema }]) => required === true && schema['const'] !== undefined,
  )
  return Object.fromEntries(constant.map(([name, { schema }]) => [name, String(schema['const'])]))
}

function undeclaredCode(body: unknown, codes: ReadonlySet<string>): Violation[] {
  const code = valueAt(body, '/error/code')
  if (typeof code !== 'string' || codes.has(code)) return []
  const reason = `is ${show(code)} but must be one of ${[...codes].join(', ')} with this status`
  return [{ pointer: '/error/code', keyword: 'x-codes', reason, value: code }]
}

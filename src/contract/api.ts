import type { ErrorObject } from 'ajv/dist/2020.js'
import type { OpenAPIV3_1 } from 'openapi-types'
import type { Problem } from '../domain/errors.ts'
import type { Quota } from '../domain/quotas.ts'
import { isObject, type Json, pointTo, valueAt } from '../ground/json.ts'
import { type Violation, violationOf } from '../ground/schema.ts'
import { show } from '../ground/show.ts'
import { boundErrors, type Validate } from './bounded-check.ts'
import type { Catalogue } from './catalogue.ts'
import { METHODS } from './codes.ts'
import { ContractError } from './contract-error.ts'
import type { ApiDocument } from './document.ts'
import { type CodeByKeyword, problemOf, problemsOf } from './problems.ts'
import { compileRules, type Rule, type RulesText } from './rules.ts'
import type { Detail, SchemaCompiler } from './schema-compiler.ts'
import { compileWriter, type Writer } from './writer.ts'

const NONE: readonly never[] = []

/** An OpenAPI document, ready to be run: each operation with compiled validators. */
export interface Api {
  document: ApiDocument
  /** The path of the server URL, such as `/api/v1`; every operation lies below it. */
  basePath: string
  catalogue: Catalogue
  operations: readonly Operation[]
  /** Below the base path, by path and then method in upper case. */
  routes: ReadonlyMap<string, ReadonlyMap<string, Operation>>
  /** Violations of the envelope of a refusal that belongs to no operation. */
  checkFailure(body: unknown): readonly Violation[]
}

export interface Operation {
  id: string
  method: string
  path: string
  quota: Quota | undefined
  /** What the specification demands of it: the rules of its security schemes, of its path and its own. */
  rules: readonly Rule[]
  readsBody: boolean
  /** Whether a body that is read may be absent. */
  bodyOptional: boolean
  /** The schema of the body without references; absent where none is read. */
  bodySchema: Json | undefined
  /** All problems of the query; parameters that are not declared are no problem here. */
  checkQuery(query: Json): readonly Problem<string>[]
  parameters: ReadonlySet<string>
  /** Their schemas without references, by name. */
  parameterSchemas: ReadonlyMap<string, Json>
  /** All problems of a body, of very many the first and one of each kind. */
  checkBody(body: unknown): readonly Problem<string>[]
  success: ResponseContract
  responses: ReadonlyMap<number, ResponseContract>
}

/** One response of one operation. */
export interface ResponseContract {
  status: number
  /** The codes that may be answered with it; empty for success. */
  codes: ReadonlySet<string>
  /** What `data` holds unless the operation says otherwise: the `default`s of its schema, if it has any. */
  defaults: Json | undefined
  /** Headers whose value the document fixes. */
  constantHeaders: Readonly<Record<string, string>>
  retryAfter: boolean
  /** Whether it tells how much of the quota is left. */
  showsQuota: boolean
  /** The schema of the body without references. */
  schema: Json
  check(body: unknown): readonly Violation[]
  /** `headers` by lower-case name. Headers that the document does not name are no violation. */
  checkHeaders(headers: Readonly<Record<string, string>>): readonly Violation[]
  write: Writer
}

/** Compiles a document, its schemas with `compile`. @throws ContractError for what would not work later. */
export function compileApi(document: ApiDocument, compile: SchemaCompiler): Api {
  const { resolved, catalogue, file } = document
  const compiler = new Compiler(document, compile)
  const operations: Operation[] = []
  const routes = new Map<string, Map<string, Operation>>()
  for (const [path, item] of Object.entries(resolved.paths ?? {})) {
    for (const method of METHODS) {
      const operation = item?.[method]
      if (operation === undefined) continue
      const compiled = compiler.operation(path, method, item as Json, operation)
      const namesake = operations.find(({ id }) => id === compiled.id)
      if (namesake) {
        const pointer = `${pointTo(pointTo('/paths', path), method)}/operationId`
        throw new ContractError(
          file,
          pointer,
          `The operationId ${compiled.id} is taken by ${namesake.method} ${namesake.path}.`,
        )
      }
      operations.push(compiled)
      routes.set(path, (routes.get(path) ?? new Map()).set(compiled.method, compiled))
    }
  }
  return {
    document,
    basePath: new URL(resolved.servers?.[0]?.url ?? '/', 'http://localhost').pathname.replace(/\/$/, ''),
    catalogue,
    operations,
    routes,
    checkFailure: compiler.check(valueAt(resolved, '/components/schemas/Failure'), '/components/schemas/Failure'),
  }
}

class Compiler {
  readonly #document: ApiDocument
  readonly #compiler: SchemaCompiler
  readonly #responses = new Map<Json, ResponseContract>()
  /** By the JSON pointer of what they hold for. */
  readonly #rules = new Map<string, readonly Rule[]>()

  constructor(document: ApiDocument, compiler: SchemaCompiler) {
    this.#document = document
    this.#compiler = compiler
  }

  operation(path: string, method: string, item: Json, operation: OpenAPIV3_1.OperationObject): Operation {
    const pointer = pointTo(pointTo('/paths', path), method)
    const responses = Object.entries(operation.responses ?? {})
      .filter(([status]) => !status.startsWith('x-'))
      .map(([status, response]) => this.#sharedResponse(status, response as Json, pointer))
    const success = responses.filter(({ status }) => status < 300)
    if (!operation.operationId) throw this.#error(pointer, 'The operation needs an operationId.')
    if (success[0] === undefined || success.length > 1) {
      throw this.#error(`${pointer}/responses`, 'An operation has one successful response with an explicit status.')
    }
    const body = valueAt(operation, '/requestBody/content/application~1json/schema')
    const parameters = (operation.parameters ?? []) as unknown as {
      name: string
      in: string
      required?: boolean
      schema: Json
    }[]
    const inQuery = parameters.filter((parameter) => parameter.in === 'query')
    return {
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      quota: item['x-quota'] as Quota | undefined,
      rules: [
        ...this.#schemesOf(operation).flatMap((name) => this.#rulesAt(pointTo('/components/securitySchemes', name))),
        ...this.#rulesAt(pointTo('/paths', path)),
        ...this.#rulesAt(pointer),
      ],
      readsBody: body !== undefined,
      bodyOptional: valueAt(operation, '/requestBody/required') !== true,
      bodySchema: body as Json | undefined,
      parameters: new Set(inQuery.map(({ name }) => name)),
      parameterSchemas: new Map(inQuery.map(({ name, schema }) => [name, schema])),
      checkQuery: this.#query(inQuery, pointer),
      checkBody: this.#problems(body, `${pointer}/requestBody/content/application~1json/schema`),
      success: success[0],
      responses: new Map(responses.map((response) => [response.status, response])),
    }
  }

  /** A check of values against a schema of the document. */
  check(schema: unknown, pointer: string): (value: unknown) => readonly Violation[] {
    const validate = this.#compile(schema, pointer)
    return (value) => (validate(value) ? NONE : (validate.errors ?? []).map(violationOf))
  }

  #schemesOf({ security }: OpenAPIV3_1.OperationObject): string[] {
    return (security ?? this.#document.resolved.security ?? []).flatMap((requirement) => Object.keys(requirement))
  }

  #rulesAt(pointer: string): readonly Rule[] {
    const known = this.#rules.get(pointer)
    if (known !== undefined) return known
    const rules = compileRules(
      (valueAt(this.#document.resolved, `${pointer}/x-rule`) ?? {}) as RulesText,
      pointer,
      (schema, at) => this.#compile(schema, at, 'validity'),
    )
    this.#rules.set(pointer, rules)
    return rules
  }

  #query(
    parameters: readonly { name: string; required?: boolean; schema: Json }[],
    pointer: string,
  ): Operation['checkQuery'] {
    if (parameters.length === 0) return () => NONE
    const schema = {
      type: 'object',
      required: parameters.filter(({ required }) => required === true).map(({ name }) => name),
      properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
    }
    const validate = this.#compile(schema, `${pointer}/parameters`)
    const defaults = this.#defaults()
    const owner = new Map(parameters.map(({ name, schema }) => [name, schema]))
    function problemIn(error: ErrorObject): Problem<string> {
      // What is required is said beside a parameter's schema, so its code stands in there.
      const missing = error.params['missingProperty'] as string | undefined
      const parentSchema = missing === undefined ? error.parentSchema : owner.get(missing)
      const problem = problemOf({ ...error, ...(parentSchema && { parentSchema }) }, defaults)
      return { ...problem, field: problem.field?.slice(1) ?? '' }
    }
    return (query) => (validate(query) ? NONE : (validate.errors ?? []).map(problemIn))
  }

  #problems(schema: unknown, pointer: string): Operation['checkBody'] {
    if (schema === undefined) return () => NONE
    const check = boundErrors(schema as Json, (part, at) => this.#compile(part, pointer + at))
    const defaults = this.#defaults()
    return (body) => problemsOf(check(body), defaults)
  }

  /** Of what several operations refer to, one does for all. */
  #sharedResponse(status: string, response: Json, operation: string): ResponseContract {
    const known = this.#responses.get(response)
    if (known?.status === Number(status)) return known
    const compiled = this.#response(status, response, operation)
    this.#responses.set(response, compiled)
    return compiled
  }

  #response(status: string, response: Json, operation: string): ResponseContract {
    const pointer = pointTo(`${operation}/responses`, status)
    if (!/^[2-5][0-9]{2}$/.test(status)) throw this.#error(pointer, 'A response has an explicit status.')
    const [other] = Object.keys((response['content'] ?? {}) as Json)
    const schema = valueAt(response, '/content/application~1json/schema') ?? (other === undefined ? undefined : {})
    if (schema === undefined) throw this.#error(pointer, 'A response needs content.')
    const headers = (response['headers'] ?? {}) as Record<string, { required?: boolean; schema: Json }>
    const codes = new Set((response['x-codes'] ?? []) as string[])
    const checkSchema = this.check(schema, `${pointer}/content/application~1json/schema`)
    const fixed = Object.entries(headers).filter(
      ([, header]) => header.required === true && header.schema['const'] !== undefined,
    )
    return {
      status: Number(status),
      codes,
      defaults: defaultsOf(valueAt(schema, '/properties/data')),
      constantHeaders: Object.fromEntries(fixed.map(([name, header]) => [name, String(header.schema['const'])])),
      showsQuota: Object.hasOwn(headers, 'X-RateLimit-Limit'),
      retryAfter: response['x-retry-after'] === true,
      schema: schema as Json,
      check: codes.size === 0 ? checkSchema : (body) => [...checkSchema(body), ...undeclaredCode(body, codes)],
      checkHeaders: this.#headers(headers, `${pointer}/headers`),
      write: compileWriter(schema),
    }
  }

  #headers(
    headers: Record<string, { required?: boolean; schema: Json }>,
    pointer: string,
  ): ResponseContract['checkHeaders'] {
    const schema = {
      type: 'object',
      required: Object.keys(headers)
        .filter((name) => headers[name]?.required === true)
        .map((name) => name.toLowerCase()),
      properties: Object.fromEntries(
        Object.entries(headers).map(([name, header]) => [name.toLowerCase(), header.schema]),
      ),
    }
    const check = this.check(schema, pointer)
    const numeric = new Set(
      Object.entries(schema.properties).flatMap(([name, { type }]) => (type === 'integer' ? [name] : [])),
    )
    return (given) => {
      return check(
        Object.fromEntries(
          Object.entries(given).map(([name, text]) => [name, numeric.has(name) ? Number(text) : text]),
        ),
      )
    }
  }

  /** Of a document that is proved, a validator is compiled when it is first asked: a start needs none of them. */
  #compile(schema: unknown, pointer: string, detail: Detail = 'errors'): Validate {
    const compile = (): Validate => {
      try {
        return this.#compiler(schema as Json, detail)
      } catch (error) {
        throw this.#error(pointer, `The schema cannot be compiled: ${(error as Error).message}.`)
      }
    }
    if (!this.#document.proved) return compile()
    let compiled: Validate | undefined
    const validate: Validate = (value) => {
      compiled ??= compile()
      const valid = compiled(value)
      validate.errors = compiled.errors
      return valid
    }
    return validate
  }

  #defaults(): CodeByKeyword {
    return (valueAt(this.#document.source, '/x-error-defaults') ?? {}) as CodeByKeyword
  }

  #error(pointer: string, reason: string): ContractError {
    return new ContractError(this.#document.file, pointer, reason)
  }
}

function defaultsOf(data: unknown): Json | undefined {
  const properties = isObject(data) && isObject(data['properties']) ? data['properties'] : {}
  const given = Object.entries(properties).filter(([, schema]) => isObject(schema) && schema['default'] !== undefined)
  if (given.length === 0) return undefined
  return Object.fromEntries(given.map(([name, schema]) => [name, (schema as Json)['default']]))
}

function undeclaredCode(body: unknown, codes: ReadonlySet<string>): Violation[] {
  const code = valueAt(body, '/error/code')
  if (typeof code !== 'string' || codes.has(code)) return []
  const reason = `is ${show(code)} but must be one of ${[...codes].join(', ')} with this status`
  return [{ pointer: '/error/code', keyword: 'x-codes', reason, value: code }]
}

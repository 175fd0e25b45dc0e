import type { OpenAPIV3_1 } from 'openapi-types'
import type { Quota } from '../domain/quotas.ts'
import { type Json, pointTo, valueAt } from '../ground/json.ts'
import type { Api, Operation, ResponseContract } from './api.ts'
import { METHODS } from './codes.ts'
import { ContractError } from './contract-error.ts'
import type { ApiDocument } from './document.ts'
import { DocumentValidators } from './document-validators.ts'
import { compileBodyCheck, compileQueryCheck, type Parameter } from './request-checks.ts'
import { compileResponse } from './response-compiler.ts'
import { compileRules, type Rule, type RulesText } from './rules.ts'
import type { SchemaCompiler } from './schema-compiler.ts'
import { compileWriter as compileFixedWriter, type WriterCompiler } from './writer.ts'

/**
 * Compiles a document: its schemas with `compile`, and the writers of its responses with `compileWriter`.
 * @throws ContractError for anything that would fail later.
 */
export function compileApi(document: ApiDocument, compile: SchemaCompiler, compileWriter = compileFixedWriter): Api {
  const { resolved, catalogue, file } = document
  const validators = new DocumentValidators(document, compile)
  const compiler = new OperationCompiler(document, validators, compileWriter)
  const operations: Operation[] = []
  const routes = new Map<string, Map<string, Operation>>()
  for (const [path, item] of Object.entries(resolved.paths ?? {})) {
    for (const method of METHODS) {
      const operation = item?.[method]
      if (operation === undefined) continue
      const pointer = pointTo(pointTo('/paths', path), method)
      const compiled = compiler.compile(path, method, item as Json, operation)
      const namesake = operations.find(({ id }) => id === compiled.id)
      if (namesake) {
        const reason = `The operationId ${compiled.id} is taken by ${namesake.method} ${namesake.path}.`
        throw new ContractError(file, `${pointer}/operationId`, reason)
      }
      operations.push(compiled)
      routes.set(path, (routes.get(path) ?? new Map()).set(compiled.method, compiled))
    }
  }
  const failure = '/components/schemas/Failure'
  return {
    document,
    basePath: new URL(resolved.servers?.[0]?.url ?? '/', 'http://localhost').pathname.replace(/\/$/, ''),
    catalogue,
    operations,
    routes,
    checkFailure: validators.check(valueAt(resolved, failure), failure),
  }
}

/** Objects that several operations refer to, such as a response or a security scheme's rules, are compiled once. */
class OperationCompiler {
  readonly #document: ApiDocument
  readonly #validators: DocumentValidators
  readonly #compileWriter: WriterCompiler
  readonly #responses = new Map<Json, ResponseContract>()
  /** By JSON pointer to the object with the rules. */
  readonly #rules = new Map<string, readonly Rule[]>()

  constructor(document: ApiDocument, validators: DocumentValidators, compileWriter: WriterCompiler) {
    this.#document = document
    this.#validators = validators
    this.#compileWriter = compileWriter
  }

  compile(path: string, method: string, item: Json, operation: OpenAPIV3_1.OperationObject): Operation {
    const validators = this.#validators
    const pathPointer = pointTo('/paths', path)
    const pointer = pointTo(pathPointer, method)
    const responses = Object.entries(operation.responses ?? {})
      .filter(([status]) => !status.startsWith('x-'))
      .map(([status, response]) => this.#response(status, response as Json, pointTo(`${pointer}/responses`, status)))
    const [success, ...others] = responses.filter(({ status }) => status < 300)
    if (!operation.operationId) throw validators.error(pointer, 'The operation needs an operationId.')
    if (success === undefined || others.length > 0) {
      const reason = 'An operation has one successful response with an explicit status.'
      throw validators.error(`${pointer}/responses`, reason)
    }
    const body = valueAt(operation, '/requestBody/content/application~1json/schema') as Json | undefined
    const parameters = ((operation.parameters ?? []) as unknown as Parameter[]).filter((each) => each.in === 'query')
    const schemes = (operation.security ?? this.#document.resolved.security ?? []).flatMap(Object.keys)
    const ruleHolders = [...schemes.map((name) => pointTo('/components/securitySchemes', name)), pathPointer, pointer]
    return {
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      quota: item['x-quota'] as Quota | undefined,
      rules: ruleHolders.flatMap((holder) => this.#rulesOf(holder)),
      readsBody: body !== undefined,
      bodyOptional: valueAt(operation, '/requestBody/required') !== true,
      bodySchema: body,
      parameters: new Set(parameters.map(({ name }) => name)),
      parameterSchemas: new Map(parameters.map(({ name, schema }) => [name, schema])),
      checkQuery: compileQueryCheck(parameters, pointer, validators),
      checkBody: compileBodyCheck(body, `${pointer}/requestBody/content/application~1json/schema`, validators),
      success,
      responses: new Map(responses.map((response) => [response.status, response])),
    }
  }

  #response(status: string, response: Json, pointer: string): ResponseContract {
    const known = this.#responses.get(response)
    if (known?.status === Number(status)) return known
    const compiled = compileResponse(status, response, pointer, this.#validators, this.#compileWriter)
    this.#responses.set(response, compiled)
    return compiled
  }

  #rulesOf(holder: string): readonly Rule[] {
    const known = this.#rules.get(holder)
    if (known !== undefined) return known
    const rules = (valueAt(this.#document.resolved, `${holder}/x-rule`) ?? {}) as RulesText
    const compiled = compileRules(rules, holder, (schema, at) => this.#validators.validator(schema, at, 'validity'))
    this.#rules.set(holder, compiled)
    return compiled
  }
}

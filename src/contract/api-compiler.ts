import type { OpenAPIV3_1 } from 'openapi-types'
import type { Quota } from '../domain/quotas.ts'
import { type Json, pointTo, valueAt } from '../ground/json.ts'
import { memoize } from '../ground/memo.ts'
import { type Api, type Operation, pointerOf, type ResponseContract } from './api.ts'
import { METHODS } from './codes.ts'
import { ContractError } from './contract-error.ts'
import type { ApiDocument } from './document.ts'
import { createValidators, type DocumentValidators } from './document-validators.ts'
import { compileBodyCheck, compileQueryCheck, type Parameter } from './request-checks.ts'
import { compileResponse } from './response-compiler.ts'
import { compileRules, type Rule } from './rules.ts'
import type { SchemaCompiler } from './schema-compiler.ts'
import { compileWriter as compileFixedWriter, type WriterCompiler } from './writer.ts'

/**
 * Compiles a document: its schemas with `compile`, and the writers of its responses with `compileWriter`.
 * @throws ContractError for anything that would fail later.
 */
export function compileApi(document: ApiDocument, compile: SchemaCompiler, compileWriter = compileFixedWriter): Api {
  const { resolved, catalogue, file } = document
  const validators = createValidators(document, compile)
  const compileOperation = createOperationCompiler(document, validators, compileWriter)
  const operations: Operation[] = []
  const routes = new Map<string, Map<string, Operation>>()
  for (const [path, item] of Object.entries(resolved.paths ?? {})) {
    for (const method of METHODS) {
      const operation = item?.[method]
      if (operation === undefined) continue
      const compiled = compileOperation(path, method, item as Json, operation)
      const namesake = operations.find(({ id }) => id === compiled.id)
      if (namesake) {
        const reason = `The operationId ${compiled.id} is taken by ${namesake.method} ${namesake.path}.`
        throw new ContractError(file, `${pointerOf({ path, method })}/operationId`, reason)
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

function createOperationCompiler(document: ApiDocument, validators: DocumentValidators, compileWriter: WriterCompiler) {
  // Objects that several operations refer to, such as a response or a security scheme's rules, are compiled once.
  const responses = new Map<Json, ResponseContract>()
  const rulesOf = memoize(compileRulesAt, { limit: Number.POSITIVE_INFINITY })

  return function compileOperation(
    path: string,
    method: string,
    item: Json,
    operation: OpenAPIV3_1.OperationObject,
  ): Operation {
    const pathPointer = pointTo('/paths', path)
    const pointer = pointTo(pathPointer, method)
    const answers = Object.entries((operation.responses ?? {}) as Record<string, Json>)
    // Where no status has codes of its own, `default` stands for all refusals, and the envelope alone is checked.
    const hasCodes = answers.some(([, response]) => response['x-codes'] !== undefined)
    const compiled = answers
      .filter(([status]) => !status.startsWith('x-') && (hasCodes || status !== 'default'))
      .map(([status, response]) => compileOnce(status, response, pointTo(`${pointer}/responses`, status)))
    const [success, ...others] = compiled.filter(({ status }) => status < 300)
    if (!operation.operationId) throw validators.error(pointer, 'The operation needs an operationId.')
    if (success === undefined || others.length > 0) {
      const reason = 'An operation has one successful response with an explicit status.'
      throw validators.error(`${pointer}/responses`, reason)
    }
    const body = valueAt(operation, '/requestBody/content/application~1json/schema') as Json | undefined
    const parameters = ((operation.parameters ?? []) as unknown as Parameter[]).filter((each) => each.in === 'query')
    const schemes = (operation.security ?? document.resolved.security ?? []).flatMap(Object.keys)
    const ruleHolders = [...schemes.map((name) => pointTo('/components/securitySchemes', name)), pathPointer, pointer]
    return {
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      quota: quotaOf(item),
      rules: ruleHolders.flatMap((holder) => rulesOf(holder)),
      readsBody: body !== undefined,
      bodyOptional: valueAt(operation, '/requestBody/required') !== true,
      bodySchema: body,
      parameters: new Set(parameters.map(({ name }) => name)),
      parameterSchemas: new Map(parameters.map(({ name, schema }) => [name, schema])),
      checkQuery: compileQueryCheck(parameters, pointer, validators),
      checkBody: compileBodyCheck(body, `${pointer}/requestBody/content/application~1json/schema`, validators),
      success,
      responses: new Map(compiled.map((response) => [response.status, response])),
    }
  }

  function quotaOf({ 'x-quota': quota }: Json): Quota | undefined {
    const grace = Number(valueAt(document.source, '/x-settings/grace/value') ?? 1)
    return quota === undefined ? undefined : { ...(quota as Omit<Quota, 'grace'>), grace }
  }

  function compileOnce(status: string, response: Json, pointer: string): ResponseContract {
    const known = responses.get(response)
    if (known?.status === Number(status)) return known
    const compiled = compileResponse(status, response, pointer, validators, compileWriter)
    responses.set(response, compiled)
    return compiled
  }

  /** The rules of the object at a JSON pointer. */
  function compileRulesAt(holder: string): readonly Rule[] {
    const rules = valueAt(document.resolved, `${holder}/x-rule`)
    return compileRules(rules, holder, (schema, at) => validators.validator(schema, at, 'first'))
  }
}

import { decimalsOf } from '../domain/dmarc.ts'
import type { Problems } from '../domain/errors.ts'
import { isObject, type Json } from '../ground/json.ts'
import { type Content, contentOf } from '../ground/message.ts'
import { type DescribedViolation, reportViolation, type Violation } from '../ground/schema.ts'
import type { Api, Operation, ResponseContract, Writer } from './api.ts'

/** Creates the function that writes JSON of a schema. */
export type WriterCompiler = (schema: unknown) => Writer

/** Writes numbers as short as possible, independent of the schema: `100`, `99.5`. */
export const compileShortWriter: WriterCompiler = () => JSON.stringify

/**
 * A function that writes JSON by the schema. A number whose `multipleOf` is a fraction keeps its decimals: `100.0`, not
 * `100`. It reads the schema when it is first called.
 */
export function compileWriter(schema: unknown): Writer {
  let write: Writer | undefined
  return (value) => {
    write ??= writerFor(schema) ?? JSON.stringify
    return write(value)
  }
}

function writerFor(schema: unknown): Writer | undefined {
  if (!isObject(schema)) return undefined
  const { multipleOf, items, properties } = schema
  if (typeof multipleOf === 'number' && multipleOf < 1) {
    const decimals = decimalsOf(multipleOf)
    return (value) =>
      typeof value === 'number' && Number.isFinite(value) ? value.toFixed(decimals) : JSON.stringify(value)
  }
  if (items !== undefined) {
    const write = writerFor(items)
    return write && ((value) => (Array.isArray(value) ? `[${value.map(write).join(',')}]` : JSON.stringify(value)))
  }
  return isObject(properties) ? objectWriter(properties) : undefined
}

function objectWriter(properties: Json): Writer | undefined {
  const fields = new Map(
    Object.entries(properties).map(([name, schema]) => [
      name,
      { key: `${JSON.stringify(name)}:`, write: writerFor(schema) },
    ]),
  )
  if (![...fields.values()].some(({ write }) => write !== undefined)) return undefined
  return (value) => {
    if (!isObject(value)) return JSON.stringify(value)
    let text = ''
    for (const name in value) {
      const field = value[name]
      if (field === undefined) continue
      const { key = `${JSON.stringify(name)}:`, write = JSON.stringify } = fields.get(name) ?? {}
      text += (text === '' ? '' : ',') + key + write(field)
    }
    return `{${text}}`
  }
}

/** What happens to a response that violates the contract. Such a response is a bug of this program. */
export type ResponseValidation = 'error' | 'warn' | 'off'

/** `data` that depends only on `source` and `variant`, so that its bytes can be kept as long as the source. */
export interface CachedData {
  source: object
  variant: string
  make(): unknown
}

/** A response without the header fields that all responses have. */
export interface Reply {
  status: number
  code?: string
  /** The violation of a response that is sent nevertheless. */
  breach?: ContractBreach | undefined
  headers: Readonly<Record<string, string>>
  body: Content
  /** Whether it differs from the service's own answer. */
  injected?: boolean
  /** Whether it is not a response of the service, but of a gateway or the like. */
  foreign?: boolean
}

/** A response that must not be sent. */
export class ContractBreach extends Error {
  override name = 'ContractBreach'
  readonly violations: readonly DescribedViolation[]

  constructor(operation: string, status: number, violations: readonly Violation[]) {
    const reports = violations.map(reportViolation)
    super(`The ${status} of ${operation} violates the contract: ${reports.map(({ message }) => message).join(' ')}`)
    this.violations = reports
  }
}

/** In bytes, the size of all kept replies together. A larger reply is kept alone. */
const KEPT = 64 << 20

/** Makes replies, and checks each of them against the contract. */
export class Replier {
  readonly #api: Api
  readonly #validation: ResponseValidation
  readonly #limit: number
  /**
   * Replies to reads by operation, kept as long as their source, which may be a state of an hour ago. They are
   * validated and written once. If they are too large, all are dropped, and made again for the next read.
   */
  #kept = new WeakMap<object, Map<string, { variant: string; reply: Reply }>>()
  /** The total bytes of the replies since the last drop. */
  #size = 0

  constructor(api: Api, validation: ResponseValidation, limit = KEPT) {
    this.#api = api
    this.#validation = validation
    this.#limit = limit
  }

  /** The success with cached data, which is itself kept with its source. */
  succeedCached(operation: Operation, cached: CachedData): Reply {
    const { source, variant } = cached
    const kept = this.#kept.get(source)?.get(operation.id)
    if (kept?.variant === variant) return kept.reply
    const reply = this.succeed(operation, cached.make())
    this.#size += reply.body.size
    if (this.#size > this.#limit) {
      this.#kept = new WeakMap()
      this.#size = reply.body.size
    }
    const replies = this.#kept.get(source) ?? new Map<string, { variant: string; reply: Reply }>()
    this.#kept.set(source, replies.set(operation.id, { variant, reply }))
    return reply
  }

  succeed({ id, success }: Operation, data: unknown): Reply {
    const body = { success: true, data: inForm(success, data) }
    const breach = this.#findBreach(success.check, body, id, success.status)
    const { status, constantHeaders: headers } = success
    return { status, headers, body: contentOf(success.write(body)), breach }
  }

  /** Answers the first problem. `operation` is absent if the refusal came before the operation was known. */
  refuse(operation: Operation | undefined, problems: Problems<string>): Reply {
    const { catalogue, checkFailure, operations } = this.#api
    const { status, code, message } = catalogue.answer(problems[0])
    const body = errorEnvelope({ code, message })
    const response = (operation ?? operations[0])?.responses.get(status)
    const check = operation === undefined ? checkFailure : (response?.check ?? undocumented)
    const breach = this.#findBreach(check, body, operation?.id ?? 'a request outside of every operation', status)
    const headers = response?.codes.has(code) ? response.constantHeaders : {}
    return { status, code, headers, body: contentOf(JSON.stringify(body)), breach }
  }

  /** @throws ContractBreach if such a response must not be sent */
  #findBreach(
    check: (body: unknown) => readonly Violation[],
    body: unknown,
    operation: string,
    status: number,
  ): ContractBreach | undefined {
    if (this.#validation === 'off') return undefined
    const violations = check(body)
    if (violations.length === 0) return undefined
    const breach = new ContractBreach(operation, status, violations)
    if (this.#validation === 'error') throw breach
    return breach
  }
}

/** The data of an operation with the fields that the document gives them. */
export function inForm({ defaults, fields }: Pick<ResponseContract, 'defaults' | 'fields'>, data: unknown): unknown {
  if (!isObject(data)) return data
  const complete = defaults === undefined ? data : { ...defaults, ...data }
  return fields === undefined
    ? complete
    : Object.fromEntries(Object.entries(complete).filter(([name]) => fields.has(name)))
}

function undocumented(): Violation[] {
  return [{ pointer: '', keyword: 'responses', reason: 'has a status that is not documented', value: undefined }]
}

/** The content of an error response. The control plane adds more to it. */
export interface ErrorContent {
  code: string
  message: string
}

/** The envelope of every error response, of the service and of the control plane. No other module writes one. */
export interface ErrorEnvelope<Content extends ErrorContent = ErrorContent> {
  success: false
  error: Content
}

/** Source: "`{success: false, error: {code: string, message: string}}` on failure". */
export function errorEnvelope<Content extends ErrorContent>(error: Content): ErrorEnvelope<Content> {
  return { success: false, error }
}

import type { Api, Operation } from '../contract/api.ts'
import type { Problems } from '../domain/errors.ts'
import { reportViolation, type Violation, type ViolationReport } from '../ground/schema.ts'
import { type Content, contentOf } from './content.ts'
import { errorEnvelope } from './envelope.ts'

/** What happens to a response that violates the contract, which is a bug of this program. */
export type ResponseValidation = 'error' | 'warn' | 'off'

/** `data` that `make` computes from `source` and `variant` alone, so that its bytes can be kept as long as the source. */
export interface Reading {
  source: object
  variant: string
  make(): unknown
}

/** A response without the header fields that all responses have. */
export interface Reply {
  status: number
  code?: string
  /** How it violates the contract, where it is sent nevertheless. */
  breach?: ContractBreach | undefined
  headers: Readonly<Record<string, string>>
  body: Content
  /** Whether it differs from what the service would answer. */
  injected?: boolean
  /** Whether it is not a response of the service at all, but one of a gateway or the like. */
  foreign?: boolean
}

/** A response that must not be sent. */
export class ContractBreach extends Error {
  override name = 'ContractBreach'
  readonly violations: readonly ViolationReport[]

  constructor(operation: string, status: number, violations: readonly Violation[]) {
    const reports = violations.map(reportViolation)
    super(`The ${status} of ${operation} violates the contract: ${reports.map(({ message }) => message).join(' ')}`)
    this.violations = reports
  }
}

/** The bytes of the replies that are kept, all together. A larger one is kept alone. */
export const KEPT = 64 << 20

/** Makes replies, and checks each of them against the contract. */
export class Replier {
  readonly #api: Api
  readonly #validation: ResponseValidation
  readonly #limit: number
  /**
   * Replies to readings by operation, kept as long as their source, which may be a state of an hour ago: they are
   * validated and written once. When they are too large, all are forgotten, and made again when somebody reads them.
   */
  #kept = new WeakMap<object, Map<string, { variant: string; reply: Reply }>>()
  /** The bytes of all replies that were kept since then. */
  #size = 0

  constructor(api: Api, validation: ResponseValidation, limit = KEPT) {
    this.#api = api
    this.#validation = validation
    this.#limit = limit
  }

  read(operation: Operation, reading: Reading): Reply {
    const { source, variant } = reading
    const kept = this.#kept.get(source)?.get(operation.id)
    if (kept?.variant === variant) return kept.reply
    const reply = this.succeed(operation, reading.make())
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
    const complete =
      success.defaults === undefined || Array.isArray(data) ? data : { ...success.defaults, ...(data as object) }
    const body = { success: true, data: complete }
    const breach = this.#findBreach(success.check, body, id, success.status)
    const { status, constantHeaders: headers } = success
    return { status, headers, body: contentOf(success.write(body)), breach }
  }

  /** Answers the first of the problems. `operation` is absent where the refusal came before one was known. */
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

  /** @throws ContractBreach where such a response is not sent. */
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

function undocumented(): Violation[] {
  return [{ pointer: '', keyword: 'responses', reason: 'has a status that is not documented', value: undefined }]
}

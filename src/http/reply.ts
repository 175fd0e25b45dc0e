import type { Api, Operation } from '../contract/api.ts'
import type { Catalogue } from '../contract/catalogue.ts'
import type { Problem, Problems } from '../domain/errors.ts'
import { reportViolation, type Violation, type ViolationReport } from '../ground/schema.ts'
import { type Content, contentOf } from './content.ts'

/** What happens to a response that violates the contract, which is a bug of ours. */
export type ResponseValidation = 'error' | 'warn' | 'off'

/** `data` that `make` computes from `source` and `variant` alone, so that its bytes can be kept as long as the source. */
export interface Reading {
  source: object
  variant: string
  make(): unknown
}

/** A response but for the headers that every exchange has. */
export interface Reply {
  status: number
  code?: string
  /** Of several problems, the one that is answered. */
  problem?: Problem<string>
  /** Why it should not have been sent, where it is sent all the same. */
  breach?: ContractBreach | undefined
  headers: Readonly<Record<string, string>>
  body: Content
  /** Whether it is not, or not quite, what the service would answer. */
  injected?: boolean
  /** Whether it is nothing of the service's at all, but what a gateway or the like would answer. */
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

/** Makes replies, each proved against the contract before it leaves. */
export class Replier {
  readonly #api: Api
  readonly #validation: ResponseValidation
  /** Replies to readings by operation, kept while their source is: validated and written once. */
  readonly #kept = new WeakMap<object, Map<string, { variant: string; reply: Reply }>>()

  get catalogue(): Catalogue {
    return this.#api.catalogue
  }

  constructor(api: Api, validation: ResponseValidation) {
    this.#api = api
    this.#validation = validation
  }

  read(operation: Operation, reading: Reading): Reply {
    const { source, variant } = reading
    const replies = this.#kept.get(source) ?? new Map<string, { variant: string; reply: Reply }>()
    this.#kept.set(source, replies)
    const kept = replies.get(operation.id)
    if (kept?.variant === variant) return kept.reply
    const reply = this.succeed(operation, reading.make())
    replies.set(operation.id, { variant, reply })
    return reply
  }

  succeed({ id, success }: Operation, data: unknown): Reply {
    const complete =
      success.defaults === undefined || Array.isArray(data) ? data : { ...success.defaults, ...(data as object) }
    const body = { success: true, data: complete }
    const breach = this.#judge(success.check, body, id, success.status)
    const { status, constantHeaders: headers } = success
    return { status, headers, body: contentOf(success.write(body)), breach }
  }

  /** `operation` is absent where the refusal came before one was known. */
  refuse(operation: Operation | undefined, problems: Problems<string>): Reply {
    const { catalogue, checkFailure, operations } = this.#api
    const problem = catalogue.foremost(problems)
    const { status, code, message } = catalogue.answer(problem)
    const body = { success: false, error: { code, message } }
    const response = (operation ?? operations[0])?.responses.get(status)
    const check = operation === undefined ? checkFailure : (response?.check ?? undocumented)
    const breach = this.#judge(check, body, operation?.id ?? 'a request outside of every operation', status)
    const headers = response?.codes.has(code) ? response.constantHeaders : {}
    return { status, code, problem, headers, body: contentOf(JSON.stringify(body)), breach }
  }

  /** @throws ContractBreach unless such a response is sent all the same. */
  #judge(
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

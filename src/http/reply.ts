import type { Contract, Operation, ResponseContract } from '../contract/contract.ts'
import type { Violation } from '../contract/violations.ts'
import type { Problems } from '../domain/errors.ts'
import type { Reading } from './operations.ts'

/** What happens to a response that violates the contract, which is a bug of ours. */
export type ResponseValidation = 'error' | 'warn' | 'off'

/** A response but for the headers that every exchange has. */
export interface Reply {
  status: number
  code?: string
  headers: Readonly<Record<string, string>>
  body: Buffer
}

/** A response that must not be sent. */
export class ContractBreach extends Error {
  override name = 'ContractBreach'
  readonly violations: readonly Violation[]

  constructor(operation: string, status: number, violations: readonly Violation[]) {
    super(`The ${status} of ${operation} violates the contract: ${violations.map(({ message }) => message).join(' ')}`)
    this.violations = violations
  }
}

/** Makes replies, each proved against the contract before it leaves. */
export class Replier {
  readonly #contract: Contract
  readonly #validation: ResponseValidation
  readonly #warn: (breach: ContractBreach) => void
  /** Bytes of readings, kept while their source is: validated and written once. */
  readonly #kept = new WeakMap<object, Map<string, { variant: string; reply: Reply }>>()

  constructor(contract: Contract, validation: ResponseValidation, warn: (breach: ContractBreach) => void) {
    this.#contract = contract
    this.#validation = validation
    this.#warn = warn
  }

  read(operation: Operation, { source, variant, make }: Reading): Reply {
    const replies = this.#kept.get(source) ?? new Map<string, { variant: string; reply: Reply }>()
    this.#kept.set(source, replies)
    const kept = replies.get(operation.id)
    if (kept?.variant === variant) return kept.reply
    const reply = this.succeed(operation, make())
    replies.set(operation.id, { variant, reply })
    return reply
  }

  succeed({ id, success }: Operation, data: unknown): Reply {
    const complete = Array.isArray(data) ? data : { ...success.defaults, ...(data as object) }
    const body = { success: true, data: complete }
    this.#prove(id, success, body)
    return { status: success.status, headers: success.constantHeaders, body: Buffer.from(success.write(body)) }
  }

  /** `operation` is absent where the refusal came before one was known. */
  refuse(operation: Operation | undefined, problems: Problems): Reply {
    const { catalogue, checkFailure } = this.#contract
    const { status, code, message } = catalogue.answer(catalogue.foremost(problems))
    const body = { success: false, error: { code, message } }
    const response = (operation ?? this.#contract.operations[0])?.responses.get(status)
    if (operation !== undefined) this.#prove(operation.id, response, body, status)
    else this.#judge(checkFailure(body), 'a request outside of every operation', status)
    return {
      status,
      code,
      headers: response?.codes.has(code) ? response.constantHeaders : {},
      body: Buffer.from(JSON.stringify(body)),
    }
  }

  #prove(id: string, response: ResponseContract | undefined, body: unknown, status = response?.status ?? 0): void {
    if (this.#validation === 'off') return
    const undocumented = {
      pointer: '',
      keyword: 'responses',
      message: `The status ${status} is not documented.`,
      value: status,
    }
    this.#judge(response === undefined ? [undocumented] : response.check(body), id, status)
  }

  #judge(violations: readonly Violation[], operation: string, status: number): void {
    if (violations.length === 0 || this.#validation === 'off') return
    const breach = new ContractBreach(operation, status, violations)
    if (this.#validation === 'error') throw breach
    this.#warn(breach)
  }
}

import type { JudgedDifference } from '../judge/finding.ts'

/** What is wrong with a request or a response of the application. */
export interface ContractViolation
  extends Pick<JudgedDifference, 'method' | 'path' | 'status' | 'pointer' | 'rule' | 'asked' | 'answered'> {
  /** The same in every run, such as `contract-violation/listDomains/200/response/data/domains/type`. */
  id: string
  /** One or two sentences. They may quote what was sent, but never a key. */
  message: string
  /** The request is what the client did, and the response what the application did. */
  part: 'request' | 'response'
  /** The operationId; absent if the document has no such operation. */
  operation: string | undefined
  /** The X-Request-Id of the response. */
  requestId: string | undefined
}

/** What `contract(…)` has checked so far, and what it has not. */
export interface ContractReport {
  /** Requests below the base path of the contract, and how many of them are not over yet. */
  exchanges: number
  open: number
  /** Requests to other paths, which are not checked. */
  outside: number
  /** Of requests, and of responses. */
  violations: { request: number; response: number }
  /** What the specification leaves open and no alternative of openapi.yaml is like, by id. No violations. */
  otherChoices: Record<string, number>
  /** The parts that were not checked, and why. */
  notChecked: { part: 'request' | 'response'; reason: string; count: number }[]
  /** Calls of `onViolation` that threw or rejected. */
  failedCalls: number
}

/** How many different reasons, and choices, are kept. Others are counted together. */
const KEPT = 200
const OTHERS = 'Other reasons.'

/** Counts what `contract(…)` does, and tells its listener. */
export class ContractRecord {
  readonly #listener: ((violation: ContractViolation) => unknown) | undefined
  readonly #notChecked = new Map<string, ContractReport['notChecked'][number]>()
  readonly #otherChoices = new Map<string, number>()
  readonly #violations = { request: 0, response: 0 }
  #failedCalls = 0
  exchanges = 0
  open = 0
  outside = 0

  constructor(listener: ((violation: ContractViolation) => unknown) | undefined) {
    this.#listener = listener
  }

  begin(): void {
    this.exchanges++
    this.open++
  }

  note({
    violations,
    otherChoices,
  }: {
    violations: readonly ContractViolation[]
    otherChoices: readonly string[]
  }): void {
    for (const violation of violations) this.#tell(violation)
    for (const id of otherChoices) {
      const kept = this.#otherChoices.size < KEPT || this.#otherChoices.has(id) ? id : OTHERS
      this.#otherChoices.set(kept, (this.#otherChoices.get(kept) ?? 0) + 1)
    }
  }

  /** Tells the listener. An error of the listener is a warning of the process, so that the application goes on. */
  #tell(violation: ContractViolation): void {
    this.#violations[violation.part]++
    try {
      const told = this.#listener?.(violation)
      if (told instanceof Promise) told.catch((error: unknown) => this.#warn(error))
    } catch (error) {
      this.#warn(error)
    }
  }

  miss(part: 'request' | 'response', reason: string): void {
    const known = this.#notChecked.get(`${part} ${reason}`)
    if (known !== undefined) known.count++
    else if (this.#notChecked.size >= KEPT && reason !== OTHERS) this.miss(part, OTHERS)
    else this.#notChecked.set(`${part} ${reason}`, { part, reason, count: 1 })
  }

  report(): ContractReport {
    return {
      ...{ exchanges: this.exchanges, open: this.open, outside: this.outside },
      violations: { ...this.#violations },
      otherChoices: Object.fromEntries(this.#otherChoices),
      notChecked: [...this.#notChecked.values()].map((each) => ({ ...each })),
      failedCalls: this.#failedCalls,
    }
  }

  #warn(error: unknown): void {
    this.#failedCalls++
    // Once is enough: a listener that fails usually fails each time.
    if (this.#failedCalls === 1) process.emitWarning(`onViolation of contract() failed: ${String(error)}`)
  }
}

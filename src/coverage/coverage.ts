import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { refreshDay } from '../domain/dmarc.ts'
import { itemsByOperation, shows } from './items.ts'
import { evidenceOf, type Observation, type RuleEvidence } from './observation.ts'

/** A kind of response, and how often the service and faults have given it. */
export interface ResponseCount {
  /** `undefined` for an unknown path and for an unsupported method. */
  operation: Operation | undefined
  status: number
  /** The code of a refusal. */
  code: string | undefined
  genuine: number
  injected: number
}

/** What requests have shown of the contract: responses, rules and edges of limits, all by their names. */
export class Coverage {
  readonly contract: Contract
  /** By operation, because a client meets few responses of each. */
  readonly #responses = new Map<Operation | undefined, ResponseCount[]>()
  readonly #shown = new Set<string>()
  /** By operation: the refresh day of its last success, and the number of successes on that day. */
  readonly #successes = new Map<Operation, { day: number; times: number }>()
  readonly #onShown: ((item: string) => void) | undefined

  /** `onShown` is called with the name of each item at the first request that shows it. */
  constructor(contract: Contract, onShown?: (item: string) => void) {
    this.contract = contract
    this.#onShown = onShown
  }

  /** Records an answered request. */
  observe(observation: Observation): void {
    const { operation, status, code, injected, now } = observation
    const count = this.#countOf(operation, status, code)
    if (injected) count.injected++
    else count.genuine++
    if (operation === undefined || injected) return
    const timesToday = code === undefined ? this.#noteSuccess(operation, now) : 0
    let evidence: RuleEvidence | undefined
    // Most requests come when all rules that they show are shown.
    const findEvidence = () => (evidence ??= evidenceOf(observation, this.contract, timesToday))
    for (const item of itemsByOperation(this.contract).get(operation) ?? []) {
      if (this.#shown.has(item.name) || !shows(item, observation, findEvidence)) continue
      this.#shown.add(item.name)
      this.#onShown?.(item.name)
    }
  }

  /** Returns the number of successes of the operation on this refresh day. `now` is on the account's clock. */
  #noteSuccess(operation: Operation, now: number): number {
    const day = refreshDay(now, this.contract.settings.refresh)
    const last = this.#successes.get(operation)
    const times = last?.day === day ? last.times + 1 : 1
    this.#successes.set(operation, { day, times })
    return times
  }

  #countOf(operation: Operation | undefined, status: number, code: string | undefined): ResponseCount {
    const counts = this.#responses.get(operation) ?? []
    if (counts.length === 0) this.#responses.set(operation, counts)
    for (const count of counts) if (count.status === status && count.code === code) return count
    const count = { operation, status, code, genuine: 0, injected: 0 }
    counts.push(count)
    return count
  }

  /** Adds a number of responses, with the same counts as `observe`. */
  addResponses({ operation, status, code, genuine, injected }: ResponseCount): void {
    const count = this.#countOf(operation, status, code)
    count.genuine += genuine
    count.injected += injected
  }

  /** Records that the item with this name was shown. */
  addShown(name: string): void {
    this.#shown.add(name)
  }

  /** Adds the records of another coverage of the same contract. */
  add(other: Coverage): void {
    for (const response of other.responses.values()) this.addResponses(response)
    for (const name of other.#shown) this.#shown.add(name)
  }

  hasShown(name: string): boolean {
    return this.#shown.has(name)
  }

  /** The responses by `nameOfResponse`. */
  get responses(): ReadonlyMap<string, ResponseCount> {
    const all = [...this.#responses.values()].flat()
    return new Map(all.map((count) => [nameOfResponse(count.operation?.id, count.status, count.code), count]))
  }
}

/** A response as text: the operation, the status and the code. None of them contains a space. */
export function nameOfResponse(operation: string | undefined, status: number, code: string | undefined): string {
  return `${operation ?? ''} ${status} ${code ?? ''}`
}

/** The combined records of several coverages, such as those of all accounts. */
export function mergeCoverage(all: Iterable<Coverage>, contract: Contract): Coverage {
  const sum = new Coverage(contract)
  for (const coverage of all) sum.add(coverage)
  return sum
}

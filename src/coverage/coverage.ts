import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { refreshDay } from '../domain/dmarc.ts'
import { RuleEvidence } from './evidence.ts'
import { itemsByOperation, shows } from './items.ts'
import type { Observation } from './observation.ts'

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
  readonly #responses = new Map<string, ResponseCount>()
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
    this.addResponses({ operation, status, code, genuine: injected ? 0 : 1, injected: injected ? 1 : 0 })
    const items = operation && itemsByOperation(this.contract).get(operation)
    if (operation === undefined || items === undefined || injected) return
    const timesToday = code === undefined ? this.noteSuccess(operation, now) : 0
    const evidence = new RuleEvidence(observation, this.contract, timesToday)
    for (const item of items) {
      if (this.#shown.has(item.name) || !shows(item, observation, evidence)) continue
      this.#shown.add(item.name)
      this.#onShown?.(item.name)
    }
  }

  /**
   * Records that the operation has succeeded, here or in another process, at a time of the account's clock. Returns the
   * number of its successes on that refresh day.
   */
  noteSuccess(operation: Operation, now: number): number {
    const day = refreshDay(now, this.contract.settings.refresh)
    const last = this.#successes.get(operation)
    const times = last?.day === day ? last.times + 1 : 1
    this.#successes.set(operation, { day, times })
    return times
  }

  /** Adds a number of responses, with the same counts as `observe`. */
  addResponses(added: ResponseCount): void {
    const name = nameOfResponse(added.operation?.id, added.status, added.code)
    const known = this.#responses.get(name)
    if (known === undefined) {
      this.#responses.set(name, { ...added })
      return
    }
    known.genuine += added.genuine
    known.injected += added.injected
  }

  /** Records that the item with this name was shown. */
  addShown(name: string): void {
    this.#shown.add(name)
  }

  /** Adds the records of another coverage of the same contract. */
  add(other: Coverage): void {
    for (const response of other.#responses.values()) this.addResponses(response)
    for (const name of other.#shown) this.#shown.add(name)
  }

  hasShown(name: string): boolean {
    return this.#shown.has(name)
  }

  /** The responses by `nameOfResponse`. */
  get responses(): ReadonlyMap<string, ResponseCount> {
    return this.#responses
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

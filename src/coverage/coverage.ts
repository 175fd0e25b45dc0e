import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { refreshDay } from '../domain/dmarc.ts'
import { RuleEvidence } from './evidence.ts'
import { itemNames, type Layout, layoutOf, shows } from './layout.ts'
import type { Observation } from './observation.ts'

/** A response that no operation documents, or that belongs to no operation. */
export interface OtherResponse {
  operation: Operation | undefined
  status: number
  code: string | undefined
  genuine: number
  injected: number
}

interface PendingRule {
  onSuccess: number[]
  onRefusal: number[]
  /** The refresh day of the last success, and the number of successes on it. */
  day: number
  times: number
}

/** The items of the contract that requests have shown: operations, statuses, codes, rules and edges of limits. */
export class Coverage {
  readonly contract: Contract
  readonly #layout: Layout
  readonly #genuine: Uint32Array
  readonly #injected: Uint32Array
  readonly #shown: Uint8Array
  readonly #others = new Map<string, OtherResponse>()
  readonly #pending = new Map<Operation, PendingRule>()
  readonly #evidence: RuleEvidence
  readonly #onShown: ((item: string) => void) | undefined

  /** `onShown` is called with the name of each rule or edge at the first request that shows it, see `itemNames`. */
  constructor(contract: Contract, onShown?: (item: string) => void) {
    this.contract = contract
    this.#onShown = onShown
    this.#layout = layoutOf(contract)
    this.#genuine = new Uint32Array(this.#layout.slots.length)
    this.#injected = new Uint32Array(this.#layout.slots.length)
    this.#shown = new Uint8Array(this.#layout.items.length)
    this.#evidence = new RuleEvidence(contract)
  }

  /** Records an answered request. It runs for every request, so it does not check shown items again. */
  observe(observation: Observation): void {
    const { operation, status, code, injected } = observation
    this.addResponses({ operation, status, code, genuine: injected ? 0 : 1, injected: injected ? 1 : 0 })
    const pending = operation && !injected ? this.#pendingOf(operation) : undefined
    if (pending === undefined) return
    const items = code === undefined ? pending.onSuccess : pending.onRefusal
    if (items.length > 0) this.#examine(items, pending, observation)
  }

  clear(): void {
    this.#genuine.fill(0)
    this.#injected.fill(0)
    this.#shown.fill(0)
    this.#others.clear()
    this.#pending.clear()
  }

  /** Records that the operation has succeeded in another process, at a time of the account's clock. */
  noteSuccess(operation: Operation, now: number): void {
    const pending = this.#pendingOf(operation)
    if (pending !== undefined && pending.onSuccess.length > 0) this.#countSuccess(pending, now)
  }

  /** Adds a number of responses, with the same counts as `observe`. */
  addResponses({ operation, status, code, genuine, injected }: OtherResponse): void {
    const layout = operation && this.#layout.operations.get(operation)
    const slot = layout?.slots.get(status)?.get(code ?? '')
    if (slot !== undefined) {
      this.#genuine[slot] = (this.#genuine[slot] ?? 0) + genuine
      this.#injected[slot] = (this.#injected[slot] ?? 0) + injected
      return
    }
    const key = nameOfResponse(operation?.id, status, code)
    const known = this.#others.get(key)
    this.#others.set(key, {
      ...{ operation, status, code },
      genuine: genuine + (known?.genuine ?? 0),
      injected: injected + (known?.injected ?? 0),
    })
  }

  /** Records that the item with this name was shown. A name that the contract does not have is ignored. */
  addShown(name: string): void {
    const item = itemNames(this.contract).indexOf(name)
    if (item >= 0) this.#shown[item] = 1
  }

  /** Adds the records of another coverage of the same contract. */
  add(other: Coverage): void {
    for (const [slot, count] of other.#genuine.entries()) this.#genuine[slot] = (this.#genuine[slot] ?? 0) + count
    for (const [slot, count] of other.#injected.entries()) this.#injected[slot] = (this.#injected[slot] ?? 0) + count
    for (const [item, shown] of other.#shown.entries()) if (shown === 1) this.#shown[item] = 1
    for (const response of other.#others.values()) this.addResponses(response)
  }

  /** The counts of a slot of `layoutOf`. */
  count(slot: number): { genuine: number; injected: number } {
    return { genuine: this.#genuine[slot] ?? 0, injected: this.#injected[slot] ?? 0 }
  }

  /** Whether an item of `layoutOf` was shown. */
  hasShown(item: number): boolean {
    return this.#shown[item] === 1
  }

  get others(): Iterable<OtherResponse> {
    return this.#others.values()
  }

  #examine(items: number[], pending: PendingRule, observation: Observation): void {
    const evidence = this.#evidence
    evidence.observation = observation
    if (observation.code === undefined) this.#countSuccess(pending, observation.now)
    evidence.timesToday = pending.times
    for (let place = items.length - 1; place >= 0; place--) {
      const number = items[place] ?? 0
      const item = this.#layout.items[number]
      if (this.#shown[number] !== 1) {
        if (item === undefined || !shows(item, observation, evidence)) continue
        this.#shown[number] = 1
        this.#onShown?.(itemNames(this.contract)[number] ?? '')
      }
      items.splice(place, 1)
    }
    evidence.observation = undefined
  }

  #countSuccess(pending: PendingRule, now: number): void {
    const day = refreshDay(now, this.contract.settings.refresh)
    pending.times = day === pending.day ? pending.times + 1 : 1
    pending.day = day
  }

  /** `undefined` for an operation of another contract. */
  #pendingOf(operation: Operation): PendingRule | undefined {
    const known = this.#pending.get(operation)
    if (known !== undefined) return known
    const layout = this.#layout.operations.get(operation)
    if (layout === undefined) return undefined
    const { onSuccess, onRefusal } = layout
    const pending = { onSuccess: [...onSuccess], onRefusal: [...onRefusal], day: Number.NaN, times: 0 }
    this.#pending.set(operation, pending)
    return pending
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

import type { AccountState } from '../domain/account.ts'
import type { BudgetUse } from '../store/memory-budget.ts'
import { weighAccount, weighChange } from '../store/weight.ts'

/** An account as it was at one version. */
export interface AccountCopy {
  /** See `Visitor`. It is text, because it is part of key names. */
  incarnation: string
  state: AccountState
  version: number
  /** The operation that made the version. A number is not enough: a store that lost versions uses numbers again. */
  token: string
  /** The last operation that changed a part on which plans of requests depend. */
  gate: string
  isEvictable: boolean
  /** Whether it was changed since its creation. */
  isChanged: boolean
}

/** The version as a `Moment` names it. The name is unique, also after the store has lost some versions. */
export function momentVersion(version: number, token: string): string {
  return `${version} ${token}`
}

interface KeptCopy {
  copy: AccountCopy
  /** In bytes. */
  weight: number
}

/**
 * The accounts that this process knows, with the ids and keys by which they were found. The store decides whether a
 * copy is up to date and its account still exists. If the copies are too large, the least recently used are dropped.
 */
export class Copies {
  readonly #limit: number
  readonly #copies = new Map<string, KeptCopy>()
  /** By incarnation. */
  readonly #byId = new Map<string, string>()
  readonly #byKey = new Map<string, string>()
  #weight = 0

  /** `limit` in bytes. At least one account is kept. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** In bytes, approximately. */
  get use(): BudgetUse {
    return { limit: this.#limit, used: this.#weight }
  }

  get(incarnation: string): AccountCopy | undefined {
    const kept = this.#copies.get(incarnation)
    if (kept === undefined) return undefined
    // The last entry of a `Map` is the most recently used one.
    this.#copies.delete(incarnation)
    this.#copies.set(incarnation, kept)
    return kept.copy
  }

  /** The incarnation of the account that had the id at the last reply of the store. */
  withId(id: string): string | undefined {
    return this.#byId.get(id)
  }

  withKey(hash: string): string | undefined {
    return this.#byKey.get(hash)
  }

  put(copy: AccountCopy): void {
    const { incarnation, state } = copy
    const former = this.#copies.get(incarnation)
    const weight =
      former === undefined
        ? weighAccount(state)
        : former.weight + (former.copy.state === state ? 0 : weighChange(former.copy.state, state).growth)
    this.#weight += weight - (former?.weight ?? 0)
    this.#copies.delete(incarnation)
    this.#copies.set(incarnation, { copy, weight })
    if (former?.copy.state.keys !== state.keys) {
      for (const { hash } of former?.copy.state.keys ?? []) this.#unlink(this.#byKey, hash, incarnation)
      for (const { hash } of state.keys) this.#byKey.set(hash, incarnation)
    }
    this.#byId.set(state.id, incarnation)
    for (const oldest of this.#copies.keys()) {
      if (this.#weight <= this.#limit || oldest === incarnation) break
      this.forget(oldest)
    }
  }

  forget(incarnation: string): void {
    const kept = this.#copies.get(incarnation)
    if (kept === undefined) return
    this.#copies.delete(incarnation)
    this.#weight -= kept.weight
    const { id, keys } = kept.copy.state
    this.#unlink(this.#byId, id, incarnation)
    for (const { hash } of keys) this.#unlink(this.#byKey, hash, incarnation)
  }

  clear(): void {
    this.#copies.clear()
    this.#byId.clear()
    this.#byKey.clear()
    this.#weight = 0
  }

  #unlink(index: Map<string, string>, name: string, incarnation: string): void {
    if (index.get(name) === incarnation) index.delete(name)
  }
}

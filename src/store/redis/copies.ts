import type { AccountState } from '../../domain/account.ts'
import type { FaultTally } from '../../domain/faults.ts'
import { ImmutableMap } from '../../domain/immutable.ts'
import type { Counters, Hits } from '../../domain/quotas.ts'
import type { Settings } from '../../domain/settings.ts'
import { type AccountRecord, decodeAccount, encodeAccount } from '../record.ts'
import type { Account, SnapshotSummary } from '../store.ts'

/** How many characters of text the accounts may have that a process holds copies of. */
const LIMIT = 128 << 20

/** A snapshot, with its number among the snapshots of its account. */
export interface SnapshotRecord extends SnapshotSummary {
  number: number
}

/** An account as a process last saw it. */
export interface AccountCopy extends Account {
  readonly snapshots: readonly SnapshotRecord[]
  /** Grows with each change of the counters or of the list of snapshots. */
  readonly counted: string
  /** The greatest time that a request of the account has seen, in milliseconds. */
  readonly real: number
  /** About how many characters the state has as text. */
  readonly size: number
}

/** The accounts that a process knows. Whether they are the present ones, only the store can say. The one set last is kept longest. */
export class Copies {
  readonly #copies = new Map<number, AccountCopy>()
  readonly #byKey = new Map<string, number>()
  #size = 0

  get(incarnation: number): AccountCopy | undefined {
    return this.#copies.get(incarnation)
  }

  withKey(hash: string): number | undefined {
    return this.#byKey.get(hash)
  }

  set(copy: AccountCopy): void {
    const { incarnation, state, size } = copy
    const former = this.#copies.get(incarnation)
    this.#copies.delete(incarnation)
    this.#copies.set(incarnation, copy)
    this.#size += size - (former?.size ?? 0)
    if (former?.state.keys !== state.keys) {
      if (former !== undefined) this.#forgetKeys(former)
      for (const { hash } of state.keys) this.#byKey.set(hash, incarnation)
    }
    for (const oldest of this.#copies.keys()) {
      if (this.#size <= LIMIT || oldest === incarnation) break
      this.forget(oldest)
    }
  }

  forget(incarnation: number): void {
    const copy = this.#copies.get(incarnation)
    if (copy === undefined) return
    this.#copies.delete(incarnation)
    this.#size -= copy.size
    this.#forgetKeys(copy)
  }

  clear(): void {
    for (const map of [this.#copies, this.#byKey]) map.clear()
    this.#size = 0
  }

  #forgetKeys({ incarnation, state }: AccountCopy): void {
    for (const { hash } of state.keys) if (this.#byKey.get(hash) === incarnation) this.#byKey.delete(hash)
  }
}

/** The id in names of the store, in which every two texts differ. It is JSON. */
export function writeId(id: string): string {
  return JSON.stringify(id)
}

export function readId(text: string): string {
  return JSON.parse(text) as string
}

export function writeState(state: AccountState): string {
  return JSON.stringify(encodeAccount(state))
}

export function readState(text: string, settings: Pick<Settings, 'nameComparison'>): AccountState {
  return decodeAccount(JSON.parse(text) as AccountRecord, settings)
}

export function writeCounters({ quotas, tallies, requests }: Counters): string {
  return JSON.stringify([requests, [...quotas], [...tallies]])
}

export function readCounters(text: string): Counters {
  const [requests, quotas, tallies] = JSON.parse(text)
  return { requests, quotas: ImmutableMap<string, Hits>(quotas), tallies: ImmutableMap<string, FaultTally>(tallies) }
}

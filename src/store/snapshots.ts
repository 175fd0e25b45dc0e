import { type AccountState, keepAccount } from '../domain/account.ts'
import { timeOn } from '../domain/clock.ts'
import type { Counters } from '../domain/counting.ts'
import type { MemoryShare } from './memory-budget.ts'
import type { SnapshotOutcome, SnapshotRequest, SnapshotSummary } from './store.ts'

export interface Snapshot extends SnapshotSummary {
  state: AccountState
  counters: Counters
  /** The bytes of older states of the account at the time of the snapshot. */
  outdated: number
}

/** What all accounts without snapshots share. */
const NONE: ReadonlyMap<string, Snapshot> = new Map()

/** The snapshots of one account. They share common parts with the account and with each other. */
export class Snapshots {
  #kept: ReadonlyMap<string, Snapshot> = NONE
  readonly #share: MemoryShare | undefined

  /** `share` is absent if there is no limit for the memory. */
  constructor(share: MemoryShare | undefined) {
    this.#share = share
  }

  /** @throws StoreError `full` */
  take(
    { name, real, replace, limit }: SnapshotRequest,
    { state, counters, outdated }: Pick<Snapshot, 'state' | 'counters' | 'outdated'>,
  ): SnapshotOutcome {
    const hasNamesake = this.#kept.has(name)
    if (hasNamesake && !replace) return { ok: false, reason: 'taken' }
    if (!hasNamesake && this.#kept.size >= limit) return { ok: false, reason: 'too-many' }
    this.#share?.addSnapshot(name)
    keepAccount(state)
    const { domains, groups, clock } = state
    const summary = { name, takenAt: timeOn(clock, real), domains: domains.size, groups: groups.size }
    // A snapshot that replaces another one is the newest one, so it moves to the end.
    this.#kept = new Map(this.#others(name)).set(name, { ...summary, state, counters, outdated })
    return { ok: true, snapshot: summary }
  }

  find(name: string): Snapshot | undefined {
    return this.#kept.get(name)
  }

  list(): SnapshotSummary[] {
    return [...this.#kept.values()].map(({ name, takenAt, domains, groups }) => ({ name, takenAt, domains, groups }))
  }

  /** The hashes of the keys in all snapshots. */
  keyHashes(): Set<string> {
    // Snapshots share their lists of keys as long as no key changes.
    const lists = new Set([...this.#kept.values()].map(({ state }) => state.keys))
    return new Set([...lists].flatMap((keys) => keys.map(({ hash }) => hash)))
  }

  delete(name: string): boolean {
    if (!this.#kept.has(name)) return false
    this.#kept = new Map(this.#others(name))
    this.#share?.deleteSnapshot(name)
    return true
  }

  #others(name: string): [string, Snapshot][] {
    return [...this.#kept].filter(([each]) => each !== name)
  }
}

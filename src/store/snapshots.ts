import { type AccountState, keepAccount } from '../domain/account.ts'
import { timeOn } from '../domain/clock.ts'
import type { Counters } from '../domain/counting.ts'
import type { Share } from './memory-budget.ts'
import type { SnapshotOutcome, SnapshotRequest, SnapshotSummary } from './store.ts'

/** A snapshot in memory. */
export interface Snapshot extends SnapshotSummary {
  state: AccountState
  counters: Counters
  /** How many bytes the account had left behind in older states by then. */
  outdated: number
}

/** The snapshots of one account. They share with it, and with each other, what they have in common. */
export class Snapshots {
  readonly #kept = new Map<string, Snapshot>()
  readonly #share: Share | undefined

  /** `share` is absent where any memory may be taken. */
  constructor(share: Share | undefined) {
    this.#share = share
  }

  /** `read` tells what the account is. @throws StoreError `full` */
  take(
    { name, real, replace, limit }: SnapshotRequest,
    read: () => Pick<Snapshot, 'state' | 'counters' | 'outdated'>,
  ): SnapshotOutcome {
    const hasNamesake = this.#kept.has(name)
    if (hasNamesake && !replace) return { ok: false, reason: 'taken' }
    if (!hasNamesake && this.#kept.size >= limit) return { ok: false, reason: 'too-many' }
    this.#share?.addSnapshot(name)
    const { state, counters, outdated } = read()
    keepAccount(state)
    const { domains, groups, clock } = state
    const summary = { name, takenAt: timeOn(clock, real), domains: domains.size, groups: groups.size }
    // A snapshot that replaces another one is the newest, so it goes to the end.
    this.#kept.delete(name)
    this.#kept.set(name, { ...summary, state, counters, outdated })
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
    const isDeleted = this.#kept.delete(name)
    if (isDeleted) this.#share?.deleteSnapshot(name)
    return isDeleted
  }
}

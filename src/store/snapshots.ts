import { timeOn } from '../domain/clock.ts'
import type { Account, Snapshot, SnapshotOutcome, SnapshotRequest, SnapshotSummary } from './store.ts'

/** What all accounts without snapshots share. */
const NONE: ReadonlyMap<string, Snapshot> = new Map()

/** The snapshots of one account. They share common parts with the account and with each other. */
export class Snapshots {
  #kept = NONE

  take({ name, real, replace, limit }: SnapshotRequest, { state, counters, incarnation }: Account): SnapshotOutcome {
    const hasNamesake = this.#kept.has(name)
    if (hasNamesake && !replace) return { ok: false, reason: 'taken' }
    if (!hasNamesake && this.#kept.size >= limit) return { ok: false, reason: 'too-many' }
    const snapshot = { state, counters, incarnation, takenAt: timeOn(state.clock, real) }
    // A snapshot that replaces another one is the newest one, so it moves to the end.
    this.#kept = new Map(this.#others(name)).set(name, snapshot)
    return { ok: true, snapshot: summarize([name, snapshot]) }
  }

  find(name: string): Snapshot | undefined {
    return this.#kept.get(name)
  }

  list(): SnapshotSummary[] {
    return [...this.#kept].map(summarize)
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
    return true
  }

  #others(name: string): [string, Snapshot][] {
    return [...this.#kept].filter(([each]) => each !== name)
  }
}

function summarize([name, { takenAt, state }]: [string, Snapshot]): SnapshotSummary {
  return { name, takenAt, domains: state.domains.size, groups: state.groups.size }
}

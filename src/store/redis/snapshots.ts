import { timeOn } from '../../domain/clock.ts'
import type { Settings } from '../../domain/settings.ts'
import type { AccountSnapshots, Snapshot, SnapshotOutcome, SnapshotRequest, SnapshotSummary } from '../store.ts'
import type { WorkResult } from './account-lanes.ts'
import type { RedisReply } from './connection.ts'
import { type AccountCopy, readCounters, readState, type SnapshotRecord } from './copies.ts'

interface SnapshotOptions {
  /** Does work on an account. @throws StoreError `unknown-account` */
  run<Value>(accountId: string, work: (account: AccountCopy, real: number) => WorkResult<Value>): Promise<Value>
  /** Reads fields of what is kept of the snapshots of an account. */
  readKept(incarnation: number, fields: readonly string[]): Promise<RedisReply>
  settings: Pick<Settings, 'nameComparison'>
}

/** The snapshots of accounts. The server copies the account, so that it is not sent. */
export class RedisSnapshots implements AccountSnapshots {
  readonly #options: SnapshotOptions

  constructor(options: SnapshotOptions) {
    this.#options = options
  }

  take(accountId: string, { name, replace, limit }: SnapshotRequest): Promise<SnapshotOutcome> {
    return this.#options.run(accountId, ({ state, snapshots, counted }, real): WorkResult<SnapshotOutcome> => {
      const namesake = snapshots.find((each) => each.name === name)
      if (namesake && !replace) return { value: { ok: false, reason: 'taken' } }
      if (!namesake && snapshots.length >= limit) return { value: { ok: false, reason: 'too-many' } }
      const { clock, domains, groups, keys } = state
      const summary = { name, takenAt: timeOn(clock, real), domains: domains.size, groups: groups.size }
      // No earlier snapshot had this number, because each of them has changed what is counted.
      const number = Number(counted) + 1
      const others = snapshots.filter((each) => each !== namesake)
      return {
        snapshots: [...others, { ...summary, number, hashes: keys.map(({ hash }) => hash) }],
        ...{ keeps: number, isChange: true, value: { ok: true, snapshot: summary } },
        ...(namesake && { drops: namesake.number }),
      }
    })
  }

  async list(accountId: string): Promise<SnapshotSummary[]> {
    const records = await this.#records(accountId)
    return records.map(({ name, takenAt, domains, groups }) => ({ name, takenAt, domains, groups }))
  }

  async read(accountId: string, name: string): Promise<Snapshot | undefined> {
    for (;;) {
      const { incarnation, snapshots } = await this.#options.run(accountId, (account) => ({ value: account }))
      const found = snapshots.find((each) => each.name === name)
      if (found === undefined) return undefined
      const { number, takenAt } = found
      const kept = await this.#options.readKept(incarnation, [`${number}`, `${number} counters`])
      const [state, counters] = kept as (string | null)[]
      // It may have been replaced or deleted meanwhile.
      if (typeof state !== 'string' || typeof counters !== 'string') continue
      return { incarnation, takenAt, state: readState(state, this.#options.settings), counters: readCounters(counters) }
    }
  }

  delete(accountId: string, name: string): Promise<boolean> {
    return this.#options.run(accountId, ({ snapshots }): WorkResult<boolean> => {
      const found = snapshots.find((each) => each.name === name)
      if (found === undefined) return { value: false }
      return { snapshots: snapshots.filter((each) => each !== found), drops: found.number, value: true }
    })
  }

  async keyHashes(accountId: string): Promise<Set<string>> {
    const records = await this.#records(accountId)
    return new Set(records.flatMap(({ hashes }) => hashes))
  }

  #records(accountId: string): Promise<readonly SnapshotRecord[]> {
    return this.#options.run(accountId, ({ snapshots }) => ({ value: snapshots }))
  }
}

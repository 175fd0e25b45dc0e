import type { Settings } from '../../domain/settings.ts'
import { planSnapshot, summarize } from '../snapshots.ts'
import type { AccountSnapshots, Snapshot, SnapshotOutcome, SnapshotRequest, SnapshotSummary } from '../store.ts'
import type { WorkResult } from './account-lanes.ts'
import type { RedisReply } from './connection.ts'
import { type AccountCopy, readCounters, readState } from './copies.ts'

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

  take(accountId: string, request: SnapshotRequest): Promise<SnapshotOutcome> {
    return this.#options.run(accountId, (account, real): WorkResult<SnapshotOutcome> => {
      const plan = planSnapshot(account.snapshots, request, account, real)
      if (!plan.ok) return { value: plan }
      const { snapshot, left, replaced } = plan
      // No earlier snapshot had this number, because each of them has changed what is counted.
      const number = Number(account.counted) + 1
      const snapshots = [...left, { ...snapshot, number }]
      return { snapshots, keeps: number, drops: replaced?.number, isChange: true, value: { ok: true, snapshot } }
    })
  }

  list(accountId: string): Promise<SnapshotSummary[]> {
    return this.#options.run(accountId, ({ snapshots }) => ({ value: snapshots.map(summarize) }))
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
}

import type { ExchangeLog } from '../accounts/exchange-log.ts'
import type { LoadedFixture } from '../accounts/fixture.ts'
import type { Contract } from '../contract/contract.ts'
import type { Overlay } from '../contract/overlay.ts'
import type { AnonymousIds } from '../ground/chance.ts'
import type { Log } from '../ground/log.ts'
import type { Clock } from '../ground/timers.ts'
import type { Journal } from '../journal/journal.ts'
import type { Readiness, Store } from '../store/store.ts'

/** The accounts of a server, with everything else that depends on whether other servers share them. */
export interface OpenedStore {
  readonly store: Store
  /** The clock on which the clocks of all accounts are based. */
  readonly clock: Clock
  readonly readiness: Readiness
  /** Gives the ids of requests without an account. */
  readonly nextId: AnonymousIds
  openExchanges(journal: Journal): Promise<ExchangeLog>
  /** From now on, calls `restore` when the store has become empty, to provide the data of a start again. */
  watch(restore: () => Promise<unknown>): void
  /** Sends the remaining data to other servers, saves, and releases everything. */
  close(): Promise<void>
}

/** The data that the opening of a store needs. */
export interface OpeningContext {
  contract: Contract
  overlays: readonly Overlay[]
  fixture: LoadedFixture
  instance: string
  log: Log
  /** A store that replaces the one that the options name. */
  given: Store | undefined
  /** See `ConnectionOptions`. */
  patience?: (() => number) | undefined
}

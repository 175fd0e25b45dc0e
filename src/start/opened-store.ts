import type { ExchangeLog } from '../accounts/exchange-log.ts'
import type { LoadedFixture } from '../accounts/fixture.ts'
import type { Contract } from '../contract/contract.ts'
import type { Overlay } from '../contract/overlay.ts'
import type { AccountState } from '../domain/account.ts'
import type { ExplanationReport } from '../explain/explanation.ts'
import type { Clock } from '../ground/clock.ts'
import type { Log } from '../http/log.ts'
import type { NobodyIds } from '../http/nobody-ids.ts'
import type { Journal } from '../journal/journal.ts'
import type { Explain } from '../journal/verdict.ts'
import type { BudgetUse } from '../store/memory-budget.ts'
import type { Readiness } from '../store/readiness.ts'
import type { StoreTraffic } from '../store/redis/figures.ts'
import type { Door } from '../store/redis/membership.ts'
import type { Store } from '../store/store.ts'

/** What the exchange log is made of. */
export interface ExchangeParts {
  contract: Contract
  journal: Journal
  explain: Explain<ExplanationReport | undefined>
  /** A key of the account that is no secret, if it has one. */
  publicKeyOf(account: AccountState): string | undefined
}

/** Where the accounts of a server are, with everything else that depends on whether others have them, too. */
export interface OpenedStore {
  readonly store: Store
  /** The clock that the clocks of all accounts follow. */
  readonly clock: Clock
  /** The memory that accounts, or copies of them, take and may take, where the server knows it. */
  readonly budget: { readonly use: BudgetUse } | undefined
  readonly readiness: Readiness
  /** Names the requests that belong to no account. */
  readonly nextId: NobodyIds
  /** Requests wait here while it is not known whether the store is the one that it was. */
  readonly door: Door | undefined
  /** What is counted about the store, where it is another process. */
  readonly traffic: StoreTraffic | undefined
  /** File and reason of each account that was left out because it is damaged. */
  readonly skipped: readonly string[]
  openExchanges(parts: ExchangeParts): Promise<ExchangeLog<ExplanationReport | undefined>>
  /** From now on, `restore` is called when the store has come back empty: what a start provides is to be provided again. */
  watch(restore: () => Promise<unknown>): void
  /** Tells others what they have to know yet, saves, and releases everything. */
  close(): Promise<void>
}

/** What a store is opened for. */
export interface OpeningContext {
  contract: Contract
  overlays: readonly Overlay[]
  fixture: LoadedFixture
  instance: string
  log: Log
  /** Bytes that accounts, or copies of them, may take. */
  memory: number
}

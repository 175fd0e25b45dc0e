import type { Contract } from '../contract/contract.ts'
import { Coverage, mergeCoverage } from '../coverage/coverage.ts'
import { type Observation, observationOf } from '../coverage/observation.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import { type Entry, type NewEntry, PAST } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import { type Judged, type Reckoning, Verdict } from '../journal/verdict.ts'

/** The records that the requests of an account have left in this process. */
export interface AccountHistory {
  /** See `Account`. */
  readonly incarnation: number
  /** Whether the account is deleted or reset. After that, nothing is recorded under its id from this history. */
  ended: boolean
  /** Aborted by a reset or a deletion, which ends the requests that wait. */
  readonly ending: AbortController
  /** Absent before the first request. */
  coverage: Coverage | undefined
}

/** The facts about an exchange that the journal does not keep. */
export interface Circumstances extends Judged, Pick<Observation, 'query' | 'body' | 'group'> {
  history: AccountHistory | undefined
}

/**
 * Records each exchange after its end, in the journal, the coverage of the contract and the verdict. Several processes
 * may share the log. After `caughtUp` resolves, the journal here has the exchanges of all processes. The other methods
 * also answer with the exchanges of all processes.
 */
export interface ExchangeLog {
  readonly journal: Journal
  /** No caller waits for it. Returns the exchange as it is known now: without its account if that was deleted. */
  take(entry: NewEntry, circumstances: Circumstances): NewEntry
  /** Resolves when the journal has every exchange that any process has taken before. */
  caughtUp(): Awaitable<void>
  /** The coverage by the requests of an account; by default by all requests. */
  coverage(accountId?: string): Awaitable<Coverage>
  /** The coverage by all requests since the start, including those of accounts that were deleted or reset. */
  totals(): Awaitable<Coverage>
  /** The counts and the first violations since the start, or since they were last cleared. */
  verdict(): Awaitable<Reckoning>
  /** The same of all requests to this process, even if they were cleared. */
  wholeVerdict(): Awaitable<Reckoning>
  clearVerdict(): Awaitable<void>
  /**
   * The history of the account that a request has just entered. The caller keeps it until the request is answered. If
   * the account is deleted meanwhile, a new account with the same id has another history.
   */
  historyOf(accountId: string, incarnation: number): AccountHistory
  /** Clears the journal of an account. */
  clearRequests(accountId: string): Awaitable<void>
  /**
   * Clears the journal and the coverage of an account. Requests to it that are still in progress are recorded without an
   * account.
   */
  reset(accountId: string): Awaitable<void>
}

/** The log of a single process. Every method works synchronously. */
export class LocalExchangeLog implements ExchangeLog {
  readonly journal: Journal
  readonly #contract: Contract
  readonly #verdict: Verdict
  /** By account id. The history of requests without an account has the key `undefined`. */
  readonly #histories = new Map<string | undefined, AccountHistory>()
  /** The coverage of accounts that were deleted or reset. */
  #formerCoverage: Coverage | undefined

  constructor(parts: { contract: Contract; journal: Journal }) {
    this.journal = parts.journal
    this.#contract = parts.contract
    this.#verdict = new Verdict(parts.contract.settings)
  }

  take(entry: NewEntry, circumstances: Circumstances): Entry {
    const recorded = this.#record(entry, circumstances)
    this.#verdict.note(recorded, circumstances)
    return recorded
  }

  #record(entry: NewEntry, circumstances: Circumstances): Entry {
    const { history } = circumstances
    const { status } = entry
    if (history?.ended === true) {
      // Neither a later account with this id nor the account after its reset has this request in its journal.
      const orphan = { account: undefined, key: undefined, moment: undefined, [PAST]: undefined }
      return this.journal.record({ ...entry, ...orphan })
    }
    const recorded = this.journal.record(entry)
    if (status === undefined) return recorded
    const observed = history ?? this.#histories.get(undefined) ?? this.#begin(undefined, 0)
    // This is created late, because finding all items of the contract takes a tenth of the start time.
    observed.coverage ??= new Coverage(this.#contract)
    observed.coverage.observe(observationOf(entry, status, circumstances))
    return recorded
  }

  caughtUp(): void {}

  coverage(accountId?: string): Coverage {
    const histories = accountId === undefined ? [...this.#histories.values()] : [this.#histories.get(accountId)]
    return this.#merge(histories.map((history) => history?.coverage))
  }

  totals(): Coverage {
    return this.#merge([this.#formerCoverage, ...[...this.#histories.values()].map(({ coverage }) => coverage)])
  }

  #merge(coverages: readonly (Coverage | undefined)[]): Coverage {
    const present = coverages.filter((each) => each !== undefined)
    return mergeCoverage(present, this.#contract)
  }

  verdict(): Reckoning {
    return this.#verdict.sinceClearing
  }

  wholeVerdict(): Reckoning {
    return this.#verdict.sinceStart
  }

  clearVerdict(): void {
    this.#verdict.clear()
  }

  historyOf(accountId: string, incarnation: number): AccountHistory {
    const known = this.#histories.get(accountId)
    if (known?.incarnation === incarnation) return known
    // Another process has deleted the former account with this id.
    if (known !== undefined) this.end(accountId)
    return this.#begin(accountId, incarnation)
  }

  #begin(accountId: string | undefined, incarnation: number): AccountHistory {
    const history: AccountHistory = { incarnation, ended: false, ending: new AbortController(), coverage: undefined }
    this.#histories.set(accountId, history)
    return history
  }

  clearRequests(accountId: string): void {
    this.journal.clear(accountId)
  }

  reset(accountId: string): void {
    this.end(accountId)
  }

  /**
   * Records that the account is reset or deleted, before another one can have its id. Requests to it that are still in
   * progress are recorded without an account, and those that wait for a fault are ended.
   */
  end(accountId: string): void {
    const history = this.#histories.get(accountId)
    if (history?.coverage !== undefined) {
      this.#formerCoverage ??= new Coverage(this.#contract)
      this.#formerCoverage.add(history.coverage)
    }
    if (history !== undefined) history.ended = true
    this.#histories.delete(accountId)
    this.journal.clear(accountId)
    history?.ending.abort()
  }
}

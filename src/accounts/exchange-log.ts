import type { Contract } from '../contract/contract.ts'
import type { Coverage } from '../coverage/coverage.ts'
import type { Observation } from '../coverage/observation.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import type { Entry } from '../journal/entry.ts'
import type { Journal, NewEntry } from '../journal/journal.ts'
import { type Explain, type Judged, type ObservedViolation, type Reckoning, Verdict } from '../journal/verdict.ts'
import { Histories, type History } from './histories.ts'

/** What is known of an exchange beside what the journal keeps. */
export interface Circumstances extends Judged, Pick<Observation, 'query' | 'body'> {
  /** That of its account, if it belongs to one. */
  history: History | undefined
}

/** Counts of all exchanges since the start. */
export interface ExchangeFigures {
  recorded: number
  /** How long all of them took together. */
  seconds: number
  /** How many the journal has forgotten because all together were too heavy. */
  forgotten: number
  /** On how many of them fault rules have acted. */
  faultHits: number
  /** How many of this process never came to the others; absent where there are no others. */
  lost?: number
}

/**
 * Takes each exchange once it has ended, and has what all of them leave behind: the journal, the coverage of the contract
 * and the verdict. Several processes may share it. Then what another process has taken is in the journal here as soon as
 * `caughtUp` says so, and everything that is asked of the other methods is up to date.
 */
export interface ExchangeLog<Explanation> {
  readonly journal: Journal
  /** Nobody waits for it. Returns the exchange as far as it is known by then: without its account, where that has ended. */
  take(entry: NewEntry, circumstances: Circumstances): NewEntry
  /** Answers once the journal has everything that was taken before, in every process. */
  caughtUp(): Awaitable<void>
  /** What an account's requests have shown of the contract, and those that belong to no account; or all requests. */
  coverage(accountId?: string): Awaitable<Coverage>
  /** What all requests since the start have shown, including those of accounts that were deleted or reset. */
  totals(): Awaitable<Coverage>
  figures(): Awaitable<ExchangeFigures>
  /** The counts and the first violations since the start or since they were cleared. */
  verdict(): Awaitable<Reckoning<Explanation>>
  /** All since the start, as if nobody had cleared it. */
  wholeVerdict(): Awaitable<Reckoning<Explanation>>
  clearVerdict(): Awaitable<void>
  /** Calls `listener` with every violation until the function that it returns is called. */
  subscribeViolations(listener: (violation: ObservedViolation<Explanation>) => void): () => void
  /**
   * Where to record a request that has just entered the account. The caller keeps it until the request is answered: if
   * the account is deleted meanwhile, another one of the same id has another history.
   */
  historyOf(accountId: string, incarnation: number): History
  /** Clears the journal of an account. */
  clearRequests(accountId: string): Awaitable<void>
  /** Clears the journal and the coverage of an account. */
  reset(accountId: string): Awaitable<void>
  /** The account is deleted. What is still under way with it is recorded for nobody. */
  end(accountId: string): Awaitable<void>
  /** Calls `listener` with the id of each account that has ended, in whichever process. */
  listenEnded(listener: (accountId: string) => void): void
  /** Lets the journal weigh what its entries keep of older states. Before its first request, an account has none. */
  noteOutdated(accountId: string, bytes: number): void
  /** How many bytes older states of the account hold, or held, which it no longer holds itself. */
  outdated(accountId: string): number
}

/** What the exchanges of one process leave behind. Everything happens at once. */
export class LocalExchangeLog<Explanation> implements ExchangeLog<Explanation> {
  readonly journal: Journal
  readonly #histories: Histories
  readonly #verdict: Verdict<Explanation>
  readonly #listeners: ((accountId: string) => void)[] = []

  /** `explain` as for `Verdict`. */
  constructor({
    contract,
    journal,
    explain,
  }: {
    contract: Contract
    journal: Journal
    explain: Explain<Explanation>
  }) {
    this.journal = journal
    this.#histories = new Histories(contract, journal)
    this.#verdict = new Verdict(explain, contract.settings)
  }

  take(entry: NewEntry, circumstances: Circumstances): Entry {
    const { history, query, body } = circumstances
    const recorded = this.#histories.record(entry, history, query, body)
    this.#verdict.note(recorded, circumstances)
    return recorded
  }

  caughtUp(): void {}

  coverage(accountId?: string): Coverage {
    return this.#histories.coverage(accountId)
  }

  totals(): Coverage {
    return this.#histories.totals()
  }

  figures(): ExchangeFigures {
    const { recorded, seconds, forgotten } = this.journal
    return { recorded, seconds, forgotten, faultHits: this.#histories.faultHits }
  }

  verdict(): Reckoning<Explanation> {
    return this.#verdict
  }

  wholeVerdict(): Reckoning<Explanation> {
    return this.#verdict.whole
  }

  clearVerdict(): void {
    this.#verdict.clear()
  }

  subscribeViolations(listener: (violation: ObservedViolation<Explanation>) => void): () => void {
    return this.#verdict.subscribe(listener)
  }

  historyOf(accountId: string, incarnation: number): History {
    const known = this.#histories.find(accountId)
    if (known?.incarnation === incarnation) return known
    // The former account of this id was deleted by another process.
    if (known !== undefined) this.end(accountId)
    return this.#histories.begin(accountId, incarnation)
  }

  clearRequests(accountId: string): void {
    this.journal.clear(accountId)
  }

  reset(accountId: string): void {
    this.#histories.clear(accountId)
  }

  end(accountId: string): void {
    this.#histories.end(accountId)
    for (const listener of this.#listeners) listener(accountId)
  }

  listenEnded(listener: (accountId: string) => void): void {
    this.#listeners.push(listener)
  }

  noteOutdated(accountId: string, bytes: number): void {
    this.#histories.noteOutdated(accountId, bytes)
  }

  outdated(accountId: string): number {
    return this.#histories.find(accountId)?.outdated ?? 0
  }
}

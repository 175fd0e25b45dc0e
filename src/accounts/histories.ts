import type { Contract } from '../contract/contract.ts'
import { Coverage, mergeCoverage } from '../coverage/coverage.ts'
import { type Observation, observationOf } from '../coverage/observation.ts'
import type { Entry } from '../journal/entry.ts'
import type { Journal, NewEntry } from '../journal/journal.ts'

/** The records that the requests of an account have left in this process. */
export interface History {
  /** The number that the store gives to this account, see `Visitor`. */
  readonly incarnation: number
  /** Whether the account is deleted. After that, nothing is recorded under its id. */
  ended: boolean
  /** The bytes that older states of the account hold, or held, and that its present state does not hold. */
  outdated: number
  /** Absent before the first request. */
  coverage: Coverage | undefined
}

/** Records the exchanges of this process in the journal and in the coverage of the contract. */
export class Histories {
  readonly #contract: Contract
  readonly #journal: Journal
  /** By account id. The history of requests without an account has the key `undefined`. */
  readonly #histories = new Map<string | undefined, History>()
  /** The coverage of accounts that were deleted or reset. */
  #formerCoverage: Coverage | undefined
  #faultHits = 0

  constructor(contract: Contract, journal: Journal) {
    this.#contract = contract
    this.#journal = journal
  }

  find(accountId: string): History | undefined {
    return this.#histories.get(accountId)
  }

  begin(accountId: string, incarnation: number): History {
    const history: History = { incarnation, ended: false, outdated: 0, coverage: undefined }
    this.#histories.set(accountId, history)
    return history
  }

  /** Records an exchange in the journal and in the coverage. `history` is that of its account, if it belongs to one. */
  record(entry: NewEntry, history: History | undefined, query: Observation['query'], body: unknown): Entry {
    const { status } = entry
    if (history?.ended === true) {
      // A later account with this id must not have this request in its journal.
      const orphan = { account: undefined, key: undefined, before: undefined, moment: undefined, after: undefined }
      return this.#journal.record({ ...entry, ...orphan })
    }
    const recorded = this.#journal.record(entry, history?.outdated)
    if (entry.injection?.source === 'rule') this.#faultHits++
    if (status === undefined) return recorded
    this.#coverageOf(history ?? this.#anonymousHistory()).observe(observationOf(entry, status, query, body))
    return recorded
  }

  /** The coverage by the requests of an account and the requests without an account; by default by all requests. */
  coverage(account?: string): Coverage {
    const histories =
      account === undefined
        ? this.#histories.values()
        : [this.#histories.get(account), this.#histories.get(undefined)].filter((each) => each !== undefined)
    return mergeCoverage(coveragesOf(histories), this.#contract)
  }

  /** The number of requests since the start that a fault rule has acted on. */
  get faultHits(): number {
    return this.#faultHits
  }

  /** The coverage by all requests since the start, including those of accounts that were deleted or reset. */
  totals(): Coverage {
    const present = coveragesOf(this.#histories.values())
    const all = this.#formerCoverage === undefined ? present : [this.#formerCoverage, ...present]
    return mergeCoverage(all, this.#contract)
  }

  /** Tells the journal the weight of the older states that its entries keep. Has no effect before the first request. */
  noteOutdated(accountId: string, bytes: number): void {
    const history = this.#histories.get(accountId)
    if (history === undefined || bytes === 0) return
    history.outdated += bytes
    this.#journal.noteOutdated(accountId, history.outdated)
  }

  #anonymousHistory(): History {
    const history = this.#histories.get(undefined) ?? { incarnation: 0, ended: false, outdated: 0, coverage: undefined }
    this.#histories.set(undefined, history)
    return history
  }

  #coverageOf(history: History): Coverage {
    // This is created late, because finding all items of the contract takes a tenth of the start time.
    history.coverage ??= new Coverage(this.#contract)
    return history.coverage
  }

  /** Records that the account is deleted. Requests to it that are still in progress are recorded without an account. */
  end(accountId: string): void {
    const history = this.#histories.get(accountId)
    if (history !== undefined) history.ended = true
    this.clear(accountId)
    this.#histories.delete(accountId)
  }

  /** Clears the journal and the coverage of an account. */
  clear(accountId: string): void {
    const history = this.#histories.get(accountId)
    if (history?.coverage !== undefined) {
      this.#formerCoverage ??= new Coverage(this.#contract)
      this.#formerCoverage.add(history.coverage)
      history.coverage = undefined
    }
    this.#journal.clear(accountId)
  }
}

function coveragesOf(histories: Iterable<History>): Coverage[] {
  return [...histories].flatMap(({ coverage }) => coverage ?? [])
}

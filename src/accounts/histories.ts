import type { Contract } from '../contract/contract.ts'
import { Coverage, mergeCoverage } from '../coverage/coverage.ts'
import type { Observation } from '../coverage/observation.ts'
import type { Entry } from '../journal/entry.ts'
import type { Journal, NewEntry } from '../journal/journal.ts'

/** What the requests of an account have left behind in this process. */
export interface History {
  /** The number that the store has given to the account, see `Visitor`. */
  readonly incarnation: number
  /** Whether the account is deleted; then nothing is recorded under its id any more. */
  ended: boolean
  /** How many bytes older states of the account hold, or held, which it no longer holds itself. */
  outdated: number
  /** Absent before the first request. */
  coverage: Coverage | undefined
}

/** Records what happens in the accounts of this process: in the journal, and for the coverage of the contract. */
export class Histories {
  readonly #contract: Contract
  readonly #journal: Journal
  /** By account id; those of requests that belong to no account are under `undefined`. */
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

  /** Records an exchange in the journal and for the coverage; `history` is that of its account, if it belongs to one. */
  record(entry: NewEntry, history: History | undefined, query: Observation['query'], body: unknown): Entry {
    const { operation, status, code, injected, allowance, at } = entry
    if (history?.ended === true) {
      // A later account of this id must not have the request in its journal.
      const orphan = { account: undefined, key: undefined, before: undefined, moment: undefined, after: undefined }
      return this.#journal.record({ ...entry, ...orphan })
    }
    const recorded = this.#journal.record(entry, history?.outdated)
    if (entry.injection?.source === 'rule') this.#faultHits++
    if (status === undefined) return recorded
    this.#coverageOf(history ?? this.#anonymousHistory()).observe({
      operation,
      status,
      code,
      reason: entry.problems[0]?.reason,
      injected,
      query,
      body,
      bodyBytes: entry.body?.size ?? 0,
      allowance,
      now: at,
      key: entry.keyEvidence,
      group: entry.group,
    })
    return recorded
  }

  /** What an account's requests have shown of the contract, and those that belong to no account; or all requests. */
  coverage(account?: string): Coverage {
    const histories =
      account === undefined
        ? this.#histories.values()
        : [this.#histories.get(account), this.#histories.get(undefined)].filter((each) => each !== undefined)
    return mergeCoverage(coveragesOf(histories), this.#contract)
  }

  /** How many requests fault rules have acted on since the start. */
  get faultHits(): number {
    return this.#faultHits
  }

  /** What all requests since the start have shown, including those of accounts that were deleted or reset. */
  totals(): Coverage {
    const present = coveragesOf(this.#histories.values())
    const all = this.#formerCoverage === undefined ? present : [this.#formerCoverage, ...present]
    return mergeCoverage(all, this.#contract)
  }

  /** Lets the journal weigh what its entries keep of older states. Before its first request, an account has none. */
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
    // Not before it is needed: to find everything that there is to show in the contract takes a tenth of a start.
    history.coverage ??= new Coverage(this.#contract)
    return history.coverage
  }

  /** The account is deleted. What is still under way with it is recorded for nobody. */
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

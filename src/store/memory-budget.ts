import type { AccountState } from '../domain/account.ts'
import { StoreError } from './store-error.ts'
import { OF_MAPS, type WeightChange, weighAccount } from './weight.ts'

/** The part of the budget for all sandboxes together. Clients open them without a request of the user. */
const OF_SANDBOXES = 0.5

/** Approximate bytes of a snapshot with its counters, without the parts that it shares with the account. */
const SNAPSHOT = 4_000

/** The use of the budget, in bytes. */
export interface BudgetUse {
  limit: number
  used: number
}

/**
 * Divides the memory for accounts. An account may grow as long as it holds no more than is still free. So a single
 * account gets half of the memory, and there is always room for others. The sandboxes share one half in the same way. A
 * change that makes an account smaller is always permitted, also if a snapshot keeps the removed parts.
 */
export class MemoryBudget {
  readonly #limit: number
  readonly #onRefused: ((message: string) => void) | undefined
  readonly #shares = new Map<string, MemoryShare>()
  #used = 0
  #usedBySandboxes = 0
  /** The bytes that are released once the account that is being opened exists. */
  #freed = 0
  /** Whether the last creation of an account was refused. The refusal is reported once. */
  #isCreationRefused = false

  /** `limit` in bytes. `onRefused` is called when an account is refused memory: once until the account gets smaller. */
  constructor(limit: number, onRefused?: (message: string) => void) {
    this.#limit = limit
    this.#onRefused = onRefused
  }

  get use(): BudgetUse {
    return { limit: this.#limit, used: this.#used }
  }

  /** Whether there is room for a new account. */
  fits(state: AccountState, isSandbox: boolean): boolean {
    const weight = weighAccount(state)
    return weight <= this.#freeFor({ isSandbox }) - weight
  }

  /** Counts a new account. An evicted one releases `freed` bytes for it. @throws StoreError `full` */
  open(state: AccountState, isSandbox: boolean, freed = 0): MemoryShare {
    const share = new MemoryShare(state.id, isSandbox, this)
    share.isRefused = this.#isCreationRefused
    this.#isCreationRefused = true
    this.#freed = freed
    try {
      share.replace(state)
    } finally {
      this.#freed = 0
    }
    this.#isCreationRefused = false
    this.#shares.set(state.id, share)
    return share
  }

  /** Begins to count an account that existed before. @throws StoreError `full` if the accounts do not all fit */
  load(state: AccountState, isSandbox: boolean): MemoryShare {
    const share = new MemoryShare(state.id, isSandbox, this)
    share.restore(state)
    this.#shares.set(state.id, share)
    if (this.#used <= this.#limit) return share
    const message = `The accounts need more than ${inMebibytes(this.#limit)} MiB of memory; give --max-memory more`
    throw new StoreError('full', message)
  }

  /** The share of the account of this id, if the account is counted. */
  shareOf(accountId: string): MemoryShare | undefined {
    return this.#shares.get(accountId)
  }

  /** Forgets an account that holds no memory any more. */
  forget(share: MemoryShare): void {
    if (this.#shares.get(share.id) === share) this.#shares.delete(share.id)
  }

  /** @throws StoreError `full` if the account would hold more than is free */
  admit(share: MemoryShare, growth: number): void {
    const free = this.#freeFor(share) - growth
    if (share.weight + growth <= free) return
    const [holds, left, limit] = [share.weight, Math.max(0, free + growth), this.#limit].map(inMebibytes)
    const message = `The account "${share.id}" would need ${inMebibytes(growth)} MiB more: it holds ${holds} MiB, and ${left} of ${limit} MiB are free. An account may hold as much as it leaves free; give --max-memory more, or delete accounts, snapshots or domains`
    if (!share.isRefused) this.#onRefused?.(message)
    share.isRefused = true
    throw Object.assign(new StoreError('full', message), { reported: true })
  }

  /** Adds to the bytes of the account. `growth` may be negative. */
  count(share: MemoryShare, growth: number): void {
    this.#used += growth
    if (share.isSandbox) this.#usedBySandboxes += growth
  }

  #freeFor({ isSandbox }: Pick<MemoryShare, 'isSandbox'>): number {
    const free = this.#limit - this.#used + this.#freed
    return isSandbox ? Math.min(free, this.#limit * OF_SANDBOXES - this.#usedBySandboxes + this.#freed) : free
  }
}

/** What all accounts without snapshots share. */
const NO_SNAPSHOTS: ReadonlyMap<string, number> = new Map()

/** The memory of one account: its state, and the parts of older states that its snapshots keep. */
export class MemoryShare {
  readonly id: string
  readonly isSandbox: boolean
  /** Whether the account was refused memory since it last became smaller. */
  isRefused = false
  readonly #budget: MemoryBudget
  #isClosed = false
  /** The state that is counted. */
  #state: AccountState | undefined
  #ofState = 0
  /** By name, the weight of each snapshot as if it shared no part with another state. */
  #snapshots = NO_SNAPSHOTS
  /** The weight of what only older states hold. */
  #outdated = 0

  constructor(id: string, isSandbox: boolean, budget: MemoryBudget) {
    this.id = id
    this.isSandbox = isSandbox
    this.#budget = budget
  }

  /** In bytes. */
  get weight(): number {
    return this.#ofState + this.#ofSnapshots
  }

  /** The weight of the present state alone. */
  get ofState(): number {
    return this.#ofState
  }

  /** States share their common parts. So the snapshots hold no more than what has changed since the oldest one. */
  get #ofSnapshots(): number {
    return SNAPSHOT * this.#snapshots.size + Math.min(this.#apart, this.#outdated)
  }

  /** The weight of all snapshots if they shared no parts. */
  get #apart(): number {
    let weight = 0
    for (const each of this.#snapshots.values()) weight += each
    return weight
  }

  /** Records a change of the account. @throws StoreError `full`; then nothing is counted */
  change(after: AccountState, { growth, outdated }: WeightChange): void {
    if (this.#state === undefined || this.#state === after) return
    if (growth > 0) this.#budget.admit(this, this.#snapshots.size === 0 ? growth : growth + outdated)
    this.#set(() => {
      this.#state = after
      this.#ofState += growth
      if (this.#snapshots.size > 0) this.#outdated += outdated
    })
  }

  /**
   * Replaces the account. The new state shares its parts with the named snapshot, if there is one, but not the maps of
   * them. @throws StoreError `full`; then nothing is counted
   */
  replace(after: AccountState, snapshot?: string): void {
    const weight = weighAccount(after)
    const isKept = this.#snapshots.size > 0
    const former = isKept ? this.#outdated + this.#ofState : 0
    const shared = this.#snapshots.get(snapshot ?? '') ?? 0
    const outdated = Math.min(former, this.#apart - shared) + Math.ceil(shared * OF_MAPS)
    const growth = weight - this.#ofState + Math.min(outdated, this.#apart) - Math.min(this.#outdated, this.#apart)
    if (weight > this.#ofState) this.#budget.admit(this, growth)
    this.#set(() => {
      this.#state = after
      this.#outdated = outdated
      this.#ofState = weight
    })
  }

  /** Restores the stored state, because a change could not be stored, or nothing happened yet. */
  restore(before: AccountState): void {
    // A deleted account holds nothing any more.
    if (this.#isClosed || this.#state === before) return
    this.#set(() => {
      this.#state = before
      this.#ofState = weighAccount(before)
    })
  }

  /** Counts a snapshot of the present state. @throws StoreError `full` */
  addSnapshot(name: string): void {
    this.#budget.admit(this, SNAPSHOT)
    this.#set(() => {
      this.#snapshots = new Map(this.#snapshots).set(name, this.#ofState)
    })
  }

  deleteSnapshot(name: string): void {
    this.#set(() => {
      this.#snapshots = new Map([...this.#snapshots].filter(([each]) => each !== name))
      if (this.#snapshots.size === 0) this.#outdated = 0
    })
  }

  /** Ends the count: the account is deleted. */
  close(): void {
    this.#isClosed = true
    this.#set(() => {
      this.#state = undefined
      this.#ofState = 0
      this.#outdated = 0
      this.#snapshots = NO_SNAPSHOTS
    })
    this.#budget.forget(this)
  }

  #set(act: () => void): void {
    const before = this.weight
    act()
    const growth = this.weight - before
    this.#budget.count(this, growth)
    if (growth < 0) this.isRefused = false
  }
}

function inMebibytes(bytes: number): number {
  return Math.round((bytes / 2 ** 20) * 10) / 10
}

import type { AccountState } from '../domain/account.ts'
import { StoreError } from './store-error.ts'
import { OF_MAPS, type WeightChange, weighAccount } from './weight.ts'

/** The part of the budget that all sandboxes together may have. Clients open them, and nobody asks them to. */
export const OF_SANDBOXES = 0.5

/** Approximate bytes of a snapshot with its counters, without what it shares with the account. */
const SNAPSHOT = 4_000

/** How the budget is used, in bytes. */
export interface BudgetUse {
  limit: number
  used: number
}

/**
 * Divides the memory for accounts among them. An account may grow as long as it holds no more than is still free then:
 * half of the memory if it is alone, and always leaves room for others. The sandboxes share a half of the memory in the
 * same way. What makes an account smaller is always permitted, also if a snapshot keeps what it removes.
 */
export class MemoryBudget {
  readonly #limit: number
  readonly #onRefused: ((message: string) => void) | undefined
  readonly #shares = new Map<string, Share>()
  #used = 0
  #usedBySandboxes = 0
  /** What is free as soon as the account that is being opened is there. */
  #freed = 0
  /** Whether the last creation of an account was refused, which is told once. */
  #isCreationRefused = false

  /** `limit` in bytes. `onRefused` is called when an account is refused memory, once until it has become smaller. */
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

  /**
   * Begins to count a new account. `freed` are the bytes that another one gives up for it.
   * @throws StoreError `full` when there is no room for it.
   */
  open(state: AccountState, isSandbox: boolean, freed = 0): Share {
    const share = new Share(state.id, isSandbox, this)
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

  /** Begins to count an account that was there before. @throws StoreError `full` when all of them do not fit. */
  load(state: AccountState, isSandbox: boolean): Share {
    const share = new Share(state.id, isSandbox, this)
    share.restore(state)
    this.#shares.set(state.id, share)
    if (this.#used <= this.#limit) return share
    const message = `The accounts need more than ${inMebibytes(this.#limit)} MiB of memory; give --max-memory more`
    throw new StoreError('full', message)
  }

  /** The share of the account of this id, if the account is counted. */
  shareOf(accountId: string): Share | undefined {
    return this.#shares.get(accountId)
  }

  /** Forgets an account that holds nothing any more. */
  forget(share: Share): void {
    if (this.#shares.get(share.id) === share) this.#shares.delete(share.id)
  }

  /** @throws StoreError `full` when the account would hold more than is free. */
  admit(share: Share, growth: number): void {
    const free = this.#freeFor(share) - growth
    if (share.weight + growth <= free) return
    const [holds, left, limit] = [share.weight, Math.max(0, free + growth), this.#limit].map(inMebibytes)
    const message = `The account "${share.id}" would need ${inMebibytes(growth)} MiB more: it holds ${holds} MiB, and ${left} of ${limit} MiB are free. An account may hold as much as it leaves free; give --max-memory more, or delete accounts, snapshots or domains`
    if (!share.isRefused) this.#onRefused?.(message)
    share.isRefused = true
    throw Object.assign(new StoreError('full', message), { reported: true })
  }

  /** Adds to what the account holds, which may be negative. */
  count(share: Share, growth: number): void {
    this.#used += growth
    if (share.isSandbox) this.#usedBySandboxes += growth
  }

  #freeFor({ isSandbox }: Pick<Share, 'isSandbox'>): number {
    const free = this.#limit - this.#used + this.#freed
    return isSandbox ? Math.min(free, this.#limit * OF_SANDBOXES - this.#usedBySandboxes + this.#freed) : free
  }
}

/** What one account holds of the memory: its state, and what its snapshots keep of older states. */
export class Share {
  readonly id: string
  readonly isSandbox: boolean
  /** Whether it was refused memory since it last became smaller. */
  isRefused = false
  readonly #budget: MemoryBudget
  #isClosed = false
  /** The state that is counted. */
  #state: AccountState | undefined
  #ofState = 0
  /** By name, the weight of each snapshot as if it shared nothing with any other state. */
  readonly #snapshots = new Map<string, number>()
  /** What only older states hold. */
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

  /** States share what they have in common, so the snapshots hold no more than what has changed since the oldest. */
  get #ofSnapshots(): number {
    return SNAPSHOT * this.#snapshots.size + Math.min(this.#apart, this.#outdated)
  }

  /** The weight of all snapshots if they shared nothing. */
  get #apart(): number {
    let weight = 0
    for (const each of this.#snapshots.values()) weight += each
    return weight
  }

  /** The account changes as `weighed`. @throws StoreError `full`, and then nothing is counted. */
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
   * The account becomes another one, which shares its parts with a snapshot if one is named, but not the maps of them.
   * @throws StoreError `full`, and then nothing is counted.
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

  /** The account is as it was stored, because a change could not be stored, or nothing happened yet. */
  restore(before: AccountState): void {
    // A deleted account holds nothing any more.
    if (this.#isClosed || this.#state === before) return
    this.#set(() => {
      this.#state = before
      this.#ofState = weighAccount(before)
    })
  }

  /** A snapshot of the present state is taken. @throws StoreError `full` */
  addSnapshot(name: string): void {
    this.#budget.admit(this, SNAPSHOT)
    this.#set(() => this.#snapshots.set(name, this.#ofState))
  }

  deleteSnapshot(name: string): void {
    this.#set(() => {
      this.#snapshots.delete(name)
      if (this.#snapshots.size === 0) this.#outdated = 0
    })
  }

  /** The account is deleted. */
  close(): void {
    this.#isClosed = true
    this.#set(() => {
      this.#state = undefined
      this.#ofState = 0
      this.#outdated = 0
      this.#snapshots.clear()
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

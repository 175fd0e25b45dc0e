import type { Problem } from '../domain/errors.ts'
import { outline, shorten } from '../ground/show.ts'
import { bytesOf, type Content } from '../http/content.ts'
import type { Entry } from './entry.ts'
import { type Redact, redactorFor } from './redaction/redaction.ts'
import { Secrets } from './redaction/secrets.ts'
import { Ring } from './ring.ts'
import { walk } from './walk.ts'

export interface JournalLimits {
  /** The maximum number of entries for each account; with 0, none are kept. */
  entries: number
  /** The maximum number of bytes that are kept of each body. */
  body: number
  /** The maximum number of problems that are kept of each request. */
  problems: number
  /** The maximum number of bytes, approximately, of all entries together. */
  total: number
}

export const JOURNAL_LIMITS: JournalLimits = { entries: 1000, body: 10_240, problems: 100, total: 256 << 20 }

/** Bytes of the memory that Node.js shares among small buffers. A part of a larger buffer keeps all of it in memory. */
const SHARED = 8_192
/** The part of the limit that is still used after the heaviest accounts have dropped entries. */
const KEPT = 0.75
/** The number of characters that are kept of a value from a body that is too long. */
const VALUE = 500

/** The owner of the entries: an account, no account (`null`), or all of them (`undefined`). */
export type Scope = string | null | undefined

/** The entries of an account, or of none, that were dropped because of the total weight. */
export interface Dropped {
  account: string | undefined
  /** The ordinal of the last of them, or a later one before the next entry. */
  upto: number
}

/** An exchange before it is recorded. */
export type NewEntry = Omit<Entry, 'ordinal' | 'weight'>

/** The newest exchanges of each account, within limits. */
export class Journal {
  readonly limits: JournalLimits
  /** The secrets that are hidden in descriptions of the entries. */
  readonly secrets: Secrets
  readonly #rings = new Map<string | undefined, Ring>()
  readonly #listeners = new Set<(entry: Entry) => void>()
  readonly #restartListeners = new Set<() => void>()
  readonly #thinListeners = new Set<(dropped: Dropped) => void>()
  /** A body that is sent repeatedly is cut only once. */
  readonly #cut = new WeakMap<Content, Content>()
  #ordinal = 0
  readonly #onForget: (() => void) | undefined
  #weight = 0
  #hasForgotten = false

  /** `onForget` is called the first time that entries are dropped because of their total weight. */
  constructor(limits: Partial<JournalLimits> = {}, onForget?: () => void, secrets = new Secrets()) {
    this.limits = { ...JOURNAL_LIMITS, ...limits }
    this.secrets = secrets
    this.#onForget = onForget
  }

  /** The approximate bytes of all entries. */
  get weight(): number {
    return this.#weight
  }

  /** The number of exchanges since the start. */
  get recorded(): number {
    return this.#ordinal
  }

  /** The exchange itself becomes the entry, without a copy. For `outdated`, see `Ring`. */
  record(exchange: NewEntry, outdated = 0): Entry {
    const entry = exchange as Entry
    entry.ordinal = ++this.#ordinal
    if (this.limits.entries > 0) this.#keep(entry, outdated)
    for (const listener of this.#listeners) listener(entry)
    return entry
  }

  /**
   * Records an exchange that several processes share. It already has an ordinal, which is higher than all before.
   * `isNew` tells whether listeners are called.
   */
  adopt(entry: Entry, isNew: boolean): void {
    this.#ordinal = Math.max(this.#ordinal, entry.ordinal)
    if (this.limits.entries > 0) this.#keep(entry, 0)
    if (isNew) for (const listener of this.#listeners) listener(entry)
  }

  /** Drops the entries of an account up to an ordinal. */
  forget(account: string | undefined, ordinal: number): void {
    const ring = this.#rings.get(account)
    if (ring === undefined) return
    const before = ring.weight
    ring.forget(ordinal)
    this.#weight += ring.weight - before
    if (ring.size === 0) this.#rings.delete(account)
  }

  /** Drops all entries. */
  forgetAll(): void {
    this.#rings.clear()
    this.#weight = 0
  }

  /** Drops everything. The next exchange may have any ordinal. */
  restart(): void {
    this.forgetAll()
    this.#ordinal = 0
    for (const listener of [...this.#restartListeners]) listener()
  }

  /** Calls `listener` after each restart. The returned function ends this. */
  listenRestart(listener: () => void): () => void {
    this.#restartListeners.add(listener)
    return () => this.#restartListeners.delete(listener)
  }

  /** Calls `listener` when entries are dropped because of their total weight. */
  listenThinned(listener: (dropped: Dropped) => void): void {
    this.#thinListeners.add(listener)
  }

  /** Notes that the entries of an account may keep more older states in memory. For `outdated`, see `Ring`. */
  noteOutdated(account: string, outdated: number): void {
    const ring = this.#rings.get(account)
    if (ring === undefined) return
    const before = ring.weight
    ring.noteOutdated(outdated)
    this.#weight += ring.weight - before
    if (this.#weight > this.limits.total) this.#thin(undefined)
  }

  /** The part of a body that is kept. It is copied if it alone would keep a larger buffer in memory. */
  keepBody(body: Content): Content {
    const { held, size } = body
    if (size > this.limits.body) return this.#cutBody(body)
    if (typeof held === 'string') return body
    const alone = held.buffer.byteLength <= SHARED || held.buffer.byteLength <= 2 * size
    return alone ? body : { held: Buffer.from(held), size }
  }

  /**
   * The problems that are kept. Values from a body that is too long are shortened, because they would keep it in
   * memory.
   */
  keepProblems(problems: readonly Problem<string>[], bodySize: number): readonly Problem<string>[] {
    if (problems.length === 0) return problems
    const kept = problems.length <= this.limits.problems ? problems : problems.slice(0, this.limits.problems)
    return bodySize <= this.limits.body ? kept : kept.map(withShortValue)
  }

  redactorFor(entry: NewEntry): Redact {
    return redactorFor(entry, this.secrets)
  }

  /** The number of entries of one account, of no account, or of all. */
  size(account?: Scope): number {
    let size = 0
    for (const ring of this.#ringsOf(account)) size += ring.size
    return size
  }

  /**
   * The entries of one account, of no account, or of all, from the newest to the oldest. Each is looked up when it is
   * read, because the journal may change meanwhile. `before` is an ordinal: only entries before it are returned.
   */
  newestFirst(account?: Scope, before = Number.POSITIVE_INFINITY): Generator<Entry, void, undefined> {
    return walk(this.#ringsOf(account), before, -1)
  }

  /** The entries after an ordinal, from the oldest to the newest. */
  oldestFirst(account?: string, after = 0): Generator<Entry, void, undefined> {
    return walk(this.#ringsOf(account), after + 1, 1)
  }

  /**
   * The newest entry with this request id, of one account or of any: an account that was reset uses its ids again. The
   * service's ids have no capital letters, but those that a client chooses may have some.
   */
  find(requestId: string, account?: string): Entry | undefined {
    return this.#findExactly(requestId, account) ?? this.#findExactly(requestId.toLowerCase(), account)
  }

  /** The entry with an ordinal, of any account. */
  at(ordinal: number): Entry | undefined {
    for (const ring of this.#rings.values()) {
      const entry = ring.at(ring.numberOf(ordinal))
      if (entry?.ordinal === ordinal) return entry
    }
    return undefined
  }

  /** Whether an entry is still in the journal. */
  has(entry: Entry): boolean {
    return this.at(entry.ordinal) === entry
  }

  #findExactly(requestId: string, account: string | undefined): Entry | undefined {
    let found: Entry | undefined
    for (const ring of this.#ringsOf(account)) {
      const entry = ring.find(requestId)
      if (entry !== undefined && entry.ordinal > (found?.ordinal ?? 0)) found = entry
    }
    return found
  }

  clear(account: string | undefined): void {
    this.#weight -= this.#rings.get(account)?.weight ?? 0
    this.#rings.delete(account)
  }

  /** Calls `listener` with every new entry. The returned function ends this. */
  subscribe(listener: (entry: Entry) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #ringsOf(account: Scope): readonly Ring[] {
    if (account === undefined) return [...this.#rings.values()]
    const ring = this.#rings.get(account ?? undefined)
    return ring === undefined ? [] : [ring]
  }

  #cutBody(body: Content): Content {
    let kept = this.#cut.get(body)
    if (kept === undefined) {
      const { held, size } = body
      const beginning = bytesOf({ held: held.slice(0, this.limits.body), size })
      kept = { held: Buffer.from(beginning.subarray(0, this.limits.body)), size }
      this.#cut.set(body, kept)
    }
    return kept
  }

  #keep(entry: Entry, outdated: number): void {
    let ring = this.#rings.get(entry.account)
    if (ring === undefined) {
      ring = new Ring(this.limits.entries)
      this.#rings.set(entry.account, ring)
    }
    const before = ring.weight
    ring.push(entry, outdated)
    this.#weight += ring.weight - before
    if (this.#weight > this.limits.total) this.#thin(ring)
  }

  /**
   * Drops older states and the oldest entries of the accounts with the heaviest entries. So an account with few
   * requests loses none because of other accounts. After this, a quarter of the limit is free, so it happens rarely. A
   * new entry, which is in the ring `newest`, stays.
   */
  #thin(newest: Ring | undefined): void {
    const level = levelFor(
      [...this.#rings.values()].map(({ weight }) => weight),
      this.limits.total * KEPT,
    )
    for (const [account, ring] of this.#rings) {
      const before = ring.weight
      const count = ring.thin(level, ring === newest ? 1 : 0)
      this.#weight += ring.weight - before
      const next = ring.at(ring.first)
      const upto = next === undefined ? this.#ordinal : next.ordinal - 1
      if (count > 0) {
        for (const listener of this.#thinListeners) listener({ account, upto })
        if (!this.#hasForgotten) this.#onForget?.()
        this.#hasForgotten = true
      }
      if (ring.weight === 0) this.#rings.delete(account)
    }
  }
}

/** The maximum weight of a ring if all rings together may have `total`. */
function levelFor(weights: number[], total: number): number {
  let left = total
  let rings = weights.length
  for (const weight of weights.sort((one, other) => one - other)) {
    if (weight * rings > left) break
    left -= weight
    rings--
  }
  return left / Math.max(1, rings)
}

/** An object is not written as JSON here, because its nesting may be as deep as a body is long. */
function withShortValue(problem: Problem<string>): Problem<string> {
  const { value } = problem
  if (typeof value === 'string') {
    return value.length <= VALUE ? problem : { ...problem, value: shorten(value, VALUE) }
  }
  if (typeof value !== 'object' || value === null) return problem
  return { ...problem, value: outline(value) }
}

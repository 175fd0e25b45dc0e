import { findFirst } from '../ground/search.ts'
import type { Entry } from './entry.ts'
import { weightInherited, weightOf } from './weight.ts'

/** If older states take more than this share of the memory, they are dropped before entries are. */
const OF_PASTS = 0.25

// The weight of a ring contains older states of its account. The past of an entry keeps everything that the account has
// replaced since then. `outdated` is the number of bytes that the account has replaced so far, so it only grows. The
// `mark` of a past is what `outdated` was at its time: the past keeps `outdated - mark` bytes. The oldest past keeps
// all that the other pasts keep, so only its bytes count; they are `#held`. From the number `#settled` on, the pasts keep
// nothing, because nothing was replaced after them.

/** The newest `limit` entries of one account. */
export class Ring {
  readonly #slots: (Entry | undefined)[] = []
  readonly #limit: number
  /** The numbers of the oldest entry and of the next one, counted from the first entry of the ring. */
  #first = 0
  #next = 0
  /** The number of the oldest entry with a past, or if there is none, of the next entry. */
  #oldestPast = 0
  /** The weight of the entries without the shared parts of their pasts. */
  #weight = 0
  #outdated = 0
  #settled = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** The number of entries. */
  get size(): number {
    return this.#next - this.#first
  }

  /** The number of the oldest entry, if there is one. */
  get first(): number {
    return this.#first
  }

  /** The approximate bytes of all entries, with the older states that they keep. */
  get weight(): number {
    return this.#weight + this.#held
  }

  get #held(): number {
    // This is the usual case. Reading the oldest past, which is rarely read, would cost a hundredth of a request.
    if (this.#oldestPast >= this.#settled) return 0
    const mark = this.at(this.#oldestPast)?.before?.mark
    return mark === undefined ? 0 : Math.max(0, this.#outdated - mark)
  }

  noteOutdated(outdated: number): void {
    if (outdated <= this.#outdated) return
    this.#outdated = outdated
    this.#settled = this.#next
  }

  /** If there are already `limit` entries, the oldest one is dropped. */
  push(entry: Entry, outdated = 0): void {
    if (this.#next - this.#first >= this.#limit) this.#drop()
    this.noteOutdated(outdated)
    this.#lowerMarks(entry)
    const last = this.at(this.#next - 1)
    if (entry.isLazy !== true) {
      if (last !== undefined) shareParts(entry, last)
      entry.weight = weightOf(entry, last)
    }
    this.#weight += entry.weight
    this.#slots[this.#next % this.#limit] = entry
    this.#next++
    if (entry.before !== undefined && entry.before.mark < this.#outdated) this.#settled = this.#next
    this.#skipWithoutPast()
  }

  /**
   * Reduces the weight of the entries to at most `weight`. First, the oldest lose their pasts until the pasts are
   * within their share. Then the oldest entries are dropped, but `least` of them stay. Returns the number of dropped
   * entries.
   */
  thin(weight: number, least: number): number {
    const first = this.#first
    while (this.weight > weight && this.#held > weight * OF_PASTS) this.#forgetPast()
    while (this.weight > weight && this.#next - this.#first > least) this.#drop()
    while (this.weight > weight && this.#held > 0) this.#forgetPast()
    return this.#first - first
  }

  /** Drops the entries up to an ordinal. */
  forget(ordinal: number): void {
    while (this.#first < this.#next && (this.at(this.#first)?.ordinal ?? 0) <= ordinal) this.#drop()
  }

  /** The entry with a number; `undefined` if it was dropped or does not exist yet. */
  at(number: number): Entry | undefined {
    return number >= this.#first && number < this.#next ? this.#slots[number % this.#limit] : undefined
  }

  /** The number of the first entry whose ordinal is not smaller, or if there is none, of the next entry. */
  numberOf(ordinal: number): number {
    return findFirst(this.#first, this.#next, (number) => (this.at(number)?.ordinal ?? 0) < ordinal)
  }

  /** The newest entry with this request id. */
  find(requestId: string): Entry | undefined {
    for (let number = this.#next - 1; number >= this.#first; number--) {
      const entry = this.at(number)
      if (entry?.requestId === requestId) return entry
    }
    return undefined
  }

  #drop(): void {
    const dropped = this.at(this.#first)
    this.#slots[this.#first % this.#limit] = undefined
    this.#first++
    if (dropped === undefined) return
    this.#weight -= dropped.weight
    if (this.#oldestPast < this.#first) this.#oldestPast = this.#first
    this.#skipWithoutPast()
    const oldest = this.at(this.#first)
    if (oldest === undefined || oldest.isLazy === true) return
    const weight = weightInherited(oldest, dropped)
    oldest.weight += weight
    this.#weight += weight
  }

  #forgetPast(): void {
    const entry = this.at(this.#oldestPast)
    if (entry !== undefined) {
      entry.before = undefined
      entry.after = undefined
    }
    this.#skipWithoutPast()
  }

  #skipWithoutPast(): void {
    while (this.#oldestPast < this.#next && this.at(this.#oldestPast)?.before === undefined) this.#oldestPast++
  }

  /**
   * Lowers the marks of the entries before a slow request to its own mark. It has found an older state than they have, and
   * the oldest past must have the lowest mark.
   */
  #lowerMarks({ before }: Entry): void {
    if (before === undefined) return
    for (let number = this.#next - 1; number >= this.#oldestPast; number--) {
      const past = this.at(number)?.before
      if (past !== undefined && past.mark <= before.mark) return
      if (past !== undefined) past.mark = before.mark
    }
  }
}

/**
 * Replaces the parts of an entry that equal those of the entry before it. A client sends nearly the same header each
 * time. An object that lives as long as an entry is expensive, because the garbage collector moves it several times.
 */
function shareParts(entry: Entry, last: Entry): void {
  if (equalTexts(entry.headers, last.headers)) entry.headers = last.headers
  if (entry.target === last.target) {
    entry.target = last.target
    entry.path = last.path
  }
  const { ordinal, disabled, inGrace } = entry.keyEvidence
  const known = last.keyEvidence
  if (ordinal === known.ordinal && disabled === known.disabled && inGrace === known.inGrace) entry.keyEvidence = known
}

function equalTexts(some: readonly string[], others: readonly string[]): boolean {
  if (some.length !== others.length) return false
  for (let index = 0; index < some.length; index++) if (some[index] !== others[index]) return false
  return true
}

import type { Entry } from './entry.ts'
import { weightInherited, weightOf } from './weight.ts'

/** The part of the memory for which requests are forgotten rather than the states before those that remain. */
const OF_PASTS = 0.25

/** The newest `limit` entries of one account. */
export class Ring {
  readonly #slots: (Entry | undefined)[] = []
  readonly #limit: number
  /** The numbers of the oldest entry and of the next one, counted from the first entry of the ring. */
  #first = 0
  #next = 0
  /** The number of the oldest entry that has a past; that of the next entry if none has. */
  #oldestPast = 0
  /** The weight of the entries without what their pasts share. */
  #weight = 0
  /** How many bytes the account has left behind in older states so far. */
  #outdated = 0
  /** The number of the first entry with a past after which the account has left nothing behind. */
  #settled = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** How many entries there are. */
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

  /** A past keeps all that later changes have replaced, so the oldest one keeps what the others keep. */
  get #held(): number {
    // The usual case. To read the oldest past, which nobody has read for long, would cost a hundredth of a request.
    if (this.#oldestPast >= this.#settled) return 0
    const mark = this.at(this.#oldestPast)?.before?.mark
    return mark === undefined ? 0 : Math.max(0, this.#outdated - mark)
  }

  /** The account has left behind so many bytes in older states so far. */
  noteOutdated(outdated: number): void {
    if (outdated <= this.#outdated) return
    this.#outdated = outdated
    this.#settled = this.#next
  }

  /** When there are `limit` entries already, the oldest one makes room. `outdated` as for `noteOutdated`. */
  push(entry: Entry, outdated = 0): void {
    if (this.#next - this.#first >= this.#limit) this.#drop()
    this.noteOutdated(outdated)
    this.#lowerMarks(entry)
    const last = this.#next > this.#first ? this.#slots[(this.#next - 1) % this.#limit] : undefined
    if (last !== undefined) shareParts(entry, last)
    entry.weight = weightOf(entry, last)
    this.#weight += entry.weight
    this.#slots[this.#next % this.#limit] = entry
    this.#next++
    if (entry.before !== undefined && entry.before.mark < this.#outdated) this.#settled = this.#next
    this.#skipWithoutPast()
  }

  /**
   * Makes the entries weigh at most `weight`. The oldest ones give up their pasts first, until the pasts have no more than
   * their part; then the oldest entries are dropped, but `least` of them stay. Returns how many it dropped.
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

  /** The entry with a number; `undefined` where it was dropped, or where none came yet. */
  at(number: number): Entry | undefined {
    return number >= this.#first && number < this.#next ? this.#slots[number % this.#limit] : undefined
  }

  /** The number of the first entry whose ordinal is not smaller; that of the next entry if there is none. */
  numberOf(ordinal: number): number {
    let [low, high] = [this.#first, this.#next]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.at(middle)?.ordinal ?? 0) < ordinal) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The newest entry with this request id. */
  find(requestId: string): Entry | undefined {
    for (let number = this.#next - 1; number >= this.#first; number--) {
      const entry = this.#slots[number % this.#limit]
      if (entry?.requestId === requestId) return entry
    }
    return undefined
  }

  #drop(): void {
    const place = this.#first % this.#limit
    const dropped = this.#slots[place]
    this.#slots[place] = undefined
    this.#first++
    if (dropped === undefined) return
    this.#weight -= dropped.weight
    if (this.#oldestPast < this.#first) this.#oldestPast = this.#first
    this.#skipWithoutPast()
    const oldest = this.#first < this.#next ? this.#slots[this.#first % this.#limit] : undefined
    if (oldest === undefined) return
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

  /** A request that took long has an older past than those before it in the journal: they keep no less than it does. */
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
 * Replaces the parts of an entry that are equal to those of the entry before it. A client sends nearly the same header
 * each time. An object that lives as long as an entry is expensive, because the garbage collector moves it several
 * times.
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

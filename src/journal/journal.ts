import { nameInstance } from '../ground/secrets.ts'
import { type Entry, type NewEntry, PAST } from './entry.ts'
import { RequestRedactions } from './redaction/request-redaction.ts'
import { Secrets } from './redaction/secrets.ts'

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

/** The part of the limit that is still used after the largest accounts have dropped entries. */
const KEPT = 0.9
/** In bytes, what an entry needs besides its texts, and a problem whose value is no text. */
const ENTRY = 1_000
const PROBLEM = 300

/** The owner of the entries: an account, no account (`null`), or all of them (`undefined`). */
export type Scope = string | null | undefined

/** The entries of one account, or of none, in the order of their ordinals. */
class Queue {
  /** Those that were dropped are empty until the others are moved to their place. */
  #entries: (Entry | undefined)[] = []
  #dropped = 0
  bytes = 0

  get length(): number {
    return this.#entries.length - this.#dropped
  }

  /** The entries from a place on, which is counted from the oldest one. */
  from(place = 0, end = this.length): Entry[] {
    return this.#entries.slice(this.#dropped + place, this.#dropped + end) as Entry[]
  }

  add(entry: Entry, bytes: number): void {
    this.#entries.push(entry)
    this.bytes += bytes
  }

  /** Drops the oldest entries, and returns their bytes. */
  drop(count: number): number {
    const bytes = this.from(0, count).reduce((sum, entry) => sum + bytesOf(entry), 0)
    this.bytes -= bytes
    this.#entries.fill(undefined, this.#dropped, this.#dropped + count)
    this.#dropped += count
    if (this.#dropped > this.length) {
      this.#entries = this.from()
      this.#dropped = 0
    }
    return bytes
  }

  /** The place of the first entry whose ordinal is not smaller. */
  placeOf(ordinal: number): number {
    // The newest entry is asked for most often.
    if (ordinal > (this.#entries.at(-1)?.ordinal ?? 0)) return this.length
    return findFirst(0, this.length, (place) => (this.#entries[this.#dropped + place]?.ordinal ?? 0) < ordinal)
  }
}

/** The newest exchanges of each account, within limits. */
export class Journal {
  readonly limits: JournalLimits
  /** The secrets of the server, which no entry shows. */
  readonly secrets: Secrets
  /** Hides secrets in what is recorded. */
  readonly redactions: RequestRedactions
  readonly #queues = new Map<string | undefined, Queue>()
  readonly #listeners = new Set<(entry: Entry) => void>()
  /** Begins the ids that this journal gives. */
  readonly #run = nameInstance().slice(0, 8)
  #given = 0
  #ordinal = 0
  #bytes = 0
  #onForget: (() => void) | undefined

  /** `onForget` is called the first time that entries are dropped because of their size. */
  constructor(limits: Partial<JournalLimits> = {}, onForget?: () => void, secrets = new Secrets()) {
    this.limits = { ...JOURNAL_LIMITS, ...limits }
    this.secrets = secrets
    this.redactions = new RequestRedactions(secrets, this.limits.body)
    this.#onForget = onForget
  }

  /** The approximate bytes of all entries. */
  get bytes(): number {
    return this.#bytes
  }

  /** The ordinal of the last recorded exchange. */
  get recorded(): number {
    return this.#ordinal
  }

  /** An id that no journal has given to another exchange. */
  nextId(): string {
    return `${this.#run}-${++this.#given}`
  }

  /**
   * Records an exchange under the next ordinal. An exchange that several processes share already has an ordinal, which is
   * higher than all before. The object itself becomes the entry, without a copy. Of an exchange that is not new, those who
   * listen know already.
   */
  record(exchange: NewEntry, isNew = true): Entry {
    exchange.ordinal ||= this.#ordinal + 1
    exchange.id ??= this.nextId()
    this.#ordinal = exchange.ordinal
    const entry = exchange as Entry
    if (this.limits.entries > 0) this.#keep(entry)
    if (isNew) for (const listener of this.#listeners) listener(entry)
    return entry
  }

  /** The number of entries of one account, of no account, or of all. */
  size(scope?: Scope): number {
    return this.#queuesOf(scope).reduce((sum, { length }) => sum + length, 0)
  }

  /** The entries of one account, of no account, or of all, the newest first. */
  newestFirst(scope?: Scope): Entry[] {
    return this.oldestFirst(scope).reverse()
  }

  /** The entries after an ordinal, the oldest first. */
  oldestFirst(scope?: Scope, after = 0): Entry[] {
    const [first = [], ...others] = this.#queuesOf(scope).map((queue) => queue.from(queue.placeOf(after + 1)))
    return others.length === 0 ? first : first.concat(...others).sort((one, other) => one.ordinal - other.ordinal)
  }

  /**
   * The entry with this id, or the newest one with this request id, of one account or of any. The service's request ids
   * have no capital letters, but those that a client chooses may have some.
   */
  find(id: string, account?: string): Entry | undefined {
    const isMeant = (each: Entry) => each.id === id || each.requestId === id || each.requestId === id.toLowerCase()
    const found = this.#queuesOf(account).flatMap((queue) => queue.from().findLast(isMeant) ?? [])
    return found.toSorted((one, other) => other.ordinal - one.ordinal)[0]
  }

  /** Whether an entry is still in the journal. */
  has(entry: Entry): boolean {
    return this.oldestFirst(entry.account ?? null, entry.ordinal - 1)[0] === entry
  }

  clear(account: string | undefined): void {
    this.#bytes -= this.#queues.get(account)?.bytes ?? 0
    this.#queues.delete(account)
  }

  /** Drops the states of all but the newest `keep` entries of each account, which may be the last to refer to them. */
  dropPasts(keep: number): void {
    for (const queue of this.#queues.values()) {
      for (const entry of queue.from(0, Math.max(0, queue.length - keep))) entry[PAST] = undefined
    }
  }

  /** Calls `listener` with every new entry. The returned function ends this. */
  subscribe(listener: (entry: Entry) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #queuesOf(scope: Scope): Queue[] {
    if (scope === undefined) return [...this.#queues.values()]
    const queue = this.#queues.get(scope ?? undefined)
    return queue === undefined ? [] : [queue]
  }

  #keep(entry: Entry): void {
    let queue = this.#queues.get(entry.account)
    if (queue === undefined) {
      queue = new Queue()
      this.#queues.set(entry.account, queue)
    }
    if (queue.length >= this.limits.entries) this.#bytes -= queue.drop(1)
    const bytes = bytesOf(entry)
    queue.add(entry, bytes)
    this.#bytes += bytes
    if (this.#bytes > this.limits.total) this.#thin(entry)
  }

  /**
   * Drops the older half of the largest account, then of the next one, until a part of the limit is free. So an account
   * with few requests loses none because of other accounts. The newest entry stays.
   */
  #thin(newest: Entry): void {
    const queues = [...this.#queues].sort(([, one], [, other]) => other.bytes - one.bytes)
    for (const [account, queue] of queues) {
      if (this.#bytes <= this.limits.total * KEPT) break
      const isSpared = queue.length === 1 && queue.from()[0] === newest
      if (!isSpared) this.#bytes -= queue.drop(Math.ceil(queue.length / 2))
      if (queue.length === 0) this.#queues.delete(account)
    }
    this.#onForget?.()
    this.#onForget = undefined
  }
}

/** The size of the last header. Most entries share the header of the entry before. */
let last: { headers: readonly string[]; bytes: number } = { headers: [], bytes: 0 }

/** The approximate bytes that an entry keeps in memory. It is the same each time. */
function bytesOf({ target, headers, body, responseBody, failure, violations, problems }: Entry): number {
  let bytes = ENTRY + target.length + (failure?.length ?? 0)
  if (headers !== last.headers) last = { headers, bytes: headers.reduce((sum, text) => sum + text.length, 0) }
  bytes += last.bytes
  bytes += body?.text?.length ?? body?.base64?.length ?? 0
  bytes += responseBody?.text?.length ?? responseBody?.base64?.length ?? 0
  for (const { message } of violations) bytes += message.length
  for (const { value } of problems) bytes += typeof value === 'string' ? value.length : PROBLEM
  return bytes
}

/** The first number from `low` to `high` that is not `isBefore`, which holds for all numbers up to some place. */
function findFirst(low: number, high: number, isBefore: (number: number) => boolean): number {
  let [from, to] = [low, high]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (isBefore(middle)) from = middle + 1
    else to = middle
  }
  return from
}

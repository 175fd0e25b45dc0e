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

/** The entries of one account, or of none, in the order of their ordinals, and their bytes. */
interface Queue {
  entries: Entry[]
  bytes: number
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

  /** The entries of one account, of no account, or of all, the newest first. */
  newestFirst(scope?: Scope): Entry[] {
    return this.oldestFirst(scope).reverse()
  }

  /** The entries after an ordinal, the oldest first. */
  oldestFirst(scope?: Scope, after = 0): Entry[] {
    const found = this.#queuesOf(scope).map(({ entries }) => {
      // The newest entries are asked for most often.
      return entries.slice(entries.findLastIndex(({ ordinal }) => ordinal <= after) + 1)
    })
    return found.length === 1 ? found.flat() : found.flat().sort((one, other) => one.ordinal - other.ordinal)
  }

  /**
   * The entry with this id, or the newest one with this request id, of one account or of any. The service's request ids
   * have no capital letters, but those that a client chooses may have some.
   */
  find(id: string, account?: string): Entry | undefined {
    const isMeant = (each: Entry) => each.id === id || each.requestId === id || each.requestId === id.toLowerCase()
    const found = this.#queuesOf(account).flatMap(({ entries }) => entries.findLast(isMeant) ?? [])
    return found.toSorted((one, other) => other.ordinal - one.ordinal)[0]
  }

  /** Whether an entry is still in the journal. */
  has(entry: Entry): boolean {
    return this.#queues.get(entry.account)?.entries.includes(entry) === true
  }

  clear(account: string | undefined): void {
    this.#bytes -= this.#queues.get(account)?.bytes ?? 0
    this.#queues.delete(account)
  }

  /** Drops the states of all but the newest `keep` entries of each account, which may be the last to refer to them. */
  dropPasts(keep: number): void {
    for (const { entries } of this.#queues.values()) {
      for (const entry of entries.slice(0, Math.max(0, entries.length - keep))) entry[PAST] = undefined
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
    const queue = this.#queues.get(entry.account) ?? { entries: [], bytes: 0 }
    this.#queues.set(entry.account, queue)
    if (queue.entries.length >= this.limits.entries) this.#drop(queue, 1)
    const bytes = bytesOf(entry)
    queue.entries.push(entry)
    queue.bytes += bytes
    this.#bytes += bytes
    if (this.#bytes > this.limits.total) this.#thin(entry)
  }

  /** Drops the oldest entries. */
  #drop(queue: Queue, count: number): void {
    // To splice one off moves all others, which would be the slowest step of many requests.
    const dropped = count === 1 ? [queue.entries.shift() as Entry] : queue.entries.splice(0, count)
    const bytes = dropped.reduce((sum, entry) => sum + bytesOf(entry), 0)
    queue.bytes -= bytes
    this.#bytes -= bytes
  }

  /**
   * Drops the older half of the largest account, then of the next one, until a part of the limit is free. So an account
   * with few requests loses none because of other accounts. The newest entry stays.
   */
  #thin(newest: Entry): void {
    const queues = [...this.#queues].sort(([, one], [, other]) => other.bytes - one.bytes)
    for (const [account, queue] of queues) {
      if (this.#bytes <= this.limits.total * KEPT) break
      const isSpared = queue.entries.length === 1 && queue.entries[0] === newest
      if (!isSpared) this.#drop(queue, Math.ceil(queue.entries.length / 2))
      if (queue.entries.length === 0) this.#queues.delete(account)
    }
    this.#onForget?.()
    this.#onForget = undefined
  }
}

/** The approximate bytes that an entry keeps in memory. It is the same each time. */
function bytesOf({ target, headers, body, responseBody, failure, violations, problems }: Entry): number {
  let bytes = ENTRY + target.length + (failure?.length ?? 0)
  for (const text of headers) bytes += text.length
  for (const each of [body, responseBody]) bytes += each?.text?.length ?? each?.base64?.length ?? 0
  for (const { message } of violations) bytes += message.length
  for (const { value } of problems) bytes += typeof value === 'string' ? value.length : PROBLEM
  return bytes
}

import type { Problem } from '../domain/errors.ts'
import { outline, shorten } from '../ground/show.ts'
import { bytesOf, type Content } from '../http/content.ts'
import type { Entry } from './entry.ts'
import { type Redact, redactorFor } from './redaction.ts'

export interface JournalLimits {
  /** How many entries are kept for each account; with 0, none. */
  entries: number
  /** How many bytes are kept of each body. */
  body: number
  /** How many problems are kept of each request. */
  problems: number
  /** The approximate number of bytes that all entries together may have. */
  total: number
}

export const JOURNAL_LIMITS: JournalLimits = { entries: 1000, body: 10_240, problems: 100, total: 256 << 20 }

/** The approximate bytes of an entry, a header field and a problem without their texts and bodies. */
const ENTRY_WEIGHT = 1_000
const FIELD_WEIGHT = 32
const PROBLEM_WEIGHT = 300
/** Bytes of the memory that Node.js shares among small buffers. A part of a larger buffer keeps all of it in memory. */
const SHARED = 8_192
/** How many characters are kept of a value from a body that is too long to be kept. */
const VALUE = 500

/** An exchange before it is recorded. */
export type NewEntry = Omit<Entry, 'ordinal' | 'weight'>

/** The newest `limit` entries of one account. */
class Ring {
  readonly #slots: (Entry | undefined)[] = []
  readonly #limit: number
  #next = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Returns the entry that it replaces. */
  push(entry: Entry): Entry | undefined {
    const last = this.#slots[(this.#next + this.#limit - 1) % this.#limit]
    if (last !== undefined) shareParts(entry, last)
    const slot = this.#next % this.#limit
    const former = this.#slots[slot]
    this.#slots[slot] = entry
    this.#next++
    return former
  }

  /** From the oldest to the newest. */
  list(): Entry[] {
    const start = this.#next % this.#limit
    const inOrder =
      this.#next > this.#limit ? [...this.#slots.slice(start), ...this.#slots.slice(0, start)] : this.#slots
    return inOrder.filter((entry) => entry !== undefined)
  }
}

/** The newest exchanges of each account, within limits. */
export class Journal {
  readonly limits: JournalLimits
  readonly #rings = new Map<string | undefined, Ring>()
  readonly #listeners = new Set<(entry: Entry) => void>()
  readonly #secrets = new Set<string>()
  /** A body that is sent again and again is cut once. */
  readonly #cut = new WeakMap<Content, Content>()
  #ordinal = 0
  #weight = 0
  #duration = 0

  constructor(limits: Partial<JournalLimits> = {}) {
    this.limits = { ...JOURNAL_LIMITS, ...limits }
  }

  /** How many exchanges there were since the start. */
  get recorded(): number {
    return this.#ordinal
  }

  /** How long all of these took together. */
  get seconds(): number {
    return this.#duration / 1000
  }

  record(exchange: NewEntry): Entry {
    const entry = exchange as Entry
    entry.ordinal = ++this.#ordinal
    this.#duration += entry.duration
    if (this.limits.entries > 0) this.#keep(entry)
    for (const listener of this.#listeners) listener(entry)
    return entry
  }

  /** The part of a body that is kept. It is copied if it would keep more memory in use than it needs. */
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

  /** From now on, the redactors hide this secret everywhere. */
  hide(secret: string): void {
    this.#secrets.add(secret)
  }

  redactorFor(entry: Entry): Redact {
    return redactorFor(entry, this.#secrets)
  }

  /** The entries of one account, or of all accounts and of none, from the oldest to the newest. */
  list(account?: string): Entry[] {
    if (account !== undefined) return this.#rings.get(account)?.list() ?? []
    return [...this.#rings.values()].flatMap((ring) => ring.list()).sort((one, other) => one.ordinal - other.ordinal)
  }

  /** The newest entry with this request id. An account that was reset uses its ids again. */
  find(requestId: string): Entry | undefined {
    const found = [...this.#rings.values()].flatMap((ring) =>
      ring.list().filter((entry) => entry.requestId === requestId),
    )
    return found.reduce<Entry | undefined>(
      (last, entry) => (last && last.ordinal > entry.ordinal ? last : entry),
      undefined,
    )
  }

  clear(account: string | undefined): void {
    for (const entry of this.#rings.get(account)?.list() ?? []) this.#weight -= entry.weight
    this.#rings.delete(account)
  }

  /** Calls `listener` with every new entry until the function that it returns is called. */
  subscribe(listener: (entry: Entry) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
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

  #keep(entry: Entry): void {
    let ring = this.#rings.get(entry.account)
    if (ring === undefined) {
      ring = new Ring(this.limits.entries)
      this.#rings.set(entry.account, ring)
    }
    const former = ring.push(entry)
    entry.weight = weightOf(entry)
    this.#weight += entry.weight - (former?.weight ?? 0)
    if (this.#weight > this.limits.total) this.#thin()
  }

  /** Removes the older half of every account's entries, so that thousands of busy accounts stay within the limit. */
  #thin(): void {
    this.#weight = 0
    for (const [account, ring] of this.#rings) {
      const entries = ring.list()
      const thinned = new Ring(this.limits.entries)
      for (const entry of entries.slice(Math.ceil(entries.length / 2))) {
        thinned.push(entry)
        this.#weight += entry.weight
      }
      if (entries.length > 1) this.#rings.set(account, thinned)
      else this.#rings.delete(account)
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

/** The header that was weighed last. Most entries share the header of the entry before. */
let weighed: { headers: readonly string[]; weight: number } = { headers: [], weight: 0 }

function weightOfHeader(headers: readonly string[]): number {
  if (headers === weighed.headers) return weighed.weight
  let weight = 0
  for (const text of headers) weight += text.length + FIELD_WEIGHT
  weighed = { headers, weight }
  return weight
}

function weightOf({ body, responseBody, target, headers, problems }: Entry): number {
  const texts = target.length + weightOfHeader(headers)
  const bodies = (body?.held.length ?? 0) + (responseBody?.held.length ?? 0)
  return ENTRY_WEIGHT + bodies + texts + problems.length * PROBLEM_WEIGHT
}

/** An object is not written as JSON here, because it may be nested as deeply as a body is long. */
function withShortValue(problem: Problem<string>): Problem<string> {
  const { value } = problem
  if (typeof value === 'string') {
    return value.length <= VALUE ? problem : { ...problem, value: shorten(value, VALUE) }
  }
  if (typeof value !== 'object' || value === null) return problem
  return { ...problem, value: outline(value) }
}

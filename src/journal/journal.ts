import type { Problem } from '../domain/errors.ts'
import { outline, shorten } from '../ground/show.ts'
import { bytesOf, type Content } from '../http/content.ts'
import type { Entry } from './entry.ts'
import { type Redact, redactorFor } from './redaction.ts'

export interface JournalLimits {
  /** Entries kept of each account; 0 keeps none. */
  entries: number
  /** Bytes kept of each body. */
  body: number
  /** Problems kept of each request. */
  problems: number
  /** Bytes that all entries together may hold, about. */
  total: number
}

export const JOURNAL_LIMITS: JournalLimits = { entries: 1000, body: 10_240, problems: 100, total: 256 << 20 }

/** About what an entry holds beside its bodies and texts, and what a header field and a problem hold beside theirs. */
const ENTRY_WEIGHT = 1_000
const FIELD_WEIGHT = 32
const PROBLEM_WEIGHT = 300
/** Bytes of the memory that small buffers share; what lies in a larger one keeps all of that alive. */
const SHARED = 8_192
/** Characters kept of a value that stood in a body too long to be kept. */
const VALUE = 500

/** An exchange on its way into the journal. */
export type NewEntry = Omit<Entry, 'ordinal' | 'weight'>

/** The newest `limit` entries of one account. */
class Ring {
  readonly #slots: (Entry | undefined)[] = []
  readonly #limit: number
  #next = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Returns the entry that had to go for it. */
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

/** What came in and what went out, account by account, as far back as its bounds allow. */
export class Journal {
  readonly limits: JournalLimits
  readonly #rings = new Map<string | undefined, Ring>()
  readonly #listeners = new Set<(entry: Entry) => void>()
  readonly #secrets = new Set<string>()
  /** Answers that are sent again and again are cut once. */
  readonly #cut = new WeakMap<Content, Content>()
  #ordinal = 0
  #weight = 0
  #duration = 0

  constructor(limits: Partial<JournalLimits> = {}) {
    this.limits = { ...JOURNAL_LIMITS, ...limits }
  }

  /** How many exchanges there ever were. */
  get recorded(): number {
    return this.#ordinal
  }

  /** How long all of them took together. */
  get seconds(): number {
    return this.#duration / 1000
  }

  record(exchange: NewEntry): void {
    const entry = exchange as Entry
    entry.ordinal = ++this.#ordinal
    this.#duration += entry.duration
    if (this.limits.entries > 0) this.#keep(entry)
    for (const listener of this.#listeners) listener(entry)
  }

  /** As much of a body as is kept; it is copied where it would keep more memory alive than it needs. */
  keepBody(body: Content): Content {
    const { held, size } = body
    if (size > this.limits.body) return this.#cutBody(body)
    if (typeof held === 'string') return body
    const alone = held.buffer.byteLength <= SHARED || held.buffer.byteLength <= 2 * size
    return alone ? body : { held: Buffer.from(held), size }
  }

  /** As many problems as are kept. Values out of a body that is too long to be kept would keep it after all. */
  keepProblems(problems: readonly Problem<string>[], bodySize: number): readonly Problem<string>[] {
    if (problems.length === 0) return problems
    const kept = problems.length <= this.limits.problems ? problems : problems.slice(0, this.limits.problems)
    return bodySize <= this.limits.body ? kept : kept.map(withShortValue)
  }

  /** Sees to it that a secret is never shown, wherever it stands. */
  hide(secret: string): void {
    this.#secrets.add(secret)
  }

  redactorFor(entry: Entry): Redact {
    return redactorFor(entry, this.#secrets)
  }

  /** The entries of one account, or of all and of none, from the oldest to the newest. */
  list(account?: string): Entry[] {
    if (account !== undefined) return this.#rings.get(account)?.list() ?? []
    return [...this.#rings.values()].flatMap((ring) => ring.list()).sort((one, other) => one.ordinal - other.ordinal)
  }

  /** The newest entry with this request id: a reset account uses its ids again. */
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

  /** Lets go of the older half of every account's entries, so that thousands of busy accounts stay within bounds. */
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
 * Lets an entry have the parts in which it is equal to the one before it from that one. A client says much the same each
 * time, and what lives as long as an entry is what it costs: it is moved by the garbage collector again and again.
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

/** The header that was weighed last: most entries share theirs with the one before. */
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

/** An object may be as deep as a body is long, so that nothing that is written out is asked of it here. */
function withShortValue(problem: Problem<string>): Problem<string> {
  const { value } = problem
  if (typeof value === 'string') {
    return value.length <= VALUE ? problem : { ...problem, value: shorten(value, VALUE) }
  }
  if (typeof value !== 'object' || value === null) return problem
  return { ...problem, value: outline(value) }
}

import { createHash } from 'node:crypto'
import { Waiters } from '../ground/waiters.ts'
import { StoreError } from '../store/store-error.ts'
import type { ConnectionState, StoreConnection } from './connection.ts'
import type { Script } from './script.ts'

/** In bytes, how many exchanges may wait while the store is away. Then the oldest ones are lost. */
export const WAITING = 16 << 20
/** How many items, and how many bytes, one step of the store takes. */
const BATCH = { items: 200, bytes: 1 << 20 }
/** Approximate bytes of an item without its text. */
const ITEM = 300
/** In milliseconds, how long a caller waits until all items are done. */
const FLUSHING = 1_000
/** In milliseconds, the pause before the next attempt. */
const PAUSE = 100

/** A task for the store. The names are those of `record.lua`. */
export interface OutboxItem {
  kind: 'exchange' | 'shown' | 'impolite' | 'example' | 'clear' | 'reset' | 'end' | 'clear-verdict'
  /** The key of the coverage of its account; absent if it concerns no account. */
  coverageKey?: string
  /** The text of an exchange. Only exchanges may be lost. */
  text?: string
  [field: string]: unknown
}

interface Numbered {
  number: number
  item: OutboxItem
}

export interface OutboxOptions {
  connection: StoreConnection
  script: Script
  /** The keys of the script without those of accounts. */
  keys: readonly string[]
  /** The data that each batch sends to the script beside its items. */
  terms: object
  /** Called for each item that never reaches the store. */
  lost(item: OutboxItem): void
  /** Called with the reason if the store could not do a batch, which is lost then; not if the store was away. */
  failed(error: unknown): void
  /** In bytes, how much may wait; tests use less. */
  waiting?: number
}

/** Sends the data of the replica to the store, in order and in batches. The store does a repeated batch only once. */
export class Outbox {
  readonly #options: OutboxOptions
  readonly #limit: number
  #items: Numbered[] = []
  #bytes = 0
  /** The number of items so far, and the number up to which all are done or lost. */
  #added = 0
  #done = 0
  #batches = 0
  #lost = 0
  #isRunning = false
  #isClosed = false
  /** The callers that wait until all items up to a number are done. */
  readonly #waiters = new Waiters<number>()
  readonly #pauses = new Waiters()
  readonly #unlisten: () => void

  constructor(options: OutboxOptions) {
    this.#options = options
    this.#limit = options.waiting ?? WAITING
    this.#unlisten = options.connection.listen(({ isReady }: ConnectionState) => {
      if (isReady) this.#pauses.wake()
    })
  }

  /** How many exchanges never reached the store. */
  get lost(): number {
    return this.#lost
  }

  /** How many items wait. */
  get size(): number {
    return this.#items.length
  }

  add(item: OutboxItem): void {
    this.#items.push({ number: ++this.#added, item })
    this.#bytes += bytesOf(item)
    if (this.#bytes > this.#limit) this.#dropOldest()
    if (this.#isRunning || this.#isClosed) return
    this.#isRunning = true
    setImmediate(() => void this.#run())
  }

  /** Resolves when all items so far are done. Rejects as soon as an attempt fails. */
  async flush(): Promise<void> {
    if (this.#done >= this.#added) return
    if (this.#isClosed) throw new StoreError('closed', 'The store is closed')
    const limit = FLUSHING * this.#options.connection.patience
    if (await this.#waiters.wait(limit, this.#added)) return
    const error = new StoreError('unavailable', `The store has not taken everything within ${limit} ms`)
    throw Object.assign(error, { reported: true })
  }

  /** Sends as much of the rest as possible, and ends. */
  async close(): Promise<void> {
    await this.flush().catch(() => {})
    this.#isClosed = true
    this.#unlisten()
    this.#pauses.wake()
  }

  async #run(): Promise<void> {
    while (this.#items.length > 0 && !this.#isClosed) await this.#perform(this.#take())
    this.#isRunning = false
  }

  #take(): OutboxItem[] {
    let bytes = 0
    let count = 0
    while (count < this.#items.length && count < BATCH.items && (count === 0 || bytes < BATCH.bytes)) {
      bytes += bytesOf((this.#items[count] as Numbered).item)
      count++
    }
    this.#bytes -= bytes
    this.#batches++
    return this.#items.splice(0, count).map(({ item }) => item)
  }

  /** Sends a batch repeatedly until it is done. */
  async #perform(taken: OutboxItem[]): Promise<void> {
    let items = taken
    let { script } = this.#options
    while (items.length > 0) {
      try {
        await this.#send(items, script)
        break
      } catch (error) {
        if (error instanceof StoreError && error.problem === 'full' && script === this.#options.script) {
          // Changes of accounts are refused for the same reason. Orders that free memory are still done.
          this.#lose(items.filter((item) => !isOrder(item)))
          items = items.filter(isOrder)
          script = withoutMemory(script)
        } else if (!(error instanceof StoreError)) {
          this.#options.failed(error)
          this.#waiters.fail(error)
          this.#lose(items)
          break
        } else {
          this.#waiters.fail(error)
          if (!this.#isClosed) await this.#pauses.wait(PAUSE)
          if (this.#isClosed) return
        }
      }
    }
    this.#finish()
  }

  async #send(items: readonly OutboxItem[], script: Script): Promise<void> {
    const { connection, keys, terms } = this.#options
    const coverages = new Map<string, number>()
    const texts: string[] = []
    const written = items.map(({ coverageKey, text, ...item }) => {
      if (text !== undefined) texts.push(text)
      if (coverageKey === undefined) return item
      const place = coverages.get(coverageKey) ?? coverages.size + 1
      coverages.set(coverageKey, place)
      return { ...item, coverage: place, ...(text !== undefined && { text: texts.length }) }
    })
    const batch = JSON.stringify({ ...terms, number: this.#batches, items: written })
    await connection.run(script, [...keys, ...coverages.keys()], [batch, ...texts], { repeatable: true })
  }

  #finish(): void {
    const [next] = this.#items
    this.#done = next === undefined ? this.#added : next.number - 1
    this.#waiters.wake((number) => number <= this.#done)
  }

  #dropOldest(): void {
    const kept: Numbered[] = []
    const dropped: OutboxItem[] = []
    // Drops a quarter more than needed, so that this happens rarely.
    const wanted = this.#limit * 0.75
    for (const each of this.#items) {
      const { item } = each
      if (this.#bytes <= wanted || isOrder(item)) kept.push(each)
      else {
        this.#bytes -= bytesOf(item)
        dropped.push(item)
      }
    }
    this.#items = kept
    this.#lose(dropped)
  }

  #lose(items: readonly OutboxItem[]): void {
    for (const item of items) {
      if (item.kind === 'exchange') this.#lost++
      this.#options.lost(item)
    }
  }
}

/** Whether a caller has ordered the item, so that it must not be lost. */
function isOrder({ kind }: OutboxItem): boolean {
  return kind === 'clear' || kind === 'reset' || kind === 'end' || kind === 'clear-verdict'
}

/** The same script, but allowed to run without free memory in the store. */
function withoutMemory(script: Script): Script {
  const text = script.text.replace(/^#!lua$/m, '#!lua flags=allow-oom')
  return { ...script, text, digest: createHash('sha1').update(text).digest('hex') }
}

function bytesOf({ text, example }: OutboxItem): number {
  return ITEM + (text?.length ?? 0) + (typeof example === 'string' ? example.length : 0)
}

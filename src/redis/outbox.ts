import { clearTimeout, setTimeout } from '../ground/timers.ts'
import { Waiters } from '../ground/waiters.ts'
import { StoreError } from '../store/store-error.ts'
import type { ConnectionState, StoreConnection } from './connection.ts'

/** In bytes, how much may wait while the store is away. Then the oldest items are lost. */
const WAITING = 16 << 20
/** How many items, and how many bytes, one step of the store takes. */
const BATCH = { items: 200, bytes: 1 << 20 }
/** In milliseconds, how long items are gathered before they are sent. */
const GATHERING = 10
/** In milliseconds, how long a caller waits until all items are done. */
const FLUSHING = 1_000
/** In milliseconds, the pause before the next attempt. */
const PAUSE = 100

export interface OutboxOptions<Item> {
  connection: Pick<StoreConnection, 'listen' | 'patience'>
  /** Does a batch. The same number means that it is the same batch, which may be done already. */
  send(items: readonly Item[], number: number): Promise<void>
  /** Called for the items that never reach the store, with their batch if they were in one. */
  lost(items: readonly Item[], number: number | undefined): void
  /** Called with the reason if the store could not do a batch, which is lost then; not if the store was away. */
  failed(error: unknown): void
  /** In bytes, how much may wait; tests use less. */
  waiting?: number
}

/** Sends the data of the server to the store, in order and in batches. */
export class Outbox<Item extends { bytes: number }> {
  readonly #options: OutboxOptions<Item>
  readonly #limit: number
  #items: Item[] = []
  #bytes = 0
  /** The numbers of items so far, of those that are done or lost, and of those that are not gathered any more. */
  #added = 0
  #done = 0
  #due = 0
  #batches = 0
  #gathering: NodeJS.Timeout | undefined
  #isRunning = false
  #isClosed = false
  /** The callers that wait until so many items are done. */
  readonly #waiters = new Waiters<number>()
  readonly #pauses = new Waiters()
  readonly #unlisten: () => void

  constructor(options: OutboxOptions<Item>) {
    this.#options = options
    this.#limit = options.waiting ?? WAITING
    this.#unlisten = options.connection.listen(({ isReady }: ConnectionState) => {
      if (isReady) this.#pauses.wake()
    })
  }

  /** How many items wait. */
  get size(): number {
    return this.#items.length
  }

  add(item: Item): void {
    this.#items.push(item)
    this.#added++
    this.#bytes += item.bytes
    if (this.#bytes > this.#limit) this.#dropOldest()
    if (!this.#isRunning) this.#schedule()
  }

  /** Resolves when all items so far are done. Rejects as soon as an attempt fails. */
  async flush(): Promise<void> {
    if (this.#done >= this.#added) return
    if (this.#isClosed) throw new StoreError('closed', 'The store is closed')
    const limit = FLUSHING * this.#options.connection.patience
    const done = this.#waiters.wait(limit, this.#added)
    this.#hurry()
    if (await done) return
    const error = new StoreError('unavailable', `The store has not taken everything within ${limit} ms`)
    throw Object.assign(error, { reported: true })
  }

  /** Sends as much of the rest as possible, and ends. */
  async close(): Promise<void> {
    await this.flush().catch(() => {})
    this.#isClosed = true
    clearTimeout(this.#gathering)
    this.#unlisten()
    this.#pauses.wake()
  }

  get #isFull(): boolean {
    return this.#items.length >= BATCH.items || this.#bytes >= BATCH.bytes
  }

  #schedule(): void {
    if (this.#isClosed || this.#items.length === 0) return
    if (this.#isFull) this.#hurry()
    else this.#gathering ??= setTimeout(() => this.#hurry(), GATHERING).unref()
  }

  /** Sends all items so far without further gathering. */
  #hurry(): void {
    clearTimeout(this.#gathering)
    this.#gathering = undefined
    this.#due = this.#added
    if (this.#isRunning) return
    this.#isRunning = true
    void this.#run()
  }

  async #run(): Promise<void> {
    while (this.#items.length > 0 && !this.#isClosed && (this.#done < this.#due || this.#isFull)) {
      await this.#perform(this.#take())
    }
    this.#isRunning = false
    this.#schedule()
  }

  #take(): Item[] {
    let bytes = 0
    let count = 0
    while (count < this.#items.length && count < BATCH.items && (count === 0 || bytes < BATCH.bytes)) {
      bytes += (this.#items[count] as Item).bytes
      count++
    }
    this.#bytes -= bytes
    return this.#items.splice(0, count)
  }

  /** Sends a batch repeatedly until it is done. */
  async #perform(items: readonly Item[]): Promise<void> {
    const number = ++this.#batches
    while (!this.#isClosed) {
      try {
        await this.#options.send(items, number)
        break
      } catch (error) {
        if (error instanceof StoreError && error.problem !== 'full') {
          this.#waiters.fail(error)
          if (!this.#isClosed) await this.#pauses.wait(PAUSE)
          continue
        }
        // Where the store is full, changes of accounts are refused for the same reason.
        if (!(error instanceof StoreError)) {
          this.#options.failed(error)
          this.#waiters.fail(error)
        }
        this.#options.lost(items, number)
        break
      }
    }
    this.#finish()
  }

  #finish(): void {
    this.#done = this.#added - this.#items.length
    this.#waiters.wake((number) => number <= this.#done)
  }

  /** Drops a quarter more than needed, so that this happens rarely. */
  #dropOldest(): void {
    let count = 0
    for (; this.#bytes > this.#limit * 0.75 && count < this.#items.length; count++) {
      this.#bytes -= (this.#items[count] as Item).bytes
    }
    this.#options.lost(this.#items.splice(0, count), undefined)
    // The items of a batch under way are older.
    if (!this.#isRunning) this.#finish()
  }
}

import { pause } from '../../ground/timers.ts'
import type { StoreConnection } from '../../store/redis/connection.ts'
import { StoreError } from '../../store/store-error.ts'

/** How many exchanges may wait while the store is away. Then the oldest are lost. */
const WAITING = 2_000
/** How many exchanges one step of the store takes. */
const BATCH = 100
/** In milliseconds, how long a caller waits until everything is sent, and the pause before the next attempt. */
const [FLUSHING, PAUSE] = [2_000, 50]

/** An exchange as the arguments of the script `record`. */
export type OutboxItem = readonly string[]

export interface OutboxOptions {
  connection: StoreConnection
  prefix: string
  /** Names this server among those of the store. */
  server: string
  /** How many exchanges of an account are kept. */
  limit: number
  /** Called with the number of exchanges that never reach the store, and with the reason if the store has refused them. */
  lost(count: number, reason?: unknown): void
}

/** Sends the exchanges of this server to the store: at once, in order, each once, and again if a reply is lost. */
export class Outbox {
  readonly #options: OutboxOptions
  readonly #waiting: OutboxItem[] = []
  #batches = 0
  #sending: Promise<void> | undefined
  #isClosed = false

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  add(item: OutboxItem): void {
    this.#waiting.push(item)
    if (this.#waiting.length > WAITING) this.#options.lost(this.#waiting.splice(0, BATCH).length)
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined
    })
  }

  /** Resolves when everything is sent. @throws StoreError if that takes too long */
  async flush(): Promise<void> {
    const { connection } = this.#options
    const late = pause(FLUSHING * connection.patience, true, { ref: false })
    if ((await Promise.race([this.#sending, late])) !== true) return
    throw reported(new StoreError('unavailable', 'The store has not taken the latest requests'))
  }

  /** Sends what waits, if the store takes it in time. */
  async close(): Promise<void> {
    await this.flush().catch(() => {})
    this.#isClosed = true
  }

  async #sendAll(): Promise<void> {
    // All exchanges of this turn go together.
    await Promise.resolve()
    while (this.#waiting.length > 0) await this.#send(this.#waiting.splice(0, BATCH), ++this.#batches)
  }

  /** The store knows a batch by its number, and does not record it twice. */
  async #send(items: readonly OutboxItem[], number: number): Promise<void> {
    const { connection, prefix, server, limit, lost } = this.#options
    const args = [server, `${number}`, `${limit}`, ...items.flat()]
    for (;;) {
      try {
        await connection.run('record', prefix, args, { isRepeatable: true })
        return
      } catch (error) {
        const isAway = error instanceof StoreError && error.problem === 'unavailable'
        if (!isAway) return lost(items.length, error)
        if (this.#isClosed) return lost(items.length)
      }
      await pause(PAUSE, undefined, { ref: false })
    }
  }
}

/** The state of the store is logged already. */
function reported(error: StoreError): StoreError {
  return Object.assign(error, { reported: true })
}

import { pause } from '../../ground/timers.ts'
import type { StoreConnection } from '../../store/redis/connection.ts'

/** How many news are read at a time, and in milliseconds how often, and how long that may take. */
const PAGE = 200
const [EVERY, READING] = [100, 3_000]
const NOWHERE = '0-0'

/** Names and values alternate. */
type StreamEntries = readonly (readonly [id: string, fields: readonly string[]])[]

/** An exchange or an event in the news of the store. */
export interface News {
  /** Of an exchange, its ordinal. Of an event, that of the last exchange before it. */
  ordinal: number
  fields: ReadonlyMap<string, string>
}

export interface TailOptions {
  connection: StoreConnection
  prefix: string
  /** Takes what has happened, in order. */
  take(news: News): void
  /** Forgets everything: the exchanges of all journals follow. */
  restart(): void
  /** Takes an exchange of a journal. */
  takeOld(news: News): void
}

/** Follows the exchanges and events of all servers of a store. */
export class Tail {
  readonly #options: TailOptions
  /** The id of the last of the news that was taken. */
  #last = NOWHERE
  /** The readings so far; one follows the other. */
  #reading: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(options: TailOptions) {
    this.#options = options
  }

  /** Reads all journals, and follows the news from then on. @throws StoreError */
  async start(): Promise<void> {
    await this.restart()
    void this.#follow()
  }

  close(): void {
    this.#isClosed = true
  }

  /** Resolves when everything is taken that has happened before. @throws StoreError */
  catchUp(): Promise<void> {
    return this.#inTurn(() => this.#readNews())
  }

  /** Reads all journals anew: for a store that was emptied, or has gone back, or has gone on too far. */
  restart(): Promise<void> {
    return this.#inTurn(() => this.#readJournals())
  }

  #inTurn(read: () => Promise<void>): Promise<void> {
    this.#reading = this.#reading.catch(() => {}).then(read)
    return this.#reading
  }

  async #follow(): Promise<void> {
    while (!this.#isClosed) {
      await pause(EVERY, undefined, { ref: false })
      // The connection tells why it fails.
      if (!this.#isClosed) await this.catchUp().catch(() => {})
    }
  }

  async #readJournals(): Promise<void> {
    const { restart, takeOld } = this.#options
    const last = (await this.#readEnd()) ?? NOWHERE
    const incarnations = (await this.#read('HVALS', 'ids')) as readonly string[]
    const journals: News[][] = []
    for (const name of ['nobody', ...incarnations.map((each) => `account:${each}`)]) {
      const entries = await this.#read('XRANGE', `${name}:journal`, '-', `${ordinalOf(last)}`)
      journals.push((entries as StreamEntries).map(newsOf))
    }
    restart()
    for (const news of journals.flat().sort((one, other) => one.ordinal - other.ordinal)) takeOld(news)
    this.#last = last
  }

  async #readNews(): Promise<void> {
    for (;;) {
      // The end is read first: what comes in between is among the entries then.
      const reads = [this.#readEnd(), this.#read('XRANGE', 'news', `(${this.#last}`, '+', 'COUNT', `${PAGE}`)]
      const [end, entries] = (await Promise.all(reads)) as [string | undefined, StreamEntries]
      const [first] = entries
      const hasGoneBack = first === undefined && (end ?? NOWHERE) !== this.#last
      const hasDropped = first !== undefined && ordinalOf(first[0]) > ordinalOf(this.#last) + 1
      if (hasGoneBack || hasDropped) return this.#readJournals()
      for (const entry of entries) {
        this.#options.take(newsOf(entry))
        this.#last = entry[0]
      }
      if (entries.length < PAGE) return
    }
  }

  /** The id of the last of the news. */
  async #readEnd(): Promise<string | undefined> {
    const [last] = (await this.#read('XREVRANGE', 'news', '+', '-', 'COUNT', '1')) as StreamEntries
    return last?.[0]
  }

  #read(command: string, name: string, ...rest: string[]) {
    const { connection, prefix } = this.#options
    return connection.send([command, `${prefix}:${name}`, ...rest], { isRepeatable: true, deadline: READING })
  }
}

function newsOf([id, fields]: StreamEntries[number]): News {
  const named = new Map<string, string>()
  for (let index = 0; index < fields.length; index += 2) named.set(fields[index] ?? '', fields[index + 1] ?? '')
  return { ordinal: ordinalOf(id), fields: named }
}

function ordinalOf(id: string): number {
  return Number.parseInt(id, 10)
}

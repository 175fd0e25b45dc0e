import { pause } from '../../ground/timers.ts'
import { Waiters } from '../../ground/waiters.ts'
import type { StoreConnection } from '../../store/redis/connection.ts'
import { StoreError } from '../../store/store-error.ts'

/** How many news are read at a time. */
const PAGE = 200
/** In milliseconds, how long a read waits for news, and how long it may take altogether. */
const [BLOCKING, READING] = [400, 3_000]
/** In milliseconds, how long a caller waits for the news. */
const CATCHING_UP = 3_000
/** In milliseconds, the pause after a read that has failed. */
const PAUSE = 50
const NOWHERE = '0-0'

/** Names and values alternate. */
type Fields = readonly string[]
type StreamEntries = readonly (readonly [id: string, fields: Fields])[]

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
  readonly #connection: StoreConnection
  readonly #waiting = new Waiters<string>()
  /** The last of the news that was taken, and the last ordinal. */
  #last = NOWHERE
  #ordinal = 0
  #restarting: Promise<void> | undefined
  #isClosed = false

  constructor(options: TailOptions) {
    this.#options = options
    this.#connection = options.connection.duplicate()
  }

  /** Reads all journals, and follows the news from then on. @throws StoreError */
  async start(): Promise<void> {
    await this.restart()
    void this.#follow()
  }

  close(): void {
    this.#isClosed = true
    this.#connection.close()
    this.#waiting.wake()
  }

  /** Resolves when everything is taken that had happened before. @throws StoreError if that takes too long */
  async catchUp(): Promise<void> {
    const end = await this.#readEnd()
    if (isBefore(end, this.#last)) await this.restart()
    if (!isBefore(this.#last, end) || this.#isClosed) return
    const limit = CATCHING_UP * this.#connection.patience
    if (await this.#waiting.wait(limit, end)) return
    throw Object.assign(new StoreError('unavailable', 'The news of the store have not come'), { reported: true })
  }

  /** Reads all journals anew: for a store that was emptied, or has gone back, or has gone on too far. */
  restart(): Promise<void> {
    this.#restarting ??= this.#restart().finally(() => {
      this.#restarting = undefined
    })
    return this.#restarting
  }

  async #restart(): Promise<void> {
    const { restart, takeOld } = this.#options
    const last = await this.#readEnd()
    const ordinal = ordinalOf(last)
    const incarnations = (await this.#read('HVALS', 'ids')) as readonly string[]
    const names = ['nobody', ...incarnations.map((each) => `account:${each}`)]
    const journals: News[][] = []
    for (const name of names) {
      const entries = await this.#read('XRANGE', `${name}:journal`, '-', `${ordinal}`)
      journals.push((entries as StreamEntries).map(newsOf))
    }
    restart()
    for (const news of journals.flat().sort((one, other) => one.ordinal - other.ordinal)) takeOld(news)
    this.#last = last
    this.#ordinal = ordinal
    this.#wake()
  }

  async #follow(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await this.#restarting
        await this.#readNews()
      } catch {
        // The connection tells why. It may lead to another store now.
        await pause(PAUSE, undefined, { ref: false })
        await this.catchUp().catch(() => {})
      }
    }
  }

  async #readNews(): Promise<void> {
    const { prefix, take } = this.#options
    const before = this.#last
    const command = ['XREAD', 'COUNT', `${PAGE}`, 'BLOCK', `${BLOCKING}`, 'STREAMS', `${prefix}:news`, before]
    const reply = await this.#connection.send(command, { isRepeatable: true, deadline: BLOCKING + READING })
    const [[, entries = []] = []] = (reply ?? []) as unknown as [string, StreamEntries][]
    if (this.#restarting !== undefined || this.#last !== before) return
    const [first] = entries
    // Some exchanges were dropped before this server has read them.
    if (first !== undefined && ordinalOf(first[0]) > this.#ordinal + 1) return this.restart()
    for (const entry of entries) {
      const news = newsOf(entry)
      this.#ordinal = news.ordinal
      take(news)
      this.#last = entry[0]
    }
    this.#wake()
  }

  #wake(): void {
    this.#waiting.wake((end) => !isBefore(this.#last, end))
  }

  /** The id of the last of the news. */
  async #readEnd(): Promise<string> {
    const [last] = (await this.#read('XREVRANGE', 'news', '+', '-', 'COUNT', '1')) as StreamEntries
    return last?.[0] ?? NOWHERE
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

function isBefore(one: string, other: string): boolean {
  const [ordinal = 0, sequence = 0] = one.split('-').map(Number)
  const [otherOrdinal = 0, otherSequence = 0] = other.split('-').map(Number)
  return ordinal < otherOrdinal || (ordinal === otherOrdinal && sequence < otherSequence)
}

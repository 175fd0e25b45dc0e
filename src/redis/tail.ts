import { setTimeout } from '../ground/timers.ts'
import { StoreError } from '../store/store-error.ts'
import type { RedisReply, StoreConnection } from './connection.ts'
import { readTexts } from './database.ts'
import { READING } from './recorded-exchange.ts'

/** How many news are read at a time. */
const CHUNK = 20
/** In milliseconds, how long the store holds a blocking read. After that, it is checked whether it still has the news. */
const BLOCK = 500
/** In milliseconds, how long the reply to a blocking read may take. */
const PATIENCE = 1_500
/** In milliseconds, the pause after a failure. */
const PAUSE = 50

/** What a server has recorded, or an event that changes journals. */
export interface News {
  id: string
  fields: ReadonlyMap<string, string>
}

/** How the journals must be read again. */
export interface Restart {
  /** The last ordinal before the next news. */
  upto: number
  /** The time up to which the order of the exchanges is known. */
  settled: number
  /** Whether the store has lost what was read. */
  isOther: boolean
}

export interface TailOptions {
  connection: StoreConnection
  /** The beginning of all keys. */
  base: string
  /** Takes a question or an answer of a server, see `Roundup`. */
  heard(fields: ReadonlyMap<string, string>): void
  /** Takes the next news in order; all of them, or it rejects. */
  take(news: readonly News[]): Promise<void>
  /** Reads all journals again. */
  restart(restart: Restart): Promise<void>
  /** Called with the reason if news cannot be read. A store that is away is no reason. */
  failed(error: unknown): void
}

/**
 * Follows the news of all servers. They are read over the ordinary connection. A second connection only tells when there
 * are some, so that nobody waits for it.
 */
export class Tail {
  readonly #options: TailOptions
  readonly #bell: StoreConnection
  /** The last news that were taken. The next ones are read with them, which shows whether some are missing. */
  #last: News | undefined
  /** Names the contents of the store, and is another name after it was emptied. Absent before the first reading. */
  #born: string | undefined
  /** The last known ordinal at the beginning of a batch. */
  #upto = 0
  /** The id of the last question or answer that was read. */
  #heard = '0-0'
  #reading: Promise<boolean> | undefined
  #isClosed = false

  constructor(options: TailOptions) {
    this.#options = options
    this.#bell = options.connection.duplicate()
  }

  get connected(): Promise<unknown> {
    return this.#bell.firstAttempt
  }

  /** Reads the journals, and then continues in the background. @throws StoreError */
  async start(): Promise<void> {
    this.#heard = await this.#askHeard()
    await this.#restart(false)
    void this.#follow()
  }

  /** Resolves when all present news were taken. @throws StoreError */
  async catchUp(): Promise<void> {
    // A reading that has begun may have missed the last ones.
    await this.#reading?.catch(() => {})
    while (await this.#read()) {}
  }

  /** Resolves when the news with this id were taken, or the journals were read after it. @throws StoreError */
  async reach(id: string): Promise<void> {
    const isBehind = () => this.#last === undefined || isBefore(this.#last.id, id)
    if (isBehind()) await this.#reading?.catch(() => {})
    if (isBehind()) await this.catchUp()
  }

  close(): void {
    this.#isClosed = true
    this.#bell.close()
  }

  async #follow(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await this.#listen()
        await this.#read()
      } catch (error) {
        if (this.#isClosed) return
        // A `StoreError` may come from a server that changes its role, which is temporary.
        if (!(error instanceof StoreError)) this.#options.failed(error)
        await new Promise((resolve) => setTimeout(resolve, PAUSE).unref())
      }
    }
  }

  /** Waits for the next news, and hears questions and answers. */
  async #listen(): Promise<void> {
    const { base, heard } = this.#options
    const [news, questions] = [`${base}all}:news`, `${base}all}:questions`]
    const streams = [news, questions, this.#last?.id ?? '0-0', this.#heard]
    const command = ['XREAD', 'COUNT', `${CHUNK}`, 'BLOCK', `${BLOCK}`, 'STREAMS', ...streams]
    const reply = await this.#bell.send(command, { repeatable: true, deadline: PATIENCE })
    const found = new Map((reply ?? []) as readonly (readonly [string, readonly RedisReply[]])[])
    for (const each of (found.get(questions) ?? []).map(readNews)) {
      this.#heard = each.id
      heard(each.fields)
    }
  }

  /** Reads and takes the next news; resolves to whether there may be more. */
  #read(): Promise<boolean> {
    this.#reading ??= this.#readNext().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readNext(): Promise<boolean> {
    const last = this.#last
    const news = await this.#range(last?.id ?? '-', '+', CHUNK)
    if (last !== undefined) {
      const first = news.shift()
      if (first?.id !== last.id || markOf(first) !== markOf(last)) {
        await this.#restart(await this.#hasLost(last))
        return false
      }
    }
    if (this.#isClosed || news.length === 0) return false
    await this.#options.take(news)
    this.#last = news.at(-1)
    for (const { fields } of news) this.#upto = Math.max(this.#upto, Number(fields.get('o') ?? 0))
    return news.length >= CHUNK - 1
  }

  /** Whether the last news are missing in the store, and not only too old. */
  async #hasLost({ id }: News): Promise<boolean> {
    const [first] = await this.#range('-', '+', 1)
    return first === undefined || !isBefore(id, first.id)
  }

  async #restart(hasLost: boolean): Promise<void> {
    const { connection, base, restart } = this.#options
    const reply = await connection.call('place', base, [])
    const [born, upto, settled, news] = reply as readonly [string, string, string, readonly RedisReply[]]
    const isBornAgain = this.#upto > 0 ? born !== this.#born : this.#born === undefined
    const isOther = hasLost || Number(upto) < this.#upto || isBornAgain
    await restart({ upto: Number(upto), settled: Number(settled), isOther })
    this.#last = news.map(readNews)[0]
    this.#born = born
    this.#upto = Number(upto)
  }

  async #range(from: string, to: string, count: number): Promise<News[]> {
    const { connection, base } = this.#options
    const command = ['XRANGE', `${base}all}:news`, from, to, 'COUNT', `${count}`]
    return ((await connection.send(command, { isReadOnly: true })) as readonly RedisReply[]).map(readNews)
  }

  async #askHeard(): Promise<string> {
    // Without the second connection, this server would hear no question.
    const command = ['XREVRANGE', `${this.#options.base}all}:questions`, '+', '-', 'COUNT', '1']
    const reply = await this.#bell.send(command, { isReadOnly: true, deadline: READING })
    const [last] = reply as readonly RedisReply[]
    return last === undefined ? '0-0' : readNews(last).id
  }
}

function readNews(record: RedisReply): News {
  const [id, fields] = record as readonly [string, RedisReply]
  return { id, fields: new Map(readTexts(fields)) }
}

/** The origin of news. Other news with the same id have another origin. */
function markOf({ fields }: News): string {
  return ['s', 'n', 'o', 'c', 'a', 'h'].map((name) => fields.get(name) ?? '').join(' ')
}

function isBefore(one: string, other: string): boolean {
  const [time = 0, sequence = 0] = one.split('-').map(Number)
  const [otherTime = 0, otherSequence = 0] = other.split('-').map(Number)
  return time < otherTime || (time === otherTime && sequence < otherSequence)
}

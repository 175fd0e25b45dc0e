import { randomUUID } from 'node:crypto'
import { elapsed } from '../ground/clock.ts'
import { Turns } from '../ground/turns.ts'
import { Waiters } from '../ground/waiters.ts'
import { StoreError } from '../store/store-error.ts'
import { DEADLINE, type RedisReply, type StoreConnection } from './connection.ts'
import { readTexts } from './database.ts'
import type { HistoryKeys } from './history-keys.ts'

/** How many records are read at a time. */
const CHUNK = 200
/** In milliseconds, how long the store holds a blocking read without records. */
const BLOCK = 500
/** In milliseconds, how long the reply to a blocking read may take. */
const PATIENCE = 1_500
/** In milliseconds, how long a reply may take at the start, when many servers may start at once. */
export const STARTING = 5_000
/** In milliseconds, how often it is checked whether the store still has the records that were read. */
const CHECK = 500
/** In milliseconds, how long to wait at most for the end of the stream. */
export const CATCHING_UP = 800
/** In milliseconds, the pause after a failure. */
const PAUSE = 50

/** The id of a record: an exchange has the sequence 0. */
export interface StreamPlace {
  ordinal: number
  sequence: number
}

/** An event in the common order of all replicas. */
export interface TailRecord extends StreamPlace {
  fields: ReadonlyMap<string, string>
}

export interface TailOptions {
  /** The connection for ordinary reads. Blocking reads use a duplicate. */
  connection: StoreConnection
  keys: HistoryKeys
  /** How many records are kept for replicas that are behind. */
  window: number
  /** Called with the reason if a record cannot be read; the others are read. A store that is away is no reason. */
  failed(error: unknown): void
  /** Takes a question or an answer of a replica, see `Roundup`. */
  heard(fields: ReadonlyMap<string, string>): void
  /** Takes the next record. `isNew` means that it came after the start, and was not read before. */
  apply(record: TailRecord, isNew: boolean): void
  /** All records follow again. `isOther`: the store has lost what was read, so ordinals may begin again. */
  restart(isOther: boolean): void
}

/** Reads the records of all replicas as they arrive. */
export class Tail {
  readonly #options: TailOptions
  readonly #open: StoreConnection
  #place: StreamPlace = { ordinal: 0, sequence: 0 }
  /** The id of the last question or answer that was read. */
  #heard = '0-0'
  /** Records up to this place are not new. */
  #known: StreamPlace = { ordinal: 0, sequence: 0 }
  /** Names the contents of the store. A new name means that the store was emptied. */
  #born: string | undefined
  /** The origin of the last record. Another record at the same place has another origin. */
  #mark = ''
  #isSuspect = false
  #checked = elapsed()
  #isClosed = false
  /** The callers that wait until the records up to a place were read. */
  readonly #waiters = new Waiters<StreamPlace>()
  readonly #unlisten: () => void

  constructor(options: TailOptions) {
    this.#options = options
    this.#open = options.connection.duplicate()
    this.#unlisten = this.#open.listen(({ isReady }) => {
      if (!isReady) this.#isSuspect = true
    })
  }

  get connected(): Promise<unknown> {
    return this.#open.firstAttempt
  }

  /** Reads the kept records, and then continues in the background. @throws StoreError */
  async start(): Promise<void> {
    const { born, last } = await this.#askLast({ names: true, deadline: STARTING })
    this.#born = born
    this.#known = last
    this.#heard = await this.#askHeard()
    while (isBefore(this.#place, last) && (await this.#read(undefined, STARTING))) {}
    // Missing records were deleted or evicted, and never come.
    if (isBefore(this.#place, last)) this.#place = last
    this.#isSuspect = false
    void this.#follow()
  }

  /** Resolves when all present records of the store were read. @throws StoreError */
  async catchUp(): Promise<void> {
    const { born, last } = await this.#askLast()
    // If the store was emptied, the data of this replica is not valid.
    if (born !== this.#born || isBefore(last, this.#place)) this.#isSuspect = true
    else if (!isBefore(this.#place, last)) return
    const limit = CATCHING_UP * this.#open.patience
    if (await this.#waiters.wait(limit, last)) return
    const error = new StoreError('unavailable', `The requests of other replicas did not come within ${limit} ms`)
    throw Object.assign(error, { reported: true })
  }

  close(): void {
    this.#isClosed = true
    this.#unlisten()
    this.#open.close()
    this.#wake()
  }

  async #follow(): Promise<void> {
    while (!this.#isClosed) {
      try {
        if (this.#isSuspect || elapsed() - this.#checked > CHECK) await this.#check()
        await this.#read(BLOCK)
      } catch (error) {
        if (this.#isClosed) return
        // A `StoreError` may come from a server that changes its role, which is temporary.
        if (!(error instanceof StoreError)) this.#options.failed(error)
        await new Promise((resolve) => setTimeout(resolve, PAUSE).unref())
      }
    }
  }

  /** Reads the next records; resolves to whether there were any. */
  async #read(block: number | undefined, deadline = PATIENCE): Promise<boolean> {
    const { keys } = this.#options
    const waiting = block === undefined ? [] : ['BLOCK', `${block}`]
    const places = [keys.exchanges, keys.questions, writePlace(this.#place), this.#heard]
    const command = ['XREAD', 'COUNT', `${CHUNK}`, ...waiting, 'STREAMS', ...places]
    const reply = await this.#open.send(command, { repeatable: true, deadline, blocks: block !== undefined })
    const streams = new Map((reply ?? []) as readonly (readonly [string, readonly RedisReply[]])[])
    for (const each of streams.get(keys.questions) ?? []) {
      this.#heard = String((each as readonly RedisReply[])[0])
      this.#options.heard(readFields(each))
    }
    const records = streams.get(keys.exchanges) ?? []
    const turns = new Turns()
    for (const record of records) {
      if (turns.isOver()) await turns.next()
      if (this.#isClosed) return false
      this.#take(readRecord(record))
    }
    this.#wake()
    return records.length > 0
  }

  #take(record: TailRecord): void {
    this.#place = { ordinal: record.ordinal, sequence: record.sequence }
    this.#mark = markOf(record)
    try {
      this.#options.apply(record, isBefore(this.#known, this.#place))
    } catch (error) {
      this.#options.failed(error)
    }
  }

  /** Checks whether the store still has what was read. If not, or if too many records came, all are read again. */
  async #check(): Promise<void> {
    const { born, last } = await this.#askLast({ names: true })
    this.#checked = elapsed()
    const isEmptied = born !== this.#born || isBefore(last, this.#place)
    const isFarBehind = last.ordinal - this.#place.ordinal > this.#options.window
    const isOther = isEmptied || (!isFarBehind && this.#isSuspect && !(await this.#hasLast()))
    this.#isSuspect = false
    if (!isFarBehind && !isOther) {
      this.#wake()
      return
    }
    // Records that came while this replica was away are new to its listeners.
    this.#known = isOther ? last : this.#place
    this.#born = born
    this.#heard = await this.#askHeard()
    this.#place = { ordinal: 0, sequence: 0 }
    this.#options.restart(isOther)
    this.#wake()
  }

  /** Whether the store has the last read record unchanged. A failover may have lost it. */
  async #hasLast(): Promise<boolean> {
    if (this.#place.ordinal === 0 && this.#place.sequence === 0) return true
    const place = writePlace(this.#place)
    const reply = await this.#open.send(['XRANGE', this.#options.keys.exchanges, place, place], { repeatable: true })
    const [record] = reply as readonly RedisReply[]
    return record !== undefined && markOf(readRecord(record)) === this.#mark
  }

  /** `names`: whether to name the contents of a store that have no name yet. */
  async #askLast({
    names = false,
    deadline = DEADLINE,
  } = {}): Promise<{ born: string | undefined; last: StreamPlace }> {
    const { connection, keys } = this.#options
    const reply = await connection.send(['HMGET', keys.history, 'born', 'last'], { repeatable: true, deadline })
    const [born, last] = reply as readonly (string | null)[]
    if (names && born === null) {
      const naming = connection.send(['HSETNX', keys.history, 'born', randomUUID()], { repeatable: true })
      const isNamed = await naming.then(
        () => true,
        (error: unknown) => {
          // A store without memory can still be read.
          if (error instanceof StoreError && error.problem === 'full') return false
          throw error
        },
      )
      if (isNamed) return this.#askLast()
    }
    return { born: born ?? undefined, last: readPlace(last ?? '0-0') }
  }

  async #askHeard(): Promise<string> {
    const command = ['XREVRANGE', this.#options.keys.questions, '+', '-', 'COUNT', '1']
    const [last] = (await this.#options.connection.send(command, { repeatable: true })) as readonly RedisReply[]
    return last === undefined ? '0-0' : String((last as readonly RedisReply[])[0])
  }

  #wake(): void {
    this.#waiters.wake((place) => this.#isClosed || (!this.#isSuspect && !isBefore(this.#place, place)))
  }
}

function isBefore(one: StreamPlace, other: StreamPlace): boolean {
  return one.ordinal < other.ordinal || (one.ordinal === other.ordinal && one.sequence < other.sequence)
}

function readPlace(id: string): StreamPlace {
  const [ordinal, sequence] = id.split('-')
  return { ordinal: Number(ordinal), sequence: Number(sequence) }
}

function writePlace({ ordinal, sequence }: StreamPlace): string {
  return `${ordinal}-${sequence}`
}

function readRecord(record: RedisReply): TailRecord {
  const [id] = record as readonly [string, readonly string[]]
  return { ...readPlace(id), fields: readFields(record) }
}

function readFields(record: RedisReply): Map<string, string> {
  const [, list] = record as readonly RedisReply[]
  return new Map(readTexts(list))
}

function markOf({ fields }: TailRecord): string {
  return ['r', 'n', 'c', 'a', 'u'].map((name) => fields.get(name) ?? '').join(' ')
}

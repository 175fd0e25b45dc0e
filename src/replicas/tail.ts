import { randomUUID } from 'node:crypto'
import { elapsed } from '../ground/clock.ts'
import { Turns } from '../ground/turns.ts'
import { DEADLINE, type Reply, type StoreConnection } from '../store/redis/connection.ts'
import { StoreError } from '../store/store-error.ts'
import type { HistoryKeys } from './history-keys.ts'

/** How many records are read at a time. */
const CHUNK = 200
/** In milliseconds, for how long the store keeps a question open that has no answer yet. */
const BLOCK = 500
/** In milliseconds, how long the answer to such a question may take. */
const PATIENCE = 1_500
/** In milliseconds, how long an answer may take at the start, when many servers may start at once. */
export const STARTING = 5_000
/** In milliseconds, how often it is looked whether the store still has what was read. */
const CHECK = 500
/** In milliseconds, how long to wait for the end of the stream at most. */
export const CATCHING_UP = 800
/** In milliseconds, how long to wait after something has failed. */
const PAUSE = 50

/** The id of a record: an exchange has the sequence 0. */
export interface Place {
  ordinal: number
  sequence: number
}

/** Something that has happened, in the order of all replicas. */
export interface TailRecord extends Place {
  fields: ReadonlyMap<string, string>
}

export interface TailOptions {
  /** The one for questions, and one of its own for those that stay open. */
  connection: StoreConnection
  keys: HistoryKeys
  /** How many records are kept for replicas that are behind. */
  window: number
  /** Is told why something cannot be read, never because the store is away. The rest is read. */
  failed(error: unknown): void
  /** Takes what a replica asks or answers, see `Roundup`. */
  heard(fields: ReadonlyMap<string, string>): void
  /** Takes the next record; `isNew` is whether it has come since the start, and was not read before. */
  apply(record: TailRecord, isNew: boolean): void
  /**
   * Everything comes again. `isOther`: what was read before is not what the store has, so ordinals may begin again; else
   * this replica was behind for too long.
   */
  restart(isOther: boolean): void
}

/** Reads what all replicas have recorded, as it comes. */
export class Tail {
  readonly #options: TailOptions
  readonly #open: StoreConnection
  #place: Place = { ordinal: 0, sequence: 0 }
  /** The id of the last question or answer that was read. */
  #heard = '0-0'
  /** Up to where records are not new. */
  #known: Place = { ordinal: 0, sequence: 0 }
  /** Names the contents of the store. Another one means that the store was emptied. */
  #born: string | undefined
  /** Where the last record came from, which another record of the same place does not. */
  #mark = ''
  #isSuspect = false
  #checked = elapsed()
  #isClosed = false
  readonly #waiters = new Set<{ place: Place; resolve(): void }>()
  readonly #unlisten: () => void

  constructor(options: TailOptions) {
    this.#options = options
    this.#open = options.connection.duplicate()
    this.#unlisten = this.#open.listen(({ isReady }) => {
      if (!isReady) this.#isSuspect = true
    })
  }

  /** Reads what is kept, and then goes on beside. @throws StoreError */
  async start(): Promise<void> {
    const { born, last } = await this.#askLast({ names: true, deadline: STARTING })
    this.#born = born
    this.#known = last
    this.#heard = await this.#askHeard()
    while (isBefore(this.#place, last) && (await this.#read(undefined))) {}
    this.#isSuspect = false
    void this.#follow()
  }

  /** Resolves when everything that the store has now was read. @throws StoreError */
  async catchUp(): Promise<void> {
    const { born, last } = await this.#askLast()
    // Where the store was emptied, what is shown here is not what there is.
    if (born !== this.#born || isBefore(last, this.#place)) this.#isSuspect = true
    else if (!isBefore(this.#place, last)) return
    await this.#reach(last)
  }

  close(): void {
    this.#isClosed = true
    this.#unlisten()
    this.#open.close()
    this.#wake()
  }

  #reach(place: Place): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter = {
        place,
        resolve: () => {
          clearTimeout(timer)
          this.#waiters.delete(waiter)
          resolve()
        },
      }
      const timer = setTimeout(() => {
        this.#waiters.delete(waiter)
        const error = new StoreError(
          'unavailable',
          `The requests of other replicas did not come within ${CATCHING_UP} ms`,
        )
        error.reported = true
        reject(error)
      }, CATCHING_UP)
      this.#waiters.add(waiter)
    })
  }

  async #follow(): Promise<void> {
    while (!this.#isClosed) {
      try {
        if (this.#isSuspect || elapsed() - this.#checked > CHECK) await this.#check()
        await this.#read(BLOCK)
      } catch (error) {
        if (this.#isClosed) return
        // It may be a server that becomes one of another kind, which goes by.
        if (!(error instanceof StoreError)) this.#options.failed(error)
        await new Promise((resolve) => setTimeout(resolve, PAUSE).unref())
      }
    }
  }

  /** Reads the next records; returns whether there were some. */
  async #read(block: number | undefined): Promise<boolean> {
    const { keys } = this.#options
    const waiting = block === undefined ? [] : ['BLOCK', `${block}`]
    const places = [keys.exchanges, keys.questions, writePlace(this.#place), this.#heard]
    const command = ['XREAD', 'COUNT', `${CHUNK}`, ...waiting, 'STREAMS', ...places]
    const reply = await this.#open.send(command, { repeatable: true, deadline: PATIENCE, blocks: block !== undefined })
    const streams = new Map((reply ?? []) as readonly (readonly [string, readonly Reply[]])[])
    for (const each of streams.get(keys.questions) ?? []) {
      this.#heard = String((each as readonly Reply[])[0])
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

  /** Looks whether the store still has what was read; if not, or if too much came meanwhile, everything is read again. */
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
    // What came while this replica was away is new to those who read events here.
    this.#known = isOther ? last : this.#place
    this.#born = born
    this.#heard = await this.#askHeard()
    this.#place = { ordinal: 0, sequence: 0 }
    this.#options.restart(isOther)
    this.#wake()
  }

  /** Whether the store has the last record that was read, as it was. A failover may have lost it. */
  async #hasLast(): Promise<boolean> {
    if (this.#place.ordinal === 0 && this.#place.sequence === 0) return true
    const place = writePlace(this.#place)
    const reply = await this.#open.send(['XRANGE', this.#options.keys.exchanges, place, place], { repeatable: true })
    const [record] = reply as readonly Reply[]
    return record !== undefined && markOf(readRecord(record)) === this.#mark
  }

  /** `names`: whether a store that has no contents yet is to get a name for them. */
  async #askLast({ names = false, deadline = DEADLINE } = {}): Promise<{ born: string | undefined; last: Place }> {
    const { connection, keys } = this.#options
    const reply = await connection.send(['HMGET', keys.history, 'born', 'last'], { repeatable: true, deadline })
    const [born, last] = reply as readonly (string | null)[]
    if (names && born === null) {
      const naming = connection.send(['HSETNX', keys.history, 'born', randomUUID()], { repeatable: true })
      const isNamed = await naming.then(
        () => true,
        (error: unknown) => {
          // A store without memory can be read all the same.
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
    const [last] = (await this.#options.connection.send(command, { repeatable: true })) as readonly Reply[]
    return last === undefined ? '0-0' : String((last as readonly Reply[])[0])
  }

  #wake(): void {
    for (const waiter of [...this.#waiters]) {
      if (this.#isClosed || (!this.#isSuspect && !isBefore(this.#place, waiter.place))) waiter.resolve()
    }
  }
}

function isBefore(one: Place, other: Place): boolean {
  return one.ordinal < other.ordinal || (one.ordinal === other.ordinal && one.sequence < other.sequence)
}

function readPlace(id: string): Place {
  const [ordinal, sequence] = id.split('-')
  return { ordinal: Number(ordinal), sequence: Number(sequence) }
}

function writePlace({ ordinal, sequence }: Place): string {
  return `${ordinal}-${sequence}`
}

function readRecord(record: Reply): TailRecord {
  const [id] = record as readonly [string, readonly string[]]
  return { ...readPlace(id), fields: readFields(record) }
}

function readFields(record: Reply): Map<string, string> {
  const [, list] = record as readonly [string, readonly string[]]
  const fields = new Map<string, string>()
  for (let place = 0; place < list.length; place += 2) fields.set(list[place] ?? '', list[place + 1] ?? '')
  return fields
}

function markOf({ fields }: TailRecord): string {
  return ['r', 'n', 'c', 'a', 'u'].map((name) => fields.get(name) ?? '').join(' ')
}

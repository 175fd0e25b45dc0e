import { clearTimeout, setTimeout } from '../ground/timers.ts'
import type { Journal } from '../journal/journal.ts'
import { StoreError } from '../store/store-error.ts'
import type { SentExchange } from './batch.ts'
import { decodeId } from './keys.ts'
import type { ExchangeObserver, Sight } from './observer.ts'
import { Order } from './order.ts'
import { type ExchangeReader, type JournalExchange, readBatch, readJournals } from './recorded-exchange.ts'
import { type News, type Restart, Tail } from './tail.ts'

/** How many batches of this server may wait to be found in the news of the store. */
const HELD = 100
/** In milliseconds, how late an exchange may come to be still sorted among those of other servers. */
export const LATE = 100

export interface SharedJournalOptions extends ExchangeReader {
  /** Names this server. */
  server: string
  journal: Journal
  observer: ExchangeObserver
  /** Takes a question or an answer of a server, see `Roundup`. */
  heard(fields: ReadonlyMap<string, string>): void
  /** Called for each exchange of this server, when those before it are known. */
  seen(exchange: JournalExchange, sight: Sight): void
  /** Called for each new violation. */
  violated(exchange: JournalExchange): void
  /** An account has ended, or its id has a new account. */
  ended(accountId: string): void
}

/** Keeps the journal of this server the same as those of all servers of the store. */
export class SharedJournal {
  readonly #options: SharedJournalOptions
  readonly #tail: Tail
  readonly #order = new Order<JournalExchange | undefined>()
  /** By the number of a batch: its exchanges, until they are in the news. */
  readonly #held = new Map<number, readonly SentExchange[]>()
  /** Exchanges up to this ordinal are not new to those who listen. */
  #told = 0
  #settling: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: SharedJournalOptions) {
    const { connection, base, heard, failed } = options
    this.#options = options
    this.#tail = new Tail({
      ...{ connection, base, heard, failed },
      take: (news) => this.#take(news),
      restart: (restart) => this.#restart(restart),
    })
  }

  /** Resolves after the first attempt to connect for the news. */
  get connected(): Promise<unknown> {
    return this.#tail.connected
  }

  /** Reads the earlier exchanges in the store. @throws StoreError */
  start(): Promise<void> {
    return this.#tail.start()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#settling)
    this.#tail.close()
  }

  /** Holds the exchanges of a batch of this server, which need not be read from the store then. */
  hold(number: number, exchanges: readonly SentExchange[]): void {
    if (exchanges.length > 0) this.#held.set(number, exchanges)
    for (const [oldest] of this.#held) {
      if (this.#held.size <= HELD) break
      this.#held.delete(oldest)
    }
  }

  release(number: number): void {
    this.#held.delete(number)
  }

  /** Reads the news of a batch. After that, its exchanges are in the journal, or it was read again with them. */
  async find(number: number, id: string): Promise<void> {
    await this.#tail.reach(id)
    this.#held.delete(number)
  }

  /**
   * Resolves when the journal has all exchanges that were recorded before. Of later ones, it has those up to the time of
   * the store, if one is given: the order of the others may be open. @throws StoreError
   */
  async catchUp(time: string | undefined): Promise<void> {
    if (time === undefined) await this.#tail.catchUp()
    if (time !== undefined || this.#order.first !== undefined) await this.#settle(time ?? '', 'told')
  }

  /** Orders all exchanges up to a time, or up to now. Others come after them. */
  async #settle(...time: string[]): Promise<void> {
    const { connection, base } = this.#options
    const settling = connection.call('settle', base, time, { repeatable: true })
    const problem = await settling.then(() => undefined).catch((error: unknown) => error)
    await this.#tail.catchUp()
    if (problem === undefined) this.#give(Number(await settling))
    // A store that cannot be written, but be read, does no harm if the order is known.
    else if (!(problem instanceof StoreError) || this.#order.first !== undefined) throw problem
  }

  /** Orders those later whose order no news settle. */
  #settleLater(): void {
    if (this.#order.first === undefined || this.#isClosed) return
    const { clock } = this.#options.connection
    const settle = () => {
      this.#settling = undefined
      const upto = clock.reached - LATE * 1_000
      const isDue = (this.#order.first ?? Number.POSITIVE_INFINITY) <= upto
      const settled = isDue ? this.#settle(`${upto}`).catch(() => {}) : Promise.resolve()
      void settled.then(() => this.#settleLater())
    }
    this.#settling ??= setTimeout(settle, LATE).unref()
  }

  async #take(news: readonly News[]): Promise<void> {
    const { server } = this.#options
    const heldOf = ({ fields }: News) => (fields.get('s') === server ? Number(fields.get('n')) : 0)
    const batches = await Promise.all(
      news.map((each) => readBatch(each.fields, this.#held.get(heldOf(each)), this.#options)),
    )
    for (const [index, each] of news.entries()) {
      this.#held.delete(heldOf(each))
      for (const { recorded, stamp, exchange } of batches[index] ?? []) this.#order.add(recorded, stamp, exchange)
      this.#give(Number(each.fields.get('h') ?? 0))
      this.#applyEvent(each)
    }
    this.#settleLater()
  }

  async #restart({ upto, settled, isOther }: Restart): Promise<void> {
    const { journal, observer } = this.#options
    // Later ones follow in the news.
    const placed = await readJournals(this.#options, upto)
    // Exchanges that came while this server was away are new to those who listen.
    this.#told = isOther ? upto : journal.recorded
    observer.restart()
    this.#order.clear()
    if (isOther) journal.restart()
    else journal.forgetAll()
    for (const { recorded, stamp, exchange } of placed) this.#order.add(recorded, stamp, exchange)
    this.#give(settled)
    this.#settleLater()
  }

  #applyEvent({ fields }: News): void {
    const { journal, observer, ended } = this.#options
    const [kind, id = ''] = [fields.get('c'), fields.get('a')]
    const account = id === '' ? undefined : decodeId(id)
    if (kind === 'forget') journal.forget(account, Number(fields.get('u')))
    else if (kind !== undefined && account !== undefined) journal.clear(account)
    if (account === undefined || (kind !== 'end' && kind !== 'reset')) return
    observer.forget(account)
    if (kind === 'end') ended(account)
  }

  /** Takes the exchanges up to a time into the journal. */
  #give(upto: number): void {
    const { journal, observer, seen, violated, failed } = this.#options
    this.#order.settle(upto, (exchange, ordinal) => {
      if (exchange === undefined) return
      const isNew = ordinal > this.#told
      try {
        exchange.entry.ordinal = ordinal
        const sight = observer.look(exchange)
        journal.adopt(exchange.entry, isNew)
        if (exchange.own !== undefined) seen(exchange, sight)
        if (exchange.isViolation && isNew) violated(exchange)
      } catch (error) {
        failed(error)
      }
    })
  }
}

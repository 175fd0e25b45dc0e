import type { AccountHistory, Circumstances, ExchangeLog } from '../accounts/exchange-log.ts'
import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { Coverage } from '../coverage/coverage.ts'
import { elapsed } from '../ground/clock.ts'
import { nameInstance } from '../ground/secrets.ts'
import type { Log } from '../http/log.ts'
import type { Dropped, Journal, NewEntry } from '../journal/journal.ts'
import { EXAMPLES, type ObservedViolation, type Reckoning } from '../journal/verdict.ts'
import { composeExchange, type OutboxItem, writeBatch } from './batch.ts'
import type { StoreConnection } from './connection.ts'
import { readTexts } from './database.ts'
import { Examples, type ExamplesOptions } from './examples.ts'
import { encodeId } from './keys.ts'
import { ExchangeObserver, type Sight } from './observer.ts'
import { Outbox } from './outbox.ts'
import type { JournalExchange } from './recorded-exchange.ts'
import { Roundup } from './roundup.ts'
import { LATE, SharedJournal } from './shared-journal.ts'
import { readCounts, readCoverage, readFirst } from './stored-counts.ts'

/** How many exchanges of an account the store keeps at least, for servers that are a little behind. */
const WINDOW = 50
/** How many different header fields of requests, and up to how many characters of them, are kept to be shared. */
const SHARED = { limit: 200, longest: 2_000 }
/** In milliseconds, how often the log says the same trouble. */
const SAYING = 60_000
const INCOMPLETE =
  'Other servers have not sent their latest requests in time: answers of the control plane may lack some of them.'
const LOST = 'Requests are in no journal and no verdict, because the store was away for long or has no memory.'

export interface SharedExchangeLogOptions<Explanation>
  extends Pick<ExamplesOptions<Explanation>, 'explain' | 'readAccount' | 'publicKeyOf' | 'journal'> {
  connection: StoreConnection
  prefix: string
  contract: Contract
  log?: Log
  /** How many other servers there are, as far as is known. If absent, no server is asked for unsent data. */
  others?(): number
  /** In bytes, how much may wait while the store is away. */
  waiting?: number
}

/**
 * The data about the exchanges of all servers. Each server sends its exchanges to the store, and follows what all servers
 * have sent. So the journals of all servers are the same, and each server reports about all exchanges.
 */
export class SharedExchangeLog<Explanation> implements ExchangeLog<Explanation> {
  readonly journal: Journal
  readonly #options: SharedExchangeLogOptions<Explanation>
  /** The beginning of all keys. */
  readonly #base: string
  readonly #server = nameInstance()
  readonly #outbox: Outbox<OutboxItem>
  readonly #shared: SharedJournal
  readonly #roundup: Roundup
  readonly #observer: ExchangeObserver
  readonly #examples: Examples<Explanation>
  readonly #headers = new Map<string, readonly string[]>()
  #hasFailed = false
  #lost = 0
  /** How many answers did not wait for all other servers. */
  #incomplete = 0
  /** When the log has last said a message. */
  readonly #saidAt = new Map<string, number>()
  readonly #endListeners: ((accountId: string) => void)[] = []
  readonly #violationListeners = new Set<(violation: ObservedViolation<Explanation>) => void>()

  constructor(options: SharedExchangeLogOptions<Explanation>) {
    const { connection, prefix, contract, journal, waiting } = options
    const base = `${prefix}:{`
    this.#options = options
    this.journal = journal
    this.#base = base
    const operations = new Map(contract.operations.map((operation): [string, Operation] => [operation.id, operation]))
    this.#observer = new ExchangeObserver(contract, operations)
    this.#outbox = new Outbox<OutboxItem>({
      connection,
      send: (items, number) => this.#send(items, number),
      lost: (items, number) => this.#lose(items, number),
      failed: (err) => this.#tellFailure(err, 'Some exchanges cannot be written to the store, and are lost.'),
      ...(waiting !== undefined && { waiting }),
    })
    this.#examples = new Examples({ ...options, send: (example) => this.#outbox.add(example) })
    this.#roundup = new Roundup({
      ...{ connection, base, server: this.#server, others: () => this.#others },
      flush: () => this.#outbox.flush(),
      missed: (servers) => this.#noteMissed(servers),
    })
    this.#shared = new SharedJournal({
      ...{ connection, base, journal, operations, server: this.#server, observer: this.#observer },
      heard: (fields) => this.#roundup.hear(fields),
      seen: (exchange, sight) => this.#noteSight(exchange, sight),
      violated: (exchange) => this.#noteViolation(exchange),
      ended: (account) => void this.#tellEnded(account),
      failed: (err) => this.#tellFailure(err, 'Some exchanges in the store cannot be read.'),
    })
    journal.listenThinned((dropped) => void this.#forget(dropped).catch(() => {}))
  }

  /** Resolves after the first attempt to connect for the news. */
  get connected(): Promise<unknown> {
    return this.#shared.connected
  }

  /** Reads the earlier exchanges in the store, or closes the log. @throws StoreError */
  async start(): Promise<void> {
    await this.#shared.start().catch(async (error: unknown) => {
      await this.close()
      throw error
    })
  }

  /** Sends what waits, and stops reading. The connection stays open. */
  async close(): Promise<void> {
    await this.#outbox.close()
    this.#shared.close()
  }

  take(entry: NewEntry, circumstances: Circumstances): NewEntry {
    const { connection, contract } = this.#options
    const { reached } = connection.clock
    entry.headers = this.#shareHeaders(entry.headers)
    const wire = this.#observer.describe(entry, circumstances, connection.clock.now())
    const exchange = composeExchange(entry, circumstances, {
      ...{ contract, wire, stamp: reached, isAlone: this.#others <= 0 },
      // Later, the secrets of the account may be unknown.
      redact: this.journal.redactorFor(entry),
    })
    this.#outbox.add(exchange)
    return entry
  }

  async caughtUp(): Promise<void> {
    const [time] = await Promise.all([this.#roundup.ask(), this.#outbox.flush()])
    await this.#shared.catchUp(time)
    // What this server has seen in them belongs to them.
    await this.#outbox.flush()
  }

  async coverage(accountId?: string): Promise<Coverage> {
    await this.caughtUp()
    if (accountId === undefined) return this.#readCoverage('all}:present')
    const { connection, contract } = this.#options
    const command = ['HGET', `${this.#base}all}:accounts`, encodeId(accountId)]
    const incarnation = await connection.send(command, { isReadOnly: true })
    return incarnation === null ? new Coverage(contract) : this.#readCoverage(`${incarnation}}:coverage`)
  }

  async totals(): Promise<Coverage> {
    await this.caughtUp()
    return this.#readCoverage('all}:totals')
  }

  verdict(): Promise<Reckoning<Explanation>> {
    return this.#reckon(false)
  }

  wholeVerdict(): Promise<Reckoning<Explanation>> {
    return this.#reckon(true)
  }

  clearVerdict(): Promise<void> {
    return this.#perform('clear_verdict', [])
  }

  subscribeViolations(listener: (violation: ObservedViolation<Explanation>) => void): () => void {
    this.#violationListeners.add(listener)
    return () => this.#violationListeners.delete(listener)
  }

  /** The store determines whether the account has ended meanwhile. */
  historyOf(_: string, incarnation: number): AccountHistory {
    return { incarnation, ended: false, outdated: 0, coverage: undefined }
  }

  clearRequests(accountId: string): Promise<void> {
    return this.#perform('clear', ['clear', encodeId(accountId)])
  }

  reset(accountId: string): Promise<void> {
    return this.#perform('clear', ['reset', encodeId(accountId)])
  }

  /** The step that has deleted the account has told it to all servers. */
  async end(): Promise<void> {
    await this.caughtUp().catch(() => {})
  }

  listenEnded(listener: (accountId: string) => void): void {
    this.#endListeners.push(listener)
  }

  /** The journal of many servers has no older states: the store has them. */
  noteOutdated(): void {}

  outdated(): number {
    return 0
  }

  /** The same object for the same header fields, so that what depends only on them is made once. */
  #shareHeaders(headers: readonly string[]): readonly string[] {
    const text = headers.join('\n')
    const known = this.#headers.get(text)
    if (known !== undefined || text.length > SHARED.longest) return known ?? headers
    if (this.#headers.size >= SHARED.limit) this.#headers.clear()
    this.#headers.set(text, headers)
    return headers
  }

  get #others(): number {
    return this.#options.others?.() ?? 0
  }

  #noteMissed(servers: number): void {
    this.#incomplete++
    this.#warn({ servers, answers: this.#incomplete }, INCOMPLETE)
  }

  #warn(fields: object, message: string): void {
    const now = elapsed()
    if (now - (this.#saidAt.get(message) ?? Number.NEGATIVE_INFINITY) < SAYING) return
    this.#saidAt.set(message, now)
    this.#options.log?.warn(fields, message)
  }

  /** Logs the first bug, or the first data of another version, in the store. */
  #tellFailure(err: unknown, message: string): void {
    if (!this.#hasFailed) this.#options.log?.error({ err }, message)
    this.#hasFailed = true
  }

  #call(name: string, args: readonly string[]): Promise<unknown> {
    return this.#options.connection.call(name, this.#base, args, { repeatable: true })
  }

  async #send(items: readonly OutboxItem[], number: number): Promise<void> {
    const exchanges = items.filter((item) => item.kind === 'exchange')
    this.#shared.hold(number, exchanges)
    const limit = Math.max(this.journal.limits.entries, WINDOW)
    // Without other servers, the order is known at once.
    const late = this.#others > 0 ? LATE * 1_000 : 0
    const id = await this.#call('record', [this.#server, `${number}`, `${limit}`, `${late}`, ...writeBatch(items)])
    void this.#shared.find(number, String(id)).catch(() => {})
  }

  #lose(items: readonly OutboxItem[], number: number | undefined): void {
    const lost = items.filter(({ kind }) => kind === 'exchange').length
    this.#lost += lost
    if (lost > 0) this.#warn({ requests: this.#lost }, LOST)
    if (number !== undefined) this.#shared.release(number)
  }

  /** Does what a user has ordered. At the end, all servers know it. */
  async #perform(name: string, args: readonly string[]): Promise<void> {
    // Exchanges that were answered before must not come after it.
    const [time] = await Promise.all([this.#roundup.ask(), this.#outbox.flush()])
    await this.#call(name, args)
    await this.#shared.catchUp(time)
  }

  /** If another account has the id now, the data about that account stays. */
  async #tellEnded(accountId: string): Promise<void> {
    try {
      if ((await this.#options.readAccount(accountId)) !== undefined) return
    } catch {
      // To hide the secrets of a deleted account does no harm.
      return
    }
    for (const listener of this.#endListeners) listener(accountId)
  }

  /** Sends what an exchange of this server has covered, and how it was impolite. */
  #noteSight({ entry, account: id, incarnation }: JournalExchange, { shown, impolite }: Sight): void {
    const { recorded: ordinal = 0, requestId: request } = entry
    const owner = id === undefined ? undefined : { id, incarnation }
    for (const name of shown) this.#outbox.add({ kind: 'shown', owner, ordinal, name, bytes: name.length })
    for (const manner of impolite) {
      this.#outbox.add({ kind: 'impolite', ordinal, manner, request, bytes: request.length })
    }
  }

  #noteViolation({ entry, own, owner, place, presented }: JournalExchange): void {
    const known = own?.principal?.account
    const { recorded: ordinal = 0 } = entry
    let explanation: Promise<Explanation> | undefined
    const explain = () => (explanation ??= this.#examples.explain(entry, owner, known))
    if (own !== undefined && place > 0) void this.#examples.keep({ place, ordinal }, [known, owner], explain)
    for (const listener of this.#violationListeners) listener({ entry, account: owner, presented, explain })
  }

  /** Tells the store, and by it the other servers, which exchanges this server has no memory for. */
  async #forget({ account, upto }: Dropped): Promise<void> {
    await this.#call('forget', [account === undefined ? '' : encodeId(account), `${upto}`])
  }

  async #reckon(isWhole: boolean): Promise<Reckoning<Explanation>> {
    await this.caughtUp()
    const read = () => Promise.all([this.#readHash('all}:counts'), this.#readHash('all}:examples')])
    const [counts, examples] = await read()
    const look = async () => readFirst(...(await read()), 'violation', isWhole)
    return {
      counts: readCounts(counts, examples, isWhole),
      examples: async () => (await this.#examples.read(look, this.#options.connection.patience)).slice(0, EXAMPLES),
    }
  }

  async #readCoverage(name: string): Promise<Coverage> {
    return readCoverage(await this.#readHash(name), this.#options.contract)
  }

  async #readHash(name: string): Promise<Map<string, string>> {
    const command = ['HGETALL', this.#base + name]
    return new Map(readTexts(await this.#options.connection.send(command, { isReadOnly: true })))
  }
}

import type { Contract } from '../../contract/contract.ts'
import { Coverage, nameOfResponse } from '../../coverage/coverage.ts'
import { observationOf } from '../../coverage/observation.ts'
import type { Log } from '../../ground/log.ts'
import { nameInstance } from '../../ground/secrets.ts'
import { pause } from '../../ground/timers.ts'
import { type Entry, type NewEntry, PAST } from '../../journal/entry.ts'
import type { Journal } from '../../journal/journal.ts'
import {
  countsOf,
  EXAMPLES,
  IMPOLITE,
  Manners,
  type Noted,
  type Reckoning,
  readCounts,
  Verdict,
  type Violation,
} from '../../journal/verdict.ts'
import type { StoreConnection } from '../../store/redis/connection.ts'
import { readCounters, readId, writeCounters, writeId } from '../../store/redis/copies.ts'
import type { Store } from '../../store/store.ts'
import type { AccountHistory, Circumstances, ExchangeLog } from '../exchange-log.ts'
import { Outbox, type OutboxItem } from './outbox.ts'
import { type News, Tail } from './tail.ts'

/** In milliseconds, how long other servers have to send what their clients have the answers to. */
const SENDING = 20
/** How many keys of accounts are remembered, to compare a request with the one before. */
const REMEMBERED = 10_000
const LOST = 'Requests are in no journal and no verdict, because the store was away for long, or has no memory.'

export interface SharedExchangeLogOptions {
  connection: StoreConnection
  prefix: string
  store: Pick<Store, 'read'>
  contract: Contract
  journal: Journal
  log: Log
}

/**
 * The exchanges of all servers of a store. Each server sends its own to the store, and follows what all servers have
 * sent, so that the journals of all servers are the same. The counts of coverage and verdict are in the store.
 */
export class SharedExchangeLog implements ExchangeLog {
  readonly journal: Journal
  readonly #options: SharedExchangeLogOptions
  readonly #outbox: Outbox
  readonly #tail: Tail
  readonly #manners: Manners
  /** Only of the requests to this server. */
  readonly #own: Verdict
  /** The object that stands for each key of an account. */
  readonly #keys = new Map<string, object>()
  /** What the requests to this server have shown, by account. Only what is new is sent. */
  readonly #histories = new Map<string | undefined, AccountHistory>()
  #shown: string[] = []
  #lost = 0

  constructor(options: SharedExchangeLogOptions) {
    const { connection, prefix, contract, journal } = options
    this.#options = options
    this.journal = journal
    this.#manners = new Manners(contract.settings.refresh)
    this.#own = new Verdict(contract.settings)
    this.#outbox = new Outbox({
      ...{ connection, prefix, server: nameInstance(), limit: journal.limits.entries },
      lost: (count, err) => this.#noteLoss(count, err),
    })
    this.#tail = new Tail({
      ...{ connection, prefix },
      take: (news) => this.#take(news),
      takeOld: (news) => void journal.record(readEntry(news), false),
      restart: () => this.#forgetAll(),
    })
  }

  /** Reads the earlier exchanges in the store. @throws StoreError */
  async start(): Promise<void> {
    await this.#tail.start().catch((error: unknown) => {
      this.#tail.close()
      throw error
    })
  }

  /** Reads everything anew, from a store that was emptied. */
  restart(): Promise<void> {
    return this.#tail.restart()
  }

  /** Sends what waits, and stops reading. The connection stays open. */
  async close(): Promise<void> {
    await this.#outbox.close()
    this.#tail.close()
  }

  take(entry: NewEntry, circumstances: Circumstances): NewEntry {
    this.#outbox.add(this.#compose(entry, circumstances))
    this.#own.note({ ordinal: 0, id: '', ...entry }, circumstances)
    return entry
  }

  async caughtUp(): Promise<void> {
    await Promise.all([this.#outbox.flush(), pause(SENDING)])
    await this.#tail.catchUp()
  }

  async coverage(accountId?: string): Promise<Coverage> {
    await this.caughtUp()
    const present =
      accountId === undefined ? await this.#read('HVALS', 'ids') : [await this.#read('HGET', 'ids', writeId(accountId))]
    const incarnations = (present as (string | null)[]).filter((each) => each !== null)
    const names = incarnations.map((each) => `account:${each}:coverage`)
    if (accountId === undefined) names.push('nobody:coverage')
    return readCoverage(await Promise.all(names.map((name) => this.#readHash(name))), this.#options.contract)
  }

  async totals(): Promise<Coverage> {
    await this.caughtUp()
    return readCoverage([await this.#readHash('totals')], this.#options.contract)
  }

  async verdict(): Promise<Reckoning> {
    await this.caughtUp()
    const counts = await this.#readHash('verdict')
    const read = async (text: string): Promise<Violation> => {
      const entry = JSON.parse(text) as Entry
      const present = entry.account && (await this.#options.store.read(entry.account).catch(() => undefined))
      return { entry, account: present ? present.state : undefined }
    }
    return {
      counts: readCounts(readNoted(counts)),
      first: await Promise.all(readFirsts(counts, 'violations').map(read)),
    }
  }

  wholeVerdict(): Reckoning {
    return this.#own.sinceStart
  }

  async clearVerdict(): Promise<void> {
    await this.#remove('verdict')
  }

  /** The store knows whether the account has ended meanwhile. */
  historyOf(accountId: string | undefined, incarnation: number): AccountHistory {
    const known = this.#histories.get(accountId)
    if (known?.incarnation === incarnation) return known
    const history: AccountHistory = { incarnation, ended: false, ending: new AbortController(), coverage: undefined }
    this.#histories.set(accountId, history)
    return history
  }

  clearRequests(accountId: string): Promise<void> {
    return this.#remove('clear', accountId)
  }

  reset(accountId: string): Promise<void> {
    return this.#remove('reset', accountId)
  }

  /** Does what a user has ordered, after the exchanges that were answered before. At the end, this server knows it. */
  async #remove(event: string, accountId?: string): Promise<void> {
    const { connection, prefix } = this.#options
    await this.caughtUp()
    const incarnation = accountId === undefined ? '' : await this.#read('HGET', 'ids', writeId(accountId))
    if (incarnation === null) return
    await connection.run('remove', prefix, [event, `${incarnation}`], { isRepeatable: true })
    await this.#tail.catchUp()
  }

  #compose(entry: NewEntry, circumstances: Circumstances): OutboxItem {
    const { history, principal } = circumstances
    entry.id ??= this.journal.nextId()
    const text = JSON.stringify(entry)
    const impolite =
      principal === undefined
        ? []
        : this.#manners.look(entry, this.#keyOf(`${history?.incarnation} ${principal.key.id}`), circumstances)
    const counts = Object.fromEntries(countsOf(entry, circumstances, impolite).map((name) => [name, 1]))
    const firsts = Object.fromEntries(impolite.map((kind) => [`${IMPOLITE}${kind}`, entry.requestId]))
    if (entry.violatesContract) firsts['violations'] = text
    const found = entry[PAST]?.counters
    return [
      ...[history === undefined ? '' : `${history.incarnation}`, writeId(entry.account ?? ''), text],
      ...[found === undefined ? '' : writeCounters(found), JSON.stringify(counts)],
      ...[JSON.stringify(this.#cover(entry, circumstances)), JSON.stringify(firsts)],
    ]
  }

  /** What the exchange adds to the coverage. */
  #cover(entry: NewEntry, circumstances: Circumstances): Record<string, 1> {
    const { status, code, injected } = entry
    if (status === undefined) return {}
    const history = circumstances.history ?? this.historyOf(undefined, 0)
    history.coverage ??= new Coverage(this.#options.contract, (item) => this.#shown.push(item))
    this.#shown = []
    history.coverage.observe(observationOf(entry, status, circumstances))
    const response = `${injected ? 'i' : 'g'} ${nameOfResponse(circumstances.operation?.id, status, code)}`
    return Object.fromEntries([response, ...this.#shown.map((item) => `s ${item}`)].map((name) => [name, 1]))
  }

  #keyOf(name: string): object {
    if (this.#keys.size >= REMEMBERED) this.#keys.clear()
    const known = this.#keys.get(name) ?? {}
    this.#keys.set(name, known)
    return known
  }

  #take(news: News): void {
    const event = news.fields.get('event')
    const account = readId(news.fields.get('account') || '""')
    if (event === undefined) {
      this.journal.record(readEntry(news))
      return
    }
    if (event === 'verdict') return
    this.journal.clear(account)
    if (event === 'end' || event === 'reset') {
      this.#histories.get(account)?.ending.abort()
      this.#histories.delete(account)
    }
  }

  #forgetAll(): void {
    for (const account of new Set(this.journal.oldestFirst().map(({ account }) => account))) this.journal.clear(account)
    this.#histories.clear()
  }

  #noteLoss(count: number, err: unknown): void {
    if (this.#lost === 0) this.#options.log.warn({ requests: count, ...(err !== undefined && { err }) }, LOST)
    this.#lost += count
  }

  async #readHash(name: string): Promise<Counts> {
    const words = (await this.#read('HGETALL', name)) as readonly string[]
    return new Map(words.flatMap((word, place) => (place % 2 === 0 ? [[word, words[place + 1] ?? '']] : [])))
  }

  #read(command: string, name: string, ...rest: string[]) {
    const { connection, prefix } = this.#options
    return connection.send([command, `${prefix}:${name}`, ...rest], { isRepeatable: true })
  }
}

/** The entry in the news. An account that had ended before is none, and has no key. */
function readEntry({ ordinal, fields }: News): Entry {
  const entry = JSON.parse(fields.get('entry') ?? '') as Entry
  entry.ordinal = ordinal
  const isOrphan = fields.get('account') === ''
  if (entry.account !== undefined && isOrphan)
    Object.assign(entry, { account: undefined, key: undefined, moment: undefined })
  const found = fields.get('found') ?? ''
  if (!isOrphan && found !== '') entry.found = readCounters(found)
  return entry
}

/** The fields of a hash of the store. */
export type Counts = ReadonlyMap<string, string>

/** The coverage that some hashes have together. `g` and `i` count genuine and injected responses, `s` names what was shown. */
function readCoverage(hashes: readonly Counts[], contract: Contract): Coverage {
  const coverage = new Coverage(contract)
  for (const [field, text] of hashes.flatMap((counts) => [...counts])) {
    const [kind, name] = [field[0], field.slice(2)]
    if (kind === 's') {
      coverage.addShown(name)
      continue
    }
    const [id, status, code] = name.split(' ')
    const operation = contract.operations.find((each) => each.id === id)
    const [genuine, injected] = kind === 'g' ? [Number(text), 0] : [0, Number(text)]
    coverage.addResponses({ operation, status: Number(status), code: code || undefined, genuine, injected })
  }
  return coverage
}

/** The counts for the verdict. A field such as `violations#1` has what is shown of the first of those it counts. */
function readNoted(counts: Counts): Map<string, Noted> {
  const names = [...counts.keys()].filter((field) => !field.includes('#'))
  return new Map(names.map((name) => [name, { count: Number(counts.get(name)), requestIds: readFirsts(counts, name) }]))
}

/** What is shown of the first requests that a field counts. */
function readFirsts(counts: Counts, field: string): string[] {
  const places = Array.from({ length: EXAMPLES }, (_, index) => index + 1)
  return places.flatMap((place) => counts.get(`${field}#${place}`) ?? [])
}

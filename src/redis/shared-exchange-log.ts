import type { AccountHistory, Circumstances, ExchangeFigures, ExchangeLog } from '../accounts/exchange-log.ts'
import { DEFAULT_ACCOUNT } from '../accounts/worlds.ts'
import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { type Coverage, mergeCoverage } from '../coverage/coverage.ts'
import type { AccountState } from '../domain/account.ts'
import { elapsed } from '../ground/clock.ts'
import { readJson } from '../ground/json.ts'
import { nameInstance } from '../ground/secrets.ts'
import type { Log } from '../http/log.ts'
import type { Entry } from '../journal/entry.ts'
import type { Journal, NewEntry } from '../journal/journal.ts'
import {
  EXAMPLES,
  type Explain,
  hashOfPresentedKey,
  type ObservedViolation,
  type Reckoning,
  violatedCode,
} from '../journal/verdict.ts'
import { weightOf } from '../journal/weight.ts'
import { StoreError } from '../store/store-error.ts'
import type { RedisReply, StoreConnection } from './connection.ts'
import { readTexts } from './database.ts'
import { decodeExchange, encodeExchange } from './exchange-codec.ts'
import { type HistoryKeys, historyKeys } from './history-keys.ts'
import { decodeId, encodeId } from './keys.ts'
import { ExchangeObserver, type OwnExchange } from './observer.ts'
import { Outbox, type OutboxItem } from './outbox.ts'
import { Roundup } from './roundup.ts'
import { readScript } from './script.ts'
import { readCounts, readCoverage, responseField } from './stored-counts.ts'
import { Tail, type TailRecord } from './tail.ts'

/** How many exchanges are kept for replicas that are a little behind, also if the journal has forgotten them. */
export const WINDOW = 1_000
/** How many exchanges of this replica, and bytes of their bodies, may wait to be read back from the store. */
export const HELD = { exchanges: 20_000, bytes: 32 << 20 }
/** In milliseconds, how often data of deleted accounts is searched that killed servers have left; accounts per step. */
const SWEEP = { pause: 60_000, accounts: 500 }
/** In milliseconds, how long and how often to look for the explanation by the replica that answered a violation. */
export const EXPLAINING = { patience: 300, pause: 20 }
/** In milliseconds, how often the log reports replicas that have not sent their data in time. */
const SAYING = 60_000
/** The part of the journal's memory that the store uses for exchanges, so that no replica forgets some by itself. */
export const OF_JOURNAL = 0.9
const INCOMPLETE =
  'Other servers have not sent their latest requests in time: answers of the control plane may lack some of them.'
/** Replaces a key that is no secret, because no key is written into the store. */
const PUBLIC_KEY = '{{public-key}}'

export interface SharedExchangeLogOptions<Explanation> {
  connection: StoreConnection
  prefix: string
  contract: Contract
  journal: Journal
  /** Makes the explanation of a violation. It must be JSON. */
  explain: Explain<Explanation>
  /** The account of this id as it is now, if there is one. */
  readAccount(accountId: string): Promise<AccountState | undefined>
  /** A key of the account that is no secret, if it has one. */
  publicKeyOf(account: AccountState): string | undefined
  log?: Log
  /** How many other replicas there are, as far as is known. If absent, no replica is asked for unsent data. */
  others?(): number
  /** How many exchanges are kept for replicas that are behind; at least 1. */
  window?: number
  /** In bytes, how much may wait while the store is away. */
  waiting?: number
}

/** What the store keeps of a violation. */
interface StoredExample {
  /** The account whose key is replaced in it. */
  account?: string
  /** Null if the explanation has failed. */
  explanation: unknown
}

/** An exchange of this replica that it has not read back from the store yet. */
interface UntoldExchange extends OwnExchange {
  /** In bytes, the body that it keeps in memory. */
  bytes: number
}

/**
 * The data about the exchanges of all replicas. Each replica sends its exchanges to the store, which orders them, and
 * reads all of them back. So the journals of all replicas are the same, and each replica reports about all exchanges.
 */
export class SharedExchangeLog<Explanation> implements ExchangeLog<Explanation> {
  readonly journal: Journal
  readonly #options: SharedExchangeLogOptions<Explanation>
  readonly #keys: HistoryKeys
  readonly #replica = nameInstance()
  readonly #operations: ReadonlyMap<string, Operation>
  readonly #outbox: Outbox
  readonly #tail: Tail
  readonly #roundup: Roundup
  readonly #observer: ExchangeObserver
  readonly #held = new Map<number, UntoldExchange>()
  #heldBytes = 0
  #sweeping: NodeJS.Timeout | undefined
  #number = 0
  #hasFailed = false
  /** How many answers did not wait for all other replicas, and when the log has last reported it. */
  #incomplete = 0
  #saidAt = Number.NEGATIVE_INFINITY
  readonly #endListeners: ((accountId: string) => void)[] = []
  readonly #violationListeners = new Set<(violation: ObservedViolation<Explanation>) => void>()

  constructor(options: SharedExchangeLogOptions<Explanation>) {
    const { connection, prefix, contract, journal, window = WINDOW } = options
    this.#options = options
    this.journal = journal
    this.#keys = historyKeys(prefix, this.#replica)
    this.#operations = new Map(contract.operations.map((operation) => [operation.id, operation]))
    this.#observer = new ExchangeObserver(contract)
    const total = Math.floor(journal.limits.total * OF_JOURNAL)
    this.#outbox = new Outbox({
      connection,
      script: readScript('redis/scripts/record.lua'),
      keys: this.#keys.record,
      terms: { replica: this.#replica, limit: journal.limits.entries, total, window },
      lost: ({ number }) => this.#release(Number(number)),
      failed: (err) => this.#tellFailure(err, 'Some exchanges cannot be written to the store, and are lost.'),
      ...(options.waiting !== undefined && { waiting: options.waiting }),
    })
    this.#roundup = new Roundup({
      ...{ connection, key: this.#keys.questions, replica: this.#replica },
      others: options.others ?? (() => 0),
      flush: () => this.#outbox.flush(),
      missed: (replicas) => this.#noteMissed(replicas),
    })
    this.#tail = new Tail({
      connection,
      keys: this.#keys,
      heard: (fields) => this.#roundup.hear(fields),
      window,
      apply: (record, isNew) => this.#apply(record, isNew),
      failed: (err) => this.#tellFailure(err, 'Some exchanges in the store cannot be read.'),
      restart: (isOther) => {
        this.#observer.restart()
        if (isOther) journal.restart()
        else journal.forgetAll()
      },
    })
  }

  /** Resolves after the first attempt to connect for the reading of exchanges. */
  get connected(): Promise<unknown> {
    return this.#tail.connected
  }

  /** Reads the earlier exchanges in the store, or closes the log. @throws StoreError */
  async start(): Promise<void> {
    await this.#tail.start().catch(async (error: unknown) => {
      await this.close()
      throw error
    })
    const sweep = () => void this.#sweep().catch(() => {})
    this.#sweeping = setInterval(sweep, SWEEP.pause).unref()
    sweep()
  }

  /** How many exchanges and coverage items wait to be sent. */
  get queued(): number {
    return this.#outbox.size
  }

  /** How many answers may lack requests of other replicas, which had not sent them in time. */
  get incomplete(): number {
    return this.#incomplete
  }

  /** Sends what waits, and stops reading. The connection stays open. */
  async close(): Promise<void> {
    clearInterval(this.#sweeping)
    await this.#outbox.close()
    this.#tail.close()
  }

  take(entry: NewEntry, circumstances: Circumstances): NewEntry {
    const { history, body, judged } = circumstances
    const { account, status, operation, code } = entry
    const number = ++this.#number
    // Later, the secrets of the account may be unknown.
    const text = encodeExchange(entry, body, this.#options.contract, this.journal.redactorFor(entry))
    this.#hold(number, entry, circumstances)
    const owner = circumstances.principal?.account.id ?? account
    const presented = entry.violatesContract && owner === undefined ? hashOfPresentedKey(entry) : undefined
    const response = status === undefined ? undefined : responseField(operation?.id, status, code, entry.injected)
    const wire = this.#observer.describeWire(entry, circumstances, this.#options.connection.clock.now())
    this.#outbox.add({
      kind: 'exchange',
      account: account === undefined ? '' : encodeId(account),
      incarnation: String(history?.incarnation ?? 0),
      coverageKey: this.#keys.coverageOf(account),
      number,
      text,
      weight: Math.max(weightOf(entry as Entry, undefined), Buffer.byteLength(text)),
      seconds: String(entry.duration / 1000),
      judged,
      injected: entry.injected,
      ruled: entry.injection?.source === 'rule',
      ...(response !== undefined && { response }),
      ...(wire !== undefined && { wire }),
      ...(entry.violatesContract && { violation: violatedCode(entry) }),
      ...(presented !== undefined && { presented }),
    })
    return entry
  }

  async caughtUp(): Promise<void> {
    await Promise.all([this.#outbox.flush(), this.#roundup.ask()])
    await this.#tail.catchUp()
  }

  async coverage(accountId?: string): Promise<Coverage> {
    await this.caughtUp()
    const { present, coverageOf } = this.#keys
    if (accountId === undefined) return this.#readCoverage(present)
    const parts = [this.#readCoverage(coverageOf(accountId)), this.#readCoverage(coverageOf(undefined))]
    return mergeCoverage(await Promise.all(parts), this.#options.contract)
  }

  async totals(): Promise<Coverage> {
    await this.caughtUp()
    return this.#readCoverage(this.#keys.totals)
  }

  async figures(): Promise<ExchangeFigures> {
    await this.caughtUp()
    const figures = await this.#readHash(this.#keys.history)
    const read = (name: string) => Number(figures.get(name) ?? 0)
    return {
      recorded: read('ordinal'),
      seconds: read('seconds'),
      forgotten: read('forgotten'),
      faultHits: read('ruled'),
      lost: this.#outbox.lost,
    }
  }

  async verdict(): Promise<Reckoning<Explanation>> {
    await this.caughtUp()
    return this.#reckon([this.#keys.verdict], [this.#keys.examples])
  }

  async wholeVerdict(): Promise<Reckoning<Explanation>> {
    await this.caughtUp()
    const { verdict, examples, verdictBefore, examplesBefore } = this.#keys
    return this.#reckon([verdictBefore, verdict], [examplesBefore, examples])
  }

  clearVerdict(): Promise<void> {
    return this.#order({ kind: 'clear-verdict' })
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
    return this.#order(this.#orderFor('clear', accountId))
  }

  reset(accountId: string): Promise<void> {
    return this.#order(this.#orderFor('reset', accountId))
  }

  /** The account is deleted already, so a later end of this work is not reported. */
  async end(accountId: string): Promise<void> {
    this.#outbox.add(this.#orderFor('end', accountId))
    await this.caughtUp().catch(() => {})
  }

  listenEnded(listener: (accountId: string) => void): void {
    this.#endListeners.push(listener)
  }

  /** The journal of many replicas has no older states: the store has them. */
  noteOutdated(): void {}

  outdated(): number {
    return 0
  }

  #noteMissed(servers: number): void {
    this.#incomplete++
    if (elapsed() - this.#saidAt < SAYING) return
    this.#saidAt = elapsed()
    this.#options.log?.warn({ servers, answers: this.#incomplete }, INCOMPLETE)
  }

  /** Logs the first bug, or the first data of another version, in the store. */
  #tellFailure(err: unknown, message: string): void {
    if (!this.#hasFailed) this.#options.log?.error({ err }, message)
    this.#hasFailed = true
  }

  #orderFor(kind: OutboxItem['kind'], accountId: string): OutboxItem {
    return { kind, account: encodeId(accountId), coverageKey: this.#keys.coverageOf(accountId) }
  }

  /** Orders work from the store for a waiting caller. At the end, all replicas have done it. */
  async #order(item: OutboxItem): Promise<void> {
    // Exchanges that were answered before must not come after it.
    await this.#roundup.ask()
    this.#outbox.add(item)
    try {
      await this.#outbox.flush()
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      // The order stays in the queue.
      const doubt = new StoreError('unknown', `${error.message}; it is done as soon as the store is there again`)
      throw Object.assign(doubt, { reported: true })
    }
    await this.#tail.catchUp()
  }

  #apply(record: TailRecord, isNew: boolean): void {
    const { fields, ordinal } = record
    const account = readAccountId(fields.get('a'))
    const kind = fields.get('c')
    if (kind !== undefined) this.#applyEvent(kind, account, Number(fields.get('u')), isNew)
    else
      this.#applyExchange(record, decodeExchange(fields.get('e') ?? '', { ordinal, account }, this.#operations), isNew)
  }

  #applyEvent(kind: string, account: string | undefined, ordinal: number, isNew: boolean): void {
    this.journal.forget(account, ordinal)
    if (account === undefined || (kind !== 'end' && kind !== 'reset')) return
    this.#observer.forget(account)
    if (kind === 'end' && isNew) void this.#tellEnded(account)
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

  #applyExchange({ fields }: TailRecord, entry: Entry, isNew: boolean): void {
    const held = fields.get('r') === this.#replica ? this.#takeHeld(Number(fields.get('n'))) : undefined
    const incarnation = fields.get('i') ?? ''
    const isOrphan = fields.has('x')
    const about = { account: entry.account, incarnation, isOrphan }
    const { shown, impolite } = this.#observer.look(entry, about, fields.get('w'), held)
    this.journal.adopt(entry, isNew)
    const account = entry.account === undefined ? '' : encodeId(entry.account)
    const { ordinal, requestId } = entry
    if (held !== undefined) {
      const coverageKey = this.#keys.coverageOf(entry.account)
      if (shown.length > 0)
        this.#outbox.add({ kind: 'shown', account, coverageKey, incarnation, ordinal, names: shown })
      for (const manner of impolite) this.#outbox.add({ kind: 'impolite', ordinal, manner, request: requestId })
    }
    if (fields.has('v') && isNew) this.#noteViolation(entry, fields, held)
  }

  #noteViolation(entry: Entry, fields: ReadonlyMap<string, string>, held: UntoldExchange | undefined): void {
    const owner = readAccountId(fields.get('x')) ?? entry.account
    const known = held?.circumstances.principal?.account
    let explanation: Promise<Explanation> | undefined
    const explain = () => (explanation ??= this.#explain(entry, owner, known))
    const place = Number(fields.get('v'))
    if (held !== undefined && place <= EXAMPLES) void this.#keepExample(place, entry, [known, owner], explain)
    const presented = fields.get('p')
    for (const listener of this.#violationListeners) listener({ entry, account: owner, presented, explain })
  }

  async #explain(entry: Entry, owner: string | undefined, known: AccountState | undefined): Promise<Explanation> {
    return this.#options.explain(entry, known ?? (await this.#readAccount(owner)))
  }

  /** `holders` are the accounts whose key may be in the explanation, beside the default account. */
  async #keepExample(
    place: number,
    { ordinal }: Entry,
    holders: readonly (AccountState | string | undefined)[],
    explain: () => Promise<Explanation>,
  ): Promise<void> {
    const example: StoredExample = { explanation: (await explain().catch(() => undefined)) ?? null }
    for (const holder of [...holders, DEFAULT_ACCOUNT]) {
      const account = typeof holder === 'string' ? await this.#readAccount(holder) : holder
      const key = account && this.#options.publicKeyOf(account)
      const text = JSON.stringify(example.explanation)
      if (account === undefined || key === undefined || !text.includes(inJson(key))) continue
      example.account = account.id
      example.explanation = JSON.parse(text.replaceAll(inJson(key), PUBLIC_KEY))
    }
    this.#outbox.add({ kind: 'example', place, ordinal, example: JSON.stringify(example) })
  }

  async #readAccount(accountId: string | undefined): Promise<AccountState | undefined> {
    // A request whose account cannot be read is explained like a request without an account.
    return accountId === undefined ? undefined : this.#options.readAccount(accountId).catch(() => undefined)
  }

  #takeHeld(number: number): UntoldExchange | undefined {
    const held = this.#held.get(number)
    // The store keeps the order, so earlier exchanges were lost.
    for (const [each] of this.#held) {
      if (each > number) break
      this.#release(each)
    }
    return held
  }

  /** Holds an exchange without its bodies: the store gets their descriptions. */
  #hold(number: number, entry: NewEntry, circumstances: Circumstances): void {
    const bytes = circumstances.requestBody?.size ?? 0
    const kept = { ...circumstances, requestBody: undefined, responseBody: undefined }
    this.#held.set(number, { entry, circumstances: kept, bytes })
    this.#heldBytes += bytes
    for (const [oldest] of this.#held) {
      if (this.#held.size <= HELD.exchanges && this.#heldBytes <= HELD.bytes) break
      this.#release(oldest)
    }
  }

  #release(number: number): void {
    this.#heldBytes -= this.#held.get(number)?.bytes ?? 0
    this.#held.delete(number)
  }

  /** Ends the history of accounts that a killed server has deleted without a report. */
  async #sweep(): Promise<void> {
    const { connection } = this.#options
    const histories = [...(await this.#readHash(this.#keys.histories))]
    for (let first = 0; first < histories.length; first += SWEEP.accounts) {
      const part = histories.slice(first, first + SWEEP.accounts)
      const command = ['HMGET', this.#keys.accounts, ...part.map(([account]) => account)]
      const present = (await connection.send(command, { repeatable: true })) as readonly RedisReply[]
      for (const [place, [account, history]] of part.entries()) {
        if (present[place] !== history.split(' ')[0]) this.#outbox.add(this.#orderFor('end', decodeId(account)))
      }
    }
  }

  /** The sum of what several hashes have counted, and their first examples. */
  async #reckon(counts: readonly string[], examples: readonly string[]): Promise<Reckoning<Explanation>> {
    const hashes = await Promise.all(counts.map((key) => this.#readHash(key)))
    const read = () => Promise.all(examples.map((key) => this.#readExamples(key)))
    return { counts: readCounts(...hashes), examples: async () => (await read()).flat().slice(0, EXAMPLES) }
  }

  async #readCoverage(key: string): Promise<Coverage> {
    return readCoverage(await this.#readHash(key), this.#options.contract)
  }

  /** The first violations. If the replica that answered one does not explain it in time, this replica does. */
  async #readExamples(key: string): Promise<Explanation[]> {
    const { pause } = EXPLAINING
    const patience = EXPLAINING.patience * this.#options.connection.patience
    let stored = await this.#readStored(key)
    for (let waited = 0; waited < patience && stored.some(([, text]) => text.endsWith(' ')); waited += pause) {
      await new Promise((resolve) => setTimeout(resolve, pause))
      stored = await this.#readStored(key)
    }
    const examples = await Promise.all(stored.map(([place, text]) => this.#readExample(key, place, text)))
    return examples.flat()
  }

  async #readStored(key: string): Promise<[place: number, text: string][]> {
    const stored = [...(await this.#readHash(key))].map(([place, text]): [number, string] => [Number(place), text])
    return stored.sort(([one], [other]) => one - other)
  }

  async #readExample(key: string, place: number, text: string): Promise<Explanation[]> {
    const { publicKeyOf } = this.#options
    // The ordinal, and the explanation so far.
    const end = text.indexOf(' ')
    const stored = text.slice(end + 1)
    if (stored === '') {
      const entry = this.journal.at(Number(text.slice(0, end)))
      if (entry === undefined) return []
      const explained = this.#explain(entry, entry.account, undefined)
      if (key === this.#keys.examples) void this.#keepExample(place, entry, [entry.account], () => explained)
      return [await explained]
    }
    const { account: id, explanation } = JSON.parse(stored) as StoredExample
    if (explanation === null) return []
    if (!stored.includes(PUBLIC_KEY) || id === undefined) return [explanation as Explanation]
    const account = await this.#readAccount(id)
    const publicKey = (account && publicKeyOf(account)) ?? '$API_KEY'
    const revealed = readJson(stored.replaceAll(PUBLIC_KEY, inJson(publicKey))) as StoredExample
    return [revealed.explanation as Explanation]
  }

  async #readHash(key: string): Promise<Map<string, string>> {
    return new Map(readTexts(await this.#options.connection.send(['HGETALL', key], { repeatable: true })))
  }
}

function readAccountId(field: string | undefined): string | undefined {
  return field === undefined || field === '' ? undefined : decodeId(field)
}

/** The text as it occurs within a text of JSON. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

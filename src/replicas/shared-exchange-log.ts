import type { Circumstances, ExchangeFigures, ExchangeLog } from '../accounts/exchange-log.ts'
import type { History } from '../accounts/histories.ts'
import { DEFAULT_ACCOUNT } from '../accounts/worlds.ts'
import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { type Coverage, mergeCoverage } from '../coverage/coverage.ts'
import type { AccountState } from '../domain/account.ts'
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
import type { Reply, StoreConnection } from '../store/redis/connection.ts'
import { decodeId, encodeId } from '../store/redis/keys.ts'
import { readScript } from '../store/script.ts'
import { StoreError } from '../store/store-error.ts'
import { decodeExchange, encodeExchange } from './exchange-codec.ts'
import { type HistoryKeys, historyKeys } from './history-keys.ts'
import { Observer } from './observer.ts'
import { Outbox, type OutboxItem } from './outbox.ts'
import { Roundup } from './roundup.ts'
import { readCounts, readCoverage, responseField } from './stored-counts.ts'
import { Tail, type TailRecord } from './tail.ts'

/** How many exchanges are kept for replicas that are a little behind, whatever the journal has forgotten. */
export const WINDOW = 1_000
/** How many exchanges of this replica, and bytes of their bodies, may be on their way back from the store. */
export const HELD = { exchanges: 20_000, bytes: 32 << 20 }
/** In milliseconds, how often it is looked for what killed servers have left of accounts that are gone, and for how many. */
const SWEEP = { pause: 60_000, accounts: 500 }
/** In milliseconds, how long to wait for the explanation of a violation by the replica that has answered it, and how often. */
export const EXPLAINING = { patience: 300, pause: 20 }
/** The part of the journal's memory up to which the store keeps exchanges, so that no replica forgets some by itself. */
export const OF_JOURNAL = 0.9
/** In place of a key that is no secret, because no key is written into the store. */
const PUBLIC_KEY = '{{public-key}}'

export interface SharedExchangeLogOptions<Explanation> {
  connection: StoreConnection
  prefix: string
  contract: Contract
  journal: Journal
  /** Makes what is kept of a violation. It must be JSON. */
  explain: Explain<Explanation>
  /** The account of this id as it is now, if there is one. */
  readAccount(accountId: string): Promise<AccountState | undefined>
  /** A key of the account that is no secret, if it has one. */
  publicKeyOf(account: AccountState): string | undefined
  log?: Log
  /** How many other replicas there are, as far as is known. Without it, none is asked for what it has not sent yet. */
  others?(): number
  /** How many exchanges are kept for replicas that are behind, at least 1. */
  window?: number
  /** The bytes that may wait while the store is away. */
  waiting?: number
}

/** What the store keeps of a violation. */
interface StoredExample {
  /** Whose key has been hidden in it. */
  account?: string
  /** Null where that has failed. */
  explanation: unknown
}

/** An exchange of this replica that the store has not told back yet. */
interface Held {
  entry: NewEntry
  circumstances: Circumstances
  /** Those of the body that it keeps in memory. */
  bytes: number
}

/**
 * What the exchanges of all replicas leave behind. Each replica sends its own to the store, which gives them their order,
 * and reads those of all back. So the journal of every replica has the same, and each of them tells its readers of all.
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
  readonly #observer: Observer
  readonly #held = new Map<number, Held>()
  #heldBytes = 0
  #sweeping: NodeJS.Timeout | undefined
  #number = 0
  #hasFailed = false
  readonly #endListeners: ((accountId: string) => void)[] = []
  readonly #violationListeners = new Set<(violation: ObservedViolation<Explanation>) => void>()

  constructor(options: SharedExchangeLogOptions<Explanation>) {
    const { connection, prefix, contract, journal, window = WINDOW } = options
    this.#options = options
    this.journal = journal
    this.#keys = historyKeys(prefix, this.#replica)
    this.#operations = new Map(contract.operations.map((operation) => [operation.id, operation]))
    this.#observer = new Observer(contract)
    const total = Math.floor(journal.limits.total * OF_JOURNAL)
    this.#outbox = new Outbox({
      connection,
      script: readScript('replicas/scripts/record.lua'),
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

  /** Reads what the store has of earlier exchanges. @throws StoreError */
  async start(): Promise<void> {
    await this.#tail.start()
    const sweep = () => void this.#sweep().catch(() => {})
    this.#sweeping = setInterval(sweep, SWEEP.pause).unref()
    sweep()
  }

  /** How many exchanges, and what they have shown, wait to be sent. */
  get queued(): number {
    return this.#outbox.size
  }

  /** Sends what waits, and reads no more. The connection stays open. */
  async close(): Promise<void> {
    clearInterval(this.#sweeping)
    await this.#outbox.close()
    this.#tail.close()
  }

  take(entry: NewEntry, circumstances: Circumstances): NewEntry {
    const { history, body, judged } = circumstances
    const { account, status, operation, code } = entry
    const number = ++this.#number
    // Later, secrets of the account may no longer be known.
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
    const counts = readCounts(await this.#readHash(this.#keys.verdict))
    return { counts, examples: () => this.#readExamples(this.#keys.examples) }
  }

  async wholeVerdict(): Promise<Reckoning<Explanation>> {
    await this.caughtUp()
    const { verdict, examples, verdictBefore, examplesBefore } = this.#keys
    const counts = readCounts(await this.#readHash(verdictBefore), await this.#readHash(verdict))
    const read = async () => [...(await this.#readExamples(examplesBefore)), ...(await this.#readExamples(examples))]
    return { counts, examples: async () => (await read()).slice(0, EXAMPLES) }
  }

  clearVerdict(): Promise<void> {
    return this.#order({ kind: 'clear-verdict' })
  }

  subscribeViolations(listener: (violation: ObservedViolation<Explanation>) => void): () => void {
    this.#violationListeners.add(listener)
    return () => this.#violationListeners.delete(listener)
  }

  /** Whether the account has ended meanwhile is found out by the store. */
  historyOf(_: string, incarnation: number): History {
    return { incarnation, ended: false, outdated: 0, coverage: undefined }
  }

  clearRequests(accountId: string): Promise<void> {
    return this.#order(this.#orderFor('clear', accountId))
  }

  reset(accountId: string): Promise<void> {
    return this.#order(this.#orderFor('reset', accountId))
  }

  /** The account is gone already, so nobody is told when this is done later. */
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

  /** Says once what is a bug, or a store of another version. */
  #tellFailure(err: unknown, message: string): void {
    if (!this.#hasFailed) this.#options.log?.error({ err }, message)
    this.#hasFailed = true
  }

  #orderFor(kind: OutboxItem['kind'], accountId: string): OutboxItem {
    return { kind, account: encodeId(accountId), coverageKey: this.#keys.coverageOf(accountId) }
  }

  /** Has the store do something that somebody waits for, and that all replicas then have done. */
  async #order(item: OutboxItem): Promise<void> {
    // What was answered before must not come after it.
    await this.#roundup.ask()
    this.#outbox.add(item)
    try {
      await this.#outbox.flush()
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      // It stays in the queue.
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

  /** Another account may have got the id meanwhile, and what is known of it stays. */
  async #tellEnded(accountId: string): Promise<void> {
    try {
      if ((await this.#options.readAccount(accountId)) !== undefined) return
    } catch {
      // To hide the secrets of an account that is gone does no harm.
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
    if (held !== undefined && shown.length > 0) {
      const coverageKey = this.#keys.coverageOf(entry.account)
      this.#outbox.add({ kind: 'shown', account, coverageKey, incarnation, ordinal, names: shown })
    }
    if (held !== undefined) {
      for (const manner of impolite) this.#outbox.add({ kind: 'impolite', ordinal, manner, request: requestId })
    }
    if (fields.has('v') && isNew) this.#noteViolation(entry, fields, held)
  }

  #noteViolation(entry: Entry, fields: ReadonlyMap<string, string>, held: Held | undefined): void {
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

  /** `holders` are those whose key may be in the explanation, beside the account of everybody. */
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

  #readAccount(accountId: string | undefined): Promise<AccountState | undefined> {
    // Whoever cannot be read now is explained like nobody.
    return accountId === undefined
      ? Promise.resolve(undefined)
      : this.#options.readAccount(accountId).catch(() => undefined)
  }

  #takeHeld(number: number): Held | undefined {
    const held = this.#held.get(number)
    // The store has them in order, so what came before was lost.
    for (const [each] of this.#held) {
      if (each > number) break
      this.#release(each)
    }
    return held
  }

  /** Without the whole bodies, of which the store is told what they were like. */
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

  /** Ends what is there of accounts that are gone: whoever has deleted them was killed before it said so. */
  async #sweep(): Promise<void> {
    const { connection } = this.#options
    const histories = [...(await this.#readHash(this.#keys.histories))]
    for (let first = 0; first < histories.length; first += SWEEP.accounts) {
      const part = histories.slice(first, first + SWEEP.accounts)
      const command = ['HMGET', this.#keys.accounts, ...part.map(([account]) => account)]
      const present = (await connection.send(command, { repeatable: true })) as readonly Reply[]
      for (const [place, [account, history]] of part.entries()) {
        if (present[place] !== history.split(' ')[0]) this.#outbox.add(this.#orderFor('end', decodeId(account)))
      }
    }
  }

  async #readCoverage(key: string): Promise<Coverage> {
    return readCoverage(await this.#readHash(key), this.#options.contract)
  }

  /** The first violations. Where the replica that has answered one does not explain it in time, this one does. */
  async #readExamples(key: string): Promise<Explanation[]> {
    const { patience, pause } = EXPLAINING
    let stored = await this.#readStored(key)
    for (let waited = 0; waited < patience && stored.some(isUnexplained); waited += pause) {
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
    // The ordinal, and what is known of it by now.
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
    const reply = (await this.#options.connection.send(['HGETALL', key], { repeatable: true })) as readonly Reply[]
    const fields = new Map<string, string>()
    for (let place = 0; place < reply.length; place += 2) fields.set(String(reply[place]), String(reply[place + 1]))
    return fields
  }
}

/** Opens what all replicas share of their exchanges, and reads what is there. @throws StoreError */
export async function openSharedExchangeLog<Explanation>(
  options: SharedExchangeLogOptions<Explanation>,
): Promise<SharedExchangeLog<Explanation>> {
  const exchanges = new SharedExchangeLog(options)
  try {
    await exchanges.start()
  } catch (error) {
    await exchanges.close()
    throw error
  }
  return exchanges
}

function readAccountId(field: string | undefined): string | undefined {
  return field === undefined || field === '' ? undefined : decodeId(field)
}

function isUnexplained([, text]: readonly [number, string]): boolean {
  return text.endsWith(' ')
}

/** The text as it stands within a text of JSON. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

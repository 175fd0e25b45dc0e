import type { AccountState } from '../domain/account.ts'
import type { Counters, CountingPlan, CountingResult, countersFor } from '../domain/counting.ts'
import type { Hits } from '../domain/quotas.ts'
import { applyChanges, type PartChange, partsOf, type StoredPart } from '../store/parts.ts'
import type { Capacity } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import { type LogRecord, lackOfParts, readAccount, readRecord } from './account-reading.ts'
import { DEADLINE, type RedisReply } from './connection.ts'
import type { AccountCopy, Copies } from './copies.ts'
import { readCount, readCounters, readEnterReply, writeHits, writePlan, writeTally } from './counter-texts.ts'
import { type RedisDatabase, readTexts } from './database.ts'
import { decodeId, encodeId } from './keys.ts'

/** How many parts of a new account are written in one step. */
const WRITTEN = 2_000
/** How many changed parts of an account extend the deadline by one millisecond. */
const CHANGED_IN_TIME = 20

/** Stands for an account that does not exist any more. */
export const GONE = Symbol('gone')
export type Gone = typeof GONE

/** A request that has entered an account. */
export interface EnteredStep {
  /** The account that the request finds. It may be later than its counts, if the account had to be read anew. */
  copy: AccountCopy
  /** The time of the store, in milliseconds since the Unix epoch. */
  real: number
  /** The number of earlier changes of the counters, and what undoes the one of this request. */
  sequence: number
  undo: string | undefined
  counted: CountingResult
}

/** A change of an account. */
export interface AccountStep {
  operation: string
  /** The version on which the change was decided. */
  base: Pick<AccountCopy, 'version' | 'token'>
  changes: readonly PartChange[]
  /** Whether it changes a part on which plans of requests depend. */
  changesPlans: boolean
  /** The hashes of the removed and of the added keys, and the ids of the removed fault rules. */
  removedKeys: readonly string[]
  addedKeys: readonly string[]
  removedRules: readonly string[]
  /** The counters that replace the present ones, if there are any. */
  counters?: ReplacingCounters | undefined
  /** Whether other servers shall wait for it, because it was too late too often. */
  wantsTurn: boolean
}

type ReplacingCounters = ReturnType<typeof countersFor> & { requests: number | undefined }

/** The counters of an account, and the account at the same time. */
export interface CountersStep extends Counters {
  copy: AccountCopy
  requests: number
  /** Changes with each change of the counters. */
  sequence: string
}

/** A counter with its old and its new text; `undefined` for no counter. */
export type CounterChange = readonly [name: string, before: string | undefined, after: string | undefined]

/** The functions that run on the data of one account. Copies are updated with their replies. */
export class AccountSteps {
  readonly #database: RedisDatabase
  readonly #copies: Copies
  /** The accounts that are being read, by incarnation. */
  readonly #loads = new Map<string, Promise<AccountCopy | Gone>>()

  constructor(database: RedisDatabase, copies: Copies) {
    this.#database = database
    this.#copies = copies
  }

  /**
   * Reads the whole account. A second caller waits for a reading that is under way, and then asks only for later
   * changes. If many requests read a large account at the same time, the store would serve no other client.
   */
  async load(incarnation: string): Promise<AccountCopy | Gone> {
    const underWay = this.#loads.get(incarnation)
    if (underWay !== undefined) {
      const copy = await underWay
      return copy === GONE ? GONE : this.look(copy)
    }
    const load = this.#read(incarnation).finally(() => this.#loads.delete(incarnation))
    this.#loads.set(incarnation, load)
    return load
  }

  async #read(incarnation: string): Promise<AccountCopy | Gone> {
    const copy = await readAccount(incarnation, this.#database)
    return copy === undefined ? this.#forget(incarnation) : this.#keep(copy)
  }

  /** The account as it is now. */
  async look(copy: AccountCopy): Promise<AccountCopy | Gone> {
    const { incarnation, version, token } = copy
    const [outcome, ...told] = await this.#database.call('look', [incarnation, `${version}`, token])
    return outcome === 'ok' ? this.#bring(copy, version, told) : this.#forget(incarnation)
  }

  /**
   * Lets a request enter. Returns an updated copy if the request must be planned again. `expected` is the account after
   * all changes that are under way. It is the present one if they succeed, because their replies come first.
   */
  async enter(
    copy: AccountCopy,
    plan: CountingPlan,
    longestWindow: number,
    expected: AccountCopy,
  ): Promise<EnteredStep | AccountCopy | Gone> {
    const { state, incarnation, version, token, gate } = copy
    const { clock } = state
    const args = [
      ...[`${version}`, token, gate, expected.token, this.#database.now],
      ...('frozenAt' in clock ? ['1', `${clock.frozenAt}`] : ['0', `${clock.offset}`]),
      ...[plan.isCounted ? '1' : '0', `${longestWindow}`],
      ...writePlan(plan, state),
    ]
    const reply = await this.#database.callOnce<RedisReply>('enter', incarnation, args)
    if (typeof reply === 'string') return this.#conclude(reply, expected, plan, state)
    const [outcome, told, ...news] = reply as readonly RedisReply[]
    if (outcome === 'gone') return this.#forget(incarnation)
    if (outcome !== 'ok' && outcome !== 'stale') throw unexpected(reply)
    const brought = await this.#bring(news[1] === expected.token ? expected : copy, version, news)
    if (brought === GONE || outcome === 'stale') return brought
    return this.#conclude(told as string, brought, plan, state)
  }

  /** `planned` is the state on which the plan is based; the parts that plans read are those of `copy`. */
  #conclude(told: string, copy: AccountCopy, plan: CountingPlan, planned: AccountState): EnteredStep {
    const reply = readEnterReply(told)
    const { micros, sequence, undo } = reply
    this.#database.connection.clock.see(micros)
    return { copy, real: Math.floor(micros / 1000), sequence, undo, counted: readCount(plan, planned, reply) }
  }

  /**
   * Creates an account. `evicted` is the id of the account that it has replaced. The parts of a large account are
   * written before, because other clients wait while a function runs; without the last step, they expire.
   * @throws StoreError `taken` or `full`
   */
  async create(
    incarnation: string,
    state: AccountState,
    { limit, evictable = false, idle }: Capacity,
  ): Promise<string | undefined> {
    const { now } = this.#database
    const parts = [...partsOf(state)]
    let from = 0
    for (; parts.length - from > WRITTEN; from += WRITTEN) {
      const args = [incarnation, ...parts.slice(from, from + WRITTEN).flat()]
      await this.#database.call('stage', args, { repeatable: true })
    }
    const { keys } = state
    const operation = this.#database.newOperation()
    const args = [
      ...[incarnation, operation, encodeId(state.id), `${parts.length}`],
      ...[writeLimit(limit), evictable ? '1' : '0', writeLimit(idle), now, `${keys.length}`],
      ...keys.map(({ hash }) => hash),
      ...parts.slice(from).flat(),
    ]
    const [outcome, one, other] = await this.#database.call('create', args, { repeatable: true })
    if (outcome === 'taken') throw new StoreError('taken', `There is an account "${state.id}" already`)
    if (outcome === 'held') throw heldKey(keys[one as number]?.id, other)
    if (outcome === 'full') throw new StoreError('full', `There are ${one} accounts, which is the maximum`)
    if (outcome !== 'ok') throw new StoreError('unavailable', 'The account was not written in time')
    const first = { version: 1, token: operation, gate: operation, isEvictable: evictable, isChanged: false }
    if (this.#copies.get(incarnation) === undefined) this.#keep({ incarnation, state, ...first })
    return one === null ? undefined : decodeId(one as string)
  }

  /** Makes `copy` of the account. On a conflict, returns the present copy; or that the account is gone. */
  async change(
    { incarnation, isEvictable }: AccountCopy,
    state: AccountState,
    step: AccountStep,
  ): Promise<{ done: AccountCopy } | { conflict: AccountCopy; isHeld: boolean } | Gone> {
    const { operation, base, changes } = step
    const deadline = DEADLINE + Math.floor(changes.length / CHANGED_IN_TIME)
    const reply = await this.#database.callAgain('change', [incarnation, operation, ...this.#writeStep(step)], deadline)
    const [outcome, ...told] = reply
    if (outcome === 'gone') return this.#forget(incarnation)
    if (outcome === 'damaged') throw lackOfParts(incarnation, this.#database)
    if (outcome === 'held') {
      const hash = step.addedKeys[told[0] as number]
      throw heldKey(state.keys.find((key) => key.hash === hash)?.id, told[1])
    }
    if (outcome === 'conflict') {
      const copy = this.#copies.get(incarnation)
      const present = await (copy === undefined ? this.load(incarnation) : this.#bring(copy, base.version, told))
      return present === GONE ? GONE : { conflict: present, isHeld: told[4] === '1' }
    }
    if (outcome !== 'ok') throw unexpected(reply)
    const [made, , token, gate] = told
    // If another server changed the account before a repeated command, the gate may come from that change.
    const copy = { incarnation, state, version: Number(made), token: operation, gate: gate as string }
    const done = this.#keep({ ...copy, isEvictable, isChanged: true })
    if (token !== operation) await this.#bring(done, base.version, told.slice(1))
    return { done }
  }

  #writeStep(step: AccountStep): string[] {
    const { base, changes, changesPlans, removedKeys, addedKeys, removedRules, counters, wantsTurn } = step
    const sets = changes.filter((each): each is StoredPart => each[1] !== undefined)
    const deletions = changes.flatMap(([name, value]) => (value === undefined ? [name] : []))
    const counts = [
      ...(counters?.quotas ?? []).map(([name, hits]) => [`q${name}`, writeHits(hits)]),
      ...(counters?.tallies ?? []).map(([id, tally]) => [`t${id}`, writeTally(tally)]),
    ]
    const { now, instance } = this.#database
    return [
      ...[`${base.version}`, base.token, changesPlans ? '1' : '0', instance, wantsTurn ? '1' : '0', now],
      ...[counters === undefined ? '0' : '1', `${counters?.requests ?? ''}`],
      ...[sets, deletions, removedKeys, addedKeys, removedRules, counts].map(({ length }) => `${length}`),
      ...[sets.flat(), deletions, removedKeys, addedKeys, removedRules, counts.flat()].flat(),
    ]
  }

  async counters(copy: AccountCopy): Promise<CountersStep | Gone> {
    const args = [copy.incarnation, `${copy.version}`, copy.token]
    const [outcome, ...told] = await this.#database.call('counters', args)
    if (outcome !== 'ok') return this.#forget(copy.incarnation)
    const brought = await this.#bring(copy, copy.version, told)
    if (brought === GONE) return GONE
    const [requests, sequence, counters] = told.slice(4)
    const read = readCounters(readTexts(counters))
    return { copy: brought, ...read, requests: Number(requests), sequence: sequence as string }
  }

  /** Sets counters, unless they have changed since they were read. Resolves to whether it has. */
  async recount(
    { copy, sequence }: CountersStep,
    requests: number,
    changes: readonly CounterChange[],
  ): Promise<boolean | Gone> {
    const { incarnation, token } = copy
    const args = [
      ...[token, sequence, `${requests}`, this.#database.now],
      ...changes.flatMap(([name, before = '', after = '']) => [name, before, after]),
    ]
    const reply = await this.#database.callOnce('recount', incarnation, args)
    const [outcome] = reply
    if (outcome === 'gone') return this.#forget(incarnation)
    if (outcome === 'conflict') return false
    if (outcome !== 'ok') throw unexpected(reply)
    this.noteChanged(incarnation)
    return true
  }

  /** Notes that the account was changed, but not its state. */
  noteChanged(incarnation: string): void {
    // This process may know a later version already.
    const present = this.#copies.get(incarnation)
    if (present !== undefined && !present.isChanged) this.#copies.put({ ...present, isChanged: true })
  }

  async refund(incarnation: string, bucket: string, startedAt: number): Promise<Hits | undefined | Gone> {
    const [outcome, used] = await this.#database.callOnce('refund', incarnation, [bucket, `${startedAt}`])
    if (outcome === 'gone') return this.#forget(incarnation)
    return outcome === 'ok' ? { startedAt, used: Number(used) } : undefined
  }

  #keep(copy: AccountCopy): AccountCopy {
    this.#copies.put(copy)
    return copy
  }

  #forget(incarnation: string): Gone {
    this.#copies.forget(incarnation)
    return GONE
  }

  /**
   * Updates the copy with the changes after the version `known`. `told` begins with the present version, its token, its
   * gate and these changes, as a function returns them. Replies to other requests may have updated the copy further
   * already. `asked` is the copy of the caller.
   */
  async #bring(
    asked: AccountCopy,
    known: AccountCopy['version'],
    [told, token, gate, changes]: readonly RedisReply[],
  ): Promise<AccountCopy | Gone> {
    const version = Number(told)
    const kept = this.#copies.get(asked.incarnation)
    const copy = kept !== undefined && kept.version >= asked.version ? kept : asked
    if (copy.token === token) return copy
    if (changes === 0 && copy.version >= version) return copy
    if (changes === 0 || changes === 1 || copy.version < known || copy.version === version)
      return this.load(copy.incarnation)
    if (copy.version > version) return copy
    let { state } = copy
    for (const [id, fields] of changes as readonly LogRecord[]) {
      if (Number.parseInt(id, 10) > copy.version) {
        state = applyChanges(state, readRecord(fields), this.#database.settings)
      }
    }
    return this.#keep({ ...copy, state, version, token: token as string, gate: gate as string, isChanged: true })
  }
}

/** Only a bug causes such a reply of a function. */
function unexpected(reply: RedisReply): Error {
  return new Error(`A function of the store has answered ${JSON.stringify(reply)}`)
}

function heldKey(key: string | undefined, holder: RedisReply | undefined): StoreError {
  return new StoreError('taken', `The key "${key}" belongs to the account "${decodeId(holder as string)}" already`)
}

/** A limit for a function: an empty text for none. */
export function writeLimit(limit = Number.POSITIVE_INFINITY): string {
  return Number.isFinite(limit) ? `${limit}` : ''
}

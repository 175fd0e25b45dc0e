import { randomBytes } from 'node:crypto'
import type { AccountState } from '../domain/account.ts'
import type { Counters, CountingPlan, CountingResult, countersFor } from '../domain/counting.ts'
import type { Hits } from '../domain/quotas.ts'
import { applyChanges, type PartChange, partsOf, type StoredPart } from '../store/parts.ts'
import { type LogRecord, readAccount, readRecord } from './account-reading.ts'
import { DEADLINE, type RedisReply } from './connection.ts'
import type { AccountCopy, Copies } from './copies.ts'
import { readCount, readCounters, writeHits, writePlan, writeTally } from './counter-texts.ts'
import { newOperation, type RedisDatabase, readTexts } from './database.ts'
import { accountKeys, formerKeys, snapshotKey } from './keys.ts'

/** How many parts of a new account are written in one step. */
const WRITTEN = 5_000
/** How many changed parts of an account extend the deadline by one millisecond. */
const CHANGED_IN_TIME = 20

/** Stands for an account that does not exist any more. */
export const GONE = Symbol('gone')
export type Gone = typeof GONE

/** A request that has entered an account. */
export interface EnteredStep {
  copy: AccountCopy
  /** The time of the store, in milliseconds since the Unix epoch. */
  real: number
  /** The number of earlier changes of the counters. */
  sequence: number
  /** The version that the request has found. */
  version: number
  token: string
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
  /** The hashes of the removed keys, and the ids of the removed fault rules. */
  removedKeys: readonly string[]
  removedRules: readonly string[]
  /** The counters that replace the present ones, if there are any. */
  counters?: ReplacingCounters | undefined
  /** Whether other replicas shall wait for it, because it was too late too often. */
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

/** The scripts that run on the data of one account. Copies are updated with the replies of the scripts. */
export class AccountSteps {
  readonly #database: RedisDatabase
  readonly #copies: Copies
  /** Names this process as the holder of a turn, see `change.lua`. */
  readonly #replica = randomBytes(9).toString('base64url')
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

  /** Whether the account has data. */
  async isThere(incarnation: string): Promise<boolean> {
    const [meta = ''] = this.#keysOf(incarnation)
    return (await this.#database.read(['HGET', meta, 'version'])) !== null
  }

  /** The account as it is now. */
  async look(copy: AccountCopy): Promise<AccountCopy | Gone> {
    const { incarnation, version, token } = copy
    const [outcome, ...told] = await this.#database.run('look', this.#keysOf(incarnation), [`${version}`, token])
    return outcome === 'ok' ? this.#bring(copy, version, told) : this.#forget(incarnation)
  }

  /**
   * Lets a request enter. Returns an updated copy if the request must be planned again. `expected` is the version of
   * the copy after all changes that are under way. It is the same version when their replies come first.
   */
  async enter(
    copy: AccountCopy,
    plan: CountingPlan,
    longestWindow: number,
    expected: string,
  ): Promise<EnteredStep | AccountCopy | Gone> {
    const { state, incarnation } = copy
    const { clock } = state
    const args = [
      ...[`${copy.version}`, copy.token, expected, copy.gate, this.#database.now],
      ...('frozenAt' in clock ? ['1', `${clock.frozenAt}`] : ['0', `${clock.offset}`]),
      ...[plan.isCounted ? '1' : '0', `${longestWindow}`],
      ...writePlan(plan, state),
    ]
    const reply = await this.#database.runOnce('enter', this.#keysOf(incarnation), newOperation(), args)
    const [outcome, real, version, token] = reply
    if (outcome === 'gone') return this.#forget(incarnation)
    if (outcome !== 'ok' && outcome !== 'stale') throw unexpected(reply)
    const brought = await this.#bring(copy, copy.version, reply.slice(2))
    if (brought === GONE || outcome === 'stale') return brought
    const [requests, sequence, hits, tallies] = reply.slice(6)
    const time = Number(real)
    const counted = readCount(plan, state, time, { requests, hits, tallies })
    const found = { sequence: Number(sequence), version: Number(version), token: token as string }
    return { copy: brought, real: time, ...found, counted }
  }

  /** Writes a new account, which no request finds yet. */
  async create(incarnation: string, state: AccountState, isEvictable: boolean): Promise<AccountCopy> {
    const operation = newOperation()
    const parts = [...partsOf(state)]
    for (let from = 0; from < parts.length; from += WRITTEN) {
      const args = [operation, isEvictable ? '1' : '0', ...parts.slice(from, from + WRITTEN).flat()]
      await this.#database.run('create', this.#keysOf(incarnation), args, { repeatable: true })
    }
    return { incarnation, state, version: 1, token: operation, gate: operation, isEvictable, isChanged: false }
  }

  /** Keeps a new account that is registered now. */
  async settle(copy: AccountCopy): Promise<void> {
    await this.#database.run('settle', this.#keysOf(copy.incarnation), [], { repeatable: true })
    if (this.#copies.get(copy.incarnation) === undefined) this.#keep(copy)
  }

  /** Makes `copy` of the account. On a conflict, returns the present copy; or that the account is gone. */
  async change(
    { incarnation, isEvictable }: AccountCopy,
    state: AccountState,
    step: AccountStep,
  ): Promise<{ done: AccountCopy; real: number } | { conflict: AccountCopy; isHeld: boolean } | Gone> {
    const { operation, base, changes, changesPlans, removedKeys, removedRules, counters, wantsTurn } = step
    const sets = changes.filter((each): each is StoredPart => each[1] !== undefined)
    const deletions = changes.flatMap(([name, value]) => (value === undefined ? [name] : []))
    const quotas = (counters?.quotas ?? []).map(([name, hits]) => [name, writeHits(hits)])
    const tallies = (counters?.tallies ?? []).map(([id, tally]) => [id, writeTally(tally)])
    const { now, connection, prefix } = this.#database
    const args = [
      ...[`${base.version}`, base.token, changesPlans ? '1' : '0'],
      ...[counters === undefined ? '0' : '1', `${counters?.requests ?? ''}`, now],
      ...[sets, deletions, removedKeys, removedRules, quotas, tallies].map(({ length }) => `${length}`),
      ...[sets.flat(), deletions, removedKeys, removedRules, quotas.flat(), tallies.flat()].flat(),
      ...[this.#replica, wantsTurn ? '1' : '0'],
    ]
    const keys = [...this.#keysOf(incarnation), ...formerKeys(prefix, incarnation)]
    const deadline = DEADLINE + Math.floor(changes.length / CHANGED_IN_TIME)
    const reply = await this.#database.runOnce('change', keys, operation, args, deadline)
    if (reply[0] === 'gone') return this.#forget(incarnation)
    if (reply[0] === 'conflict') {
      connection.figures.conflicts++
      const copy = this.#copies.get(incarnation)
      const told = reply.slice(1)
      const present = await (copy === undefined ? this.load(incarnation) : this.#bring(copy, base.version, told))
      return present === GONE ? GONE : { conflict: present, isHeld: reply[5] === '1' }
    }
    if (reply[0] !== 'ok') throw unexpected(reply)
    const [, real, made, , token, gate] = reply
    // If another replica changed the account before a repeated command, the gate may come from that change.
    const copy = { incarnation, state, version: Number(made), token: operation, gate: gate as string }
    const done = this.#keep({ ...copy, isEvictable, isChanged: true })
    if (token !== operation) await this.#bring(done, base.version, reply.slice(3))
    return { done, real: Number(real) }
  }

  async counters(copy: AccountCopy): Promise<CountersStep | Gone> {
    const args = [`${copy.version}`, copy.token]
    const [outcome, ...told] = await this.#database.run('counters', this.#keysOf(copy.incarnation), args)
    if (outcome !== 'ok') return this.#forget(copy.incarnation)
    const brought = await this.#bring(copy, copy.version, told)
    if (brought === GONE) return GONE
    const [requests, sequence, quotas, tallies] = told.slice(4)
    const read = readCounters(readTexts(quotas), readTexts(tallies))
    return { copy: brought, ...read, requests: Number(requests), sequence: sequence as string }
  }

  /** Sets counters, unless they have changed since they were read. Returns the time, or `undefined` after a change. */
  async recount(
    { copy, sequence }: CountersStep,
    requests: number,
    changes: readonly CounterChange[],
  ): Promise<number | undefined | Gone> {
    const { now, connection } = this.#database
    const args = [
      ...[copy.token, sequence, `${requests}`, now],
      ...changes.flatMap(([name, before = '', after = '']) => [name, before, after]),
    ]
    const reply = await this.#database.runOnce('recount', this.#keysOf(copy.incarnation), newOperation(), args)
    const [outcome, real] = reply
    if (outcome === 'gone') return this.#forget(copy.incarnation)
    if (outcome === 'conflict') {
      connection.figures.conflicts++
      return undefined
    }
    if (outcome !== 'ok') throw unexpected(reply)
    // This process may know a later version already.
    const present = this.#copies.get(copy.incarnation)
    if (present !== undefined && !present.isChanged) this.#copies.put({ ...present, isChanged: true })
    return Number(real)
  }

  async refund(incarnation: string, bucket: string, startedAt: number): Promise<Hits | undefined | Gone> {
    const args = [bucket, `${startedAt}`]
    const reply = await this.#database.runOnce('refund', this.#keysOf(incarnation), newOperation(), args)
    const [outcome, used] = reply
    if (outcome === 'gone') return this.#forget(incarnation)
    return outcome === 'ok' ? { startedAt, used: Number(used) } : undefined
  }

  /** Deletes the data of an account, but not its snapshots. `wasKilled`: another caller has just done that. */
  async kill(incarnation: string): Promise<{ existed: boolean; snapshots: readonly string[]; wasKilled: boolean }> {
    this.#copies.forget(incarnation)
    const { prefix } = this.#database
    const copies = [...formerKeys(prefix, incarnation), snapshotKey(prefix, incarnation)]
    const keys = [...this.#keysOf(incarnation), ...copies]
    const [existed, snapshots, wasKilled] = await this.#database.runOnce('kill', keys, newOperation(), [])
    return { existed: existed === 1, snapshots: snapshots as readonly string[], wasKilled: wasKilled === 1 }
  }

  #keysOf(incarnation: string): string[] {
    return accountKeys(this.#database.prefix, incarnation)
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
   * gate and these changes, as a script returns them. Replies to other requests may have updated the copy further
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

/** Only a bug causes such a reply of a script. */
function unexpected(reply: readonly RedisReply[]): Error {
  return new Error(`A script of the store has answered ${JSON.stringify(reply)}`)
}

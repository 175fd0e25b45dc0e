import { randomBytes } from 'node:crypto'
import type { AccountState } from '../../domain/account.ts'
import type { Counters, CountingPlan, PlannedCount } from '../../domain/counting.ts'
import type { FaultTally } from '../../domain/faults.ts'
import type { Hits } from '../../domain/quotas.ts'
import type { Settings } from '../../domain/settings.ts'
import { applyChanges, type PartChange, partsOf, type StoredPart } from '../parts.ts'
import { type LogRecord, readAccount, readRecord } from './account-reading.ts'
import { type CommandOptions, DEADLINE, type RedisReply, type StoreConnection } from './connection.ts'
import type { AccountCopy, Copies } from './copies.ts'
import { readCounters, readTexts, writeHits, writeTally } from './counter-texts.ts'
import { accountKeys, formerKeys, snapshotKey } from './keys.ts'
import { readCount, writePlan } from './plan-texts.ts'
import type { readScripts, ScriptName } from './scripts.ts'

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
  counted: PlannedCount
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

interface ReplacingCounters {
  quotas: readonly (readonly [string, Hits])[]
  tallies: readonly (readonly [string, FaultTally])[]
  requests: number | undefined
}

/** The counters of an account, and the account at the same time. */
export interface CountersStep extends Counters {
  copy: AccountCopy
  requests: number
  /** Changes with each change of the counters. */
  sequence: string
}

/** A counter with its old and its new text; `undefined` for no counter. */
export type CounterChange = readonly [name: string, before: string | undefined, after: string | undefined]

/** Versions and changes, as several scripts return them. */
interface ToldVersions {
  version: RedisReply | undefined
  token: RedisReply | undefined
  gate: RedisReply | undefined
  changes: RedisReply | undefined
}

/** The scripts that run on the data of one account. Copies are updated with the replies of the scripts. */
export class AccountSteps {
  readonly #connection: StoreConnection
  readonly #scripts: ReturnType<typeof readScripts>
  readonly #copies: Copies
  readonly #settings: Pick<Settings, 'nameComparison'>
  readonly #prefix: string
  readonly #now: () => string
  /** Names this process as the holder of a turn, see `change.lua`. */
  readonly #replica = randomBytes(9).toString('base64url')
  /** The accounts that are being read, by incarnation. */
  readonly #loads = new Map<string, Promise<AccountCopy | Gone>>()

  constructor(
    connection: StoreConnection,
    scripts: ReturnType<typeof readScripts>,
    copies: Copies,
    { prefix, settings, now }: { prefix: string; settings: Pick<Settings, 'nameComparison'>; now: () => string },
  ) {
    this.#connection = connection
    this.#scripts = scripts
    this.#copies = copies
    this.#prefix = prefix
    this.#settings = settings
    this.#now = now
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
    const { look } = this.#scripts
    const deps = { connection: this.#connection, look, settings: this.#settings }
    const copy = await readAccount(incarnation, accountKeys(this.#prefix, incarnation), deps)
    return copy === undefined ? this.#forget(incarnation) : this.#keep(copy)
  }

  /** Whether the account has data. */
  async isThere(incarnation: string): Promise<boolean> {
    const [meta = ''] = accountKeys(this.#prefix, incarnation)
    const [version] = (await this.#connection.send(['HMGET', meta, 'version'], { isReadOnly: true })) as [string | null]
    return version !== null
  }

  /** The account as it is now. */
  async look(copy: AccountCopy): Promise<AccountCopy | Gone> {
    const reply = await this.#run('look', copy.incarnation, () => [`${copy.version}`, copy.token])
    const [outcome, version, token, gate, changes] = reply
    if (outcome !== 'ok') return this.#forget(copy.incarnation)
    return this.#bring(copy, copy.version, { version, token, gate, changes })
  }

  /** Whether the copy is up to date. If not, it is updated. */
  async confirm(copy: AccountCopy): Promise<boolean | Gone> {
    const reply = await this.#run('look', copy.incarnation, () => [`${copy.version}`, copy.token])
    const [outcome, version, token, gate, changes] = reply
    if (outcome !== 'ok') return this.#forget(copy.incarnation)
    if (token === copy.token) return true
    const brought = await this.#bring(copy, copy.version, { version, token, gate, changes })
    return brought === GONE ? GONE : false
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
    const operation = newOperation()
    const planned = writePlan(plan, state)
    const args = (attempt: number) => [
      ...[operation, `${attempt}`, `${copy.version}`, copy.token, expected, copy.gate, this.#now()],
      ...('frozenAt' in state.clock ? ['1', `${state.clock.frozenAt}`] : ['0', `${state.clock.offset}`]),
      ...[plan.isCounted ? '1' : '0', `${longestWindow}`],
      ...planned,
    ]
    const reply = await this.#run('enter', incarnation, args, { repeat: args })
    const [outcome, real, version, token, gate] = reply
    if (outcome === 'gone') return this.#forget(incarnation)
    if (outcome === 'stale') return this.#bring(copy, copy.version, { version, token, gate, changes: reply[5] })
    if (outcome !== 'ok') throw unexpected(reply)
    const [, , , , , requests, sequence, hits, tallies, changes] = reply
    const time = Number(real)
    const counted = readCount(plan, state, time, { requests, hits, tallies })
    const brought = await this.#bring(copy, copy.version, { version, token, gate, changes })
    if (brought === GONE) return GONE
    const found = { sequence: Number(sequence), version: Number(version), token: token as string }
    return { copy: brought, real: time, ...found, counted }
  }

  /** Writes a new account, which no request finds yet. */
  async create(incarnation: string, state: AccountState, isEvictable: boolean): Promise<AccountCopy> {
    const operation = newOperation()
    const parts = [...partsOf(state)]
    for (let from = 0; from < parts.length; from += WRITTEN) {
      const args = [operation, isEvictable ? '1' : '0', ...parts.slice(from, from + WRITTEN).flat()]
      await this.#run('create', incarnation, () => args, { repeatable: true })
    }
    return { incarnation, state, version: 1, token: operation, gate: operation, isEvictable, isChanged: false }
  }

  /** Keeps a new account that is registered now. */
  async settle(copy: AccountCopy): Promise<void> {
    await this.#run('settle', copy.incarnation, () => [], { repeatable: true })
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
    const args = (attempt: number) => [
      ...[operation, `${attempt}`, `${base.version}`, base.token],
      ...[changesPlans ? '1' : '0', counters === undefined ? '0' : '1', `${counters?.requests ?? ''}`, this.#now()],
      ...[sets, deletions, removedKeys, removedRules, quotas, tallies].map(({ length }) => `${length}`),
      ...[sets.flat(), deletions, removedKeys, removedRules, quotas.flat(), tallies.flat()].flat(),
      ...[this.#replica, wantsTurn ? '1' : '0'],
    ]
    const deadline = DEADLINE + Math.floor(changes.length / CHANGED_IN_TIME)
    const reply = await this.#run('change', incarnation, args, { repeat: args, deadline })
    if (reply[0] === 'gone') return this.#forget(incarnation)
    if (reply[0] === 'conflict') {
      this.#connection.figures.conflicts++
      const [, version, token, gate, told, held] = reply
      const copy = this.#copies.get(incarnation)
      const present = await (copy === undefined
        ? this.load(incarnation)
        : this.#bring(copy, base.version, { version, token, gate, changes: told }))
      return present === GONE ? GONE : { conflict: present, isHeld: held === '1' }
    }
    if (reply[0] !== 'ok') throw unexpected(reply)
    const [, real, made, version, token, gate, told] = reply
    // If another replica changed the account before a repeated command, the gate may come from that change.
    const copy = { incarnation, state, version: Number(made), token: operation, gate: gate as string }
    const done = this.#keep({ ...copy, isEvictable, isChanged: true })
    if (token !== operation) await this.#bring(done, base.version, { version, token, gate, changes: told })
    return { done, real: Number(real) }
  }

  async counters(copy: AccountCopy): Promise<CountersStep | Gone> {
    const reply = await this.#run('counters', copy.incarnation, () => [`${copy.version}`, copy.token])
    const [outcome, version, token, gate, changes, requests, sequence, quotas, tallies] = reply
    if (outcome !== 'ok') return this.#forget(copy.incarnation)
    const brought = await this.#bring(copy, copy.version, { version, token, gate, changes })
    if (brought === GONE) return GONE
    const read = readCounters(readTexts(quotas), readTexts(tallies))
    return { copy: brought, ...read, requests: Number(requests), sequence: sequence as string }
  }

  /** Sets counters, unless they have changed since they were read. Returns the time, or `undefined` after a change. */
  async recount(
    { copy, sequence }: CountersStep,
    requests: number,
    changes: readonly CounterChange[],
  ): Promise<number | undefined | Gone> {
    const operation = newOperation()
    const args = (attempt: number) => [
      ...[operation, `${attempt}`, copy.token, sequence, `${requests}`, this.#now()],
      ...changes.flatMap(([name, before = '', after = '']) => [name, before, after]),
    ]
    const [outcome, real] = await this.#run('recount', copy.incarnation, args, { repeat: args })
    if (outcome === 'gone') return this.#forget(copy.incarnation)
    if (outcome === 'conflict') {
      this.#connection.figures.conflicts++
      return undefined
    }
    if (outcome !== 'ok') throw unexpected([outcome ?? null])
    // This process may know a later version already.
    const present = this.#copies.get(copy.incarnation)
    if (present !== undefined && !present.isChanged) this.#copies.put({ ...present, isChanged: true })
    return Number(real)
  }

  async refund(incarnation: string, bucket: string, startedAt: number): Promise<Hits | undefined | Gone> {
    const operation = newOperation()
    const args = (attempt: number) => [operation, `${attempt}`, bucket, `${startedAt}`]
    const [outcome, used] = await this.#run('refund', incarnation, args, { repeat: args })
    if (outcome === 'gone') return this.#forget(incarnation)
    return outcome === 'ok' ? { startedAt, used: Number(used) } : undefined
  }

  /**
   * Deletes the data of an account. Returns whether the data existed, the entries of its snapshots, which stay, and
   * whether another caller has just deleted the account.
   */
  async kill(incarnation: string): Promise<{ existed: boolean; snapshots: readonly string[]; wasKilled: boolean }> {
    this.#copies.forget(incarnation)
    const operation = newOperation()
    const args = (attempt: number) => [operation, `${attempt}`]
    const { kill } = this.#scripts
    const keys = [...this.#keysOf('kill', incarnation), snapshotKey(this.#prefix, incarnation)]
    const reply = (await this.#connection.run(kill, keys, args(1), { repeat: args })) as readonly RedisReply[]
    return { existed: reply[0] === 1, snapshots: reply[1] as readonly string[], wasKilled: reply[2] === 1 }
  }

  async #run(
    name: ScriptName,
    incarnation: string,
    args: (attempt: number) => readonly string[],
    options?: CommandOptions,
  ): Promise<readonly RedisReply[]> {
    const keys = this.#keysOf(name, incarnation)
    return (await this.#connection.run(this.#scripts[name], keys, args(1), options)) as readonly RedisReply[]
  }

  #keysOf(name: ScriptName, incarnation: string): string[] {
    const keys = accountKeys(this.#prefix, incarnation)
    return name === 'change' || name === 'kill' ? [...keys, ...formerKeys(this.#prefix, incarnation)] : keys
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
   * Updates the copy with the changes after the version `known`, as a script returns them. Replies to other requests
   * may have updated the copy further already. `asked` is the copy of the caller.
   */
  async #bring(
    asked: AccountCopy,
    known: AccountCopy['version'],
    { version, token, gate, changes }: ToldVersions,
  ): Promise<AccountCopy | Gone> {
    const kept = this.#copies.get(asked.incarnation)
    const copy = kept !== undefined && kept.version >= asked.version ? kept : asked
    if (copy.token === token) return copy
    if (changes === 0 && copy.version >= Number(version)) return copy
    if (changes === 0 || changes === 1 || copy.version < known || copy.version === Number(version))
      return this.load(copy.incarnation)
    if (copy.version > Number(version)) return copy
    let { state } = copy
    for (const [id, fields] of changes as readonly LogRecord[]) {
      if (Number.parseInt(id, 10) > copy.version) state = applyChanges(state, readRecord(fields), this.#settings)
    }
    const present = { ...copy, state, version: Number(version), token: token as string, gate: gate as string }
    return this.#keep({ ...present, isChanged: true })
  }
}

/** The common beginning of the operation ids of this process, and how many ids there were. */
const origin = randomBytes(9).toString('base64url')
let operations = 0

/** An id that no other operation of any replica has. */
export function newOperation(): string {
  return `${origin}.${(++operations).toString(36)}`
}

/** Only a bug causes such a reply of a script. */
function unexpected(reply: readonly RedisReply[]): Error {
  return new Error(`A script of the store has answered ${JSON.stringify(reply)}`)
}

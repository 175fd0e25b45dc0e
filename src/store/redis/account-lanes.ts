import type { AccountState } from '../../domain/account.ts'
import type { Settings } from '../../domain/settings.ts'
import { nameInstance } from '../../ground/secrets.ts'
import { pause } from '../../ground/timers.ts'
import type { Change } from '../store.ts'
import { StoreError } from '../store-error.ts'
import type { StoreConnection } from './connection.ts'
import {
  type AccountCopy,
  type Copies,
  readCounters,
  readId,
  readState,
  type SnapshotRecord,
  writeCounters,
  writeState,
} from './copies.ts'
import { patchBack } from './patches.ts'

/** How often work on an account is decided anew because other processes were faster. */
const ATTEMPTS = 50
/** After how many attempts this process asks the others to wait for it, and how long they do, in milliseconds, at a time. */
const [PATIENCE, PAUSE] = [2, 2]
/** How much work on an account is done in one step. */
const BATCH = 200

/** What stands for an account that does not exist any more. */
export const GONE = Symbol('gone')

/** What work on an account changes. An absent part stays as it is. */
export interface WorkResult<Value> extends Change<Value> {
  snapshots?: readonly SnapshotRecord[]
  /** The number of the snapshot to keep of the account as it is now, and of the one to drop. */
  keeps?: number | undefined
  drops?: number | undefined
  /** Whether it counts as a use of the account, and whether as a change. */
  isUse?: boolean
  isChange?: boolean
  /** Whether it depends on the state alone, so that requests may be counted meanwhile. */
  isOfState?: boolean
}

/** Work on an account. It is pure, because it is done again if another process was faster. */
type AccountWork<Value> = (account: AccountCopy, real: number) => WorkResult<Value>

interface LaneTask {
  work: AccountWork<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** What several tasks make of an account, one after another. */
interface LaneStep {
  after: AccountCopy
  /** What leads back from each new version. */
  back: readonly string[]
  done: readonly { task: LaneTask; value?: unknown; error?: unknown }[]
  keeps: number | undefined
  drops: number | undefined
  isUse: boolean
  isChange: boolean
  isOfState: boolean
}

export interface LaneOptions {
  connection: StoreConnection
  prefix: string
  settings: Pick<Settings, 'nameComparison'>
  copies: Copies
  /** The time of the store. */
  clock(): number
}

/**
 * Does the work on accounts: decides on the copy of this process, and writes if the copy is the present account. All
 * work of this process on one account goes through one lane, in which what waits is decided and written together.
 */
export class AccountLanes {
  readonly #options: LaneOptions
  /** Names this process among those that share the store. */
  readonly #server = nameInstance()
  readonly #lanes = new Map<number, LaneTask[]>()

  constructor(options: LaneOptions) {
    this.#options = options
  }

  /** Resolves to the value of the work, which was decided on the present account, once its changes are stored. */
  run<Value>(incarnation: number, work: AccountWork<Value>): Promise<Value | typeof GONE> {
    return new Promise((resolve, reject) => {
      const task: LaneTask = { work, resolve: resolve as (value: unknown) => void, reject }
      const lane = this.#lanes.get(incarnation)
      if (lane !== undefined) return void lane.push(task)
      this.#lanes.set(incarnation, [task])
      void this.#drain(incarnation)
    })
  }

  async #drain(incarnation: number): Promise<void> {
    for (;;) {
      const lane = this.#lanes.get(incarnation) ?? []
      const tasks = lane.splice(0, BATCH)
      if (tasks.length === 0) break
      await this.#settle(incarnation, tasks)
    }
    this.#lanes.delete(incarnation)
  }

  /** Does all of the tasks. A write that fails as a whole for one of them is done for each of them alone. */
  async #settle(incarnation: number, tasks: readonly LaneTask[]): Promise<void> {
    let left = tasks
    try {
      while (left.length > 0) left = await this.#attempt(incarnation, left)
    } catch (error) {
      const isOfOne = error instanceof StoreError && (error.problem === 'taken' || error.problem === 'out-of-memory')
      if (isOfOne && left.length > 1) for (const task of left) await this.#settle(incarnation, [task])
      else for (const { reject } of left) reject(error)
    }
  }

  /** Does some of the tasks in one step of the store, and returns those that are left. */
  async #attempt(incarnation: number, tasks: readonly LaneTask[]): Promise<readonly LaneTask[]> {
    const { copies, connection, prefix, clock } = this.#options
    let isPresent = false
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const copy = copies.get(incarnation)
      const step = copy && decide(copy, tasks, Math.max(clock(), copy.real))
      const isRead = step === undefined || isUnchanged(step, copy as AccountCopy)
      // The store has just told the account as it is.
      if (step !== undefined && isRead && isPresent) return finish(step, tasks)
      const isCount = step !== undefined && step.after.version === copy?.version && step.keeps === undefined
      const turn = [this.#server, attempt >= PATIENCE ? '1' : '0']
      const args = step === undefined ? unknown(incarnation, turn) : write(copy as AccountCopy, step, turn)
      const reply = await connection.run(isCount ? 'count' : 'cas', prefix, args, { isRepeatable: isRead })
      const [outcome, ...rest] = reply as [string, ...string[]]
      if (outcome === 'taken') throw takenKey((step as LaneStep).after.state, rest)
      if (outcome === 'gone') {
        copies.forget(incarnation)
        for (const { resolve } of tasks) resolve(GONE)
        return []
      }
      if (outcome === 'ok' && step !== undefined) {
        copies.set({ ...step.after, counted: isCounted(step, copy as AccountCopy) ? `${rest[0]}` : step.after.counted })
        return finish(step, tasks)
      }
      isPresent = outcome === 'stale'
      if (isPresent) copies.set(this.#read(incarnation, copy, rest))
      else await pause(PAUSE)
    }
    const account = copies.get(incarnation)?.state.id
    throw new StoreError('unavailable', `Other servers change the account "${account}" faster than this one can`)
  }

  /** The account in the reply of the store, which tells only what the copy lacks. */
  #read(incarnation: number, copy: AccountCopy | undefined, reply: readonly string[]): AccountCopy {
    const [, version = '', counted = '', real = '', state = '', counters = '', snapshots = ''] = reply
    return {
      incarnation,
      version: Number(version),
      counted,
      real: Number(real),
      size: state === '' && copy ? copy.size : state.length,
      state: state === '' && copy ? copy.state : readState(state, this.#options.settings),
      counters: counters === '' && copy ? copy.counters : readCounters(counters),
      snapshots: snapshots === '' && copy ? copy.snapshots : JSON.parse(snapshots),
    }
  }
}

/** Tells the callers what their tasks have come to, and returns the tasks that are left. */
function finish({ done }: LaneStep, tasks: readonly LaneTask[]): readonly LaneTask[] {
  for (const { task, value, error } of done) error === undefined ? task.resolve(value) : task.reject(error)
  return tasks.slice(done.length)
}

function decide(copy: AccountCopy, tasks: readonly LaneTask[], real: number): LaneStep {
  let after: AccountCopy = copy
  const back: string[] = []
  const done: LaneStep['done'][number][] = []
  let [keeps, drops]: (number | undefined)[] = []
  let [isUse, isChange, isOfState] = [false, false, true]
  for (const task of tasks) {
    try {
      const outcome = task.work(after, real)
      const { state = after.state, counters = after.counters, snapshots = after.snapshots } = outcome
      if (state !== after.state) back.push(patchBack(state, after.state))
      after = { ...after, state, counters, snapshots, real, version: copy.version + back.length }
      isUse ||= outcome.isUse === true || outcome.isChange === true
      isChange ||= outcome.isChange === true
      isOfState &&= outcome.isOfState === true && counters === copy.counters
      ;({ keeps, drops } = outcome)
      done.push({ task, value: outcome.value })
    } catch (error) {
      done.push({ task, error })
    }
    // The store keeps the account as this step leaves it.
    if (keeps !== undefined || drops !== undefined) break
  }
  return { after, back, done, keeps, drops, isUse, isChange, isOfState }
}

function isUnchanged({ after, isUse }: LaneStep, copy: AccountCopy): boolean {
  return after.state === copy.state && after.counters === copy.counters && after.snapshots === copy.snapshots && !isUse
}

/** Whether the counters or the snapshots are others. */
function isCounted({ after }: LaneStep, copy: AccountCopy): boolean {
  return after.counters !== copy.counters || after.snapshots !== copy.snapshots
}

/** The arguments of the script `cas`. */
function write(copy: AccountCopy, step: LaneStep, turn: readonly string[]): string[] {
  const { after, back, keeps, drops, isUse, isChange, isOfState } = step
  const state = after.state === copy.state ? '' : writeState(after.state)
  if (state !== '') step.after = { ...after, size: state.length }
  return [
    ...[`${copy.incarnation}`, `${copy.version}`, copy.counted, isOfState ? '0' : '1', `${after.real}`],
    ...[state, `${after.version}`],
    after.counters === copy.counters ? '' : writeCounters(after.counters),
    after.snapshots === copy.snapshots ? '' : JSON.stringify(after.snapshots),
    after.state.keys === copy.state.keys ? '' : writeHashes(after.state),
    ...[isChange ? '1' : '0', isUse ? '1' : '0', `${keeps ?? ''}`, `${drops ?? ''}`],
    ...turn,
    ...back,
  ]
}

/** The arguments that fetch an account that this process does not know. */
function unknown(incarnation: number, turn: readonly string[]): string[] {
  return [`${incarnation}`, '', '', '0', '0', '', '', '', '', '', '0', '0', '', '', ...turn]
}

/** The hashes of the keys of an account as JSON. */
export function writeHashes({ keys }: Pick<AccountState, 'keys'>): string {
  return JSON.stringify(keys.map(({ hash }) => hash))
}

/** The refusal of an account because another one has its key. The reply has the hash of the key, and the id of the other. */
export function takenKey({ keys }: Pick<AccountState, 'keys'>, [hash, owner = '']: readonly string[]): StoreError {
  const key = keys.find((each) => each.hash === hash)
  return new StoreError('taken', `The key "${key?.id}" belongs to the account "${readId(owner)}" already`)
}

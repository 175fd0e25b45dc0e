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

/** What stands for an account that does not exist any more. */
export const GONE = Symbol('gone')

/** What work on an account changes. An absent part stays as it is. */
export interface WorkResult<Value> extends Change<Value> {
  snapshots?: readonly SnapshotRecord[]
  /** The number of the snapshot to keep of the account as it is now, and of the one to drop. */
  keeps?: number
  drops?: number | undefined
  /** Whether it counts as a use of the account, and whether as a change. */
  isUse?: boolean
  isChange?: boolean
  /** Whether it depends on the state alone, so that requests may be counted meanwhile. */
  isOfState?: boolean
}

/** Work on an account. It is pure, because it is done again if another process was faster. */
type AccountWork<Value> = (account: AccountCopy, real: number) => WorkResult<Value>

export interface LaneOptions {
  connection: StoreConnection
  prefix: string
  settings: Pick<Settings, 'nameComparison'>
  copies: Copies
  /** The time of the store. */
  clock(): number
}

/**
 * Does the work on accounts: decides on the copy of this process, and writes if the copy is the present account. The work
 * of this process on one account is done one after the other.
 */
export class AccountLanes {
  readonly #options: LaneOptions
  /** Names this process among those that share the store. */
  readonly #server = nameInstance()
  /** The ends of the work so far, by incarnation. */
  readonly #lanes = new Map<number, Promise<unknown>>()

  constructor(options: LaneOptions) {
    this.#options = options
  }

  /** Resolves to the value of the work, which was decided on the present account, once its changes are stored. */
  run<Value>(incarnation: number, work: AccountWork<Value>): Promise<Value | typeof GONE> {
    const done = (this.#lanes.get(incarnation) ?? Promise.resolve()).then(() => this.#do(incarnation, work))
    const ended = done
      .catch(() => {})
      .then(() => {
        if (this.#lanes.get(incarnation) === ended) this.#lanes.delete(incarnation)
      })
    this.#lanes.set(incarnation, ended)
    return done
  }

  async #do<Value>(incarnation: number, work: AccountWork<Value>): Promise<Value | typeof GONE> {
    const { copies, connection, prefix, clock } = this.#options
    let isPresent = false
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const copy = copies.get(incarnation)
      const step = copy && decide(copy, work, Math.max(clock(), copy.real))
      // The store has just told the account as it is.
      if (step?.isRead === true && isPresent) return step.conclude()
      const turn = [this.#server, attempt >= PATIENCE ? '1' : '0']
      const args = [...(step?.args ?? unknownArguments(incarnation)), ...turn]
      const isRepeatable = step === undefined || step.isRead
      const [outcome, ...rest] = (await connection.run(step?.isCount ? 'count' : 'cas', prefix, args, {
        isRepeatable,
      })) as [string, ...string[]]
      if (outcome === 'gone') {
        copies.forget(incarnation)
        return GONE
      }
      if (step !== undefined && outcome === 'taken') throw takenKey(step.after.state, rest)
      if (step !== undefined && outcome === 'ok') {
        // Counts of others that this process has not seen are told it later.
        copies.set(step.isCounted ? { ...step.after, counted: `${rest[0]}` } : step.after)
        return step.conclude()
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

/** What work makes of an account, and how the store is asked for it. */
interface Step<Value> {
  after: AccountCopy
  /** Whether nothing changes, and whether the state stays, so that the store needs no more memory. */
  isRead: boolean
  isCount: boolean
  /** Whether the counters or the snapshots are others. */
  isCounted: boolean
  /** The arguments of the script `cas`. */
  args: string[]
  /** The value of the work. @throws what the work has thrown */
  conclude(): Value
}

function decide<Value>(copy: AccountCopy, work: AccountWork<Value>, real: number): Step<Value> {
  let result: Partial<WorkResult<Value>> = {}
  let conclude = () => result.value as Value
  try {
    result = work(copy, real)
  } catch (error) {
    conclude = () => {
      throw error
    }
  }
  const { state = copy.state, counters = copy.counters, snapshots = copy.snapshots, keeps, drops } = result
  const { isUse = false, isChange = false, isOfState = false } = result
  const is = {
    state: state !== copy.state,
    counters: counters !== copy.counters,
    snapshots: snapshots !== copy.snapshots,
  }
  const text = is.state ? writeState(state) : ''
  return {
    after: {
      ...{ ...copy, state, counters, snapshots, real },
      ...(is.state && { version: copy.version + 1, size: text.length }),
    },
    isRead: !(is.state || is.counters || is.snapshots || isUse),
    isCount: !is.state && keeps === undefined,
    isCounted: is.counters || is.snapshots,
    args: [
      ...[`${copy.incarnation}`, `${copy.version}`, copy.counted, isOfState && !is.counters ? '0' : '1', `${real}`],
      ...[text, is.state ? patchBack(state, copy.state) : ''],
      is.counters ? writeCounters(counters) : '',
      is.snapshots ? JSON.stringify(snapshots) : '',
      state.keys === copy.state.keys ? '' : writeHashes(state),
      ...[isChange ? '1' : '0', isUse || isChange ? '1' : '0', `${keeps ?? ''}`, `${drops ?? ''}`],
    ],
    conclude,
  }
}

/** The arguments that fetch an account that this process does not know. */
function unknownArguments(incarnation: number): string[] {
  return [`${incarnation}`, '', '', '0', '0', '', '', '', '', '', '0', '0', '', '']
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

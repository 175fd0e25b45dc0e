import { isDeepStrictEqual } from 'node:util'
import type { AccountState } from '../../domain/account.ts'
import { type Counters, NO_COUNTERS } from '../../domain/counting.ts'
import type { Decision, ErrorCode } from '../../domain/errors.ts'
import type { Clock } from '../../ground/clock.ts'
import type { ServiceStore } from '../../service/gate.ts'
import type { Account, Change } from '../../store/store.ts'
import { areSameStates } from './answer.ts'
import { findOwner, type RecordedRequest } from './recording.ts'

/** An account whose initial state differs from the recorded one. */
export interface OtherWorld {
  /** The recorded state for the next request to the account. */
  recorded: AccountState
  /** The state that the request gets instead. */
  own: AccountState
}

/**
 * A store with the accounts in the state that one recorded request found. A change by a request is not visible to the
 * next request. The counters are an exception: under another contract, other requests may count, or under other names.
 * An account with a different initial state keeps its own changes.
 */
export class RecordedStore implements ServiceStore {
  /** The account after the last request; absent if the request accepted no change. */
  after: AccountState | undefined
  /** Whether the control plane has changed an account with a different initial state, so that its state is unknown. */
  isLost = false
  #request: RecordedRequest | undefined
  readonly #worlds: Map<string, OtherWorld>
  readonly #default: AccountState
  readonly #counters = new Map<string, Counters>()
  /** The request whose counters were compared last. */
  #entered: RecordedRequest | undefined
  /** The requests whose counters were set from outside. The run under the contract of the recording finds them. */
  readonly #recounted: Set<RecordedRequest>
  readonly #finds: boolean
  readonly #clock: Clock

  /** `finds`: whether this run adds to `recounted`. The other runs only read it. */
  constructor(
    clock: Clock,
    anyAccount: AccountState,
    recounted: Set<RecordedRequest>,
    finds: boolean,
    beginnings: ReadonlyMap<string, OtherWorld> = new Map(),
  ) {
    this.#clock = clock
    this.#worlds = new Map(beginnings)
    this.#default = anyAccount
    this.#recounted = recounted
    this.#finds = finds
  }

  /** Shows the accounts in the state that this request found. */
  show(request: RecordedRequest): void {
    this.#keepChange()
    this.#request = request
    this.after = undefined
    const account = request.past?.account
    const world = account && this.#worlds.get(account.id)
    if (world !== undefined && !areSameStates(world.recorded, account)) this.isLost = true
  }

  /** Keeps the change by the last request to an account with a different initial state. */
  #keepChange(): void {
    const { past } = this.#request ?? {}
    const world = past && this.#worlds.get(past.account.id)
    if (past === undefined || world === undefined) return
    this.#worlds.set(past.account.id, { recorded: past.after ?? past.account, own: this.after ?? world.own })
  }

  enter<Value>(
    keyHash: string,
    admit: (account: Account, real: number) => { counters: Counters; value: Value },
  ): Value | undefined {
    if (this.#request === undefined) return undefined
    const found = findOwner(this.#request, keyHash)
    const account = found && (this.#worlds.get(found.id)?.own ?? found)
    if (account === undefined) return undefined
    const before = this.#countersFor(account, this.#request)
    const { counters, value } = admit(presentAccount(account, before), this.#clock())
    this.#counters.set(account.id, counters)
    return value
  }

  #countersFor({ id }: AccountState, request: RecordedRequest): Counters {
    const known = this.#counters.get(id)
    const own = request.past?.account.id === id ? request.past.counters : undefined
    if (known === undefined || own === undefined) return known ?? own ?? NO_COUNTERS
    // The refund of a request enters its account again.
    if (this.#entered === request) return known
    this.#entered = request
    // If the control plane has changed the counters, they continue from its values.
    if (this.#finds && isRecounted(known, own)) this.#recounted.add(request)
    // The number also names the request.
    return this.#recounted.has(request) ? own : { ...known, requests: own.requests }
  }

  update<Value, Code extends string = ErrorCode>(
    accountId: string,
    decide: (state: AccountState, version: number) => Decision<AccountState, Value, Code>,
  ): Decision<AccountState, Value, Code> {
    const decision = decide(this.#stateOf(accountId), 0)
    if (decision.ok) this.after = decision.state
    return decision
  }

  transact<Value>(accountId: string, change: (account: Account, real: number) => Change<Value>): Value {
    const present = this.#counters.get(accountId)
    if (present === undefined) throw new Error(`The account "${accountId}" was not entered.`)
    const account = presentAccount(this.#stateOf(accountId), present)
    const { state, counters = present, value } = change(account, this.#clock())
    if (state !== undefined) this.after = state
    this.#counters.set(accountId, counters)
    return value
  }

  #stateOf(accountId: string): AccountState {
    const { past, others = [] } = this.#request ?? {}
    const found = past?.account.id === accountId ? past.account : others.find(({ id }) => id === accountId)
    return this.#worlds.get(accountId)?.own ?? found ?? this.#default
  }
}

/** An account as a store has it. */
function presentAccount(state: AccountState, counters: Counters): Account {
  return { state, counters, incarnation: 1, version: 0 }
}

/** Whether the quotas of an account, or the counters of its fault rules, were set from outside. */
function isRecounted(known: Counters, own: Counters): boolean {
  const countsOf = ({ quotas, tallies }: Counters) => [quotas.toArray(), tallies.toArray()]
  return !isDeepStrictEqual(countsOf(known), countsOf(own))
}

import type { AccountState } from '../../domain/account.ts'
import { type Counting, type CountingPlan, refundCharge } from '../../domain/counting.ts'
import type { Decision, ErrorCode } from '../../domain/errors.ts'
import { PersistentMap } from '../../domain/persistent-map.ts'
import type { Hits } from '../../domain/quotas.ts'
import type { Past } from '../../journal/entry.ts'
import type { ServiceStore } from '../../service/gate.ts'
import { enterAccount } from '../../store/admission.ts'
import type { Admission, Incarnate, Visitor } from '../../store/store.ts'
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
  readonly #counting = new Map<string, Counting>()
  /** The requests whose counters were set from outside. The run under the contract of the recording finds them. */
  readonly #recounted: Set<RecordedRequest>
  readonly #finds: boolean

  /** `finds`: whether this run adds to `recounted`. The other runs only read it. */
  constructor(
    anyAccount: AccountState,
    recounted: Set<RecordedRequest>,
    finds: boolean,
    beginnings: ReadonlyMap<string, OtherWorld> = new Map(),
  ) {
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
    const { past, entry } = this.#request ?? {}
    const world = past && this.#worlds.get(past.account.id)
    if (past === undefined || world === undefined) return
    this.#worlds.set(past.account.id, { recorded: entry?.after ?? past.account, own: this.after ?? world.own })
  }

  enter<Request, Plan extends CountingPlan, Value extends object>(
    keyHash: string,
    admission: Admission<Request, Plan, Value>,
    request: Request,
  ): Value | undefined {
    if (this.#request === undefined) return undefined
    const found = findOwner(this.#request, keyHash)
    const account = found && (this.#worlds.get(found.id)?.own ?? found)
    if (account === undefined) return undefined
    return admission.conclude(
      request,
      enterAccount(account, this.#countingFor(account, this.#request), admission, request),
    )
  }

  refund({ id }: Incarnate, bucket: string, startedAt: number): Hits | undefined {
    const counting = this.#counting.get(id)
    return counting && refundCharge(counting, bucket, startedAt)
  }

  #countingFor({ id }: AccountState, request: RecordedRequest): Counting {
    const { past } = request
    const known = this.#counting.get(id)
    const own = past?.account.id === id ? past : undefined
    if (known !== undefined && own === undefined) return known
    if (known !== undefined && own !== undefined) {
      // If the control plane has changed the counters, they continue from its values.
      if (this.#finds && isRecounted(known, own)) this.#recounted.add(request)
      // The number also names the request.
      known.requests = own.requests
      if (!this.#recounted.has(request)) return known
    }
    const counting: Counting =
      own === undefined
        ? { quotas: PersistentMap.of(), tallies: PersistentMap.of(), requests: 0 }
        : { quotas: own.quotas, tallies: own.tallies, requests: own.requests }
    this.#counting.set(id, counting)
    return counting
  }

  update<Value, Code extends string = ErrorCode>(
    accountId: string,
    decide: (state: AccountState) => Decision<AccountState, Value, Code>,
  ): Decision<AccountState, Value, Code> {
    const decision = decide(this.#stateOf(accountId))
    if (decision.ok) this.after = decision.state
    return decision
  }

  async count<Value>(accountId: string, visit: Visitor<Value>): Promise<Value> {
    const counting = this.#counting.get(accountId)
    if (counting === undefined) throw new Error(`The account "${accountId}" was not entered.`)
    return visit(this.#stateOf(accountId), counting, 1)
  }

  #stateOf(accountId: string): AccountState {
    const { past, others = [] } = this.#request ?? {}
    const found = past?.account.id === accountId ? past.account : others.find(({ id }) => id === accountId)
    return this.#worlds.get(accountId)?.own ?? found ?? this.#default
  }
}

/** Whether the quota of a request, or the counters of fault rules, were set from outside. */
function isRecounted(known: Counting, { bucket, hits, tallies }: Past): boolean {
  if (bucket !== undefined) {
    const own = known.quotas.get(bucket)
    if (own?.used !== hits?.used || own?.startedAt !== hits?.startedAt) return true
  }
  if (known.tallies.size !== tallies.size) return true
  for (const [id, tally] of tallies.entries()) {
    const own = known.tallies.get(id)
    if (own?.matched !== tally.matched || own.hits !== tally.hits) return true
  }
  return false
}

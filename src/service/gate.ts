import type { History, Worlds } from '../accounts/worlds.ts'
import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { AccountState } from '../domain/account.ts'
import { timeOn } from '../domain/clock.ts'
import { type Counting, chargeBucket, countRequest, countStrike } from '../domain/counting.ts'
import { type Refusal, refuse } from '../domain/errors.ts'
import type { FaultStrike } from '../domain/faults.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import { type ApiKey, isInGrace } from '../domain/keys.ts'
import { includesApiAccess } from '../domain/plans.ts'
import { type Allowance, bucketOf, limitOf } from '../domain/quotas.ts'
import type { Settings } from '../domain/settings.ts'
import { drawFor, targetOf } from '../faults/strike.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import type { Clock } from '../ground/clock.ts'
import { memoize } from '../ground/memo.ts'
import { hashKey } from '../ground/secrets.ts'
import type { Store, Visitor } from '../store/store.ts'

/** Who asks, and when by the clock of their account. */
export interface Caller {
  account: AccountState
  key: ApiKey
  /** Milliseconds since the Unix epoch. */
  now: number
  /** Where the request is recorded. */
  history: History
}

export interface GateDeps {
  contract: Contract
  store: Store
  clock: Clock
  worlds: Worlds
  /** Whether a request over its quota is refused. */
  enforceQuotas: boolean
}

/** What the gate asks of a request. */
export interface Visit {
  authorization: string | undefined
  method: string
  /** Absent for a path or a method that the service has not. */
  operation: Operation | undefined
  /** Whether the account's fault rules may strike it. */
  strikable: boolean
}

/** What becomes of a request at the gate. */
export interface Admission {
  refusal: Refusal | undefined
  caller: Caller | undefined
  /** Whose disabled key it carries. */
  holder: Caller | undefined
  /** How many requests the account was asked, this one included. */
  ordinal: number
  allowance: Allowance | undefined
  strike: FaultStrike | undefined
}

const EXACT_SCHEME = /^Bearer (\S+)$/
const ANY_CASE_SCHEME = /^Bearer (\S+)$/i
const STRANGER: Admission = {
  refusal: refuse({ code: 'unauthorized' }),
  caller: undefined,
  holder: undefined,
  ordinal: 0,
  allowance: undefined,
  strike: undefined,
}

interface Memory extends GateDeps {
  buckets: Buckets
}

/** The secret of a request, and its hash. */
interface PresentedKey {
  secret: string
  hash: string
}

/** Lets a request in, or not. */
export type Gate = (visit: Visit) => Awaitable<Admission>

/**
 * Key, plan and quota, in the order that `x-settings` says, and what is counted on the way.
 * Source: "Every request carries the header `Authorization: Bearer <API_KEY>`."
 */
export function createGate(deps: GateDeps): Gate {
  const { contract, store, worlds } = deps
  const memory: Memory = { ...deps, buckets: new WeakMap() }
  const scheme = contract.settings.authorizationScheme === 'exact' ? EXACT_SCHEME : ANY_CASE_SCHEME
  // Each request presents a key; a guess of a megabyte is not worth remembering.
  const readKey = memoize(
    (authorization): PresentedKey | undefined => {
      const secret = scheme.exec(authorization)?.[1]
      return secret === undefined ? undefined : { secret, hash: hashKey(secret) }
    },
    { limit: 10_000, longest: 200 },
  )

  return function admit(visit) {
    const presented = visit.authorization === undefined ? undefined : readKey(visit.authorization)
    if (presented === undefined) return STRANGER
    const { hash } = presented
    // All in one visit to the store, so that nothing comes between, and nobody waits more than once.
    const enter: Visitor<Admission> = (account, counting, incarnation) =>
      admitTo(account, counting, worlds.historyOf(account.id, incarnation), hash, visit, memory)
    const admission = store.enter(hash, enter)
    if (admission !== undefined && !(admission instanceof Promise)) return admission
    return admitLater(admission, presented, enter, deps)
  }
}

/** Where the store takes its time, or the key opens an account. */
async function admitLater(
  first: Promise<Admission | undefined> | undefined,
  { secret, hash }: PresentedKey,
  enter: Visitor<Admission>,
  { worlds, store }: GateDeps,
): Promise<Admission> {
  const admission = await first
  if (admission !== undefined) return admission
  return (await worlds.openSandbox(secret)) === undefined ? STRANGER : ((await store.enter(hash, enter)) ?? STRANGER)
}

function admitTo(
  account: AccountState,
  counting: Counting,
  history: History,
  hash: string,
  visit: Visit,
  deps: Memory,
): Admission {
  const { contract, clock } = deps
  const { operation, method, strikable } = visit
  const key = account.keys.find((each) => each.hash === hash)
  if (key === undefined) return STRANGER
  const caller = { account, key, now: timeOn(account.clock, clock()), history }
  if (key.disabled) return { ...STRANGER, holder: caller }
  const admission: Admission = {
    refusal: undefined,
    caller,
    holder: undefined,
    ordinal: countRequest(counting),
    allowance: undefined,
    strike: undefined,
  }
  if (operation === undefined) return admission
  for (const check of contract.settings.gateOrder) {
    const refusal =
      check === 'plan'
        ? checkPlan(account, contract)
        : check === 'quota'
          ? charge(admission, caller, counting, operation, deps)
          : undefined
    if (refusal) {
      admission.refusal = refusal
      return admission
    }
  }
  if (strikable && account.faults.length > 0) {
    const target = targetOf(operation, method, key)
    admission.strike = countStrike(counting, account.faults, target, caller.now, drawFor(account))
  }
  return admission
}

/** Source: "API access is limited to the plan tier named Stone and higher tiers." */
function checkPlan({ plan }: AccountState, { settings: { plans } }: Contract): Refusal | undefined {
  if (includesApiAccess(plan, plans)) return undefined
  return refuse({ code: 'unauthorized', reason: 'plan', value: plan, about: { plan, lowest: plans.lowest } })
}

/** Charges the request to the quota of its path, if that has one. */
function charge(
  admission: Admission,
  { key, now }: Caller,
  counting: Counting,
  { quota, path }: Operation,
  { contract, enforceQuotas, buckets }: Memory,
): Refusal | undefined {
  if (quota === undefined) return undefined
  const { quotaScope, quotaWindow, gracePeriod } = contract.settings
  const limit = limitOf(quota, isInGrace(key, now, gracePeriod))
  const terms = { limit, window: quota.window, start: quotaWindow, enforced: enforceQuotas }
  const allowance = chargeBucket(counting, rememberBucket(buckets, key, path, quotaScope), terms, now)
  admission.allowance = allowance
  return allowance.allowed ? undefined : rateLimited(allowance, path)
}

/** The names of a key's quotas by path. */
type Buckets = WeakMap<ApiKey, Map<string, string>>

/** `bucketOf`: to put the name together, and to find what has it, takes longer than to count the request. */
function rememberBucket(buckets: Buckets, key: ApiKey, path: string, scope: Settings['quotaScope']): string {
  let ofKey = buckets.get(key)
  if (ofKey === undefined) {
    ofKey = new Map()
    buckets.set(key, ofKey)
  }
  let bucket = ofKey.get(path)
  if (bucket === undefined) {
    bucket = bucketOf(key.hash, path, scope)
    ofKey.set(path, bucket)
  }
  return bucket
}

function rateLimited({ limit, resetAt }: Allowance, path: string): Refusal {
  const until = writeInstant(resetAt * 1000)
  return refuse({ code: 'rate_limited', about: { limit, path, until } })
}

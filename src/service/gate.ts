import type { AccountHistory } from '../accounts/exchange-log.ts'
import type { Worlds } from '../accounts/worlds.ts'
import {
  chargeFor,
  decideAdmission,
  findKey,
  type GateDecision,
  type GateRequest,
  type GateTerms,
  type Principal,
  presentedSecretIn,
  secretIn,
  tellRefund,
  tellsUncharged,
  UNKNOWN_KEY,
  untouchedQuota,
} from '../behaviour/gate.ts'
import { longestWindow, type Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { timeOn } from '../domain/clock.ts'
import { type Counters, refundCharge } from '../domain/counting.ts'
import type { ApiKey } from '../domain/keys.ts'
import type { Allowance } from '../domain/quotas.ts'
import { type Awaitable, attempt, whenReady } from '../ground/awaitable.ts'
import type { Clock } from '../ground/clock.ts'
import { memoize, memoizeWeakly } from '../ground/memo.ts'
import { hashKey } from '../ground/secrets.ts'
import type { Past } from '../journal/entry.ts'
import type { Account, Moment, Store } from '../store/store.ts'
import type { Admitted, Routed } from './stages.ts'

/** The methods of the store that the service uses. */
export type ServiceStore = Pick<Store, 'enter' | 'update' | 'transact'>

/** The methods of the worlds that the service uses. `openSandbox` is absent if no unknown key opens an account. */
type ServiceWorlds = Pick<Worlds, 'journal' | 'historyOf'> & Partial<Pick<Worlds, 'openSandbox'>>

export interface GateDeps {
  contract: Contract
  store: ServiceStore
  clock: Clock
  worlds: ServiceWorlds
  /** Whether a request over its quota is refused. */
  enforceQuotas: boolean
  /** The hash of a key. */
  hashOf?: ((secret: string) => string) | undefined
}

/** How often a sandbox is opened for one request. */
const ATTEMPTS = 3

/** The secret of a request, and its hash. */
interface PresentedKey {
  secret: string
  hash: string
}

/** A request with a key that the service can read. */
interface KeyedRequest extends GateRequest {
  presented: PresentedKey
  routed: Routed
}

/** The gate's decision about a request, and where the request is recorded. */
export interface GateResult {
  decision: GateDecision
  /** The principal whose key the request presents, if it was refused before the key counted. */
  owner: Principal | undefined
  /** Where the request is recorded; absent if its key belongs to no account. */
  history: AccountHistory | undefined
  /** What the request found in its account, and its name in the store. */
  before: Past | undefined
  moment: Moment | undefined
}

/** The result of a request whose key belongs to no account. */
const NO_ACCOUNT: GateResult = {
  decision: UNKNOWN_KEY,
  owner: undefined,
  history: undefined,
  before: undefined,
  moment: undefined,
}

/**
 * Creates what lets requests enter their accounts. It finds the key of a request and gives `behaviour/gate.ts` to the
 * store. Source: "Every request carries the header `Authorization: Bearer <API_KEY>`."
 */
export function createGate({ contract, store, clock, worlds, enforceQuotas, hashOf = hashKey }: GateDeps) {
  const { settings } = contract
  const charging = { settings, enforceQuotas }
  const terms: GateTerms = {
    ...charging,
    longestWindow: 1000 * longestWindow(contract),
    chargeFor: memoizeCharges(charging),
  }
  /** The decision about a request without an account; no store access, no count. */
  const admitAnonymously: (routed: Routed) => GateResult =
    settings.quotaHeaders === 'any-request' ? tellUntouched : () => NO_ACCOUNT
  const readKey = createKeyReader((authorization) => secretIn(authorization, settings), hashOf)
  const readPresentedKey = createKeyReader(presentedSecretIn, hashOf)

  /** Decides whether a request is admitted, and counts it. `meetsFaults`: whether fault rules may act on it. */
  function admit(routed: Routed, meetsFaults: boolean): Awaitable<GateResult> {
    const { method = '', headers } = routed.request
    const { authorization } = headers
    const presented = authorization === undefined ? undefined : readKey(authorization)
    if (presented === undefined) return identify(routed)
    const { operation, neighbour } = routed
    const request = { keyHash: presented.hash, method, operation, neighbour, meetsFaults, presented, routed }
    // One call of the store does everything: no change can come in between, and a request waits at most once.
    const result = store.enter(presented.hash, admitting(request))
    if (result !== undefined && !(result instanceof Promise)) return result
    if (result === undefined && worlds.openSandbox === undefined) return admitAnonymously(routed)
    return admitLater(result, request)
  }

  /**
   * The result of a request that is refused whatever its account is. Nothing is counted and no sandbox is opened; the
   * account of the presented key only gets the request into its journal. So a store that fails is no obstacle.
   */
  function identify(routed: Routed): Awaitable<GateResult> {
    const { authorization } = routed.request.headers
    const presented = authorization === undefined ? undefined : readPresentedKey(authorization)
    const anonymous = admitAnonymously(routed)
    if (presented === undefined) return anonymous
    return attempt<GateResult>(
      () => {
        const found = store.enter(presented.hash, (account, real) => identifyIn(account, real, presented, anonymous))
        return whenReady(found, (result) => result ?? anonymous)
      },
      () => anonymous,
    )
  }

  function identifyIn(found: Account, real: number, presented: PresentedKey, anonymous: GateResult) {
    const { state: account, counters } = found
    const key = findKey(account, presented.hash)
    if (key === undefined) return { counters, value: anonymous }
    const owner = { account, key, now: timeOn(account.clock, real) }
    return { counters, value: { ...anonymous, owner, ...placeIn(found) } }
  }

  /** Where the request is recorded, and what it found there. */
  function placeIn({ state: account, counters, incarnation, version }: Account) {
    return {
      history: worlds.historyOf(account.id, incarnation),
      before: { account, counters },
      moment: { incarnation, version },
    }
  }

  function tellUntouched(routed: Routed): GateResult {
    return { ...NO_ACCOUNT, decision: { ...UNKNOWN_KEY, unspent: untouchedQuota(routed, clock(), settings) } }
  }

  /**
   * Takes back the charge of an admitted request. Returns the remaining quota, if the request was charged. Like the
   * charge, this is stored later: the answer does not wait for it.
   */
  function refund({ operation, principal, moment, allowance, charged }: Admitted): Awaitable<Allowance | undefined> {
    if (allowance === undefined || charged === undefined) return undefined
    const left = store.enter(principal.key.hash, ({ counters, incarnation }) => {
      const isSame = incarnation === moment?.incarnation
      const refunded = isSame ? refundCharge(counters, charged.bucket, charged.startedAt) : undefined
      return { counters: refunded?.counters ?? counters, value: { hits: refunded?.hits } }
    })
    return whenReady(left, (found) => tellRefund(operation, allowance, found?.hits))
  }

  function admitting(request: KeyedRequest) {
    return (account: Account, real: number): { counters: Counters; value: GateResult } => {
      const { routed } = request
      const now = timeOn(account.state.clock, real)
      const { decision, counters } = decideAdmission(request, account.state, account.counters, now, terms)
      if (decision === UNKNOWN_KEY) return { counters, value: admitAnonymously(routed) }
      return { counters, value: { decision, owner: undefined, ...placeIn(account) } }
    }
  }

  /** Used if the store has to wait, or the key opens a sandbox. */
  async function admitLater(
    first: Promise<GateResult | undefined> | undefined,
    request: KeyedRequest,
  ): Promise<GateResult> {
    const { presented, routed } = request
    const result = await first
    if (result !== undefined) return result
    // The new sandbox may be evicted for another one before the request enters it.
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if ((await worlds.openSandbox?.(presented.secret)) === undefined) break
      const opened = await store.enter(presented.hash, admitting(request))
      if (opened !== undefined) return opened
    }
    return admitAnonymously(routed)
  }

  return {
    ...{ admit, admitAnonymously, identify, refund },
    /** Whether responses show uncharged quotas, so that the key matters even for a wrong method. */
    tellsUncharged: tellsUncharged(settings),
  }
}

/** Creates the function that reads the key in a field Authorization; `undefined` if there is none. */
function createKeyReader(
  secretOf: (authorization: string) => string | undefined,
  hashOf: (secret: string) => string,
): (authorization: string) => PresentedKey | undefined {
  // Clients repeat a few keys. A guessed key of a megabyte is not worth caching.
  return memoize(
    (authorization) => {
      const secret = secretOf(authorization)
      return secret === undefined ? undefined : { secret, hash: hashOf(secret) }
    },
    { limit: 10_000, longest: 200 },
  )
}

/** `chargeFor` with a cache: to make the charge takes longer than to count the request. */
function memoizeCharges(charging: Pick<GateTerms, 'settings' | 'enforceQuotas'>): GateTerms['chargeFor'] {
  const chargesOf = memoizeWeakly((key: ApiKey) =>
    memoizeWeakly((operation: Operation) => chargeFor(key, operation, charging)),
  )
  return (key, operation) => chargesOf(key)(operation)
}

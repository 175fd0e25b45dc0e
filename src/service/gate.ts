import type { AccountHistory } from '../accounts/exchange-log.ts'
import type { Worlds } from '../accounts/worlds.ts'
import {
  type AdmissionPlan,
  chargeFor,
  concludeAdmission,
  type GateDecision,
  type GateRequest,
  type GateTerms,
  type Principal,
  planAdmission,
  planUnadmitted,
  presentedSecretIn,
  secretIn,
  tellRefund,
  tellsUncharged,
  UNKNOWN_KEY,
  untouchedQuota,
} from '../behaviour/gate.ts'
import { longestWindow, type Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { AccountState } from '../domain/account.ts'
import { timeOn } from '../domain/clock.ts'
import type { Counting } from '../domain/counting.ts'
import type { ApiKey } from '../domain/keys.ts'
import type { Allowance, Hits } from '../domain/quotas.ts'
import { type Awaitable, attempt, whenReady } from '../ground/awaitable.ts'
import type { Clock } from '../ground/clock.ts'
import { memoize, memoizeWeakly } from '../ground/memo.ts'
import { hashKey } from '../ground/secrets.ts'
import type { Past } from '../journal/entry.ts'
import { hasKeyForm } from '../journal/redaction/key-shapes.ts'
import type { Admission, Moment, Store } from '../store/store.ts'
import type { Admitted, Routed } from './stages.ts'

/** The methods of the store that the service uses. */
export type ServiceStore = Pick<Store, 'enter' | 'refund' | 'update' | 'count'>

/** The methods of the worlds that the service uses. `openSandbox` is absent if no unknown key opens an account. */
type ServiceWorlds = Pick<Worlds, 'journal' | 'meetKey' | 'historyOf'> & Partial<Pick<Worlds, 'openSandbox'>>

export interface GateDeps {
  contract: Contract
  store: ServiceStore
  clock: Clock
  worlds: ServiceWorlds
  /** Whether a request over its quota is refused. */
  enforceQuotas: boolean
}

/** How often a sandbox is opened for one request. */
const ATTEMPTS = 3

/** The secret of a request, and its hash. */
interface PresentedKey {
  secret: string
  hash: string
  /** Whether the secret does not have the form of a key. The journal must know such a secret to hide it. */
  isPlain: boolean
}

/** A request with a key that the service can read. */
interface KeyedRequest extends GateRequest {
  presented: PresentedKey
  routed: Routed
}

/** A request that is refused whatever its account is, and its result if the key belongs to no account. */
interface Identified {
  presented: PresentedKey
  anonymous: GateResult
}

/** The gate's decision about a request, and where the request is recorded. */
export interface GateResult {
  decision: GateDecision
  /** The principal whose key the request presents, if it was refused before the key counted. */
  owner: Principal | undefined
  /** Where the request is recorded; absent if its key belongs to no account. */
  history: AccountHistory | undefined
  /** What the request found in its account. */
  before: Past | undefined
  /** Identifies `before` in the store, if the store can recall it. */
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
export function createGate({ contract, store, clock, worlds, enforceQuotas }: GateDeps) {
  const { settings } = contract
  const charging = { settings, enforceQuotas }
  const terms: GateTerms = { ...charging, chargeFor: memoizeCharges(charging) }
  const windows = { clock, longestWindow: 1000 * longestWindow(contract) }
  /** The decision about a request without an account; no store access, no count. */
  const admitAnonymously: (routed: Routed) => GateResult =
    settings.quotaHeaders === 'any-request' ? tellUntouched : () => NO_ACCOUNT
  const readKey = createKeyReader((authorization) => secretIn(authorization, settings))
  const readPresentedKey = createKeyReader(presentedSecretIn)

  /** Decides whether a request is admitted, and counts it. `meetsFaults`: whether fault rules may act on it. */
  function admit(routed: Routed, meetsFaults: boolean): Awaitable<GateResult> {
    const { method = '', headers } = routed.request
    const { authorization } = headers
    const presented = authorization === undefined ? undefined : readKey(authorization)
    if (presented === undefined) return identify(routed)
    const { operation, neighbour } = routed
    const request = { keyHash: presented.hash, method, operation, neighbour, meetsFaults, presented, routed }
    // One call of the store does everything: no change can come in between, and a request waits at most once.
    const result = store.enter(presented.hash, admission, request)
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
        const found = store.enter(presented.hash, identification, { presented, anonymous })
        return whenReady(found, (result) => result ?? anonymous)
      },
      () => anonymous,
    )
  }

  const identification: Admission<Identified, AdmissionPlan, GateResult> = {
    ...windows,
    plan: ({ presented }, account) => planUnadmitted(presented.hash, account),
    conclude({ presented, anonymous }, { account, incarnation, real, plan, countersBefore, moment }) {
      const { key } = plan
      if (key === undefined) return anonymous
      if (presented.isPlain) worlds.meetKey(account, presented)
      const history = worlds.historyOf(account.id, incarnation)
      const owner = { account, key, now: timeOn(account.clock, real) }
      const before = countersBefore && pastOf(account, undefined, undefined, countersBefore, history)
      return { ...anonymous, owner, history, before, moment }
    },
  }

  function tellUntouched(routed: Routed): GateResult {
    return { ...NO_ACCOUNT, decision: { ...UNKNOWN_KEY, unspent: untouchedQuota(routed, clock(), settings) } }
  }

  /** Takes back the charge of an admitted request. Returns the remaining quota, if the request was charged. */
  function refund(admitted: Admitted): Awaitable<Allowance | undefined> {
    const { operation, principal, history, allowance, bucket, hits } = admitted
    if (history === undefined || allowance === undefined || bucket === undefined || hits === undefined) return undefined
    const { incarnation } = history
    const refunded = store.refund({ id: principal.account.id, incarnation }, bucket, hits.startedAt)
    return whenReady(refunded, (left) => tellRefund(operation, allowance, left))
  }

  const admission: Admission<KeyedRequest, AdmissionPlan, GateResult> = {
    ...windows,
    plan: (request, account) => planAdmission(request, account, terms),
    conclude(request, { account, incarnation, real, plan, counted, countersBefore, moment }) {
      const { presented, routed } = request
      if (presented.isPlain) worlds.meetKey(account, presented)
      const now = timeOn(account.clock, real)
      const decision = concludeAdmission(request, account, plan, counted, now, terms)
      if (decision === UNKNOWN_KEY) return admitAnonymously(routed)
      const history = worlds.historyOf(account.id, incarnation)
      const before = countersBefore && pastOf(account, decision.bucket, decision.formerHits, countersBefore, history)
      return { decision, owner: undefined, history, before, moment }
    },
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
      const opened = await store.enter(presented.hash, admission, request)
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
): (authorization: string) => PresentedKey | undefined {
  // Clients repeat a few keys. A guessed key of a megabyte is not worth caching.
  return memoize(
    (authorization) => {
      const secret = secretOf(authorization)
      return secret === undefined ? undefined : { secret, hash: hashKey(secret), isPlain: !hasKeyForm(secret) }
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

/** What a request found in its account. Written field by field, because a spread takes longer. */
function pastOf(
  account: AccountState,
  bucket: string | undefined,
  hits: Hits | undefined,
  { quotas, tallies, requests }: Readonly<Counting>,
  { outdated: mark }: AccountHistory,
): Past {
  return { account, bucket, hits, quotas, tallies, requests, mark }
}

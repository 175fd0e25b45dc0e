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
import type { ApiKey } from '../domain/account.ts'
import { timeOn } from '../domain/clock.ts'
import { type Allowance, type Counters, refundCharge } from '../domain/quotas.ts'
import type { InjectionSources } from '../faults/sources.ts'
import { type Awaitable, whenReady } from '../ground/awaitable.ts'
import { type AnonymousIds, requestIdOf } from '../ground/chance.ts'
import { memoize, memoizeWeakly } from '../ground/memo.ts'
import { hashKey } from '../ground/secrets.ts'
import type { Clock } from '../ground/timers.ts'
import type { Past } from '../journal/entry.ts'
import type { Account, Moment, Store } from '../store/store.ts'
import type { Exchange } from './exchange.ts'

/** The methods of the store that the service uses. */
type ServiceStore = Pick<Store, 'enter' | 'update' | 'transact'>

/** The methods of the worlds that the service uses. `openSandbox` is absent if no unknown key opens an account. */
type ServiceWorlds = Pick<Worlds, 'journal' | 'historyOf'> & Partial<Pick<Worlds, 'openSandbox'>>

export interface GateDeps {
  contract: Contract
  store: ServiceStore
  clock: Clock
  worlds: ServiceWorlds
  sources: InjectionSources
  /** Gives the ids of requests without an account. */
  nextId: AnonymousIds
  /** Whether a request over its quota is refused. */
  enforceQuotas: boolean
}

/** How often a sandbox is opened for one request. */
const ATTEMPTS = 3

/** The secret of a request, and its hash. */
interface PresentedKey {
  secret: string
  hash: string
}

/** The gate's decision about a request, and what is known of the account of its key. */
interface Admission {
  decision: GateDecision
  owner: Principal | undefined
  history: AccountHistory | undefined
  before: Past | undefined
  moment: Moment | undefined
}

/** The admission of a request whose key belongs to no account. */
const NO_ACCOUNT: Admission = {
  decision: UNKNOWN_KEY,
  owner: undefined,
  history: undefined,
  before: undefined,
  moment: undefined,
}

/** What the store runs inside of an account. It is pure. */
type Entering = (account: Account, real: number) => { counters: Counters; value: Admission }

/**
 * Creates what lets requests enter their accounts. It finds the key of a request and gives `behaviour/gate.ts` to the
 * store. Source: "Every request carries the header `Authorization: Bearer <API_KEY>`."
 */
export function createGate(deps: GateDeps) {
  const { contract, store, clock, worlds, sources, nextId, enforceQuotas } = deps
  const { settings } = contract
  const charging = { settings, enforceQuotas }
  const chargesOf = memoizeWeakly((key: ApiKey) =>
    memoizeWeakly((operation: Operation) => chargeFor(key, operation, charging)),
  )
  const terms: GateTerms = {
    ...charging,
    longestWindow: 1000 * longestWindow(contract),
    // To make the charge takes longer than to count the request.
    chargeFor: (key, operation) => chargesOf(key)(operation),
  }
  const chargesAll = settings.chargedRequests === 'authenticated'
  const tellsAnyone = settings.quotaHeaders === 'any-request'
  // Then the key matters even for a wrong method.
  const tellsMore = tellsUncharged(settings)
  const readKey = createKeyReader((authorization) => secretIn(authorization, settings))
  const readPresentedKey = createKeyReader(presentedSecretIn)

  /** Decides by key, plan and quota whether a request is admitted, counts it, and finds the injection that acts on it. */
  function admit(exchange: Exchange): Awaitable<void> {
    const { request, operation, unrouted, needsNoKey, isPreflight } = exchange
    const neighbour = unrouted?.neighbour
    // Such a refusal is the same for every key, unless the response also shows the quota of the key.
    const isAnonymous = unrouted !== undefined && needsNoKey && !(tellsMore && neighbour !== undefined)
    const { authorization } = request.headers
    const isKeyless = isPreflight || isAnonymous || authorization === undefined
    const presented = isKeyless ? undefined : readKey(authorization)
    if (presented === undefined) return identify(exchange)
    // If the request itself asks for an injection, the rules of the account are not checked.
    const asked = operation && sources.ofHeaders(request.headers, operation)
    exchange.injection = asked
    const { method = '' } = request
    const entrant: GateRequest = {
      keyHash: presented.hash,
      ...{ method, operation, neighbour, meetsFaults: asked === undefined },
    }
    const entering: Entering = (account, real) => {
      const now = timeOn(account.state.clock, real)
      const { decision, counters } = decideAdmission(entrant, account.state, account.counters, now, terms)
      return { counters, value: decision === UNKNOWN_KEY ? NO_ACCOUNT : admissionOf(decision, undefined, account) }
    }
    // One call of the store does everything: no change can come in between, and a request waits at most once.
    const entered = store.enter(presented.hash, entering)
    if (entered instanceof Promise || (entered === undefined && worlds.openSandbox !== undefined)) {
      return admitLater(exchange, entered, presented, entering)
    }
    return settle(entered, exchange)
  }

  /** Used if the store has to wait, or the key opens a sandbox. */
  async function admitLater(
    exchange: Exchange,
    first: Awaitable<Admission | undefined>,
    { secret, hash }: PresentedKey,
    entering: Entering,
  ): Promise<void> {
    let entered = await first
    // The new sandbox may be evicted for another one before the request enters it.
    for (let attempt = 0; entered === undefined && attempt < ATTEMPTS; attempt++) {
      if ((await worlds.openSandbox?.(secret)) === undefined) break
      entered = await store.enter(hash, entering)
    }
    settle(entered, exchange)
  }

  /**
   * Used for a request that is refused whatever its account is. Nothing is counted and no sandbox is opened; the account
   * of the presented key only gets the request into its journal. So a store that fails is no obstacle.
   */
  function identify(exchange: Exchange): Awaitable<void> {
    const { authorization } = exchange.request.headers
    const presented = authorization === undefined ? undefined : readPresentedKey(authorization)
    return presented === undefined ? enterAnonymously(exchange) : settleFor(presented.hash, exchange)
  }

  async function settleFor(hash: string, exchange: Exchange): Promise<void> {
    let found: Admission | undefined
    try {
      found = await store.enter(hash, (account, real) => {
        const { state, counters } = account
        const key = findKey(state, hash)
        const owner = key && { account: state, key, now: timeOn(state.clock, real) }
        return { counters, value: owner === undefined ? NO_ACCOUNT : admissionOf(UNKNOWN_KEY, owner, account) }
      })
    } catch {}
    settle(found, exchange)
  }

  /** Treats the request as one without an account; no store access, no count. */
  function enterAnonymously(exchange: Exchange): void {
    settle(undefined, exchange)
  }

  /** The quota that the response to a request without an account reports. */
  function tellAnonymous(exchange: Exchange): Allowance | undefined {
    if (!tellsAnyone) return undefined
    const { operation, unrouted } = exchange
    return untouchedQuota({ operation, neighbour: unrouted?.neighbour }, clock(), settings)
  }

  function admissionOf(decision: GateDecision, owner: Principal | undefined, account: Account): Admission {
    const { state, counters, incarnation, version } = account
    return {
      decision,
      owner,
      history: worlds.historyOf(state.id, incarnation),
      before: { account: state, counters },
      moment: { incarnation, version },
    }
  }

  /** Adds the result of the gate to the exchange. */
  function settle(admission: Admission | undefined, exchange: Exchange): void {
    const { decision, owner, history, before, moment } = admission ?? NO_ACCOUNT
    const { principal, disabled, allowance, charged, unspent, fault, ordinal } = decision
    const { needsNoKey, unrouted, injection } = exchange
    // Of several refusals, one that needs no key comes first, then that of the gate, then that of the route.
    const refusal = (needsNoKey ? unrouted : undefined) ?? decision.refusal ?? unrouted
    const ruled = fault && principal && sources.ofRule(fault, principal.account)
    exchange.requestId =
      principal === undefined
        ? nextId()
        : requestIdOf(`${principal.account.seed} ${principal.account.id}`, ordinal, contract.requestIds)
    exchange.refusal = refusal
    exchange.principal = principal
    exchange.disabled = disabled
    exchange.owner = owner
    exchange.history = history
    exchange.before = before
    exchange.moment = moment
    exchange.allowance = allowance
    exchange.charged = charged
    exchange.unspent = decision === UNKNOWN_KEY ? tellAnonymous(exchange) : unspent
    // A refused request meets no fault.
    exchange.injection = refusal === undefined ? (ruled ?? injection) : undefined
  }

  /**
   * Takes back the charge of a request that the service itself refuses. Like the charge, this is stored later: the answer
   * does not wait for it.
   */
  function refund(exchange: Exchange): Awaitable<void> {
    const { refusal, reply, operation, principal, moment, allowance, charged } = exchange
    if (chargesAll || refusal !== undefined || reply?.code === undefined || reply.injected) return undefined
    if (operation === undefined || allowance === undefined || charged === undefined) return undefined
    const left = store.enter(principal?.key.hash ?? '', ({ counters, incarnation }) => {
      const isSame = incarnation === moment?.incarnation
      const refunded = isSame ? refundCharge(counters, charged.bucket, charged.startedAt) : undefined
      return { counters: refunded?.counters ?? counters, value: { hits: refunded?.hits } }
    })
    return whenReady(left, (found) => {
      exchange.allowance = tellRefund(operation, allowance, found?.hits)
    })
  }

  return { admit, enterAnonymously, tellAnonymous, refund }
}

/** Creates the function that reads the key in a field Authorization; `undefined` if there is none. */
function createKeyReader(
  secretOf: (authorization: string) => string | undefined,
): (authorization: string) => PresentedKey | undefined {
  // Clients repeat a few keys. A guessed key of a megabyte is not worth caching.
  return memoize(
    (authorization) => {
      const secret = secretOf(authorization)
      return secret === undefined ? undefined : { secret, hash: hashKey(secret) }
    },
    { limit: 10_000, longest: 200 },
  )
}

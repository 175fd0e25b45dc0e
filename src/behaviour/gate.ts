import { answersWith, type Operation } from '../contract/api.ts'
import type { AccountState, ApiKey } from '../domain/account.ts'
import { type Refusal, refuse } from '../domain/errors.ts'
import { type FaultTarget, findMatchingRules, type TriggeredFault } from '../domain/faults.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import {
  type Allowance,
  bucketOf,
  type Counters,
  currentHits,
  decideCounts,
  type Hits,
  limitOf,
  type PlannedCharge,
  whatIsLeft,
} from '../domain/quotas.ts'
import { includesApiAccess, type Settings } from '../domain/settings.ts'
import { chanceOfFault, fraction } from '../ground/chance.ts'
import { splitAuthorization } from '../ground/secrets.ts'

/** The account and the key of a request, and the time of the account's clock. */
export interface Principal {
  account: AccountState
  key: ApiKey
  /** Milliseconds since the Unix epoch. */
  now: number
}

/** The facts about a request that the gate needs. */
export interface GateRequest {
  /** The hash of the request's key. */
  keyHash: string
  method: string
  /** Absent for a path or a method that the service does not have. */
  operation: Operation | undefined
  /** Another operation of the path, if the path does not have the method. */
  neighbour: Operation | undefined
  /** Whether the fault rules of the account may act on the request. */
  meetsFaults: boolean
}

/** The rules that the gate decides by. */
export interface GateTerms {
  settings: GateSettings
  /** Whether a request over its quota is refused. */
  enforceQuotas: boolean
  /** In milliseconds, the length of the longest window of the service. */
  longestWindow: number
  /** `chargeFor` with these terms. It may be cached: the result depends only on both. */
  chargeFor(key: ApiKey, operation: Operation): PlannedCharge | undefined
}

type GateSettings = Pick<Settings, 'plans' | 'quotaScope' | 'quotaWindow' | 'gracePeriod' | 'quotaHeaders'>

/** Whether a request is admitted, and the fault that acts on it. */
export interface GateDecision {
  refusal: Refusal | undefined
  /** Absent if the key is disabled or belongs to no account. */
  principal: Principal | undefined
  /** The account of its key, if the key is disabled. */
  disabled: Principal | undefined
  /** The quota that the request was charged to, or that refuses it. */
  allowance: Allowance | undefined
  /** The bucket of that quota, and the beginning of its window in milliseconds. */
  charged: { bucket: string; startedAt: number } | undefined
  /** The rest of a quota that was not charged, if the response reports it. */
  unspent: Allowance | undefined
  fault: TriggeredFault | undefined
  /** The ordinal of the request within the account, from 1; 0 if it is not counted. */
  ordinal: number
}

/** The decision about a request whose key belongs to no account. */
export const UNKNOWN_KEY: GateDecision = {
  refusal: refuse({ code: 'unauthorized' }),
  principal: undefined,
  disabled: undefined,
  allowance: undefined,
  charged: undefined,
  unspent: undefined,
  fault: undefined,
  ordinal: 0,
}

/** The secret in the header field `Authorization`; `undefined` if there is none. */
export function secretIn(
  authorization: string | undefined,
  settings: Pick<Settings, 'authorizationScheme'>,
): string | undefined {
  const { scheme, space } = splitAuthorization(authorization ?? '')
  const isAccepted = scheme === 'Bearer' || settings.authorizationScheme === 'any-case'
  return isAccepted && space === ' ' ? presentedSecretIn(authorization) : undefined
}

/** The same, even if the service does not accept the form of the field. It tells whose request it is. */
export function presentedSecretIn(authorization: string | undefined): string | undefined {
  const { scheme, space, secret } = splitAuthorization(authorization ?? '')
  return scheme.toLowerCase() === 'bearer' && /^ +$/.test(space) && /^\S+$/.test(secret) ? secret : undefined
}

/**
 * Decides by key, plan, quota and fault rule, in this order, and makes the new counters of the account. It is pure. `now`
 * is in milliseconds on the account's clock.
 */
export function decideAdmission(
  request: GateRequest,
  account: AccountState,
  counters: Counters,
  now: number,
  terms: GateTerms,
): { decision: GateDecision; counters: Counters } {
  const key = findKey(account, request.keyHash)
  if (key === undefined) return { decision: UNKNOWN_KEY, counters }
  const principal = { account, key, now }
  if (key.disabled) {
    const unspent = untouchedQuota(request, now, terms.settings)
    return { decision: { ...UNKNOWN_KEY, disabled: principal, unspent }, counters }
  }
  const { operation } = request
  // The refusal by the plan comes before the quota, which is then not charged.
  const refusal = operation && checkPlan(account, terms.settings)
  const charge = operation && refusal === undefined ? terms.chargeFor(key, operation) : undefined
  const meetsFaults = refusal === undefined && request.meetsFaults && account.faults.length > 0
  const rules =
    operation && meetsFaults ? findMatchingRules(account.faults, targetOf(operation, request.method, key)) : NO_RULES
  const { longestWindow } = terms
  const draw = rules === NO_RULES ? drawNothing : drawFor(account)
  const counted = decideCounts({ charge, rules }, account, counters, now, { longestWindow, draw })
  const { allowance, triggered } = counted
  const { quotas, requests } = counted.counters
  const hits = charge && quotas.get(charge.bucket)
  const fault = triggered && account.faults.find(({ id }) => id === triggered.id)
  const decision: GateDecision = {
    refusal: operation && allowance?.allowed === false ? rateLimited(allowance, operation.path) : refusal,
    principal,
    disabled: undefined,
    allowance,
    charged: charge && hits && { bucket: charge.bucket, startedAt: hits.startedAt },
    unspent: charge === undefined ? tellUncharged(request, key, counters, now, terms) : undefined,
    fault: fault && triggered && { fault, ordinal: triggered.ordinal },
    ordinal: requests,
  }
  return { decision, counters: counted.counters }
}

const NO_RULES: ReturnType<typeof findMatchingRules> = []

function drawNothing(): number {
  return 0
}

/** The chance of the fault rules. It is made apart, because most requests meet none. */
function drawFor(account: AccountState): (rule: string, ordinal: number) => number {
  return (rule, ordinal) => fraction(chanceOfFault(account, rule, ordinal)[0])
}

/** Whether responses report quotas that were not charged. */
export function tellsUncharged({ quotaHeaders }: Pick<Settings, 'quotaHeaders'>): boolean {
  return quotaHeaders === 'valid-key' || quotaHeaders === 'any-request'
}

/** The rest of the quota of the operation, or of another one of its path, if the response reports it. */
function tellUncharged(
  { operation, neighbour }: GateRequest,
  key: ApiKey,
  { quotas }: Counters,
  now: number,
  { settings, chargeFor: priceOf }: GateTerms,
): Allowance | undefined {
  const told = operation ?? neighbour
  const charge = told && tellsUncharged(settings) ? priceOf(key, told) : undefined
  if (charge === undefined) return undefined
  const limit = now < charge.graceEnds ? charge.graceLimit : charge.limit
  return whatIsLeft(currentHits(quotas.get(charge.bucket), charge, now), limit, charge.window)
}

/**
 * The rest of a quota after its charge was taken back, as the response reports it. `hits` are the hits after that. They
 * are absent if the window is over, so nothing was taken back. Then the result is `charged`.
 */
export function tellRefund({ quota }: Pick<Operation, 'quota'>, charged: Allowance, hits: Hits | undefined): Allowance {
  if (quota === undefined || hits === undefined) return charged
  return whatIsLeft(hits, charged.limit, quota.window)
}

/**
 * The full quota of a path, for the response to a request without a valid key; `undefined` if such a response reports
 * no quota.
 */
export function untouchedQuota(
  { operation, neighbour }: Pick<GateRequest, 'operation' | 'neighbour'>,
  now: number,
  { quotaHeaders, quotaWindow: start }: GateSettings,
): Allowance | undefined {
  const { quota } = operation ?? neighbour ?? {}
  if (quotaHeaders !== 'any-request' || quota === undefined) return undefined
  const { limit, window } = quota
  return whatIsLeft(currentHits(undefined, { window, start }, now), limit, window)
}

/** Source: "API access is limited to the plan tier named Stone and higher tiers." */
function checkPlan({ plan }: AccountState, { plans }: GateSettings): Refusal | undefined {
  if (includesApiAccess(plan, plans)) return undefined
  return refuse({ code: 'unauthorized', reason: 'plan', value: plan, about: { plan, lowest: plans.lowest } })
}

/** What a request with the key costs; `undefined` if the operation has no quota. */
export function chargeFor(
  key: ApiKey,
  { quota, path }: Operation,
  { settings, enforceQuotas }: Pick<GateTerms, 'settings' | 'enforceQuotas'>,
): PlannedCharge | undefined {
  if (quota === undefined) return undefined
  return {
    bucket: bucketOf(key.hash, path, settings.quotaScope),
    limit: limitOf(quota, false),
    graceLimit: limitOf(quota, true),
    graceEnds: key.createdAt + settings.gracePeriod * 1000,
    window: quota.window,
    start: settings.quotaWindow,
    enforced: enforceQuotas,
  }
}

function rateLimited({ limit, resetAt }: Allowance, path: string): Refusal {
  const until = writeInstant(resetAt * 1000)
  return refuse({ code: 'rate_limited', about: { limit, path, until } })
}

/** The account's key with this hash. */
export function findKey({ keys }: AccountState, keyHash: string): ApiKey | undefined {
  return keys.find(({ hash }) => hash === keyHash)
}

function targetOf(operation: Operation, method: string, key: ApiKey): FaultTarget {
  return {
    operation: operation.id,
    method,
    path: operation.path,
    key: key.id,
    answersWith: (code) => answersWith(operation, code),
  }
}

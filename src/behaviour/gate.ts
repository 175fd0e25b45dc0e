import { answersWith, type Operation } from '../contract/api.ts'
import type { AccountState } from '../domain/account.ts'
import type { CountingPlan, CountingResult, NewCounts, PlannedCharge } from '../domain/counting.ts'
import { type Refusal, refuse } from '../domain/errors.ts'
import { type FaultTarget, findMatchingRules, type MatchingRule, type TriggeredFault } from '../domain/faults.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import type { ApiKey } from '../domain/keys.ts'
import { includesApiAccess } from '../domain/plans.ts'
import { type Allowance, bucketOf, currentHits, type Hits, limitOf, type Quota, whatIsLeft } from '../domain/quotas.ts'
import type { Settings } from '../domain/settings.ts'
import { splitAuthorization } from '../http/authorization.ts'

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
  /** `chargeFor` with these terms. It may be cached: the result depends only on both. */
  chargeFor(key: ApiKey, operation: Operation): PlannedCharge | undefined
}

type GateSettings = Pick<Settings, 'plans' | 'quotaScope' | 'quotaWindow' | 'gracePeriod' | 'quotaHeaders'>

/** Whether a request is admitted, the fault that acts on it, and its changes to the counters of its account. */
export interface GateDecision extends NewCounts {
  refusal: Refusal | undefined
  /** Absent if the key is disabled or belongs to no account. */
  principal: Principal | undefined
  /** The account of its key, if the key is disabled. */
  disabled: Principal | undefined
  /** The quota that the request was charged to, or that refuses it. */
  allowance: Allowance | undefined
  /** The rest of a quota that was not charged, if the response reports it. */
  unspent: Allowance | undefined
  fault: TriggeredFault | undefined
  /** The use of the bucket before the request; absent if there was none, or if the request has no quota. */
  formerHits: Hits | undefined
}

/** The decision about a request whose key belongs to no account. */
export const UNKNOWN_KEY: GateDecision = {
  refusal: refuse({ code: 'unauthorized' }),
  principal: undefined,
  disabled: undefined,
  allowance: undefined,
  unspent: undefined,
  fault: undefined,
  formerHits: undefined,
  ordinal: 0,
  bucket: undefined,
  hits: undefined,
  tallies: undefined,
}

/** The part of the decision that depends on the state of an account. The counters decide the rest. */
export interface AdmissionPlan extends CountingPlan {
  /** Absent if the account does not have the key. */
  key: ApiKey | undefined
  /** The refusal by the plan of the account. It comes before the quota, which is then not charged. */
  refusal: Refusal | undefined
  /** The quota that the response reports without a charge. */
  toldQuota: Quota | undefined
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

const NO_RULES: readonly MatchingRule[] = []

/** The plan for a request that is refused whatever its account is: nothing counts, and no fault rule applies. */
export function planUnadmitted(keyHash: string, account: AccountState): AdmissionPlan {
  return unadmitted(findKey(account, keyHash))
}

/** Plans the decision by key, plan, quota and fault rule, in this order. It is pure. */
export function planAdmission(request: GateRequest, account: AccountState, terms: GateTerms): AdmissionPlan {
  const key = findKey(account, request.keyHash)
  if (key === undefined || key.disabled) return unadmitted(key)
  const { operation } = request
  const refusal = operation && checkPlan(account, terms.settings)
  const charge = operation && refusal === undefined ? terms.chargeFor(key, operation) : undefined
  const meetsFaults = refusal === undefined && request.meetsFaults && account.faults.length > 0
  const isTold = charge === undefined && tellsUncharged(terms.settings)
  const told = isTold ? (operation ?? request.neighbour) : undefined
  return {
    isCounted: true,
    key,
    refusal,
    charge,
    toldBucket: told && terms.chargeFor(key, told)?.bucket,
    toldQuota: told?.quota,
    rules:
      operation === undefined || !meetsFaults
        ? NO_RULES
        : findMatchingRules(account.faults, targetOf(operation, request.method, key)),
  }
}

/** The decision about a request from its plan and the result of its counting. `now` is on the account's clock. */
export function concludeAdmission(
  request: GateRequest,
  account: AccountState,
  plan: AdmissionPlan,
  counted: CountingResult,
  now: number,
  terms: GateTerms,
): GateDecision {
  const { key } = plan
  if (key === undefined) return UNKNOWN_KEY
  const principal = { account, key, now }
  if (key.disabled) {
    return { ...UNKNOWN_KEY, disabled: principal, unspent: untouchedQuota(request, now, terms.settings) }
  }
  const { allowance, triggered, formerHits } = counted
  const { operation } = request
  const isLimited = allowance?.allowed === false && operation !== undefined
  const fault = triggered && account.faults.find(({ id }) => id === triggered.id)
  return {
    refusal: isLimited ? rateLimited(allowance, operation.path) : plan.refusal,
    principal,
    disabled: undefined,
    allowance,
    unspent: plan.toldQuota && whatIsUnspent(plan.toldQuota, key, formerHits, now, terms),
    fault: fault && triggered && { fault, ordinal: triggered.ordinal },
    formerHits,
    ordinal: counted.ordinal,
    bucket: counted.bucket,
    hits: counted.hits,
    tallies: counted.tallies,
  }
}

/** Whether responses report quotas that were not charged. */
export function tellsUncharged({ quotaHeaders }: Pick<Settings, 'quotaHeaders'>): boolean {
  return quotaHeaders === 'valid-key' || quotaHeaders === 'any-request'
}

function whatIsUnspent(
  quota: Quota,
  key: ApiKey,
  hits: Hits | undefined,
  now: number,
  { settings: { quotaWindow: start, gracePeriod } }: GateTerms,
): Allowance {
  const { window } = quota
  const limit = limitOf(quota, now < key.createdAt + gracePeriod * 1000)
  return whatIsLeft(currentHits(hits, { window, start }, now), limit, window)
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

function findKey({ keys }: AccountState, keyHash: string): ApiKey | undefined {
  for (const key of keys) if (key.hash === keyHash) return key
  return undefined
}

function unadmitted(key: ApiKey | undefined): AdmissionPlan {
  return {
    isCounted: false,
    key,
    refusal: undefined,
    charge: undefined,
    toldBucket: undefined,
    toldQuota: undefined,
    rules: NO_RULES,
  }
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

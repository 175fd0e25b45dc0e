import { answersWith, type Operation } from '../contract/api.ts'
import type { AccountState } from '../domain/account.ts'
import type { Counted, CountersRead, Counting } from '../domain/counting.ts'
import { type Refusal, refuse } from '../domain/errors.ts'
import { type FaultTarget, type TriggeredFault, triggerFault } from '../domain/faults.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import { type ApiKey, isInGrace } from '../domain/keys.ts'
import { includesApiAccess } from '../domain/plans.ts'
import {
  type Allowance,
  chargeQuota,
  currentHits,
  type Hits,
  limitOf,
  type Quota,
  whatIsLeft,
} from '../domain/quotas.ts'
import type { Settings } from '../domain/settings.ts'
import { fraction, type Words, wordsOf } from '../ground/chance.ts'

/** Whose key a request carries, and when by the clock of their account. */
export interface Principal {
  account: AccountState
  key: ApiKey
  /** Milliseconds since the Unix epoch. */
  now: number
}

/** What the gate needs to know of a request. */
export interface GateRequest {
  /** The hash of the key that it carries. */
  keyHash: string
  method: string
  /** Absent for a path or a method that the service does not have. */
  operation: Operation | undefined
  /** Some operation of the path, where the path does not have the method. */
  neighbour: Operation | undefined
  /** Whether the fault rules of the account may act on it. */
  meetsFaults: boolean
}

/** By which rules the gate decides. */
export interface GateTerms {
  settings: GateSettings
  /** Whether a request over its quota is refused. */
  enforceQuotas: boolean
  /** The name under which requests with the key to the path are counted. */
  bucketOf(key: ApiKey, path: string): string
}

type GateSettings = Pick<Settings, 'gateOrder' | 'plans' | 'quotaWindow' | 'gracePeriod' | 'quotaHeaders'>

/** Whether a request is admitted, what acts on it from here on, and what it changes in the counters of its account. */
export interface GateDecision extends Counted {
  refusal: Refusal | undefined
  /** Absent where the key is disabled or belongs to no account. */
  principal: Principal | undefined
  /** Whose disabled key it carries. */
  disabled: Principal | undefined
  /** The quota that it was charged to, or that refuses it. */
  allowance: Allowance | undefined
  /** What is left of a quota that it was not charged to, where its response tells that. */
  unspent: Allowance | undefined
  fault: TriggeredFault | undefined
  /** What was used in the bucket before; absent where nothing was, and where it has no quota. */
  formerHits: Hits | undefined
}

/** The decision about a request whose key belongs to nobody. */
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

/**
 * Decides on key, plan, quota and fault rule, in the order that `x-settings` says. It is pure: `counting` is only read,
 * and the decision says what is to be counted. `now` is in milliseconds on the account's clock.
 */
export function decideAdmission(
  request: GateRequest,
  account: AccountState,
  counting: CountersRead,
  now: number,
  terms: GateTerms,
): GateDecision {
  const { operation } = request
  const key = account.keys.find(({ hash }) => hash === request.keyHash)
  if (key === undefined) return UNKNOWN_KEY
  const principal = { account, key, now }
  if (key.disabled) {
    return { ...UNKNOWN_KEY, disabled: principal, unspent: untouchedQuota(request, now, terms.settings) }
  }
  const quota = operation?.quota
  let refusal: Refusal | undefined
  let bucket: string | undefined
  let formerHits: Hits | undefined
  let charged: ReturnType<typeof chargeQuota> | undefined
  if (operation !== undefined) {
    for (const check of terms.settings.gateOrder) {
      if (check === 'plan') refusal = checkPlan(account, terms.settings)
      if (check === 'quota' && quota !== undefined) {
        bucket = terms.bucketOf(key, operation.path)
        formerHits = counting.quotas.get(bucket)
        charged = chargeQuota(formerHits, chargeFor(quota, key, now, terms), now)
        if (!charged.allowance.allowed) refusal = rateLimited(charged.allowance, operation.path)
      }
      if (refusal !== undefined) break
    }
  }
  const meetsFaults = refusal === undefined && request.meetsFaults && account.faults.length > 0
  const faults =
    operation === undefined || !meetsFaults
      ? undefined
      : triggerFault(account.faults, counting.tallies, targetOf(operation, request.method, key), now, drawFor(account))
  return {
    refusal,
    principal,
    disabled: undefined,
    allowance: charged?.allowance,
    unspent: charged === undefined ? unspentOf(request, key, counting, now, terms) : undefined,
    fault: faults?.triggered,
    formerHits,
    ordinal: counting.requests + 1,
    bucket,
    hits: charged?.hits,
    tallies: faults?.counted,
  }
}

function unspentOf(
  { operation, neighbour }: GateRequest,
  key: ApiKey,
  { quotas }: CountersRead,
  now: number,
  terms: GateTerms,
): Allowance | undefined {
  const { quotaHeaders } = terms.settings
  const { path, quota } = operation ?? neighbour ?? {}
  if (quota === undefined || path === undefined) return undefined
  if (quotaHeaders !== 'valid-key' && quotaHeaders !== 'any-request') return undefined
  const { limit, window, start } = chargeFor(quota, key, now, terms)
  const hits = currentHits(quotas.get(terms.bucketOf(key, path)), { window, start }, now)
  return { allowed: true, ...whatIsLeft(hits, limit, window) }
}

/**
 * Takes back what one request was charged, and says what is left then. Nothing is taken back from a later window than
 * that of `charged`, which the response would have told.
 */
export function refundQuota(
  counting: Counting,
  { path, quota }: Pick<Operation, 'path' | 'quota'>,
  key: ApiKey,
  charged: Allowance,
  { bucketOf }: GateTerms,
): Allowance {
  const bucket = bucketOf(key, path)
  const hits = counting.quotas.get(bucket)
  if (quota === undefined || hits === undefined || hits.used === 0) return charged
  const after = { ...hits, used: hits.used - 1 }
  const left = whatIsLeft(after, charged.limit, quota.window)
  if (left.resetAt !== charged.resetAt) return charged
  counting.quotas = counting.quotas.set(bucket, after)
  return { allowed: true, ...left }
}

/**
 * What the response to a request without a valid key tells of the quota of its path: all of it is left. `undefined` where
 * such a response tells nothing.
 */
export function untouchedQuota(
  { operation, neighbour }: Pick<GateRequest, 'operation' | 'neighbour'>,
  now: number,
  { quotaHeaders, quotaWindow: start }: GateSettings,
): Allowance | undefined {
  const { quota } = operation ?? neighbour ?? {}
  if (quotaHeaders !== 'any-request' || quota === undefined) return undefined
  const { limit, window } = quota
  return { allowed: true, ...whatIsLeft(currentHits(undefined, { window, start }, now), limit, window) }
}

/** Source: "API access is limited to the plan tier named Stone and higher tiers." */
function checkPlan({ plan }: AccountState, { plans }: GateSettings): Refusal | undefined {
  if (includesApiAccess(plan, plans)) return undefined
  return refuse({ code: 'unauthorized', reason: 'plan', value: plan, about: { plan, lowest: plans.lowest } })
}

function chargeFor(quota: Quota, key: ApiKey, now: number, { settings, enforceQuotas }: GateTerms) {
  const limit = limitOf(quota, isInGrace(key, now, settings.gracePeriod))
  return { limit, window: quota.window, start: settings.quotaWindow, enforced: enforceQuotas }
}

function rateLimited({ limit, resetAt }: Allowance, path: string): Refusal {
  const until = writeInstant(resetAt * 1000)
  return refuse({ code: 'rate_limited', about: { limit, path, until } })
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

function drawFor(account: AccountState): (fault: { id: string }, ordinal: number) => number {
  return ({ id }, ordinal) => fraction(chanceOfFault(account, id, ordinal)[0])
}

/**
 * The chance of a fault rule: depends on the seed and id of the account, the id of the rule, and the ordinal of the
 * request among those that the rule matched. The first word decides whether the rule acts, the second how.
 */
export function chanceOfFault({ seed, id: account }: AccountState, rule: string, ordinal: number): Words {
  return wordsOf(`${seed} ${account} ${rule} ${ordinal}`)
}

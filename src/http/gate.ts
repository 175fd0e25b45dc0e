import type { Clock } from '../clock.ts'
import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { AccountState } from '../domain/account.ts'
import { timeOn } from '../domain/clock.ts'
import { type Refusal, refuse } from '../domain/errors.ts'
import { type ApiKey, findUsableKey, isInGrace } from '../domain/keys.ts'
import { includesApiAccess } from '../domain/plans.ts'
import { type Allowance, bucketOf, limitOf } from '../domain/quotas.ts'
import { hashKey } from '../seeding/secrets.ts'
import type { Store } from '../store/store.ts'
import type { Worlds } from '../worlds.ts'

/** Who asks, and when by the clock of their account. */
export interface Caller {
  account: AccountState
  key: ApiKey
  /** Milliseconds since the Unix epoch. */
  now: number
}

export interface GateDeps {
  contract: Contract
  store: Store
  clock: Clock
  worlds: Worlds
  /** Whether a request over its quota is refused. */
  enforceQuotas: boolean
}

const EXACT_SCHEME = /^Bearer (\S+)$/
const ANY_CASE_SCHEME = /^Bearer (\S+)$/i

/** Source: "Every request carries the header `Authorization: Bearer <API_KEY>`." */
export async function authenticate(
  authorization: string | undefined,
  { contract, store, clock, worlds }: GateDeps,
): Promise<Caller | (Refusal & { holder?: Caller })> {
  const scheme = contract.settings.authorizationScheme === 'exact' ? EXACT_SCHEME : ANY_CASE_SCHEME
  const secret = scheme.exec(authorization ?? '')?.[1]
  if (secret === undefined) return refuse({ code: 'unauthorized' })
  const hash = hashKey(secret)
  const accountId = (await store.accountOf(hash)) ?? (await worlds.openSandbox(secret))
  if (accountId === undefined) return refuse({ code: 'unauthorized' })
  const account = await store.read(accountId)
  worlds.touch(accountId)
  const now = timeOn(account.clock, clock())
  const key = findUsableKey(account.keys, hash)
  if (key !== undefined) return { account, key, now }
  const disabled = account.keys.find((each) => each.hash === hash)
  return { ...refuse({ code: 'unauthorized' }), ...(disabled && { holder: { account, key: disabled, now } }) }
}

/** Source: "API access is limited to the plan tier named Stone and higher tiers." */
export function checkPlan({ account }: Caller, { contract }: GateDeps): Refusal | undefined {
  const { plans } = contract.settings
  if (includesApiAccess(account.plan, plans)) return undefined
  return refuse({
    code: 'unauthorized',
    reason: 'plan',
    value: account.plan,
    about: { plan: account.plan, lowest: plans.lowest },
  })
}

/** Charges the request to the quota of its path; `undefined` where the path has none. */
export async function chargeRequest(
  { account, key, now }: Caller,
  { quota, path }: Operation,
  { contract, store, enforceQuotas }: GateDeps,
): Promise<Allowance | undefined> {
  if (quota === undefined) return undefined
  const { quotaScope, quotaWindow, gracePeriod } = contract.settings
  const limit = limitOf(quota, isInGrace(key, now, gracePeriod))
  const charge = { limit, window: quota.window, start: quotaWindow, enforced: enforceQuotas }
  return store.hit(account.id, bucketOf(key.hash, path, quotaScope), charge, now)
}

export function rateLimited({ limit, resetAt }: Allowance, path: string): Refusal {
  const until = new Date(resetAt * 1000).toISOString().replace('.000Z', 'Z')
  return refuse({ code: 'rate_limited', about: { limit, path, until } })
}

import type { AccountState, MonitoredDomain } from '../domain/account.ts'
import { changeClock, timeOn } from '../domain/clock.ts'
import { contradictionIn, type RecordPin, refreshDay } from '../domain/dmarc.ts'
import { accept } from '../domain/errors.ts'
import { parseDuration, writeInstant } from '../domain/iso-8601.ts'
import { type ApiKey, isInGrace } from '../domain/keys.ts'
import type { ProfileName } from '../domain/profile.ts'
import { bucketOf, currentHits, limitOf, type Quota, whatIsLeft } from '../domain/quotas.ts'
import { recordOn } from '../figures/figures.ts'
import { impossibleInstant, LAST_INSTANT } from './accounts.ts'
import { invalid, notFound } from './codes.ts'
import { type AccountCall, type AccountVerb, type ControlOutcome, done } from './verb.ts'

export const setFeatures: AccountVerb = (call) => {
  const features = call.body['features'] as string[]
  return changeDomain(call, (domain) => ({ ...domain, features }))
}

export const pinDmarc: AccountVerb = (call) => {
  const { profile, ...pin } = call.body as RecordPin & { profile?: ProfileName }
  const contradiction = contradictionIn(pin)
  if (contradiction) return invalid('', call.body, 'contradiction', { expected: contradiction })
  // The profile that a domain has stays: a fixed policy should not change how much mail there is.
  return changeDomain(call, ({ pin: _, ...domain }) => ({
    ...domain,
    ...(profile !== undefined && { profile }),
    ...(Object.keys(pin).length > 0 && { pin }),
  }))
}

export const unpinDmarc: AccountVerb = (call) => {
  return changeDomain(call, ({ pin: _, profile: __, since: ___, ...domain }) => domain)
}

async function changeDomain(
  call: AccountCall,
  change: (domain: MonitoredDomain) => MonitoredDomain,
): Promise<ControlOutcome> {
  const { store, account, contract, parameters, now } = call
  const given = parameters['domain'] ?? ''
  const name = contract.canonicalHostname(given) ?? given
  const decision = await store.update(account.id, (state) => {
    const domain = state.domains.get(name)
    if (domain === undefined) return notFound('domain', given)
    const next = change(domain)
    return accept({ ...state, domains: state.domains.set(name, next) }, next)
  })
  if (!decision.ok) return decision
  const domain = decision.value
  const record = recordOn(account.seed, domain, refreshDay(now, contract.settings.refresh), contract)
  return done({ domain: name, features: domain.features, record: record ?? null })
}

export const getClock: AccountVerb = (call) => describeClock(call, call.account)

export const updateClock: AccountVerb = async (call) => {
  const { now, advance, frozen } = call.body as { now?: string; advance?: string; frozen?: boolean }
  const change = {
    ...(now !== undefined && { now: Date.parse(now) }),
    ...(advance !== undefined && { advance: parseDuration(advance) ?? 0 }),
    ...(frozen !== undefined && { frozen }),
  }
  const impossible = impossibleInstant(now)
  if (impossible) return impossible
  const decision = await call.store.update(call.account.id, (state) => {
    const real = call.clock()
    const clock = changeClock(state.clock, change, real)
    if (clock === undefined) return invalid('/now', now, 'backwards', { now: writeInstant(timeOn(state.clock, real)) })
    if (timeOn(clock, real) > LAST_INSTANT) return invalid('/advance', advance, 'range')
    return accept({ ...state, clock }, undefined)
  })
  return decision.ok ? describeClock(call, decision.state) : decision
}

function describeClock({ worlds }: AccountCall, account: AccountState): ControlOutcome {
  return done({ now: writeInstant(worlds.now(account)), frozen: 'frozenAt' in account.clock })
}

export const getQuotas: AccountVerb = (call) => describeQuotas(call)

export const updateQuota: AccountVerb = async (call) => {
  const { account, store, now } = call
  const { key: id, bucket, remaining } = call.body as { key?: string; bucket: string; remaining: number }
  if (id !== undefined && !account.keys.some((key) => key.id === id)) return notFound('key', id)
  // Those of the contract: an account without a key counts none of them.
  const buckets = [...quotasByPath(call).keys()].map(bucketName)
  if (!buckets.includes(bucket)) return invalid('/bucket', bucket, 'choice', { allowed: buckets.join(', ') })
  // A quota that the keys share is the same, whichever of them is named.
  const all = id === undefined || call.contract.settings.quotaScope === 'account'
  const counted = quotasOf(call).filter((each) => each.name === bucket && (all || each.key.id === id))
  const lowest = Math.min(...counted.map(({ limit }) => limit))
  if (remaining > lowest) return invalid('/remaining', remaining, 'limit', { limit: lowest })
  const { quotas } = await store.counters(account.id)
  for (const { quota, limit, counter } of counted) {
    const { startedAt } = currentHits(quotas.get(counter), windowOf(call, quota), now)
    await store.count(account.id, (_, { quotas }) => quotas.set(counter, { startedAt, used: limit - remaining }))
  }
  return describeQuotas(call)
}

interface CountedQuota {
  key: ApiKey
  /** The first segment of the path. */
  name: string
  quota: Quota
  limit: number
  /** Under which name the store counts it. */
  counter: string
}

function quotasByPath({ contract }: Pick<AccountCall, 'contract'>): Map<string, Quota> {
  return new Map(contract.operations.flatMap(({ path, quota }) => (quota === undefined ? [] : [[path, quota]])))
}

function bucketName(path: string): string {
  return path.slice(1)
}

/** The quotas of each key; where an account's keys share them, those of its first key. */
function quotasOf({ account, contract, now }: AccountCall): CountedQuota[] {
  const { quotaScope, gracePeriod } = contract.settings
  const paths = quotasByPath({ contract })
  const keys = quotaScope === 'key' ? account.keys : account.keys.slice(0, 1)
  return keys.flatMap((key) =>
    [...paths].map(([path, quota]) => ({
      key,
      name: bucketName(path),
      quota,
      limit: limitOf(quota, isInGrace(key, now, gracePeriod)),
      counter: bucketOf(key.hash, path, quotaScope),
    })),
  )
}

function windowOf({ contract }: AccountCall, { window }: Quota) {
  return { window, start: contract.settings.quotaWindow }
}

async function describeQuotas(call: AccountCall): Promise<ControlOutcome> {
  const { quotas } = await call.store.counters(call.account.id)
  const shared = call.contract.settings.quotaScope === 'account'
  const rows = quotasOf(call).map(({ key, name, quota, limit, counter }) => {
    const hits = currentHits(quotas.get(counter), windowOf(call, quota), call.now)
    const { remaining, resetAt } = whatIsLeft(hits, limit, quota.window)
    return { key: shared ? null : key.id, bucket: name, limit, remaining, resets_at: writeInstant(resetAt * 1000) }
  })
  return done({ quotas: rows })
}

import type { DataOf, QuotaReport } from '../contract/control-plane.ts'
import { type Counters, setWindow } from '../domain/counting.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import { type ApiKey, isInGrace } from '../domain/keys.ts'
import { bucketOf, currentHits, limitOf, type Quota, whatIsLeft } from '../domain/quotas.ts'
import { type AccountContext, type AccountHandlers, type ControlOutcome, done } from './handler.ts'
import { invalid, notFound, unknownName } from './refusals.ts'

export const quotaHandlers: AccountHandlers = {
  getQuotas: (call) => reportQuotas(call),

  async updateQuota(call) {
    const { account, store, now } = call
    const { key: id, bucket, remaining } = call.body
    if (id !== undefined && !account.keys.some((key) => key.id === id)) return notFound('key', id)
    // The buckets come from the contract, because an account without keys has no counted bucket.
    const buckets = [...quotasByPath(call).keys()].map(bucketName)
    if (!buckets.includes(bucket)) return unknownName('/bucket', bucket, buckets)
    // If the keys share their quotas, the result is the same for every key.
    const all = id === undefined || call.contract.settings.quotaScope === 'account'
    const counted = quotasOf(call).filter((each) => each.name === bucket && (all || each.key.id === id))
    const lowest = Math.min(...counted.map(({ limit }) => limit))
    if (remaining > lowest) return invalid('/remaining', remaining, 'limit', { limit: lowest })
    function setAll(counters: Counters): Counters {
      return counted.reduce((changed, { quota, limit, counter }) => {
        const { startedAt } = currentHits(changed.quotas.get(counter), windowOf(call, quota), now)
        return setWindow(changed, counter, { startedAt, used: limit - remaining })
      }, counters)
    }
    await store.transact(account.id, ({ counters }) => ({ counters: setAll(counters), value: undefined }))
    return reportQuotas(call)
  },
}

type CountedAccount = Pick<AccountContext, 'account' | 'contract' | 'now'>

interface CountedQuota {
  key: ApiKey
  /** The path without its first slash. */
  name: string
  quota: Quota
  limit: number
  /** The name of the counter in the store. */
  counter: string
}

function quotasByPath({ contract }: Pick<AccountContext, 'contract'>): Map<string, Quota> {
  return new Map(contract.operations.flatMap(({ path, quota }) => (quota === undefined ? [] : [[path, quota]])))
}

function bucketName(path: string): string {
  return path.slice(1)
}

/** The quotas of each key. If the keys of an account share their quotas, only those of its first key. */
function quotasOf({ account, contract, now }: CountedAccount): CountedQuota[] {
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

function windowOf({ contract }: CountedAccount, { window }: Quota) {
  return { window, start: contract.settings.quotaWindow }
}

/** The ends of the windows in which the account was charged, in milliseconds. */
export async function openWindowEnds(call: AccountContext): Promise<number[]> {
  const { quotas } = (await call.store.read(call.account.id)).counters
  return quotasOf(call).flatMap(({ quota, limit, counter }) => {
    const hits = quotas.get(counter)
    return hits === undefined || hits.used === 0 ? [] : [whatIsLeft(hits, limit, quota.window).resetAt * 1000]
  })
}

async function reportQuotas(call: AccountContext): Promise<ControlOutcome<DataOf<'getQuotas'>>> {
  const { quotas } = (await call.store.read(call.account.id)).counters
  return done({ enforced: call.enforceQuotas, quotas: describeQuotas(call, quotas) })
}

/** The quotas of an account at a time, from the hits in its buckets. */
function describeQuotas(call: CountedAccount, hits: Counters['quotas']): QuotaReport[] {
  const shared = call.contract.settings.quotaScope === 'account'
  return quotasOf(call).map(({ key, name, quota, limit, counter }): QuotaReport => {
    const current = currentHits(hits.get(counter), windowOf(call, quota), call.now)
    const { remaining, resetAt } = whatIsLeft(current, limit, quota.window)
    return { key: shared ? null : key.id, bucket: name, limit, remaining, resets_at: writeInstant(resetAt * 1000) }
  })
}

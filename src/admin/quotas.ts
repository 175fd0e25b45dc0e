import type { QuotaReport, Schemas } from '../contract/control-plane.ts'
import { isInGrace } from '../domain/account.ts'
import { writeInstant } from '../domain/iso-8601.ts'
import { bucketOf, type Counters, currentHits, limitOf, type Quota, setWindow, whatIsLeft } from '../domain/quotas.ts'
import { type AccountContext, done, type Handlers } from './handler.ts'
import { invalid, notFound, unknownName } from './refusals.ts'

export const quotaHandlers = {
  getQuotas: async (call) => done(await reportQuotas(call)),

  async updateQuota(call) {
    const { account, store, now } = call
    const { key: id, bucket, remaining } = call.body
    if (id !== undefined && !account.keys.some((key) => key.id === id)) return notFound('key', id)
    // The buckets come from the contract, because an account without keys has no counted bucket.
    const buckets = [...quotasByPath(call).keys()].map(bucketName)
    if (!buckets.includes(bucket)) return unknownName('/bucket', bucket, buckets)
    // If the keys share their quotas, the result is the same for every key.
    const counted = quotasOf(call).filter(
      (each) => each.bucket === bucket && (id === undefined || each.key === null || each.key === id),
    )
    const lowest = Math.min(...counted.map(({ limit }) => limit))
    if (remaining > lowest) return invalid('/remaining', remaining, 'limit', { limit: lowest })
    const setAll = (counters: Counters) =>
      counted.reduce((changed, { window, limit, counter }) => {
        const { startedAt } = currentHits(changed.quotas.get(counter), window, now)
        return setWindow(changed, counter, { startedAt, used: limit - remaining })
      }, counters)
    await store.transact(account.id, ({ counters }) => ({ counters: setAll(counters), value: undefined }))
    return done(await reportQuotas(call))
  },
} satisfies Handlers

function quotasByPath({ contract }: AccountContext): Map<string, Quota> {
  return new Map(contract.operations.flatMap(({ path, quota }) => (quota === undefined ? [] : [[path, quota]])))
}

function bucketName(path: string): string {
  return path.slice(1)
}

/** The quotas of each key. If the keys of an account share their quotas, those of its first key, as of no key. */
function quotasOf(call: AccountContext) {
  const { account, contract, now } = call
  const { quotaScope, quotaWindow, gracePeriod } = contract.settings
  const isShared = quotaScope === 'account'
  const keys = isShared ? account.keys.slice(0, 1) : account.keys
  return keys.flatMap((key) =>
    [...quotasByPath(call)].map(([path, quota]) => ({
      key: isShared ? null : key.id,
      bucket: bucketName(path),
      window: { window: quota.window, start: quotaWindow },
      limit: limitOf(quota, isInGrace(key, now, gracePeriod)),
      counter: bucketOf(key.hash, path, quotaScope),
    })),
  )
}

/** The ends of the windows in which the account was charged, in milliseconds. */
export async function openWindowEnds(call: AccountContext): Promise<number[]> {
  const { quotas } = (await call.store.read(call.account.id)).counters
  return quotasOf(call).flatMap(({ window, limit, counter }) => {
    const hits = quotas.get(counter)
    return hits === undefined || hits.used === 0 ? [] : [whatIsLeft(hits, limit, window.window).resetAt * 1000]
  })
}

async function reportQuotas(call: AccountContext): Promise<Schemas['Quotas']> {
  const { quotas } = (await call.store.read(call.account.id)).counters
  const reports = quotasOf(call).map(({ key, bucket, window, limit, counter }): QuotaReport => {
    const hits = currentHits(quotas.get(counter), window, call.now)
    const { remaining, resetAt } = whatIsLeft(hits, limit, window.window)
    return { key, bucket, limit, remaining, resets_at: writeInstant(resetAt * 1000) }
  })
  return { enforced: call.enforceQuotas, quotas: reports }
}

import { expect, onTestFinished } from 'vitest'
import { atOnce } from '../support/at-once.ts'
import { type CuttingProxy, startCuttingProxy } from '../support/cutting-proxy.ts'
import { freshPrefix, type RedisServer, startRedis } from '../support/redis-server.ts'
import { createAccountWithNewKey, untilReady } from '../support/replicas.ts'
import { findFault, type Operation, type Specification } from './checker.ts'
import { ACCOUNT, type Exchange, isLook, runWorkload, type Workload } from './workload.ts'

/** One of several servers that are one service. */
export interface Replica {
  /** `undefined` while it does not run. */
  baseUrl: string | undefined
  stop(): Promise<void>
}

/** What can go wrong, and how. */
export interface Ground<Server extends Replica> {
  redis: RedisServer
  replicas: readonly Server[]
  /** The way of each server to Redis. */
  proxies: readonly CuttingProxy[]
}

interface Run<Server extends Replica> extends Pick<Workload, 'seed' | 'clients' | 'requests' | 'rest'> {
  start(options: { store: string; storePrefix: string }): Promise<Server>
  /** Makes trouble until it is told to stop. */
  trouble(ground: Ground<Server>, isOver: () => boolean): Promise<void>
}

/**
 * Three servers, clients that ask them, and trouble all the while. Expects that there is an order of the requests in which
 * one server, asked by one client, would have answered the same.
 */
export async function expectLinearizable<Server extends Replica>({
  start,
  trouble,
  ...run
}: Run<Server>): Promise<void> {
  const redis = await startRedis({ appendonly: 'yes', appendfsync: 'always' })
  const storePrefix = freshPrefix()
  const proxies = await atOnce(3, () => startCuttingProxy(redis.port))
  const replicas = await Promise.all(proxies.map(({ url }) => start({ store: url, storePrefix })))
  onTestFinished(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()))
  })
  const baseUrls = () => replicas.map(({ baseUrl }) => baseUrl)
  const [first = ''] = baseUrls()
  const accounts = [await createAccountWithNewKey(first), await createAccountWithNewKey(first)]
  const exchanges = await runWorkload({ ...run, accounts, baseUrls }, async (isOver) => {
    await trouble({ redis, replicas, proxies }, isOver)
    for (const proxy of proxies) proxy.restore()
    for (const { baseUrl = '' } of replicas) await untilReady(baseUrl)
  })
  const ids = exchanges.flatMap((exchange) => exchange.ids)
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  for (const { id } of accounts) {
    const own = exchanges.filter(({ account }) => account === id)
    // Requests over the quota, and looks that nobody saw, did not happen.
    const happened = own.filter(
      ({ call, status, outcome }) => status !== 429 && (outcome !== undefined || !isLook(call)),
    )
    expect(findFault(happened, ACCOUNT)).toBeUndefined()
    for (const bucket of ['domains', 'group']) expectExactQuota(own.filter(({ call }) => call.do.includes(bucket)))
  }
  // Otherwise, the run has shown nothing.
  const known = exchanges.filter(({ outcome }) => outcome !== undefined)
  expect(known.length).toBeGreaterThan((run.clients * run.requests) / 2)
}

type Charge = Operation<{ limit: number }, { remaining: number; isRefused: boolean }>

/** One window of a quota: how many requests it has counted, and what the headers say is left. */
const QUOTA: Specification<number, Charge['call'], NonNullable<Charge['outcome']>> = {
  initial: 0,
  apply(used, { limit }) {
    if (used >= limit) return { state: used, outcome: { remaining: 0, isRefused: true } }
    return { state: used + 1, outcome: { remaining: limit - used - 1, isRefused: false } }
  },
  changesNothing: (_, { isRefused }) => isRefused,
}

/** Of each window, what it has counted. A request whose response was lost may have been counted in each. */
function expectExactQuota(exchanges: readonly Exchange[]): void {
  const quotas = exchanges.flatMap(({ quota }) => quota ?? [])
  for (const [reset, limit] of new Map(quotas.map((quota) => [quota.reset, quota.limit]))) {
    const charges = exchanges.flatMap(({ quota, invoked, returned, status }): Charge[] => {
      if (quota === undefined)
        return [{ call: { limit }, invoked, returned: Number.POSITIVE_INFINITY, outcome: undefined }]
      const outcome = { remaining: quota.remaining, isRefused: status === 429 }
      return quota.reset === reset ? [{ call: { limit }, invoked, returned, outcome }] : []
    })
    expect(findFault(charges, QUOTA)).toBeUndefined()
  }
}

import { expect, onTestFinished } from 'vitest'
import { atOnce } from '../support/at-once.ts'
import { type CuttingProxy, startCuttingProxy } from '../support/cutting-proxy.ts'
import { isKnown, judgeRun } from '../support/linearizability/history.ts'
import { runWorkload, type Workload } from '../support/linearizability/workload.ts'
import { freshPrefix, type RedisServer, startRedis } from '../support/redis-server.ts'
import { createAccountWithNewKey, untilReady } from '../support/replicas.ts'

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
  const { faults, isDecided } = judgeRun(exchanges)
  expect(faults.join('\n\n')).toBe('')
  // Otherwise, the run has shown nothing.
  expect(isDecided).toBe(true)
  expect(exchanges.filter(isKnown).length).toBeGreaterThan((run.clients * run.requests) / 2)
}

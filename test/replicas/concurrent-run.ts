import { expect, onTestFinished } from 'vitest'
import { startCuttingProxy } from '../support/cutting-proxy.ts'
import { type Exchange, isKnown } from '../support/linearizability/history.ts'
import { faultsOfRun } from '../support/linearizability/judgement.ts'
import { GROUP_NAMES, lookAtEverything, runWorkload } from '../support/linearizability/workload.ts'
import { createRandom } from '../support/random.ts'
import { freshPrefix, startRedis } from '../support/redis-server.ts'
import { createAccountWithNewKey, type Replica, type ReplicaOptions, untilReady } from '../support/replicas.ts'
import { makeTrouble } from './troubles.ts'

export interface Run {
  seed: number
  troubles: readonly string[]
  start: (options: ReplicaOptions) => Promise<Replica>
  clients?: number
  requests?: number
  /** Changes the scripts that Redis runs. */
  rewrite?: (text: string) => string
}

/** Three replicas, clients that ask them, and trouble all the while; resolves to the history. */
export async function runReplicas({
  seed,
  troubles,
  start,
  clients = 6,
  requests = 100,
  rewrite,
}: Run): Promise<Exchange[]> {
  const redis = await startRedis({ appendonly: 'yes', appendfsync: 'always' })
  const prefix = freshPrefix()
  const proxies = await Promise.all([0, 1, 2].map(() => startCuttingProxy(redis.port)))
  if (rewrite !== undefined) for (const proxy of proxies) proxy.rewriteScripts(rewrite)
  const replicas = await Promise.all(proxies.map(({ url }) => start({ store: url, prefix })))
  onTestFinished(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()))
  })
  const [first] = replicas
  const accounts = [await createAccount(first), await createAccount(first)]
  const target = { accounts, baseUrls: () => replicas.map(({ baseUrl }) => baseUrl) }
  const begun = performance.now()
  let isOver = false
  const trouble = makeTrouble(troubles, { redis, replicas, proxies, random: createRandom(seed) }, () => isOver)
  const workload = { clients, requests, seed, start: begun, rest: 20, patience: 2500 }
  const exchanges = await runWorkload(target, workload).finally(() => {
    isOver = true
  })
  expect(await trouble).toBeGreaterThan(0)
  const lost = proxies.reduce((sum, proxy) => sum + proxy.lost, 0)
  if (`${troubles}` === 'replies are lost after the change') expect(lost).toBeGreaterThan(0)
  await Promise.all(replicas.map(untilReady))
  return [...exchanges, ...(await lookAtEverything(target, begun))]
}

function createAccount(replica: Replica | undefined): Promise<{ id: string; key: string }> {
  return createAccountWithNewKey(replica?.baseUrl ?? '')
}

export function expectLinearizable(exchanges: readonly Exchange[], seed: number): void {
  const faults = faultsOfRun(exchanges, GROUP_NAMES)
  if (faults.length === 0) return
  const again = `LINEARIZABILITY_RUNS=1 LINEARIZABILITY_SEED=${seed} npx vitest run test/replicas/linearizability`
  expect.fail(`${faults.join('\n\n')}\n\nRun it again: ${again}`)
}

/** Without enough that is known, the check would show nothing. */
export function expectMeaningful(exchanges: readonly Exchange[], requests: number): void {
  const known = exchanges.filter(isKnown)
  expect(known.length).toBeGreaterThan(requests / 3)
  expect(
    known.filter(({ call, told }) => call.do === 'create group' && told.group !== undefined).length,
  ).toBeGreaterThan(0)
}

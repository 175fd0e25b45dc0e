import { describe, expect, it, onTestFinished } from 'vitest'
import { budget } from '../support/budget.ts'
import { startCuttingProxy } from '../support/cutting-proxy.ts'
import type { Exchange } from '../support/linearizability/history.ts'
import { isKnown } from '../support/linearizability/history.ts'
import { faultsOfRun } from '../support/linearizability/judgement.ts'
import { createRandom, GROUP_NAMES, lookAtEverything, runWorkload } from '../support/linearizability/workload.ts'
import { freshPrefix, HAS_REDIS, startRedis } from '../support/redis-server.ts'
import {
  createAccountWithNewKey,
  type Replica,
  startReplicaInProcess,
  startReplicaProcess,
  untilReady,
} from '../support/replicas.ts'
import { startService } from '../support/service.ts'
import { makeTrouble, TROUBLES, TROUBLES_OF_CONNECTIONS } from './troubles.ts'

// To run more, and to repeat one that failed:
// LINEARIZABILITY_RUNS=30 npx vitest run test/replicas/linearizability
// LINEARIZABILITY_RUNS=1 LINEARIZABILITY_SEED=7 npx vitest run test/replicas/linearizability
const SEED = Number(process.env['LINEARIZABILITY_SEED'] ?? 1)
const RUNS = budget({ quick: 0, full: 5 }, 'LINEARIZABILITY_RUNS')
const ALL = Object.keys(TROUBLES)

/** The first five seeds have one kind of trouble each, and the sixth has all; then it begins again. */
function troublesOf(seed: number): readonly string[] {
  const name = ALL[(seed - 1) % (ALL.length + 1)]
  return name === undefined ? ALL : [name]
}

interface Run {
  seed: number
  troubles: readonly string[]
  start: (options: { store: string; prefix: string }) => Promise<Replica>
  clients?: number
  requests?: number
}

/** Three replicas, clients that ask them, and trouble all the while; resolves to the history. */
async function runReplicas({ seed, troubles, start, clients = 6, requests = 100 }: Run): Promise<Exchange[]> {
  const redis = await startRedis({ appendonly: 'yes', appendfsync: 'always' })
  const prefix = freshPrefix()
  const proxies = await Promise.all([0, 1, 2].map(() => startCuttingProxy(redis.port)))
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
  await trouble
  await Promise.all(replicas.map(untilReady))
  return [...exchanges, ...(await lookAtEverything(target, begun))]
}

function createAccount(replica: Replica | undefined): Promise<{ id: string; key: string }> {
  return createAccountWithNewKey(replica?.baseUrl ?? '')
}

function expectLinearizable(exchanges: readonly Exchange[], seed: number): void {
  const faults = faultsOfRun(exchanges, GROUP_NAMES)
  if (faults.length === 0) return
  const again = `LINEARIZABILITY_RUNS=1 LINEARIZABILITY_SEED=${seed} npx vitest run test/replicas/linearizability`
  expect.fail(`${faults.join('\n\n')}\n\nRun it again: ${again}`)
}

/** Without enough that is known, the check would show nothing. */
function expectMeaningful(exchanges: readonly Exchange[], requests: number): void {
  const known = exchanges.filter(isKnown)
  expect(known.length).toBeGreaterThan(requests / 3)
  expect(
    known.filter(({ call, told }) => call.do === 'create group' && told.group !== undefined).length,
  ).toBeGreaterThan(3)
}

describe('what concurrent clients see', () => {
  it('of one server in memory is what they would see one after the other', async () => {
    const { baseUrl } = await startService({ clock: Date.now })
    const accounts = [await createAccountWithNewKey(baseUrl), await createAccountWithNewKey(baseUrl)]
    const target = { accounts, baseUrls: () => [baseUrl] }
    const start = performance.now()
    const workload = { clients: 6, requests: 50, seed: SEED, start, rest: 2, patience: 2500 }
    const exchanges = [...(await runWorkload(target, workload)), ...(await lookAtEverything(target, start))]
    expectLinearizable(exchanges, SEED)
    expectMeaningful(exchanges, 300)
    expect(exchanges.every(isKnown)).toBe(true)
  })
})

describe.skipIf(!HAS_REDIS)('what concurrent clients see of three replicas', () => {
  it('is what they would see of one server one after the other, while replies are lost and Redis restarts', {
    timeout: 60_000,
  }, async () => {
    const run = { seed: SEED, troubles: TROUBLES_OF_CONNECTIONS, start: startReplicaInProcess, requests: 40 }
    const exchanges = await runReplicas(run)
    expectLinearizable(exchanges, SEED)
    expectMeaningful(exchanges, 240)
  })

  const seeds = Array.from({ length: RUNS }, (_, index) => SEED + index)
  const runs = seeds.map((seed) => ({ seed, troubles: troublesOf(seed) }))

  it.for(runs)(
    'is that of one server while $troubles (seed $seed)',
    { timeout: 120_000 },
    async ({ seed, troubles }) => {
      const exchanges = await runReplicas({ seed, troubles, start: startReplicaProcess })
      expectLinearizable(exchanges, seed)
      expectMeaningful(exchanges, 600)
    },
  )
})

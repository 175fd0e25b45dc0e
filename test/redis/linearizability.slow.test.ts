import { describe, expect, it, onTestFinished } from 'vitest'
import { range } from '../support/at-once.ts'
import { budget } from '../support/budget.ts'
import { startCuttingProxy } from '../support/cutting-proxy.ts'
import { type Exchange, isKnown } from '../support/linearizability/history.ts'
import { faultsOfRun, UNDECIDED } from '../support/linearizability/judgement.ts'
import { GROUP_NAMES, lookAtEverything, runWorkload } from '../support/linearizability/workload.ts'
import { createRandom } from '../support/random.ts'
import { freshPrefix, HAS_REDIS, startRedis } from '../support/redis-server.ts'
import { startReplicaProcess } from '../support/replica-process.ts'
import {
  createAccountWithNewKey,
  type Replica,
  type ReplicaOptions,
  startReplicaInProcess,
  untilReady,
} from '../support/replicas.ts'
import { startService } from '../support/service.ts'
import { makeTrouble, TROUBLES, TROUBLES_OF_CONNECTIONS } from './troubles.ts'

// To run more, and to repeat one that failed:
// LINEARIZABILITY_RUNS=30 npx vitest run test/redis/linearizability
// LINEARIZABILITY_RUNS=1 LINEARIZABILITY_SEED=7 npx vitest run test/redis/linearizability
const SEED = Number(process.env['LINEARIZABILITY_SEED'] ?? 1)
const RUNS = budget({ quick: 1, full: 5 }, 'LINEARIZABILITY_RUNS')
/** Of each client, where processes are killed. */
const REQUESTS = process.env['LINEARIZABILITY_RUNS'] === undefined ? budget({ quick: 30, full: 100 }) : 100
const CLIENTS = 6
/** How often clients are let loose until enough is known, and in milliseconds for how long, with all that they wait for. */
const ATTEMPTS = 5
const TIMEOUT = 600_000
const LOST_REPLIES = 'replies are lost after the change'
const ALL = Object.keys(TROUBLES)

/** The first five seeds have one kind of trouble each, and the sixth has all; then it begins again. */
function troublesOf(seed: number): readonly string[] {
  const name = ALL[(seed - 1) % (ALL.length + 1)]
  return name === undefined ? ALL : [name]
}

interface Run {
  seed: number
  troubles: readonly string[]
  start: (options: ReplicaOptions) => Promise<Replica>
  /** Of each client. */
  requests: number
  /** Changes the functions that Redis runs. */
  rewrite?: (text: string) => string
}

/** Three replicas, clients that ask them, and trouble all the while; resolves to the history. */
async function runReplicas({ seed, troubles, start, requests, rewrite }: Run): Promise<Exchange[]> {
  const redis = await startRedis({ appendonly: 'yes', appendfsync: 'always' })
  const prefix = freshPrefix()
  const proxies = await Promise.all([0, 1, 2].map(() => startCuttingProxy(redis.port)))
  if (rewrite !== undefined) for (const proxy of proxies) proxy.rewriteFunctions(rewrite)
  const replicas = await Promise.all(proxies.map(({ url }) => start({ store: url, prefix })))
  onTestFinished(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()))
  })
  const baseUrls = () => replicas.map(({ baseUrl }) => baseUrl)
  const exchanges = await runClients(baseUrls, { seed, requests, rest: 20 }, async (isOver) => {
    const made = await makeTrouble(troubles, { redis, replicas, proxies, random: createRandom(seed) }, isOver)
    expect(made).toBeGreaterThan(0)
    const lost = proxies.reduce((sum, proxy) => sum + proxy.lost, 0)
    if (`${troubles}` === LOST_REPLIES) expect(lost).toBeGreaterThan(0)
    await Promise.all(replicas.map(untilReady))
  })
  return exchanges
}

/** Lets clients ask servers about two accounts while something else is done, and then looks at everything. */
async function runClients(
  baseUrls: () => (string | undefined)[],
  workload: { seed: number; requests: number; rest: number },
  beside: (isOver: () => boolean) => Promise<void> = async () => {},
): Promise<Exchange[]> {
  const [first = ''] = baseUrls()
  const target = { accounts: [await createAccountWithNewKey(first), await createAccountWithNewKey(first)], baseUrls }
  const start = performance.now()
  let isOver = false
  const besides = beside(() => isOver)
  const exchanges = await runWorkload(target, { clients: CLIENTS, start, patience: 2500, ...workload }).finally(() => {
    isOver = true
  })
  await besides
  return [...exchanges, ...(await lookAtEverything(target, start))]
}

/**
 * Sees what clients see until that shows something: where a machine is busy, many answers come too late to be known, and
 * the check would show nothing. A fault is one at once.
 */
async function expectLinearizable(
  see: () => Promise<readonly Exchange[]>,
  { seed, requests }: Pick<Run, 'seed' | 'requests'>,
): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const exchanges = await see()
    const found = faultsOfRun(exchanges, GROUP_NAMES)
    const faults = found.filter((fault) => !fault.endsWith(UNDECIDED))
    const again = `LINEARIZABILITY_RUNS=1 LINEARIZABILITY_SEED=${seed} npx vitest run test/redis/linearizability`
    if (faults.length > 0) expect.fail(`${faults.join('\n\n')}\n\nRun it again: ${again}`)
    const known = exchanges.filter(isKnown)
    const created = known.filter(({ call, told }) => call.do === 'create group' && told.group !== undefined)
    if (found.length === 0 && known.length > (CLIENTS * requests) / 3 && created.length > 0) return
  }
  expect.fail(`None of ${ATTEMPTS} runs was known well enough to show anything.`)
}

it('What concurrent clients see of one server in memory is what they would see one after the other', async () => {
  const { baseUrl } = await startService({ clock: Date.now })
  const run = { seed: SEED, requests: 50, rest: 2 }
  await expectLinearizable(async () => {
    const exchanges = await runClients(() => [baseUrl], run)
    expect(exchanges.every(isKnown)).toBe(true)
    return exchanges
  }, run)
})

describe.skipIf(!HAS_REDIS)('What concurrent clients see of three replicas', () => {
  // What is seen once is a fault: it is not tried again.
  it('is that of one server, while replies are lost, connections are cut and Redis restarts', {
    retry: 0,
    timeout: TIMEOUT,
  }, async () => {
    const run = { seed: SEED, troubles: TROUBLES_OF_CONNECTIONS, start: startReplicaInProcess, requests: 30 }
    await expectLinearizable(() => runReplicas(run), run)
  })

  const runs = range(SEED, SEED + RUNS - 1).map((seed) => ({ seed, trouble: troublesOf(seed).join(', or ') }))
  it.for(runs)(
    'is that of one server while $trouble (seed $seed)',
    { timeout: TIMEOUT, retry: 0 },
    async ({ seed }) => {
      const run = { seed, troubles: troublesOf(seed), start: startReplicaProcess, requests: REQUESTS }
      await expectLinearizable(() => runReplicas(run), run)
    },
  )

  // A store that does not look for the operation does a change twice, or says that it is refused because of itself.
  it('would not be that without the id of the operation in each change', async () => {
    let rewritten = 0
    function forgetOperations(text: string): string {
      const forgetful = text.replace(/(local function find_record\(.*\)\n)/, '$1  if true then return nil end\n')
      if (forgetful !== text) rewritten++
      return forgetful
    }
    const faults: string[] = []
    for (let seed = SEED; faults.length === 0 && seed < SEED + 5; seed++) {
      const run = { seed, troubles: [LOST_REPLIES], start: startReplicaInProcess, requests: 25 }
      faults.push(...faultsOfRun(await runReplicas({ ...run, rewrite: forgetOperations }), GROUP_NAMES))
    }
    expect(rewritten).toBeGreaterThan(0)
    expect(faults.join('\n')).toMatch(/no order of these calls explains what they were told/)
  })
})

import { setTimeout as pause } from 'node:timers/promises'
import { describe, it } from 'vitest'
import { range } from '../support/at-once.ts'
import { isCall } from '../support/cutting-proxy.ts'
import { spawnProgram } from '../support/program-process.ts'
import { createRandom } from '../support/random.ts'
import { HAS_REDIS } from '../support/redis-server.ts'
import { type RunningProgram, ready } from '../support/running-program.ts'
import { API_KEY } from '../support/service.ts'
import { expectLinearizable, type Ground, type Replica } from './linearizability.ts'

// To run more, and to repeat one that failed:
// LINEARIZABILITY_RUNS=30 npx vitest run --project night test/redis
// LINEARIZABILITY_RUNS=1 LINEARIZABILITY_SEED=7 npx vitest run --project night test/redis
const SEED = Number(process.env['LINEARIZABILITY_SEED'] ?? 1)
const RUNS = Number(process.env['LINEARIZABILITY_RUNS'] ?? 6)

/** A server as a process of its own. */
interface Server extends Replica {
  start(): Promise<void>
  /** SIGKILL. */
  kill(): Promise<void>
  signal(signal: NodeJS.Signals): void
}

async function startServer({ store, storePrefix }: { store: string; storePrefix: string }): Promise<Server> {
  const shared = ['--store', store, '--store-prefix', storePrefix, '--log-level', 'silent']
  let running: RunningProgram | undefined
  const server: Server = {
    baseUrl: undefined,
    async start() {
      running = spawnProgram(['serve', '--port', '0', ...shared, '--fixture', 'empty', '--api-key', API_KEY])
      server.baseUrl = (await ready(running)).baseUrl
    },
    async kill() {
      server.baseUrl = undefined
      running?.stop('SIGKILL')
      await running?.ended
    },
    signal: (signal) => running?.stop(signal),
    stop: () => server.kill(),
  }
  await server.start()
  return server
}

type Trouble = (ground: Ground<Server>, random: () => number) => Promise<void>

function one<Value>(values: readonly Value[], random: () => number): Value {
  return values[Math.floor(random() * values.length)] as Value
}

const TROUBLES: Readonly<Record<string, Trouble>> = {
  async 'a server is killed and started again'({ replicas }, random) {
    const replica = one(replicas, random)
    await replica.kill()
    await pause(100 * random())
    await replica.start()
    await pause(200 * random())
  },
  async 'a server is stopped and continued'({ replicas }, random) {
    const replica = one(replicas, random)
    replica.signal('SIGSTOP')
    // Shorter and longer than a server waits for a reply of Redis.
    await pause(random() < 0.5 ? 100 + 300 * random() : 900 + 600 * random())
    replica.signal('SIGCONT')
    await pause(200 * random())
  },
  async 'Redis is killed and started again'({ redis }, random) {
    await pause(300 + 500 * random())
    await redis.kill()
    await pause(200 * random())
    await redis.restart()
    await pause(600)
  },
  async 'replies are lost after the change'({ proxies }, random) {
    for (const proxy of proxies) proxy.loseReplies((words) => isCall(words) && random() < 0.02)
    await pause(100)
  },
  async 'connections are cut'({ proxies }, random) {
    const proxy = one(proxies, random)
    one([proxy.cut, proxy.refuse, proxy.blackhole], random)()
    await pause(600 * random())
    proxy.restore()
    await pause(100 * random())
  },
}
const NAMES = Object.keys(TROUBLES)

/** The first five seeds have one kind of trouble each, and the sixth has all; then it begins again. */
const runs = range(SEED, SEED + RUNS - 1).map((seed) => {
  const name = NAMES[(seed - 1) % (NAMES.length + 1)]
  const names = name === undefined ? NAMES : [name]
  return { seed, names, what: names.join(', or ') }
})

describe.skipIf(!HAS_REDIS)('What concurrent clients see of three servers on one Redis', () => {
  it.for(runs)('is what they would see of one server, while $what (seed $seed)', { timeout: 600_000 }, async (run) => {
    const random = createRandom(run.seed)
    await expectLinearizable({
      seed: run.seed,
      clients: 6,
      requests: 100,
      rest: () => pause(20 * random()),
      start: startServer,
      async trouble(ground, isOver) {
        while (!isOver()) await TROUBLES[one(run.names, random)]?.(ground, random)
      },
    })
  })
})

import { setTimeout as pause } from 'node:timers/promises'
import { type CuttingProxy, isCall } from '../support/cutting-proxy.ts'
import type { RedisServer } from '../support/redis-server.ts'
import type { Replica } from '../support/replicas.ts'

/** What can go wrong, and how. */
export interface Ground {
  redis: RedisServer
  replicas: readonly Replica[]
  /** The way of each replica to Redis. */
  proxies: readonly CuttingProxy[]
  random: () => number
}

/** Does its harm once, and ends when that is over. */
type Trouble = (ground: Ground) => Promise<void>

export const TROUBLES: Readonly<Record<string, Trouble>> = {
  async 'a replica is killed'({ replicas, random }) {
    const replica = one(replicas, random)
    await replica.kill()
    await pause(100 * random())
    await replica.start()
    await pause(200 * random())
  },

  async 'a replica is stopped and continued'({ replicas, random }) {
    const replica = one(replicas, random)
    replica.pause()
    // Shorter and longer than a replica waits for a reply of Redis.
    await pause(random() < 0.5 ? 100 + 300 * random() : 900 + 600 * random())
    replica.resume()
    await pause(200 * random())
  },

  async 'Redis is killed and restarted'({ redis, random }) {
    await pause(300 + 500 * random())
    await redis.kill()
    await pause(200 * random())
    await redis.restart()
    await pause(600)
  },

  async 'replies are lost after the change'({ proxies, random }) {
    for (const proxy of proxies) proxy.loseReplies((words) => isCall(words) && random() < 0.05)
    await pause(100)
  },

  async 'connections are cut'({ proxies, random }) {
    const proxy = one(proxies, random)
    if (random() < 0.2) {
      proxy.refuse()
      await pause(300 * random())
      proxy.restore()
    } else if (random() < 0.3) {
      proxy.blackhole()
      await pause(1000 * random())
      proxy.restore()
    } else {
      proxy.cut()
    }
    await pause(40 + 100 * random())
  },
}

/** Those that need no processes of their own. */
export const TROUBLES_OF_CONNECTIONS = [
  'Redis is killed and restarted',
  'replies are lost after the change',
  'connections are cut',
]

/**
 * Makes trouble of these kinds, one after the other in random order, until told to stop; then everything is whole again.
 * Resolves to how often it has made some.
 */
export async function makeTrouble(names: readonly string[], ground: Ground, isOver: () => boolean): Promise<number> {
  let made = 0
  await pause(100)
  for (; !isOver(); made++) await TROUBLES[one(names, ground.random)]?.(ground)
  for (const proxy of ground.proxies) proxy.restore()
  return made
}

function one<Value>(values: readonly Value[], random: () => number): Value {
  return values[Math.floor(random() * values.length)] as Value
}

import { onTestFinished } from 'vitest'
import type { Clock } from '../../src/ground/clock.ts'
import { openConnection, type StoreConnection } from '../../src/redis/connection.ts'
import type { ServerPlace } from '../../src/redis/database.ts'
import { RedisStore } from '../../src/redis/redis-store.ts'
import { SETTINGS } from '../store/example-account.ts'
import { atOnce } from '../support/at-once.ts'
import { freshPrefix, sharedRedis } from '../support/redis-server.ts'

const PATIENCE = 25

/** A store as one replica has it, and its connection. */
export interface Replica {
  store: RedisStore
  connection: StoreConnection
  /** Changes by what the times are multiplied that a step may take. */
  setPatience(factor: number): void
}

export interface ReplicaOptions {
  /** Where the server listens; that of all tests by default. */
  port?: number
  prefix?: string
  clock?: Clock
  copiesLimit?: number
  place?: () => ServerPlace
}

/** How many replicas were opened: each has a number of its own, as servers do that have joined. */
let numbers = 0

/** Opens the store of a replica, which ends with the test. */
export async function openReplica({ port, prefix = freshPrefix(), ...options }: ReplicaOptions = {}): Promise<Replica> {
  const address = { kind: 'tcp', port: port ?? (await sharedRedis()).port } as const
  // A busy machine is no server that is away.
  let patience = PATIENCE
  const connection = await openConnection(address, { now: 0, patience: () => patience })
  const place = { number: numbers++, since: '0' }
  const store = new RedisStore({ connection, prefix, settings: SETTINGS, place: () => place, ...options })
  onTestFinished(async () => {
    await store.close()
    connection.close()
  })
  return { store, connection, setPatience: (factor) => (patience = factor) }
}

/** The same for several replicas that serve the same accounts. */
export function openReplicas(count: number, options: ReplicaOptions = {}): Promise<[Replica, Replica, ...Replica[]]> {
  const prefix = options.prefix ?? freshPrefix()
  const opened = atOnce(count, () => openReplica({ ...options, prefix }))
  return opened as Promise<[Replica, Replica, ...Replica[]]>
}

/** The stores of two replicas that serve the same accounts. */
export async function openTwoStores(options: ReplicaOptions = {}): Promise<[RedisStore, RedisStore]> {
  const [one, other] = await openReplicas(2, options)
  return [one.store, other.store]
}

import { onTestFinished } from 'vitest'
import type { Clock } from '../../../src/ground/clock.ts'
import { openConnection, type StoreConnection } from '../../../src/store/redis/connection.ts'
import { openRedisStore, type RedisStore } from '../../../src/store/redis/redis-store.ts'
import { freshPrefix, sharedRedis } from '../../support/redis-server.ts'
import { SETTINGS } from '../example-account.ts'

/** A store as one replica has it, and its connection. */
export interface Replica {
  store: RedisStore
  connection: StoreConnection
}

export interface ReplicaOptions {
  /** Where the server listens; that of all tests by default. */
  port?: number
  prefix?: string
  clock?: Clock
  copiesLimit?: number
}

/** Opens the store of a replica, which ends with the test. */
export async function openReplica({ port, prefix = freshPrefix(), ...options }: ReplicaOptions = {}): Promise<Replica> {
  const connection = await openConnection({ kind: 'tcp', port: port ?? (await sharedRedis()).port }, { now: 0 })
  const store = openRedisStore({ connection, prefix, settings: SETTINGS, ...options })
  onTestFinished(async () => {
    await store.close()
    connection.close()
  })
  return { store, connection }
}

/** The same for several replicas that serve the same accounts. */
export function openReplicas(count: number, options: ReplicaOptions = {}): Promise<Replica[]> {
  const prefix = options.prefix ?? freshPrefix()
  return Promise.all(Array.from({ length: count }, () => openReplica({ ...options, prefix })))
}

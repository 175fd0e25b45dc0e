import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { startServer, startUnderstudy, type Understudy } from '../../src/start/server.ts'
import type { InternalOptions } from '../../src/start/stand-in.ts'
import { askControl } from './control-plane.ts'
import { freshPrefix, sharedRedis } from './redis-server.ts'
import { API_KEY } from './service.ts'

/** By what the times are multiplied that a step of the store may take: a busy machine is none that is away. */
export const PATIENCE = 25

/** Starts a server that is patient with its store. */
export function startPatient(options: ServerOptions, internal: InternalOptions = {}): Promise<Understudy> {
  return startServer(options, OPERATIONS, { patience: () => PATIENCE, ...internal })
}

/** One of several servers that are one service. */
export interface Replica {
  /** `undefined` while it does not run. */
  baseUrl: string | undefined
  /** SIGKILL. */
  kill(): Promise<void>
  /** SIGSTOP and SIGCONT. */
  pause(): void
  resume(): void
  start(): Promise<void>
  stop(): Promise<void>
  /** What it has written to its standard error. */
  stderr(): string
}

/** Where replicas keep their accounts; each can have a way of its own to the same Redis. */
export interface ReplicaOptions {
  store: string
  prefix: string
}

/** Starts the sources in this process, which takes a tenth of the time. */
export async function startReplicaInProcess({ store, prefix }: ReplicaOptions): Promise<Replica> {
  let understudy: Understudy | undefined
  const impossible = () => {
    throw new Error('Only a process can be killed or stopped.')
  }
  const replica: Replica = {
    baseUrl: undefined,
    async start() {
      understudy = await startUnderstudy({ store, storePrefix: prefix, fixture: 'empty', apiKey: API_KEY })
      replica.baseUrl = understudy.baseUrl
    },
    kill: impossible,
    pause: impossible,
    resume: impossible,
    async stop() {
      replica.baseUrl = undefined
      await understudy?.stop()
    },
    stderr: () => '',
  }
  await replica.start()
  return replica
}

/** Creates an empty account with a key that is in its grace period, so that it may be asked ten times as often. */
export async function createAccountWithNewKey(
  baseUrl: string,
  body: object = {},
): Promise<{ id: string; key: string }> {
  const created = await askControl({ baseUrl }, 'POST', '/accounts', body)
  const { id } = created.data.account
  const { data } = await askControl({ baseUrl }, 'POST', `/accounts/${id}/keys`, {})
  return { id, key: data.api_key }
}

/** Waits until a replica says that it is ready. */
export async function untilReady(replica: Replica): Promise<void> {
  for (let waited = 0; ; waited += 20) {
    const { baseUrl } = replica
    const answer =
      baseUrl === undefined ? undefined : await askControl({ baseUrl }, 'GET', '/ready').catch(() => undefined)
    if (answer?.status === 200) return
    if (waited > 15_000) throw new Error(`A replica is not ready after 15 s: ${answer?.text} ${replica.stderr()}`)
    await pause(20)
  }
}

/** Replicas in this process that share what they keep on the Redis of all tests. They end with the test. */
export async function startFleet(count: number, options: ServerOptions = {}): Promise<readonly Understudy[]> {
  const { url } = await sharedRedis()
  const shared = { store: url, storePrefix: freshPrefix(), fixture: 'empty', apiKey: API_KEY, ...options }
  const replicas = await Promise.all(Array.from({ length: count }, () => startPatient(shared)))
  onTestFinished(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()))
  })
  return replicas
}

import { onTestFinished } from 'vitest'
import { loadFixture } from '../../src/accounts/fixture.ts'
import { DEFAULT_ACCOUNT, Worlds } from '../../src/accounts/worlds.ts'
import { createAdmin } from '../../src/admin/admin.ts'
import { createControlLoader } from '../../src/admin/control-loader.ts'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { bindBehaviours } from '../../src/behaviour/service-contract.ts'
import { loadContract } from '../../src/contract/contract.ts'
import type { AccountState } from '../../src/domain/account.ts'
import type { ExplanationReport } from '../../src/explain/explanation.ts'
import { findPublicKey } from '../../src/ground/secrets.ts'
import { countAnonymousIds } from '../../src/http/anonymous-ids.ts'
import { createCarrier } from '../../src/http/engine/carrier.ts'
import { closeServer, createHttpServer, listen } from '../../src/http/engine/http-server.ts'
import { ServerArrival } from '../../src/http/engine/server-arrival.ts'
import { type Log, SILENT } from '../../src/http/log.ts'
import { Journal, type JournalLimits } from '../../src/journal/journal.ts'
import { Secrets } from '../../src/journal/redaction/secrets.ts'
import { openConnection, type StoreConnection } from '../../src/redis/connection.ts'
import { RedisStore } from '../../src/redis/redis-store.ts'
import { SharedExchangeLog } from '../../src/redis/shared-exchange-log.ts'
import { createPipeline } from '../../src/service/pipeline.ts'
import { createExplainer } from '../../src/start/violation-explainer.ts'
import { ALWAYS_READY } from '../../src/store/readiness.ts'
import { askControl, type ControlResponse } from '../support/control-plane.ts'
import { freshPrefix, type RedisServer, sharedRedis } from '../support/redis-server.ts'
import { type Received, type SentHeaders, sendRequest } from '../support/request.ts'
import { API_KEY } from '../support/service.ts'

type Explanation = ExplanationReport | undefined

export interface ReplicaOptions {
  server?: RedisServer
  prefix?: string
  journal?: Partial<JournalLimits>
  waiting?: number
  /** By what the times are multiplied that a step may take, for a test about them. */
  patience?: () => number
  log?: Log
  /** How many other replicas it believes that there are. */
  others?: number
}

/** A replica: a service and its control plane on a port of their own, on a store that others use as well. */
export interface Replica {
  baseUrl: string
  store: RedisStore
  worlds: Worlds
  journal: Journal
  exchanges: SharedExchangeLog<Explanation>
  connection: StoreConnection
  /** Sends a request; answers when the store has the exchange, which no client waits for. */
  send(method: string, path: string, body?: unknown, headers?: SentHeaders): Promise<Received>
  ask(method: string, path: string, body?: unknown): Promise<ControlResponse>
  /** Ends it, as at the end of the test. */
  stop(): Promise<void>
}

const contract = bindBehaviours(await loadContract({ overlays: [] }), { behaviours: OPERATIONS, simulator: true })
const fixture = await loadFixture('empty')

/** Starts two replicas on one store. They end with the test. */
export async function startReplicas(options: ReplicaOptions = {}): Promise<[Replica, Replica]> {
  const server = options.server ?? (await sharedRedis())
  const prefix = options.prefix ?? freshPrefix()
  return [await startReplica({ ...options, server, prefix }), await startReplica({ ...options, server, prefix })]
}

export async function startReplica(
  options: ReplicaOptions & { server: RedisServer; prefix: string },
): Promise<Replica> {
  const { server, prefix } = options
  const { patience = () => 25 } = options
  const connection = await openConnection({ kind: 'unix', path: server.socket }, { now: Date.now(), patience })
  const clock = () => connection.clock.now()
  const store = new RedisStore({ connection, prefix, settings: contract.settings })
  const journal = new Journal(options.journal, undefined, new Secrets(['the-token-of-the-control-plane']))
  const urls = { baseUrl: '', adminUrl: '' }
  const publicKeyOf = (account: AccountState) => findPublicKey(account, { derived: true })
  const exchanges = new SharedExchangeLog<Explanation>({
    ...{ connection, prefix, contract, journal, publicKeyOf },
    explain: createExplainer({ contract, store, journal, publicKeyOf, urls, log: SILENT }),
    others: () => options.others ?? 1,
    ...(options.log !== undefined && { log: options.log }),
    readAccount: async (id) => ((await store.find('id', id)) === undefined ? undefined : store.read(id)),
    ...(options.waiting !== undefined && { waiting: options.waiting }),
  })
  await exchanges.start()
  const worlds = new Worlds({
    ...{ contract, store, clock, exchanges, log: SILENT },
    recall: (moment) => store.recall(moment),
    defaults: { fixture, seed: undefined, now: undefined, frozen: undefined, plan: undefined, faults: [] },
    ...{ maxAccounts: 1000, sandboxKeys: true, sandboxIdle: 0, randomKeys: false },
  })
  if ((await store.find('id', DEFAULT_ACCOUNT)) === undefined)
    await worlds.create({ id: DEFAULT_ACCOUNT, apiKey: API_KEY })
  else await worlds.noteKeys(DEFAULT_ACCOUNT, [API_KEY])
  const stopping = new AbortController()
  const readiness = ALWAYS_READY
  const shared = { contract, store, clock, worlds, exchanges, log: SILENT, stopping: stopping.signal }
  const answer = createPipeline({
    ...shared,
    ...{ prefer: true, simulator: true, enforceQuotas: true, responseValidation: 'error', cors: undefined },
    nextId: countAnonymousIds(42, contract.requestIds),
    namesUs: () => true,
  })
  const admin = createAdmin({
    control: createControlLoader({
      ...{ ...shared, readiness, enforceQuotas: true, instance: 'test', faultSets: [] },
      urls: () => urls,
    }),
    ...{ readiness, token: undefined, host: '127.0.0.1', instance: 'test', log: SILENT, stopping: stopping.signal },
    urls: () => urls,
  })
  const serve = createCarrier({ answer, stopping: stopping.signal, log: SILENT })
  const http = createHttpServer({
    handle: (request, response) =>
      request.url?.startsWith('/__admin')
        ? admin(request, response)
        : serve(new ServerArrival(request), request, response),
    refuseMalformed: (_, socket) => socket.destroy(),
    maxConnections: 1000,
    dropped() {},
  })
  const origin = await listen(http, 0, '127.0.0.1')
  Object.assign(urls, { baseUrl: origin + contract.basePath, adminUrl: `${origin}/__admin` })
  let stopped: Promise<void> | undefined
  const stop = () => (stopped ??= end())
  async function end(): Promise<void> {
    stopping.abort()
    await closeServer(http)
    await exchanges.close()
    await store.close()
    connection.close()
  }
  onTestFinished(stop)
  const { baseUrl } = urls
  return {
    ...{ baseUrl, store, worlds, journal, exchanges, connection, stop },
    async send(method, path, body, headers = {}) {
      const sent = { authorization: `Bearer ${API_KEY}`, ...headers }
      const received = await sendRequest(method, baseUrl + path, body, sent)
      await exchanges.caughtUp().catch(() => {})
      return received
    },
    ask: (method, path, body) => askControl({ baseUrl }, method, path, body),
  }
}

/** By the type of a key, how all of it is read. */
const READING: Readonly<Record<string, string>> = {
  ...{
    string: 'GET',
    hash: 'HGETALL',
    list: 'LRANGE 0 -1',
    set: 'SMEMBERS',
    zset: 'ZRANGE 0 -1',
    stream: 'XRANGE - +',
  },
}

/** All texts of a store: the names and the contents of its keys. */
export async function dumpStore(server: RedisServer): Promise<string> {
  const texts: string[] = []
  for (const key of (await server.command('KEYS', '*')) as string[]) {
    const [command = '', ...range] = (READING[`${await server.command('TYPE', key)}`] ?? '').split(' ')
    texts.push(key, JSON.stringify(await server.command(command, key, ...range)))
  }
  return texts.join('\n')
}

import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { LocalExchangeLog } from '../accounts/exchange-log.ts'
import { loadFixture } from '../accounts/fixture.ts'
import { DEFAULT_ACCOUNT, Worlds } from '../accounts/worlds.ts'
import { createAdmin } from '../admin/admin.ts'
import { createControlLoader } from '../admin/control-loader.ts'
import type { ObservedService } from '../admin/handler.ts'
import { OPERATIONS } from '../behaviour/operations/operations.ts'
import { bindBehaviours } from '../behaviour/service-contract.ts'
import type { Contract } from '../contract/contract.ts'
import { systemClock } from '../ground/clock.ts'
import { TIMEOUTS } from '../http/engine/http-server.ts'
import { createRequestClass, type ServerRequest } from '../http/engine/node-internals.ts'
import type { Log } from '../http/log.ts'
import { Journal } from '../journal/journal.ts'
import { Secrets } from '../journal/redaction/secrets.ts'
import { createExplainer } from '../start/violation-explainer.ts'
import { openMemoryStore } from '../store/memory.ts'
import { ALWAYS_READY } from '../store/readiness.ts'
import { createEntryMaker, type EntryMaker } from './entries.ts'

/** The operations of the control plane that work if only requests are known. */
const OFFERED: ReadonlySet<string> = new Set([
  ...['listAccounts', 'getAccount', 'listAllRequests', 'listRequests', 'clearRequests', 'verifyRequests'],
  ...['getOverallCoverage', 'getCoverage', 'getVerdict', 'clearVerdict', 'explainRequest', 'listFaultSets'],
  ...['streamAllEvents', 'streamEvents'],
])

export interface ControlPlaneOptions {
  contract: Contract
  token: string | undefined
  host: string
  /** Identifies this run of the program. */
  instance: string
  /** Known as soon as the proxy listens. */
  urls: { baseUrl: string; adminUrl: string }
  log: Log
  report: ObservedService['report']
}

/** The control plane of a proxy. It is that of a server, with a journal of the requests that were passed on. */
export interface ControlPlane {
  /** Takes over a client that has sent these bytes. */
  divert(client: Socket, bytes: Buffer): void
  note: EntryMaker
  stop(): void
}

/** Makes the control plane with one account `default`. Only the requests of this account are known. */
export async function openControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { token, host, instance, urls, log, report } = options
  const contract = bindBehaviours(options.contract, { behaviours: OPERATIONS, simulator: false })
  const clock = systemClock
  const journal = new Journal({}, undefined, new Secrets(token === undefined ? [] : [token]))
  const store = openMemoryStore({ clock })
  const fixture = await loadFixture('empty')
  const explainOwn = createExplainer({ contract, store, journal, publicKeyOf: () => undefined, urls, log })
  const explain: typeof explainOwn = async (entry) => {
    const { UNKNOWN_ELSEWHERE } = await import('../explain/foreign-service.ts')
    const explained = await explainOwn(entry, undefined)
    return explained && { ...explained, ...UNKNOWN_ELSEWHERE }
  }
  const exchanges = new LocalExchangeLog({ contract, journal, explain })
  const worlds = new Worlds({
    ...{ contract, store, clock, exchanges, log, budget: undefined },
    defaults: { fixture, seed: undefined, now: undefined, frozen: undefined, plan: undefined, faults: [] },
    ...{ maxAccounts: 1, sandboxKeys: false, sandboxIdle: 0, randomKeys: true },
  })
  await worlds.create({ id: DEFAULT_ACCOUNT })
  const stopping = new AbortController()
  const readiness = ALWAYS_READY
  const admin = createAdmin({
    control: createControlLoader({
      ...{ contract, instance, store, clock, worlds, exchanges, readiness, traffic: undefined, enforceQuotas: false },
      faultSets: [],
      urls: () => urls,
      observed: { offers: OFFERED, report },
    }),
    ...{ token, host, instance, log, readiness },
    urls: () => urls,
    stopping: stopping.signal,
  })
  const classes = { IncomingMessage: createRequestClass() }
  const server = createServer({ ...TIMEOUTS, requireHostHeader: false, ...classes }, (request, response) => {
    // The next request of this client may be for the service, so it must use another connection.
    response.shouldKeepAlive = false
    void admin(request as ServerRequest, response)
  })
  return {
    divert: (client, bytes) => divertTo(server, client, bytes),
    note: createEntryMaker(contract, exchanges),
    stop() {
      stopping.abort()
      server.closeAllConnections()
    },
  }
}

/** Gives an HTTP server a connection whose first bytes were already read. */
function divertTo(server: Server, client: Socket, bytes: Buffer): void {
  client.pause()
  client.unshift(bytes)
  server.emit('connection', client)
  client.resume()
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import { LocalExchangeLog } from '../accounts/exchange-log.ts'
import { loadFixture } from '../accounts/fixture.ts'
import { DEFAULT_ACCOUNT, Worlds } from '../accounts/worlds.ts'
import { createAdmin } from '../admin/admin.ts'
import { createControlLoader } from '../admin/control-loader.ts'
import type { ObservedService } from '../admin/handler.ts'
import { OPERATIONS } from '../behaviour/operations/operations.ts'
import { bindBehaviours } from '../behaviour/service-contract.ts'
import type { Contract } from '../contract/contract.ts'
import type { ServerUrls } from '../coverage/curl.ts'
import { envelopeIn } from '../exchanges/reading.ts'
import { systemClock } from '../ground/clock.ts'
import type { Log } from '../http/log.ts'
import { createQueryReader, splitTarget } from '../http/target.ts'
import { Journal } from '../journal/journal.ts'
import { Secrets } from '../journal/redaction/secrets.ts'
import { createExplainer } from '../start/violation-explainer.ts'
import { openMemoryStore } from '../store/memory.ts'
import { ALWAYS_READY } from '../store/readiness.ts'
import { createEntryWriter, LARGEST_JSON } from './journal-entry.ts'
import type { WitnessOptions } from './witness.ts'

/** The operations of the control plane that work if only requests are known. */
const OFFERED: ReadonlySet<string> = new Set([
  ...['listAccounts', 'getAccount', 'getVersion', 'listAllRequests', 'listRequests', 'clearRequests', 'verifyRequests'],
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
  urls: ServerUrls
  log: Log
  verdict: ObservedService['verdict']
}

/** The control plane of a proxy. It is that of a server, with a journal of the requests that were passed on. */
export interface ControlPlane {
  answer(request: IncomingMessage, response: ServerResponse): void
  /** Adds an exchange to the journal. What it shows of the contract also counts for the coverage. */
  note: NonNullable<WitnessOptions['note']>
  /** Ends the streams of events. */
  stop(): void
}

/** Makes the control plane with one account `default`. Only the requests of this account are known. */
export async function openControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { token, host, instance, urls, log, verdict } = options
  const contract = bindBehaviours(options.contract, { behaviours: OPERATIONS, simulator: false })
  const clock = systemClock
  const journal = new Journal({}, undefined, new Secrets(token === undefined ? [] : [token]))
  const store = openMemoryStore({ clock })
  const fixture = await loadFixture('empty')
  const explainOwn = createExplainer({ contract, store, journal, publicKeyOf: () => undefined, urls, log })
  const explain: typeof explainOwn = async (entry) => {
    const { explainElsewhere } = await import('../explain/foreign-service.ts')
    const explained = await explainOwn(entry, undefined)
    return explained && explainElsewhere(explained)
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
      observed: { offers: OFFERED, verdict },
    }),
    ...{ token, host, instance, log, readiness },
    urls: () => urls,
    stopping: stopping.signal,
  })
  const write = createEntryWriter(contract, journal)
  const readQuery = createQueryReader(contract.settings)
  const history = exchanges.historyOf(DEFAULT_ACCOUNT, 0)
  return {
    answer: (request, response) => void admin(request, response),
    note(sighting, passed, judgement) {
      const { request } = sighting.exchange
      exchanges.take(write(sighting, passed, judgement), {
        history,
        query: readQuery(splitTarget(request.target).query) as Record<string, string>,
        body: envelopeIn(request.body, LARGEST_JSON),
        judged: judgement.isJudged,
        ...{ principal: undefined, owner: undefined },
        ...{ started: passed.started, ended: passed.ended, requestBody: undefined, responseBody: undefined },
      })
    },
    stop: () => stopping.abort(),
  }
}

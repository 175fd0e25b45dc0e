import type { IncomingMessage, ServerResponse } from 'node:http'
import { LocalExchangeLog } from '../accounts/exchange-log.ts'
import { loadFixture } from '../accounts/fixture.ts'
import { DEFAULT_ACCOUNT, Worlds } from '../accounts/worlds.ts'
import { createControlLoader } from '../admin/control-loader.ts'
import type { ObservedService } from '../admin/handler.ts'
import { createAdmin } from '../admin/router.ts'
import { OPERATIONS } from '../behaviour/operations/operations.ts'
import { bindBehaviours } from '../behaviour/service-contract.ts'
import { operationOf } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { createRouter } from '../contract/router.ts'
import type { ServerUrls } from '../coverage/curl.ts'
import type { SeenBody } from '../exchanges/exchange.ts'
import { codeIn, envelopeIn } from '../exchanges/reading.ts'
import { systemClock } from '../ground/clock.ts'
import type { Log } from '../ground/log.ts'
import { readQuery, splitTarget } from '../ground/target.ts'
import { type NewEntry, NO_KEY, type RecordedBody } from '../journal/entry.ts'
import { Journal } from '../journal/journal.ts'
import { type Redact, redactField, redactWithin } from '../journal/redaction/redaction.ts'
import { Secrets } from '../journal/redaction/secrets.ts'
import { isFailure, partyOf } from '../judge/finding.ts'
import { createExplainer } from '../server/violation-explainer.ts'
import { openMemoryStore } from '../store/memory.ts'
import { ALWAYS_READY } from '../store/readiness.ts'
import type { PassedExchange } from './traffic.ts'
import type { Sighting, WitnessOptions } from './witness.ts'

/** The operations of the control plane that work if only requests are known. */
const OFFERED: ReadonlySet<string> = new Set([
  ...['getAbout', 'listAccounts', 'getAccount', 'listAllRequests', 'listRequests', 'clearRequests', 'verifyRequests'],
  ...['getOverallCoverage', 'getCoverage', 'getVerdict', 'clearVerdict', 'explainRequest', 'listFaultSets'],
  ...['streamAllEvents', 'streamEvents'],
])

/** The largest JSON that is parsed, in bytes. Parsing a larger one would delay the traffic that is passed on. */
const LARGEST_JSON = 1 << 20
const SECRET = /^(?:authorization|proxy-authorization|cookie2?|set-cookie2?)$/i

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
    ...{ contract, store, clock, exchanges, log },
    defaults: { fixture, seed: undefined, now: undefined, frozen: undefined, plan: undefined, faults: [] },
    ...{ maxAccounts: 1, sandboxKeys: false, randomKeys: true },
  })
  await worlds.create({ id: DEFAULT_ACCOUNT })
  const stopping = new AbortController()
  const place = { readiness: ALWAYS_READY, urls: () => urls }
  const admin = createAdmin({
    control: createControlLoader({
      ...{ contract, instance, store, clock, worlds, exchanges, traffic: undefined, enforceQuotas: false },
      ...{ faultSets: [], ...place },
      observed: { offers: OFFERED, verdict },
    }),
    ...{ token, host, instance, log, ...place },
    stopping: stopping.signal,
  })
  const write = createEntryWriter(contract, journal)
  const history = exchanges.historyOf(DEFAULT_ACCOUNT, 0)
  return {
    answer: (request, response) => void admin(request, response),
    note(sighting, passed) {
      const { request } = sighting.exchange
      const entry = write(sighting, passed)
      exchanges.take(entry, {
        history,
        operation: operationOf(contract, entry.operation),
        group: undefined,
        query: readQuery(splitTarget(request.target).query),
        body: envelopeIn(request.body, LARGEST_JSON),
        judged: sighting.isJudged,
        ...{ principal: undefined, owner: undefined },
        ...{ started: passed.started, ended: passed.ended, requestBody: undefined, responseBody: undefined },
      })
    },
    stop: () => stopping.abort(),
  }
}

/** Makes the function that writes an exchange, and what the judgement has found in it, as an entry of the journal. */
function createEntryWriter(contract: Contract, journal: Journal) {
  const findRoute = createRouter(contract, contract.settings)
  /** Hides the secrets of the program. The keys in the exchange are already hidden. */
  const hidden = journal.redactions.of({ headers: [], target: '' })

  return function writeEntry(
    { exchange, recorded, redact, isOfService, findings }: Sighting,
    passed: PassedExchange,
  ): NewEntry {
    const { request, response } = exchange
    const { path } = splitTarget(request.target)
    const route = isOfService ? findRoute(request.method, path) : undefined
    const failures = findings.filter(isFailure).map((finding) => ({ ...finding, by: partyOf(finding) }))
    const hide: Redact = (text) => hidden.redact(redact(text))
    const shown = (fields: readonly (readonly [string, string])[]) =>
      fields
        .filter(([name]) => !SECRET.test(name))
        .flatMap(([name, value]) => [hide(name), redactField(name, value, hide)])
    return {
      requestId: exchange.id,
      at: exchange.at,
      duration: Math.round((passed.ended - passed.started) * 1000) / 1000,
      account: DEFAULT_ACCOUNT,
      key: request.credentials.kind === 'sent' && request.credentials.key !== '' ? request.credentials.key : undefined,
      method: request.method,
      target: hidden.target(request.target),
      path: hidden.redact(path),
      headers: shown(recorded.request.fields),
      body: bodyOf(request.body, passed.request.body.size),
      operation: route?.ok ? route.operation.id : undefined,
      status: response?.status,
      code: response && codeIn(response, LARGEST_JSON),
      problems: [],
      violatesContract: failures.some(({ by }) => by === 'client'),
      responseHeaders: shown(recorded.response?.fields ?? []),
      responseBody: response && bodyOf(response.body, passed.response?.body.size ?? 0),
      violations: redactWithin(failures, hidden.redact),
      injected: false,
      keyEvidence: NO_KEY,
    }
  }

  function bodyOf(body: SeenBody, size: number): RecordedBody | undefined {
    if (!body.isKnown) return size > 0 ? { size } : undefined
    const { bytes } = body
    return bytes.length === 0 ? undefined : hidden.body({ held: bytes, size: bytes.length })
  }
}

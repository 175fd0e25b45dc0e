import type { IncomingMessage, ServerResponse } from 'node:http'
import { DEFAULT_ACCOUNT } from '../accounts/worlds.ts'
import type { ObservedService } from '../admin/handler.ts'
import { OPERATIONS } from '../behaviour/operations/operations.ts'
import { operationOf } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { createRouter } from '../contract/router.ts'
import type { ServerUrls } from '../coverage/curl.ts'
import type { SeenBody } from '../exchanges/exchange.ts'
import { codeIn, envelopeIn } from '../exchanges/reading.ts'
import type { Log } from '../ground/log.ts'
import { drawKey } from '../ground/secrets.ts'
import { readQuery, splitTarget } from '../ground/target.ts'
import { type NewEntry, NO_KEY, type RecordedBody } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import { isFailure, partyOf } from '../judge/finding.ts'
import { serveControl } from '../server/app.ts'
import { completeOptions } from '../server/options.ts'
import { openStandIn } from '../server/stand-in.ts'
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

export interface ControlPlaneOptions {
  contract: Contract
  token: string | undefined
  host: string
  /** Known as soon as the proxy listens. */
  urls: ServerUrls
  log: Log
  verdict: ObservedService['verdict']
}

/** The control plane of a proxy. It is that of a server, with a journal of the requests that were passed on. */
export interface ControlPlane {
  /** Identifies this run of the program. */
  instance: string
  answer(request: IncomingMessage, response: ServerResponse): void
  /** Adds an exchange to the journal. What it shows of the contract also counts for the coverage. */
  note: NonNullable<WitnessOptions['note']>
  /** Ends the streams of events. */
  stop(): void
}

/** Makes the control plane of a stand-in whose service gets no request. Only the requests of its one account are known. */
export async function openControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { token, host, urls, log, verdict } = options
  const quiet = { listen: false, simulator: false, sandboxKeys: false, enforceQuotas: false, maxAccounts: 1 }
  // Nobody needs the key, and none that can be computed may be shown in the place of the service's own.
  const known = completeOptions({ ...quiet, host, log, fixture: 'empty', adminToken: token, apiKey: drawKey() })
  const observed = { offers: OFFERED, verdict }
  const standIn = await openStandIn(known, OPERATIONS, { contract: options.contract, observed })
  const { contract, exchanges, journal, stopping, instance } = standIn
  Object.assign(standIn.urls, urls)
  const { serve } = serveControl(standIn, host, token)
  const write = createEntryWriter(contract, journal)
  const history = exchanges.historyOf(DEFAULT_ACCOUNT, 0)
  return {
    instance,
    answer: (request, response) => void serve(request, response),
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

  return function writeEntry({ exchange, isOfService, findings }: Sighting, passed: PassedExchange): NewEntry {
    const { request, response } = exchange
    const { path } = splitTarget(request.target)
    const route = isOfService ? findRoute(request.method, path) : undefined
    const failures = findings.filter(isFailure).map((finding) => ({ ...finding, by: partyOf(finding) }))
    return {
      requestId: exchange.id,
      at: exchange.at,
      duration: Math.round((passed.ended - passed.started) * 1000) / 1000,
      account: DEFAULT_ACCOUNT,
      key: request.credentials.kind === 'sent' && request.credentials.key !== '' ? request.credentials.key : undefined,
      method: request.method,
      target: hidden.target(request.target),
      path: hidden.redact(path),
      headers: hidden.headers(Object.entries(request.headers).flat()),
      body: bodyOf(request.body, passed.request.body.size),
      operation: route?.ok ? route.operation.id : undefined,
      status: response?.status,
      code: response && codeIn(response, LARGEST_JSON),
      problems: [],
      violatesContract: failures.some(({ by }) => by === 'client'),
      responseHeaders: hidden.headers(Object.entries(response?.headers ?? {}).flat()),
      responseBody: response && bodyOf(response.body, passed.response?.body.size ?? 0),
      violations: hidden.within(failures),
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

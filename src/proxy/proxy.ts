import { ADMIN_PATH } from '../admin/admin.ts'
import type { Contract } from '../contract/contract.ts'
import type { Exchange } from '../exchanges/exchange.ts'
import { systemClock } from '../ground/clock.ts'
import { nameInstance } from '../ground/secrets.ts'
import type { Log } from '../http/log.ts'
import type { ControlPlane } from './control-plane.ts'
import { Relay, type RelayOptions } from './relay.ts'
import type { ProxyTarget } from './target.ts'
import { ProxyTraffic } from './traffic.ts'
import { Witness, type WitnessOptions } from './witness.ts'

export interface ProxyOptions
  extends Pick<RelayOptions, 'target' | 'host' | 'port' | 'maxConnections' | 'idle'>,
    Pick<WitnessOptions, 'judge' | 'record' | 'found'> {
  contract: Contract
  /** Whether there is a control plane below `/__admin`. */
  admin: boolean
  adminToken: string | undefined
  log: Log
  /** Receives each exchange with the service before it is judged. */
  seen(exchange: Exchange): void
  /** A message for the user, as a sentence. Equal messages are sent once. */
  said(sentence: string): void
}

/** A proxy that passes requests on to a service and examines the traffic. */
export interface RunningProxy {
  /** The URL that a client uses in place of the base URL of the service. */
  readonly baseUrl: string
  readonly adminUrl: string | undefined
  readonly instance: string
  readonly witness: Witness
  /** How many connections exceeded the limit. `failed` counts those that could not be passed on. */
  readonly refused: number
  readonly failed: number
  /** Connects to the service, to check that this works. */
  probe(): Promise<FirstConnection>
  /** Gives open requests a short time to end, and judges the traffic until the signal is aborted. */
  stop(signal?: AbortSignal): Promise<void>
}

/** The result of the first connection to the service. */
type FirstConnection =
  | { kind: 'answers' }
  /** The service may answer later. */
  | { kind: 'silent'; reason: string }
  /** The service will not answer until the user changes something; `usage`: whether a wrong option is the cause. */
  | { kind: 'wrong'; reason: string; usage: boolean }

/** In milliseconds: how long the start waits for a connection to the service. */
const PROBE_PATIENCE = 3_000
/** How many different sentences are sent. */
const SAID_LIMIT = 50

/** Starts to listen. @throws an error of `listen`, such as `EADDRINUSE` */
export async function startProxy(options: ProxyOptions): Promise<RunningProxy> {
  const { target, contract, host, admin, adminToken, log, judge, record, found } = options
  const said = new Set<string>()
  const say = (sentence: string) => {
    if (said.has(sentence) || said.size >= SAID_LIMIT) return
    said.add(sentence)
    options.said(sentence)
  }
  const instance = nameInstance()
  let plane: ControlPlane | undefined
  let failed = 0
  const witness: Witness = new Witness({
    ...{ target, judge, record, found },
    basePath: contract.basePath,
    note: (sighting, passed) => {
      if (sighting.isOfService) options.seen(sighting.exchange)
      plane?.note(sighting, passed)
    },
    failed(error) {
      log.error({ err: error }, 'An exchange could not be judged. The traffic goes on.')
      say('An exchange could not be judged, because this program has made a mistake. The traffic goes on.')
    },
  })
  const traffic = new ProxyTraffic(witness, systemClock)
  const relay = new Relay({
    ...{ target, host, traffic, port: options.port, maxConnections: options.maxConnections },
    keptPath: admin ? ADMIN_PATH : undefined,
    divert: (client, bytes) => (plane === undefined ? client.destroy() : plane.divert(client, bytes)),
    failed(error, hasConnected) {
      failed++
      const reason = describeError(error, target)
      if (hasConnected) say(`${target.url} has broken a connection off (${error.code}); the client sees the same.`)
      else say(`${reason.text} The connection of the client was closed without a response.`)
    },
    foreignHost: (name) =>
      say(`Requests have the Host ${name.slice(0, 100)}, which is no name of the proxy, so it is passed on as it is.`),
    ...(options.idle !== undefined && { idle: options.idle }),
  })
  const origin = await relay.listen()
  const urls = { baseUrl: origin + target.basePath, adminUrl: origin + ADMIN_PATH }
  if (admin) {
    const { openControlPlane } = await import('./control-plane.ts')
    const report = () => describeService(witness)
    plane = await openControlPlane({ contract, host, instance, urls, log, report, token: adminToken })
  }
  return {
    baseUrl: urls.baseUrl,
    adminUrl: admin ? urls.adminUrl : undefined,
    instance,
    witness,
    get refused() {
      return relay.refused
    },
    get failed() {
      return failed
    },
    async probe() {
      const error = await relay.probe(PROBE_PATIENCE)
      if (relay.isLoop) return { kind: 'wrong', reason: 'is the proxy itself', usage: true }
      if (error === undefined) return { kind: 'answers' }
      const { text, isLasting, isUsage } = describeError(error, target)
      return isLasting ? { kind: 'wrong', reason: text, usage: isUsage } : { kind: 'silent', reason: text }
    },
    async stop(signal) {
      await relay.stop()
      plane?.stop()
      traffic.flush()
      await witness.finish(signal)
    },
  }
}

/** The findings against the service, for the control plane. */
function describeService(witness: Witness) {
  const { count, first } = witness.failures
  const { exchanges, foreign, skipped, failures } = witness.sightings
  return {
    findings: count,
    exchanges,
    not_judged: foreign + skipped + failures,
    first: first.map(({ id, label, request_id, method, path, status, message }) => ({
      ...{ id, label, method, path, message },
      request_id: request_id ?? null,
      status: status ?? null,
    })),
  }
}

/** The error codes of OpenSSL and Node.js for certificate problems. */
const CERTIFICATE =
  /^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/

/** `isLasting`: whether the problem stays until the user changes something; `isUsage`: whether the target is wrong. */
interface DescribedFailure {
  text: string
  isLasting: boolean
  isUsage: boolean
}

/** Why a connection to the service failed. */
function describeError(error: NodeJS.ErrnoException, { url, host, port, isSecure }: ProxyTarget): DescribedFailure {
  const { code = '' } = error
  if (CERTIFICATE.test(code)) {
    const remedy = '--ca FILE trusts the authority behind it, --insecure trusts any'
    const text = `${url} has a certificate that is not trusted (${code}); ${remedy}.`
    return { text, isLasting: true, isUsage: false }
  }
  if (isSecure && /^(?:ERR_SSL_|EPROTO)/.test(code)) {
    const text = `${url} does not speak TLS (${code}); is it http://${host}${port === 443 ? '' : `:${port}`}?`
    const isLasting = PLAIN_ANSWER.test(`${code} ${error.message}`)
    return { text, isLasting, isUsage: true }
  }
  const why = REASONS[code] ?? `cannot be reached (${code || error.message})`
  return { text: `${url} ${why}.`, isLasting: false, isUsage: false }
}

/** The errors of OpenSSL for an answer that is not TLS. */
const PLAIN_ANSWER = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|wrong version|packet length/i

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'does not answer: nothing listens there (ECONNREFUSED)',
  ENOTFOUND: 'cannot be found: there is no such host (ENOTFOUND)',
  EAI_AGAIN: 'cannot be found: the names of hosts are not answered (EAI_AGAIN)',
  ETIMEDOUT: 'does not answer in time (ETIMEDOUT)',
  ECONNRESET: 'closes connections at once (ECONNRESET)',
}

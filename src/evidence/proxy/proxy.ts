import { ADMIN_PATH } from '../../admin/admin.ts'
import type { Contract } from '../../contract/contract.ts'
import { systemClock } from '../../ground/clock.ts'
import { nameInstance } from '../../ground/secrets.ts'
import type { Log } from '../../http/log.ts'
import type { Exchange } from '../exchange.ts'
import type { Finding } from '../finding.ts'
import type { RecordedExchange } from '../har/recorded-exchange.ts'
import type { ControlPlane } from './control-plane.ts'
import type { Judge } from './judge.ts'
import { Relay } from './relay.ts'
import type { Target } from './target.ts'
import { Traffic } from './traffic.ts'
import { Witness } from './witness.ts'

export interface ProxyOptions {
  target: Target
  contract: Contract
  judge: Judge
  host: string
  port: number
  maxConnections: number
  /** Whether there is a control plane below `/__admin`. */
  admin: boolean
  adminToken: string | undefined
  log: Log
  /** Records what was passed on. It must not throw. */
  record?: ((exchange: RecordedExchange) => void) | undefined
  /** Is told of each exchange before it is judged. */
  seen(exchange: Exchange): void
  found(finding: Finding): void
  /** Something that a person should hear, as a sentence. The same is said once. */
  said(sentence: string): void
  /** In milliseconds: how long nothing may be sent on a connection. */
  idle?: number
}

/** A proxy that passes requests on to a service, and looks at what is said. */
export interface RunningProxy {
  /** What a client takes in place of the base URL of the service. */
  readonly baseUrl: string
  readonly adminUrl: string | undefined
  readonly instance: string
  readonly witness: Witness
  /** How many connections there were too many, and how many could not be passed on. */
  readonly refused: number
  readonly failed: number
  /** How many exchanges wait to be judged. */
  readonly waiting: number
  /** Connects to the service, to find out whether that works. */
  probe(): Promise<Probe>
  /** Lets what is under way end for a moment, and judges what was seen, until the signal is aborted. */
  stop(signal?: AbortSignal): Promise<void>
}

/** What came of a first connection to the service. */
type Probe =
  | { kind: 'answers' }
  /** It may answer later. */
  | { kind: 'silent'; reason: string }
  /** It will not answer until somebody changes something; `usage`: whether that is how the proxy was called. */
  | { kind: 'wrong'; reason: string; usage: boolean }

/** In milliseconds: how long a start waits for the service to take a connection. */
const PROBE_PATIENCE = 3_000
/** How many different sentences are said. */
const SAID_LIMIT = 50

/** Starts to listen. @throws the `EADDRINUSE` and the like of `listen` */
export async function startProxy(options: ProxyOptions): Promise<RunningProxy> {
  const { target, contract, host, admin, adminToken, log } = options
  const said = new Set<string>()
  const say = (sentence: string) => {
    if (said.has(sentence) || said.size >= SAID_LIMIT) return
    said.add(sentence)
    options.said(sentence)
  }
  const instance = nameInstance()
  const urls = { baseUrl: '', adminUrl: '' }
  let plane: ControlPlane | undefined
  let failed = 0
  const witness: Witness = new Witness({
    target,
    basePath: contract.basePath,
    judge: options.judge,
    record: options.record,
    note: (sighting, passed) => {
      if (sighting.isOfService) options.seen(sighting.exchange)
      plane?.note(sighting, passed)
    },
    found: options.found,
    failed(error) {
      log.error({ err: error }, 'An exchange could not be judged. The traffic goes on.')
      say('An exchange could not be judged, because this program has made a mistake. The traffic goes on.')
    },
  })
  const traffic = new Traffic(witness, systemClock)
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
  Object.assign(urls, { baseUrl: origin + target.basePath, adminUrl: origin + ADMIN_PATH })
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
    get waiting() {
      return witness.waiting
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

/** What was found against the service, as the control plane tells it. */
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

/** OpenSSL's and Node's names of what is wrong with a certificate. */
const CERTIFICATE =
  /^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/

interface Described {
  text: string
  /** Whether it stays so until somebody changes something. */
  isLasting: boolean
  /** Whether the target was given wrongly. */
  isUsage: boolean
}

/** What kept a connection to the service from coming about. */
function describeError(error: NodeJS.ErrnoException, { url, host, port, isSecure }: Target): Described {
  const { code = '' } = error
  if (CERTIFICATE.test(code)) {
    const remedy = '--ca FILE trusts the authority behind it, --insecure trusts any'
    return {
      text: `${url} has a certificate that is not trusted (${code}); ${remedy}.`,
      isLasting: true,
      isUsage: false,
    }
  }
  if (isSecure && /^(?:ERR_SSL_|EPROTO)/.test(code)) {
    const text = `${url} does not speak TLS (${code}); is it http://${host}${port === 443 ? '' : `:${port}`}?`
    return {
      text,
      isLasting: /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|wrong version|packet length/i.test(
        `${code} ${error.message}`,
      ),
      isUsage: true,
    }
  }
  const why = REASONS[code] ?? `cannot be reached (${code || error.message})`
  return { text: `${url} ${why}.`, isLasting: false, isUsage: false }
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'does not answer: nothing listens there (ECONNREFUSED)',
  ENOTFOUND: 'cannot be found: there is no such host (ENOTFOUND)',
  EAI_AGAIN: 'cannot be found: the names of hosts are not answered (EAI_AGAIN)',
  ETIMEDOUT: 'does not answer in time (ETIMEDOUT)',
  ECONNRESET: 'closes connections at once (ECONNRESET)',
}

import type { ObservedVerdict } from '../admin/handler.ts'
import { ADMIN_PATH } from '../admin/paths.ts'
import type { Contract } from '../contract/contract.ts'
import type { Log } from '../ground/log.ts'
import { nameInstance } from '../ground/secrets.ts'
import { plural } from '../ground/show.ts'
import { systemClock } from '../ground/timers.ts'
import { isFailure, type JudgedDifference, partyOf } from '../judge/finding.ts'
import type { ControlPlane } from './control-plane.ts'
import { Relay, type RelayOptions } from './relay.ts'
import { ProxyTraffic } from './traffic.ts'
import { Witness, type WitnessOptions } from './witness.ts'

export interface ProxyOptions
  extends Pick<RelayOptions, 'target' | 'host' | 'port'>,
    Pick<WitnessOptions, 'judge' | 'record' | 'found'> {
  contract: Contract
  /** Whether there is a control plane below `/__admin`. */
  admin: boolean
  adminToken: string | undefined
  log: Log
  /** Whether a finding fails the run: not if it is of the other side, or accepted. */
  counts(finding: JudgedDifference): boolean
  /** A message for the user, as a sentence. */
  said(sentence: string): void
}

/** A proxy that passes requests on to a service and examines the traffic. */
export interface RunningProxy {
  /** The URL that a client uses in place of the base URL of the service. */
  readonly baseUrl: string
  readonly adminUrl: string | undefined
  readonly instance: string
  readonly witness: Witness
  /** How many requests the service did not answer, and how many messages were not passed on. */
  readonly troubles: { readonly failed: number; readonly unpassed: number }
  /** Gives open requests a short time to end. */
  stop(): Promise<void>
}

/** How many findings against the service are in the verdict. */
const FIRST = 10

/** Starts to listen. @throws an error of `listen`, such as `EADDRINUSE` */
export async function startProxy(options: ProxyOptions): Promise<RunningProxy> {
  const { target, contract, host, admin, adminToken, log, judge, record, found, said } = options
  let plane: ControlPlane | undefined
  const troubles = { failed: 0, unpassed: 0 }
  const witness = new Witness({
    ...{ target, judge, record, found, basePath: contract.basePath },
    note: (...noted) => plane?.note(...noted),
    failed: (error) => log.error({ err: error }, 'An exchange could not be judged. The traffic goes on.'),
  })
  const relay = new Relay({
    ...{ target, host, port: options.port },
    traffic: new ProxyTraffic((exchange) => witness.take(exchange), systemClock),
    keptPath: admin ? ADMIN_PATH : undefined,
    answer: (request, response) => (plane === undefined ? request.socket.destroy() : plane.answer(request, response)),
    failed(reason) {
      troubles.failed++
      said(`${reason} The client got 502, or an incomplete response if a part was passed on.`)
    },
    unpassed(reason) {
      troubles.unpassed++
      said(reason)
    },
  })
  const origin = await relay.listen()
  const urls = { baseUrl: origin + target.basePath, adminUrl: origin + ADMIN_PATH, hasPage: admin }
  if (admin) {
    const { openControlPlane } = await import('./control-plane.ts')
    const verdict = async () => describeVerdict(witness, options)
    plane = await openControlPlane({ contract, host, urls, log, verdict, token: adminToken })
  }
  return {
    baseUrl: urls.baseUrl,
    adminUrl: admin ? urls.adminUrl : undefined,
    instance: plane?.instance ?? nameInstance(),
    ...{ witness, troubles },
    async stop() {
      plane?.stop()
      await relay.stop()
    },
  }
}

/** What was not judged because of a bug, as a sentence. With it, a run does not pass. */
export function listUnjudged({ exchanges, failures }: Witness['sightings']): string[] {
  if (failures === 0) return []
  const was = failures === 1 ? 'was' : 'were'
  return [`${failures} of ${plural(exchanges, 'exchange')} ${was} not judged, because this program has made a mistake.`]
}

/** The result of the judgement as it is now, from which the report at the end is made, too. */
function describeVerdict({ sightings }: Witness, { judge, counts }: ProxyOptions): ObservedVerdict {
  const conclusion = judge.conclude()
  const { exchanges, foreign, failures } = sightings
  const unjudged = listUnjudged(sightings)
  const counted = conclusion.findings.filter(counts)
  const ofService = conclusion.findings.filter((finding) => isFailure(finding) && partyOf(finding) === 'service')
  const found = ofService.reduce((sum, { count }) => sum + count, 0)
  const [first] = ofService
  const what = first === undefined ? '' : ` The first was at ${first.method} ${first.path}: ${first.message}`
  const times = found === 1 ? 'once' : `${found} times`
  return {
    passed: counted.length === 0 && conclusion.judged > 0 && unjudged.length === 0,
    message: [
      found === 0 ? 'The service did nothing wrong.' : `The service did something wrong ${times}.${what}`,
      `${conclusion.judged} of ${plural(exchanges, 'exchange was', 'exchanges were')} judged.`,
      ...unjudged,
    ].join(' '),
    judged: conclusion.judged,
    service: {
      findings: found,
      exchanges,
      not_judged: foreign + failures,
      first: ofService.slice(0, FIRST).map(({ id, label, request_id, method, path, status, message }) => ({
        ...{ id, label, method, path, message },
        request_id: request_id ?? null,
        status: status ?? null,
      })),
    },
  }
}

import type { ObservedVerdict } from '../admin/handler.ts'
import { ADMIN_PATH } from '../admin/paths.ts'
import type { Contract } from '../contract/contract.ts'
import { systemClock } from '../ground/clock.ts'
import { plural } from '../ground/plural.ts'
import { nameInstance } from '../ground/secrets.ts'
import type { Log } from '../http/log.ts'
import { isFailure, type JudgedDifference, partyOf } from '../judge/finding.ts'
import type { ControlPlane } from './control-plane.ts'
import { type ExchangeJudge, NOTHING_FOUND, type Tally } from './judge.ts'
import { Relay, type RelayOptions } from './relay.ts'
import { describeFailure } from './target.ts'
import { ProxyTraffic } from './traffic.ts'
import { type Sightings, Witness, type WitnessOptions } from './witness.ts'

export interface ProxyOptions
  extends Pick<RelayOptions, 'target' | 'host' | 'port' | 'maxConnections' | 'idle'>,
    Pick<WitnessOptions, 'record' | 'seen' | 'found'> {
  contract: Contract
  judge: ExchangeJudge
  /** Whether there is a control plane below `/__admin`. */
  admin: boolean
  adminToken: string | undefined
  log: Log
  /** Whether a finding fails the run: not if it is of the other side, or accepted. */
  counts(finding: JudgedDifference): boolean
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
  /** How many connections exceeded the limit. */
  readonly refused: number
  /** How many connections could not be passed on, and how many messages, because they were malformed. */
  readonly failed: number
  readonly malformed: number
  /** Connects to the service, to check that this works. */
  probe(): Promise<FirstConnection>
  /** Gives open requests a short time to end, and judges the traffic until the signal is aborted. */
  stop(signal: AbortSignal): Promise<void>
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
/** In milliseconds: how long a question for the verdict waits for what is still to be judged. */
const VERDICT_PATIENCE = 5_000
/** How many different sentences are sent. */
const SAID_LIMIT = 50
/** How many findings against the service are in the verdict. */
const FIRST = 10

/** Starts to listen. @throws an error of `listen`, such as `EADDRINUSE` */
export async function startProxy(options: ProxyOptions): Promise<RunningProxy> {
  const { target, contract, host, admin, adminToken, log, judge, record, seen, found } = options
  const said = new Set<string>()
  const say = (sentence: string) => {
    if (said.has(sentence) || said.size >= SAID_LIMIT) return
    said.add(sentence)
    options.said(sentence)
  }
  const instance = nameInstance()
  let plane: ControlPlane | undefined
  let failed = 0
  let malformed = 0
  const witness = new Witness({
    ...{ target, judge, record, seen, found },
    basePath: contract.basePath,
    note: (...noted) => plane?.note(...noted),
    failed(error) {
      log.error({ err: error }, 'An exchange could not be judged. The traffic goes on.')
      say('An exchange could not be judged, because this program has made a mistake. The traffic goes on.')
    },
  })
  const traffic = new ProxyTraffic(witness, systemClock)
  const relay = new Relay({
    ...{ target, host, traffic, port: options.port, maxConnections: options.maxConnections, idle: options.idle },
    keptPath: admin ? ADMIN_PATH : undefined,
    answer: (request, response) => (plane === undefined ? request.socket.destroy() : plane.answer(request, response)),
    failed(error, hasConnected) {
      failed++
      if (hasConnected) say(`${target.url} has broken a connection off (${error.code}); the client sees the same.`)
      else say(`${describeFailure(error, target).text} The connection of the client was closed without a response.`)
    },
    malformed(reason) {
      malformed++
      say(reason)
    },
    foreignHost: (name) =>
      say(`Requests have the Host ${name.slice(0, 100)}, which is no name of the proxy, so it is passed on as it is.`),
  })
  const origin = await relay.listen()
  const urls = { baseUrl: origin + target.basePath, adminUrl: origin + ADMIN_PATH, hasPage: admin }
  if (admin) {
    const { openControlPlane } = await import('./control-plane.ts')
    const verdict = () => describeVerdict(witness, options)
    plane = await openControlPlane({ contract, host, instance, urls, log, verdict, token: adminToken })
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
    get malformed() {
      return malformed
    },
    async probe() {
      const error = await relay.probe(PROBE_PATIENCE)
      if (relay.isLoop) return { kind: 'wrong', reason: 'is the proxy itself', usage: true }
      if (error === undefined) return { kind: 'answers' }
      const { text, isLasting, isUsage } = describeFailure(error, target)
      return isLasting ? { kind: 'wrong', reason: text, usage: isUsage } : { kind: 'silent', reason: text }
    },
    async stop(signal) {
      plane?.stop()
      await relay.stop()
      traffic.flush()
      await witness.finish(signal)
    },
  }
}

/** What was not judged although it could have been, in sentences. With any of it, a run does not pass. */
export function listUnjudged({ exchanges, skipped, left, failures }: Sightings, waiting = 0): string[] {
  const counted: [count: number, rest: string][] = [
    [waiting, 'still to be judged.'],
    [left, 'not judged before the proxy ended.'],
    [skipped, 'not judged, because they came faster than they could be judged.'],
    [failures, 'not judged, because this program has made a mistake.'],
  ]
  return counted
    .filter(([count]) => count > 0)
    .map(([count, rest]) => `${count} of ${plural(exchanges, 'exchange')} ${count === 1 ? 'was' : 'were'} ${rest}`)
}

/** The result of the judgement as it is now, from which the report at the end is made, too. */
async function describeVerdict(witness: Witness, { judge, counts }: ProxyOptions): Promise<ObservedVerdict> {
  await witness.catchUp(VERDICT_PATIENCE)
  // A judge that has ended has judged nothing for sure.
  const tally = await judge.tally().catch((): Tally => NOTHING_FOUND)
  const { waiting, sightings } = witness
  const { exchanges, foreign, skipped, left, failures } = sightings
  const unjudged = listUnjudged(sightings, waiting)
  const timesOf = (findings: readonly JudgedDifference[]) =>
    findings.reduce((sum, { id }) => sum + (tally.counts[id] ?? 1), 0)
  const counted = tally.findings.filter(counts)
  const ofService = tally.findings.filter((finding) => isFailure(finding) && partyOf(finding) === 'service')
  const found = timesOf(ofService)
  const [first] = ofService
  const what = first === undefined ? '' : ` The first was at ${first.method} ${first.path}: ${first.message}`
  const times = found === 1 ? 'once' : `${found} times`
  return {
    passed: counted.length === 0 && tally.judged > 0 && unjudged.length === 0,
    message: [
      found === 0 ? 'The service did nothing wrong.' : `The service did something wrong ${times}.${what}`,
      `${tally.judged} of ${plural(exchanges, 'exchange was', 'exchanges were')} judged.`,
      ...unjudged,
    ].join(' '),
    judged: tally.judged,
    service: {
      findings: found,
      exchanges,
      not_judged: foreign + skipped + left + failures + waiting,
      first: ofService.slice(0, FIRST).map(({ id, label, request_id, method, path, status, message }) => ({
        ...{ id, label, method, path, message },
        request_id: request_id ?? null,
        status: status ?? null,
      })),
    },
  }
}

import type { ServiceContract } from '../behaviour/operation.ts'
import { ClientGone } from '../contract/reception.ts'
import { Replier, type ResponseValidation } from '../contract/reply.ts'
import { refuse } from '../domain/errors.ts'
import { createInjectionSources, type InjectionOptions } from '../faults/sources.ts'
import type { Arrival } from '../ground/arrival.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import { contentOf } from '../ground/content.ts'
import type { Delivery } from '../ground/delivery.ts'
import type { HostCheck } from '../ground/hosts.ts'
import type { Log } from '../ground/log.ts'
import { redactDeeply } from '../journal/redaction/redacted-log.ts'
import { isUnbidden } from '../journal/unbidden.ts'
import { isReported, StoreError } from '../store/store-error.ts'
import type { Cors } from './cors.ts'
import type { Conforming, Exchange } from './exchange.ts'
import { createGate, type GateDeps } from './gate.ts'
import { createInterference } from './interference.ts'
import { createJudgement } from './judgement.ts'
import { createRecorder, type RecorderDeps } from './recorder.ts'
import { createResponder } from './response.ts'
import { createRouting, MISLED } from './routing.ts'

export interface ServiceDeps extends Omit<GateDeps, 'sources'>, InjectionOptions, RecorderDeps {
  contract: ServiceContract
  log: Log
  responseValidation: ResponseValidation
  /** Absent if pages of other origins may not use the service. */
  cors: Cors | undefined
  namesUs: HostCheck
  /** See `Arrival.wait`. */
  stopping: AbortSignal
}

/** The service. It does not reject, and answers at once what needs no waiting. A client that has left gets no delivery. */
export type Service = (arrival: Arrival) => Awaitable<Delivery | undefined>

/** Adds its part to the exchange: at once, unless something takes time. */
type Step = (exchange: Conforming) => Awaitable<void>

/** Creates the service. It knows no socket, so that any door can call it. */
export function createService(deps: ServiceDeps): Service {
  const { contract, cors, store, clock, stopping, log } = deps
  const { redactions } = deps.worlds.journal
  const sources = createInjectionSources(deps)
  const replier = new Replier(contract, deps.responseValidation)
  const route = createRouting({ ...deps, answersPreflights: cors !== undefined })
  const gate = createGate({ ...deps, sources })
  const faults = createInterference(sources, { contract, replier, stopping, store, clock })
  const judgement = createJudgement(contract, store, replier)
  const respond = createResponder({ contract, clock, cors })
  const record = createRecorder(deps)

  /** The path of a request. Once a step decides, or fails, those that could decide are passed over. */
  const path: readonly Step[] = [
    gate.admit, // key, plan, quota
    turnAway, // what the route or the gate refuses
    faults.injectBefore,
    judgement.readBody, // and the check against the contract
    faults.simulate, // what a domain name in the body asks for, and what another client does first
    judgement.judge, // inside of the store, if the account may change
    gate.refund,
    faults.injectAfter,
  ]
  const firstFinal = path.indexOf(gate.refund)

  return function answer(arrival) {
    const exchange = route(arrival)
    try {
      const waiting = walk(exchange, 0)
      if (waiting === undefined) return deliver(exchange)
      return waiting.then(() => deliver(exchange)).catch((error) => giveUp(exchange, error))
    } catch (error) {
      return giveUp(exchange, error)
    }
  }

  /** Takes one step after the other. Returns a promise only if a step does: others would take longer than the step. */
  function walk(exchange: Exchange, from: number): Awaitable<void> {
    for (let place = from; place < path.length; place++) {
      if (exchange.isDecided && place < firstFinal) continue
      try {
        // Only an admitted request gets past the gate, and only one that conforms past the check.
        const waiting = path[place]?.(exchange as Conforming)
        if (waiting !== undefined) return walkOn(exchange, waiting, place)
      } catch (error) {
        fail(exchange, error)
        if (place >= firstFinal) return undefined
      }
    }
    return undefined
  }

  /** Continues when a step is done that takes time. */
  async function walkOn(exchange: Exchange, waiting: Promise<void>, place: number): Promise<void> {
    try {
      await waiting
    } catch (error) {
      fail(exchange, error)
      if (place >= firstFinal) return
    }
    await walk(exchange, place + 1)
  }

  function giveUp(exchange: Exchange, error: unknown): Delivery {
    const err = exchange.requestId === '' ? error : withoutSecrets(error, exchange)
    log.error({ request_id: exchange.requestId || undefined, err }, 'The response could not be sent.')
    return { lost: 'failure' }
  }

  function turnAway(exchange: Exchange): void {
    const { refusal, unrouted, isPreflight } = exchange
    if (isPreflight) {
      // It needs no key, costs no quota, and meets no fault.
      exchange.unspent = undefined
      exchange.reply = { status: 204, headers: {}, body: contentOf(''), foreign: true }
      exchange.isDecided = true
    } else if (refusal !== undefined) {
      judgement.refuse(exchange, refusal, refusal === unrouted && breaksContract(exchange))
    }
  }

  function fail(exchange: Exchange, error: unknown): void {
    exchange.isDecided = true
    if (exchange.requestId === '') gate.enterAnonymously(exchange)
    if (error instanceof ClientGone) return
    if (error instanceof StoreError && error.problem === 'unknown-account') {
      // The account was deleted during the request, so the key belongs to no account any more.
      exchange.allowance = undefined
      exchange.unspent = gate.tellAnonymous(exchange)
      exchange.injection = undefined
      judgement.refuse(exchange, refuse({ code: 'unauthorized' }), false)
      return
    }
    if (!isReported(error)) {
      log.error({ request_id: exchange.requestId, err: withoutSecrets(error, exchange) }, 'The request failed.')
    }
    exchange.reply = replier.refuse(undefined, [{ code: 'internal_error' }])
    exchange.failure = error
  }

  /** Records the exchange. `undefined` if the client has left. */
  function deliver(exchange: Exchange): Delivery | undefined {
    const { reply, lost, request } = exchange
    if (reply !== undefined && !request.isAbandoned) {
      const response = respond(exchange, reply)
      record(exchange, response.headers)
      return response
    }
    if (reply !== undefined) {
      // The client left while it waited.
      exchange.decided ??= { status: reply.status, code: reply.code }
      exchange.reply = undefined
    }
    record(exchange, [])
    return lost && { lost }
  }

  /** An error without the secrets of the request and its account. */
  function withoutSecrets(error: unknown, { request, principal }: Exchange): unknown {
    const { rawHeaders: headers, url: target = '' } = request
    return redactDeeply(error, redactions.of({ headers, target, key: principal?.key.id }).redact)
  }
}

/**
 * Whether a request without an operation breaks the contract. The Host of another site does not come from the contract,
 * and what a browser asks for by itself does not come from a client.
 */
function breaksContract({ unrouted, request: { method, headers }, path }: Exchange): boolean {
  return unrouted !== MISLED && !isUnbidden({ method, path, authorization: headers.authorization })
}

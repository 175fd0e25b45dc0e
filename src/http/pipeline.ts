import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { elapsed } from '../clock.ts'
import type { Operation } from '../contract/api.ts'
import { ContractError } from '../contract/contract-error.ts'
import { pointTo } from '../contract/json.ts'
import { type Refusal, refuse } from '../domain/errors.ts'
import { isReported, StoreError } from '../store/store-error.ts'
import { ClientGone } from '../wire/body.ts'
import { conformRequest } from '../wire/conform.ts'
import type { Log } from '../wire/log.ts'
import { Replier, type Reply, type ResponseValidation } from '../wire/reply.ts'
import { requestIdOf } from '../wire/request-id.ts'
import { createRouter, readTarget } from '../wire/router.ts'
import { cutConnection, type Headers, replaceHeaders, send, sendDripping, sendHalf } from './delivery.ts'
import type { Exchange } from './exchange.ts'
import { authenticate, type Caller, chargeRequest, checkPlan, rateLimited } from './gate.ts'
import {
  actsAfter,
  CUTS,
  cutOf,
  dripOf,
  findInjection,
  findSimulation,
  holdBack,
  type InjectionDeps,
  injectReply,
  mayBeInjected,
  note,
  spoilReply,
} from './injection.ts'
import { type Behaviour, OPERATIONS, type Outcome } from './operations.ts'
import { createRecorder } from './recorder.ts'

export interface PipelineDeps extends InjectionDeps {
  /** Names requests that belong to no account. */
  seed: number
  log: Log
  responseValidation: ResponseValidation
  /** Aborted when the server stops; nothing waits any longer then. */
  stopping: AbortSignal
}

/** The service: takes a request through route, key, plan, quota, contract and behaviour to at most one response. */
export function createPipeline(
  deps: PipelineDeps,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { contract, store, log, stopping } = deps
  const route = createRouter(contract, contract.settings)
  const replier = new Replier(contract, deps.responseValidation)
  const record = createRecorder(deps)
  contract.operations.forEach(behaviourOf)
  const turns = new WeakMap<Socket, Promise<void>>()
  /** Connections that a fault has cut: what was sent on them without waiting is lost as well. */
  const severed = new WeakSet<Socket>()
  let strangers = 0

  return function serve(request, response) {
    const { socket } = request
    const before = turns.get(socket)
    // RFC 9112 §9.3.2: of requests sent without waiting, none may overtake a change that was asked for before it.
    const run = () => handle(request, response)
    const turn = before === undefined ? run() : before.then(run, run)
    turns.set(socket, turn)
    return turn
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (severed.has(request.socket)) return
    const { path, query } = readTarget(request.url ?? '')
    const exchange: Exchange = { request, response, started: elapsed(), path, query, problems: [] }
    try {
      const reply = await replyTo(exchange)
      if (reply === undefined) await cutOff(exchange)
      else if (!response.destroyed) await deliver(exchange, reply)
      else {
        // A client that left while it was kept waiting gets no answer either.
        exchange.decided ??= { status: reply.status, code: reply.code }
        record(exchange, requestId(exchange), undefined, {})
      }
    } catch (error) {
      if (error instanceof ClientGone) {
        record(exchange, requestId(exchange), undefined, {})
        return
      }
      log.error({ request_id: exchange.requestId, err: error }, 'The response could not be sent.')
      response.destroy()
    }
  }

  /** The answer, faults and all; `undefined` when the connection was cut in place of one. */
  async function replyTo(exchange: Exchange): Promise<Reply | undefined> {
    let reply: Reply | undefined
    try {
      const refusal = await admit(exchange)
      const { operation, caller } = exchange
      if (refusal || operation === undefined || caller === undefined) {
        reply = answer(exchange, refusal ?? refuse({ code: 'internal_error' }))
      } else {
        if (mayBeInjected(exchange, caller, deps)) {
          exchange.injection = await findInjection(exchange, caller, operation, deps)
        }
        const { injection } = exchange
        if (injection && !actsAfter(injection)) {
          await holdBack(exchange, injection, stopping)
          if (cutOf(injection) !== undefined) return undefined
          reply = injectReply(exchange, injection, replier, contract)
        }
        reply ??= await run(exchange, caller, operation)
      }
    } catch (error) {
      if (error instanceof ClientGone) throw error
      if (error instanceof StoreError && error.problem === 'unknown-account') return refuseOrphan(exchange)
      exchange.failure = error
      if (!isReported(error)) log.error({ request_id: requestId(exchange), err: error }, 'The request failed.')
      reply = replier.refuse(undefined, [{ code: 'internal_error' }])
    }
    const { injection } = exchange
    if (injection === undefined || !actsAfter(injection)) return reply
    // Whatever the request has changed stays changed; only its answer is lost or spoilt from here on.
    exchange.decided = { status: reply.status, code: reply.code }
    await holdBack(exchange, injection, stopping)
    if (cutOf(injection) !== undefined) return undefined
    return injectReply(exchange, injection, replier, contract) ?? spoilReply(exchange, injection, reply)
  }

  /** The account was deleted under the request, so its key is nobody's any more. */
  function refuseOrphan(exchange: Exchange): Reply {
    delete exchange.allowance
    delete exchange.injection
    return answer(exchange, refuse({ code: 'unauthorized' }))
  }

  /** The order of checks; the specification does not show it, so `x-settings` can change it. */
  async function admit(exchange: Exchange): Promise<Refusal<string> | undefined> {
    const { request, path } = exchange
    // RFC 9112 §3.2. Node would refuse it as well, but without the envelope.
    if (request.headers.host === undefined && request.httpVersion === '1.1')
      return unlawful(exchange, refuse({ code: 'invalid_request_body', reason: 'malformed' }))
    const routed = route(request.method ?? '', path)
    if (routed.ok) exchange.operation = routed.operation
    else if (routed.allow !== undefined) exchange.allow = routed.allow
    if (!routed.ok && contract.settings.routing === 'before-key') return unlawful(exchange, routed)

    const caller = await authenticate(request.headers.authorization, deps)
    if ('ok' in caller) {
      if (caller.holder) exchange.holder = caller.holder
      return caller
    }
    exchange.caller = caller
    exchange.requestId = requestIdOf(
      `${caller.account.seed} ${caller.account.id}`,
      await store.nextRequest(caller.account.id),
      contract.requestIds,
    )
    return routed.ok ? admitCaller(exchange, caller, routed.operation) : unlawful(exchange, routed)
  }

  async function admitCaller(exchange: Exchange, caller: Caller, operation: Operation): Promise<Refusal | undefined> {
    for (const check of contract.settings.gateOrder) {
      if (check === 'plan') {
        const refusal = checkPlan(caller, deps)
        if (refusal) return refusal
      } else if (check === 'quota') {
        const allowance = await chargeRequest(caller, operation, deps)
        if (allowance) exchange.allowance = allowance
        if (allowance?.allowed === false) return rateLimited(allowance, operation.path)
      }
    }
    return undefined
  }

  async function run(exchange: Exchange, caller: Caller, operation: Operation): Promise<Reply> {
    const { request, query } = exchange
    const conforming = await conformRequest(request, query, operation, contract.settings, exchange)
    if (!conforming.ok) return answer(exchange, unlawful(exchange, conforming))
    const { body } = conforming
    exchange.group = caller.account.groups.get(query['id'] ?? '')
    const simulated = deps.simulator && operation.readsBody ? findSimulation(body, operation, contract) : undefined
    if (simulated !== undefined) {
      exchange.injection = simulated.injection
      const simulation = injectReply(exchange, simulated.injection, replier, contract, simulated.named)
      if (simulation !== undefined) return simulation
    }
    const { account, key, now } = caller
    const call = { account, key, now, query: conforming.query, body, contract, store, simulator: deps.simulator }
    return answer(exchange, await behaviourOf(operation)(call))
  }

  function answer(exchange: Exchange, outcome: Outcome | Refusal<string>): Reply {
    const { operation } = exchange
    if (!outcome.ok) {
      exchange.problems = outcome.problems
      return replier.refuse(operation, outcome.problems)
    }
    if (operation === undefined) throw new Error('Only an operation succeeds.')
    return 'source' in outcome ? replier.read(operation, outcome) : replier.succeed(operation, outcome.data)
  }

  /** Lets the connection go without an answer. */
  async function cutOff(exchange: Exchange): Promise<void> {
    const { request, injection } = exchange
    const how = injection && cutOf(injection)
    if (injection === undefined || how === undefined) throw new Error('Only a fault cuts a connection.')
    note(injection, CUTS[how])
    record(exchange, requestId(exchange), undefined, {})
    severed.add(request.socket)
    await cutConnection(request, how, stopping)
  }

  function requestId(exchange: Exchange): string {
    exchange.requestId ??= requestIdOf(`${deps.seed}`, ++strangers, contract.requestIds)
    return exchange.requestId
  }

  async function deliver(exchange: Exchange, reply: Reply): Promise<void> {
    const { request, response, injection } = exchange
    const headers = headersOf(exchange, reply)
    const { status, body } = reply
    const delivery = { status, headers, body }
    const bodiless = request.method === 'HEAD'
    const how = bodiless ? undefined : injection?.rule.connection
    record(exchange, requestId(exchange), reply, headers)
    if (how === 'truncate') {
      severed.add(request.socket)
      await sendHalf(request, response, delivery, stopping)
    } else if (how === 'drip' && injection !== undefined) {
      await sendDripping(request, response, delivery, dripOf(injection), stopping)
    } else send(response, delivery, bodiless)
  }

  function headersOf(exchange: Exchange, reply: Reply): Headers {
    const { allowance, operation, caller, allow, injection } = exchange
    const usual: Headers = {
      'Content-Type': 'application/json',
      'Content-Length': reply.body.length,
      // The account's, as everything else that tells the time; Node would put the machine's.
      Date: new Date(caller?.now ?? deps.clock()).toUTCString(),
      'X-Request-Id': requestId(exchange),
    }
    const headers = reply.foreign
      ? replaceHeaders(usual, reply.headers, reply.status)
      : Object.assign(usual, reply.headers)
    const documented = operation?.responses.get(reply.status)
    const showsQuota = !reply.injected || (!reply.foreign && documented?.showsQuota)
    if (allowance !== undefined && caller !== undefined && showsQuota) {
      const secondsLeft = Math.max(1, Math.ceil(allowance.resetAt - caller.now / 1000))
      headers['X-RateLimit-Limit'] = allowance.limit
      headers['X-RateLimit-Remaining'] = allowance.remaining
      headers['X-RateLimit-Reset'] = contract.settings.rateLimitReset === 'unix-time' ? allowance.resetAt : secondsLeft
      if (reply.code === 'rate_limited' && documented?.retryAfter) headers['Retry-After'] = secondsLeft
    }
    if (allow !== undefined && reply.status === 405) headers['Allow'] = allow
    const applied = injection?.applied?.(reply.status)
    if (applied) headers['Preference-Applied'] = applied
    return headers
  }
}

/** Notes that the contract itself, and nothing in the state, is what forbids the request. */
function unlawful(exchange: Exchange, refusal: Refusal<string>): Refusal<string> {
  exchange.unlawful = true
  return refusal
}

/** @throws ContractError, at the start, for an operation of the document that nobody has written. */
function behaviourOf({ id, path, method }: Operation): Behaviour {
  const behaviour = OPERATIONS[id]
  if (behaviour === undefined) {
    throw new ContractError(
      'openapi.yaml',
      pointTo(pointTo('/paths', path), method.toLowerCase()),
      `No behaviour is written for the operation ${id}.`,
    )
  }
  return behaviour
}

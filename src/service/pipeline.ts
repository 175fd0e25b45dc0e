import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Conformity, conform } from '../behaviour/conformity.ts'
import { decide } from '../behaviour/judge.ts'
import { type Answer, changesAccount, type ServiceContract } from '../behaviour/operation.ts'
import type { Operation } from '../contract/api.ts'
import type { AccountState } from '../domain/account.ts'
import { type Decision, type Refusal, refuse } from '../domain/errors.ts'
import { cutConnection, replaceHeaders, sendDripping, sendHalf } from '../faults/delivery.ts'
import {
  actsAfter,
  CUTS,
  cutOf,
  dripOf,
  findPreference,
  findSimulation,
  holdBack,
  type InjectionDeps,
  injectReply,
  note,
  spoilReply,
} from '../faults/injection.ts'
import { injectionOf } from '../faults/strike.ts'
import { type Awaitable, attempt, whenReady } from '../ground/awaitable.ts'
import { elapsed } from '../ground/clock.ts'
import { ClientGone, readBody } from '../http/body.ts'
import { writeDate } from '../http/date.ts'
import { type Delivery, post } from '../http/engine/outbox.ts'
import type { Log } from '../http/log.ts'
import { Replier, type Reply, type ResponseValidation } from '../http/reply.ts'
import { requestIdOf } from '../http/request-id.ts'
import { createRouter } from '../http/router.ts'
import { usualFields } from '../http/usual-fields.ts'
import type { Injection } from '../journal/entry.ts'
import { isReported, StoreError } from '../store/store-error.ts'
import { type Exchange, openExchange } from './exchange.ts'
import { type Admission, type Caller, createGate, type GateDeps } from './gate.ts'
import { createRecorder } from './recorder.ts'

export interface PipelineDeps extends GateDeps, InjectionDeps {
  contract: ServiceContract
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
): (request: IncomingMessage, response: ServerResponse) => void | Promise<void> {
  const { contract, store, log, stopping } = deps
  const admit = createGate(deps)
  const route = createRouter(contract, contract.settings)
  const replier = new Replier(contract, deps.responseValidation)
  const record = createRecorder(deps)
  /** Connections that a fault has cut: what was sent on them without waiting is lost as well. */
  const severed = new WeakSet<Socket>()
  let strangers = 0
  let source = { seed: 0, id: '', text: '' }

  return function serve(request, response) {
    const exchange = openExchange(request, response, elapsed())
    if (severed.has(request.socket)) return undefined
    return attempt(
      () => whenReady(replyTo(exchange), (reply) => conclude(exchange, reply)),
      (error) => abandon(exchange, error),
    )
  }

  /** Sends the answer, or cuts the connection in place of one. */
  function conclude(exchange: Exchange, reply: Reply | undefined): void | Promise<void> {
    if (reply === undefined) return cutOff(exchange)
    if (!exchange.response.destroyed) return deliver(exchange, reply)
    // A client that left while it was kept waiting gets no answer either.
    exchange.decided ??= { status: reply.status, code: reply.code }
    record(exchange, requestId(exchange), undefined, [])
  }

  function abandon(exchange: Exchange, error: unknown): void {
    if (error instanceof ClientGone) {
      record(exchange, requestId(exchange), undefined, [])
      return
    }
    log.error({ request_id: exchange.requestId, err: error }, 'The response could not be sent.')
    exchange.response.destroy()
  }

  /** The answer, faults and all; `undefined` when the connection is to be cut in place of one. */
  function replyTo(exchange: Exchange): Awaitable<Reply | undefined> {
    const answered = attempt(
      () => produce(exchange),
      (error) => replyToFailure(exchange, error),
    )
    return whenReady(answered, (reply) => {
      const { injection } = exchange
      if (injection === undefined || reply === undefined || !actsAfter(injection)) return reply
      // Whatever the request has changed stays changed; only its answer is lost or spoilt from here on.
      exchange.decided = { status: reply.status, code: reply.code }
      return spoil(exchange, injection, reply)
    })
  }

  function produce(exchange: Exchange): Awaitable<Reply | undefined> {
    const refusal = findOperation(exchange)
    if (refusal) return refuseWith(exchange, refusal)
    return whenReady(visitGate(exchange), (admission) => {
      const barred = enter(exchange, admission)
      if (barred) return refuseWith(exchange, barred)
      const { injection } = exchange
      if (injection === undefined || actsAfter(injection)) return run(exchange)
      return strike(exchange, injection)
    })
  }

  /** What a fault makes of a request before the service has seen it. */
  async function strike(exchange: Exchange, injection: Injection): Promise<Reply | undefined> {
    await holdBack(exchange, injection, stopping)
    if (cutOf(injection) !== undefined) return undefined
    return injectReply(exchange, injection, replier, contract) ?? run(exchange)
  }

  /** What a fault makes of the answer. */
  async function spoil(exchange: Exchange, injection: Injection, reply: Reply): Promise<Reply | undefined> {
    await holdBack(exchange, injection, stopping)
    if (cutOf(injection) !== undefined) return undefined
    return injectReply(exchange, injection, replier, contract) ?? spoilReply(exchange, injection, reply)
  }

  function replyToFailure(exchange: Exchange, error: unknown): Reply {
    if (error instanceof ClientGone) throw error
    if (error instanceof StoreError && error.problem === 'unknown-account') return refuseOrphan(exchange)
    exchange.failure = error
    if (!isReported(error)) log.error({ request_id: requestId(exchange), err: error }, 'The request failed.')
    return replier.refuse(undefined, [{ code: 'internal_error' }])
  }

  /** The account was deleted under the request, so its key is nobody's any more. */
  function refuseOrphan(exchange: Exchange): Reply {
    exchange.allowance = undefined
    exchange.injection = undefined
    return refuseWith(exchange, refuse({ code: 'unauthorized' }))
  }

  /** Finds the operation; a refusal is one that needs no key to be told. */
  function findOperation(exchange: Exchange): Refusal<string> | undefined {
    const { request, path } = exchange
    // RFC 9112 §3.2. Node would refuse it as well, but without the envelope.
    if (request.headers.host === undefined && request.httpVersion === '1.1')
      return unlawful(exchange, refuse({ code: 'invalid_request_body', reason: 'malformed' }))
    const routed = route(request.method ?? '', path)
    if (routed.ok) {
      exchange.operation = routed.operation
      return undefined
    }
    if (routed.allow !== undefined) exchange.allow = routed.allow
    if (contract.settings.routing === 'before-key') return unlawful(exchange, routed)
    exchange.misrouted = routed
    return undefined
  }

  function visitGate(exchange: Exchange): Awaitable<Admission> {
    const { request, operation } = exchange
    const preference = operation && findPreference(exchange, operation, deps)
    if (preference) exchange.injection = preference
    const { authorization } = request.headers
    return admit({ authorization, method: request.method ?? '', operation, strikable: preference === undefined })
  }

  function enter(exchange: Exchange, admission: Admission): Refusal<string> | undefined {
    const { refusal, caller, holder, ordinal, allowance, strike } = admission
    exchange.holder = holder
    exchange.allowance = allowance
    if (caller) {
      const { account } = caller
      exchange.caller = caller
      exchange.requestId = requestIdOf(sourceOf(account), ordinal, contract.requestIds)
      if (strike) exchange.injection = injectionOf(strike, account)
    }
    // What is refused at the gate is no request that a preference could be honoured for.
    if (refusal) exchange.injection = undefined
    return refusal ?? (exchange.misrouted && unlawful(exchange, exchange.misrouted))
  }

  function run(exchange: Exchange): Awaitable<Reply> {
    const { request, query, operation, caller } = exchange
    if (operation === undefined || caller === undefined) throw new Error('A request came in without a caller.')
    return whenReady(readBody(request, operation, contract.settings), (body) => {
      const conformity = conform({ operation, query, body }, contract.settings, contract.catalogue)
      exchange.body = body?.content
      exchange.value = conformity.ok ? body && conformity.body : conformity.value
      return perform(exchange, caller, operation, conformity)
    })
  }

  function perform(exchange: Exchange, caller: Caller, operation: Operation, conformity: Conformity): Awaitable<Reply> {
    if (!conformity.ok) return refuseWith(exchange, unlawful(exchange, conformity))
    const { query, body } = conformity
    if (query['id'] !== undefined) exchange.group = caller.account.groups.get(query['id'])
    const simulated = deps.simulator && operation.readsBody ? findSimulation(body, operation, contract) : undefined
    if (simulated !== undefined) {
      exchange.injection = simulated.injection
      const simulation = injectReply(exchange, simulated.injection, replier, contract, simulated.named)
      if (simulation !== undefined) return simulation
    }
    const { account, now } = caller
    if (!changesAccount(operation)) return answer(exchange, decide(conformity, account, contract, now))
    const decision = store.update(account.id, (state) => decide(conformity, state, contract, now))
    return whenReady(decision, (decided) => answer(exchange, decided))
  }

  function answer(exchange: Exchange, decision: Decision<AccountState, Answer>): Reply {
    if (!decision.ok) return refuseWith(exchange, decision)
    const { operation } = exchange
    if (operation === undefined) throw new Error('Only an operation succeeds.')
    const { value } = decision
    return value.source === undefined ? replier.succeed(operation, value.data) : replier.read(operation, value)
  }

  function refuseWith(exchange: Exchange, { problems }: Refusal<string>): Reply {
    exchange.problems = problems
    return replier.refuse(exchange.operation, problems)
  }

  /** Lets the connection go without an answer. */
  async function cutOff(exchange: Exchange): Promise<void> {
    const { request, injection } = exchange
    const how = injection && cutOf(injection)
    if (injection === undefined || how === undefined) throw new Error('Only a fault cuts a connection.')
    note(injection, CUTS[how])
    record(exchange, requestId(exchange), undefined, [])
    severed.add(request.socket)
    await cutConnection(request, how, stopping)
  }

  /** The source of an account's request ids; at hand for the account that asked last. */
  function sourceOf({ seed, id }: AccountState): string {
    if (source.seed !== seed || source.id !== id) source = { seed, id, text: `${seed} ${id}` }
    return source.text
  }

  function requestId(exchange: Exchange): string {
    exchange.requestId ??= requestIdOf(`${deps.seed}`, ++strangers, contract.requestIds)
    return exchange.requestId
  }

  /** The promise, where there is one, of a delivery that a fault draws out. */
  function deliver(exchange: Exchange, reply: Reply): Promise<void> | undefined {
    const { request, response, injection } = exchange
    const delivery = address(exchange, reply)
    const bodiless = request.method === 'HEAD'
    const how = bodiless ? undefined : injection?.rule.connection
    record(exchange, requestId(exchange), reply, delivery.headers)
    if (how === 'truncate') {
      severed.add(request.socket)
      return sendHalf(request, response, delivery, stopping)
    }
    if (how === 'drip' && injection !== undefined) {
      return sendDripping(request, response, delivery, dripOf(injection), stopping)
    }
    post(response, delivery, bodiless)
    return undefined
  }

  /** The answer with its header. */
  function address(exchange: Exchange, reply: Reply): Delivery {
    const { allowance, operation, caller, allow, injection } = exchange
    const { foreign, injected, status, body } = reply
    const documented = operation?.responses.get(status)
    const limits = injected && (foreign || !documented?.showsQuota) ? undefined : allowance
    // The account's time, as everything else that tells one; Node would put the machine's.
    const date = writeDate(caller?.now ?? deps.clock())
    const id = requestId(exchange)
    const secondsLeft = limits && caller ? Math.max(1, Math.ceil(limits.resetAt - caller.now / 1000)) : 0
    const reset = contract.settings.rateLimitReset === 'unix-time' ? (limits?.resetAt ?? 0) : secondsLeft
    const usual = usualFields(body.size, date, id, limits && { ...limits, reset })
    const headers = foreign ? replaceHeaders(usual.headers, reply) : usual.headers
    const written = foreign ? undefined : usual.written
    if (!foreign) for (const name in reply.headers) headers.push(name, reply.headers[name] ?? '')
    if (reply.code === 'rate_limited' && documented?.retryAfter && limits) headers.push('Retry-After', secondsLeft)
    if (allow !== undefined && status === 405) headers.push('Allow', allow)
    const applied = injection?.applied?.(status)
    if (applied) headers.push('Preference-Applied', applied)
    return { status, headers, written, body }
  }
}

/** Notes that the contract itself, and nothing in the state, is what forbids the request. */
function unlawful(exchange: Exchange, refusal: Refusal<string>): Refusal<string> {
  exchange.unlawful = true
  return refusal
}

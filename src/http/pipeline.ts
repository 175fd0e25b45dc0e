import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { elapsed } from '../clock.ts'
import type { Operation } from '../contract/api.ts'
import { ContractError } from '../contract/contract-error.ts'
import { pointTo } from '../contract/json.ts'
import { type Refusal, refuse } from '../domain/errors.ts'
import type { Allowance } from '../domain/quotas.ts'
import { ClientGone } from '../wire/body.ts'
import { conformRequest } from '../wire/conform.ts'
import type { Log } from '../wire/log.ts'
import { Replier, type Reply, type ResponseValidation } from '../wire/reply.ts'
import { requestIdOf } from '../wire/request-id.ts'
import { createRouter, readTarget } from '../wire/router.ts'
import { authenticate, type Caller, chargeRequest, checkPlan, type GateDeps, rateLimited } from './gate.ts'
import { type Behaviour, OPERATIONS, type Outcome } from './operations.ts'

export interface PipelineDeps extends GateDeps {
  /** Names requests that belong to no account. */
  seed: number
  log: Log
  responseValidation: ResponseValidation
}

/** What is known of one request so far. */
interface Exchange {
  path: string
  requestId?: string
  operation?: Operation
  caller?: Caller
  allowance?: Allowance
  /** The methods of the path, when the request's is none of them. */
  allow?: string
}

/** The service: takes a request through route, key, plan, quota, contract and behaviour to exactly one response. */
export function createPipeline(
  deps: PipelineDeps,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { contract, store, log } = deps
  const route = createRouter(contract)
  const replier = new Replier(contract, deps.responseValidation)
  contract.operations.forEach(behaviourOf)
  const turns = new WeakMap<Socket, Promise<void>>()
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
    const started = elapsed()
    const exchange: Exchange = { path: '' }
    let reply: Reply
    try {
      reply = answer(exchange, await decide(exchange, request))
    } catch (error) {
      if (error instanceof ClientGone) return
      log.error({ request_id: requestId(exchange), err: error }, 'The request failed.')
      reply = replier.refuse(undefined, [{ code: 'internal_error' }])
    }
    try {
      send(exchange, reply, request, response)
    } catch (error) {
      log.error({ request_id: exchange.requestId, err: error }, 'The response could not be sent.')
      response.destroy()
    }
    if (reply.breach)
      log.warn({ request_id: exchange.requestId, violations: reply.breach.violations }, reply.breach.message)
    log.info(
      {
        request_id: exchange.requestId,
        method: request.method,
        path: exchange.path,
        operation: exchange.operation?.id,
        account: exchange.caller?.account.id,
        key: exchange.caller?.key.id,
        status: reply.status,
        code: reply.code,
        ms: Math.round((elapsed() - started) * 1000) / 1000,
      },
      'request',
    )
  }

  /** The order of checks; the specification does not show it, so `x-settings` can change it. */
  async function decide(exchange: Exchange, request: IncomingMessage): Promise<Outcome | Refusal<string>> {
    const { settings } = contract
    const target = readTarget(request.url ?? '')
    exchange.path = target.path
    // RFC 9112 §3.2. Node would refuse it as well, but without the envelope.
    if (request.headers.host === undefined && request.httpVersion === '1.1')
      return refuse({ code: 'invalid_request_body', reason: 'malformed' })
    const routed = route(request.method ?? '', target.path)
    if (!routed.ok && routed.allow !== undefined) exchange.allow = routed.allow
    if (!routed.ok && settings.routing === 'before-key') return routed

    const caller = await authenticate(request.headers.authorization, deps)
    if ('ok' in caller) {
      if (routed.ok) exchange.operation = routed.operation
      return caller
    }
    exchange.caller = caller
    exchange.requestId = requestIdOf(
      `${caller.account.seed} ${caller.account.id}`,
      await store.nextRequest(caller.account.id),
      contract.requestIds,
    )
    if (!routed.ok) return routed
    const { operation } = routed
    exchange.operation = operation
    const refusal = await admit(exchange, caller, operation)
    if (refusal) return refusal

    const conforming = await conformRequest(request, target.query, operation, contract.settings)
    if (!conforming.ok) return conforming
    return behaviourOf(operation)({ ...caller, query: conforming.query, body: conforming.body, contract, store })
  }

  async function admit(exchange: Exchange, caller: Caller, operation: Operation): Promise<Refusal | undefined> {
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

  function answer({ operation }: Exchange, outcome: Outcome | Refusal<string>): Reply {
    if (!outcome.ok) return replier.refuse(operation, outcome.problems)
    if (operation === undefined) throw new Error('Only an operation succeeds.')
    return 'source' in outcome ? replier.read(operation, outcome) : replier.succeed(operation, outcome.data)
  }

  function requestId(exchange: Exchange): string {
    exchange.requestId ??= requestIdOf(`${deps.seed}`, ++strangers, contract.requestIds)
    return exchange.requestId
  }

  function send(exchange: Exchange, reply: Reply, request: IncomingMessage, response: ServerResponse): void {
    const headers: Record<string, string | number> = {
      'Content-Type': 'application/json',
      'Content-Length': reply.body.length,
      // The account's, as everything else that tells the time; Node would put the machine's.
      Date: new Date(exchange.caller?.now ?? deps.clock()).toUTCString(),
      'X-Request-Id': requestId(exchange),
      ...reply.headers,
    }
    const { allowance, operation, caller, allow } = exchange
    if (allowance !== undefined && caller !== undefined) {
      const secondsLeft = Math.max(1, Math.ceil(allowance.resetAt - caller.now / 1000))
      headers['X-RateLimit-Limit'] = allowance.limit
      headers['X-RateLimit-Remaining'] = allowance.remaining
      headers['X-RateLimit-Reset'] = contract.settings.rateLimitReset === 'unix-time' ? allowance.resetAt : secondsLeft
      if (reply.code === 'rate_limited' && operation?.responses.get(reply.status)?.retryAfter)
        headers['Retry-After'] = secondsLeft
    }
    if (allow !== undefined && reply.status === 405) headers['Allow'] = allow
    response.writeHead(reply.status, headers)
    response.end(request.method === 'HEAD' ? undefined : reply.body)
  }
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

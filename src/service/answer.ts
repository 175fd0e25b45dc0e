import { conform, decide } from '../behaviour/judge.ts'
import { type Answer, changesAccount, type ServiceContract } from '../behaviour/operation.ts'
import { ClientGone, createBodyReader, type ReadBody } from '../contract/body.ts'
import { Replier, type ResponseValidation } from '../contract/reply.ts'
import type { AccountState } from '../domain/account.ts'
import { type Decision, type Refusal, refuse as refusalOf } from '../domain/errors.ts'
import { createInjectionSources, type InjectionOptions } from '../faults/sources.ts'
import { type Awaitable, whenReady } from '../ground/awaitable.ts'
import type { Log } from '../ground/log.ts'
import { type Arrival, contentOf, type Delivery } from '../ground/message.ts'
import { isUnbidden } from '../journal/entry.ts'
import { redactDeeply } from '../journal/redaction/redaction.ts'
import { isReported, StoreError } from '../store/store-error.ts'
import type { Cors } from './cors.ts'
import { type Admitted, type Conforming, createRouting, type Exchange, MISLED, type RoutingDeps } from './exchange.ts'
import { createGate, type GateDeps } from './gate.ts'
import type { Interference } from './interference.ts'
import { createRecorder, type RecorderDeps } from './recorder.ts'
import { createResponder } from './response.ts'

export interface ServiceDeps extends Omit<GateDeps, 'sources'>, InjectionOptions, RecorderDeps, RoutingDeps {
  contract: ServiceContract
  log: Log
  responseValidation: ResponseValidation
  /** Absent if pages of other origins may not use the service. */
  cors: Cors | undefined
  /** See `Arrival.wait`. */
  stopping: AbortSignal
}

/** The service. It does not reject. A client that has left gets no delivery. */
export type Service = (arrival: Arrival) => Awaitable<Delivery | undefined>

/** Adds its part to the exchange: at once, unless something takes time. */
type Step = (exchange: Conforming) => Awaitable<void>

/** Creates the service. It knows no socket, so that any door can call it. */
export function createService(deps: ServiceDeps): Service {
  const { contract, cors, store, clock, stopping, log } = deps
  const { redactions } = deps.worlds.journal
  const { settings, catalogue } = contract
  const sources = createInjectionSources(deps)
  const replier = new Replier(contract, deps.responseValidation)
  const bodies = createBodyReader(settings)
  const route = createRouting(deps, cors !== undefined)
  const gate = createGate({ ...deps, sources })
  const respond = createResponder({ contract, clock, cors })
  const record = createRecorder(deps)
  let interference: Promise<Interference> | undefined

  /** The path of a request. Once a step decides, or fails, the rest of these steps is passed over. */
  const deciding: readonly Step[] = [
    gate.admit, // key, plan, quota
    turnAway, // what the route or the gate refuses
    (exchange) => interfere('before', exchange),
    readBody, // and the check against the contract
    simulate, // what a domain name in the body asks for, and what another client does first
    judge, // inside of the store, if the account may change
  ]
  /** What follows, whatever was decided. */
  const following: readonly Step[] = [gate.refund, (exchange) => interfere('after', exchange)]
  const path = [...deciding, ...following]

  return async function answer(arrival) {
    const exchange = route(arrival)
    try {
      for (let place = 0; place < path.length; place++) {
        if (exchange.isDecided && place < deciding.length) continue
        try {
          // Only an admitted request gets past the gate, and only one that conforms past the check.
          const waiting = path[place]?.(exchange as Conforming)
          // A request that awaits nothing is answered at once, which is most of its speed.
          if (waiting !== undefined) await waiting
        } catch (error) {
          fail(exchange, error)
        }
      }
      return deliver(exchange)
    } catch (error) {
      const err = exchange.requestId === '' ? error : withoutSecrets(error, exchange)
      log.error({ request_id: exchange.requestId || undefined, err }, 'The response could not be sent.')
      return { lost: 'failure' }
    }
  }

  function turnAway(exchange: Exchange): void {
    const { refusal, unrouted, isPreflight } = exchange
    if (isPreflight) {
      // It needs no key, costs no quota, and meets no fault.
      exchange.unspent = undefined
      exchange.reply = { status: 204, headers: {}, body: contentOf(''), foreign: true }
      exchange.isDecided = true
    } else if (refusal !== undefined) {
      refuse(exchange, refusal, refusal === unrouted && breaksContract(exchange))
    }
  }

  /** The faults are loaded by the first request that meets one. */
  function interfere(step: keyof Interference, exchange: Conforming): Awaitable<void> {
    if (exchange.injection === undefined) return undefined
    interference ??= import('./interference.ts').then(({ createInterference }) =>
      createInterference({ contract, replier, stopping, store, clock }),
    )
    return interference.then((faults) => faults[step](exchange))
  }

  function simulate(exchange: Conforming): Awaitable<void> {
    exchange.injection = sources.ofBody(exchange.conformity.body, exchange.operation) ?? exchange.injection
    return interfere('simulate', exchange)
  }

  /** Reads the body and checks the request against the contract. */
  function readBody(exchange: Admitted): Awaitable<void> {
    return whenReady(bodies.read(exchange.request, exchange.operation), check, exchange)
  }

  function check(body: ReadBody | undefined, exchange: Admitted): void {
    const { operation, query, principal } = exchange
    const conformity = conform({ operation, query, body }, settings, catalogue)
    exchange.conformity = conformity
    exchange.content = body?.content
    if (!conformity.ok) {
      exchange.value = conformity.value
      refuse(exchange, conformity, true)
      return
    }
    // If no body is read, `conformity.body` is an empty object, but the request has no value.
    exchange.value = body && conformity.body
    // The journal tells what the group was, so it is looked up before a change.
    const id = query['id']
    if (typeof id === 'string') exchange.group = principal.account.groups.get(id)
  }

  /** The service's answer, after the change is stored. If another change came first, the decision is repeated. */
  function judge(exchange: Conforming): Awaitable<void> {
    const { conformity, operation, principal, history } = exchange
    const { account, now } = principal
    if (!changesAccount(operation)) {
      return settle(exchange, decide(conformity, account, contract, now), account, undefined)
    }
    let present = account
    let presentVersion: number | undefined
    const decideIn = (state: AccountState, version: number) => {
      present = state
      presentVersion = version
      return decide(conformity, state, contract, now)
    }
    // While the request waited for its body, another account may have got the id.
    const decided = store.update(account.id, decideIn, history?.incarnation)
    return whenReady(decided, (decision) => settle(exchange, decision, present, presentVersion))
  }

  /** `present` is the state of the decision, and `version` its version if it is that of the store. */
  function settle(
    exchange: Conforming,
    decision: Decision<AccountState, Answer>,
    present: AccountState,
    version: number | undefined,
  ): void {
    if (decision.ok) succeed(exchange, decision.value)
    else refuse(exchange, decision, false)
    const { before, moment } = exchange
    if (decision.ok && decision.state !== present) exchange.after = decision.state
    if (before !== undefined && before.account !== present) {
      exchange.before = { account: present, counters: before.counters }
    }
    if (moment !== undefined && version !== undefined && version !== moment.version) {
      exchange.moment = { incarnation: moment.incarnation, version }
    }
  }

  function succeed(exchange: Conforming, value: Answer): void {
    const { operation } = exchange
    exchange.reply =
      value.source === undefined ? replier.succeed(operation, value.data) : replier.succeedCached(operation, value)
    exchange.isDecided = true
  }

  function refuse(exchange: Exchange, { problems }: Refusal<string>, violatesContract: boolean): void {
    exchange.reply = replier.refuse(exchange.operation, problems)
    exchange.problems = problems
    exchange.violatesContract = violatesContract
    exchange.isDecided = true
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
      refuse(exchange, refusalOf({ code: 'unauthorized' }), false)
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
    const { reply, lost, request, history } = exchange
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
    return lost && { lost, until: history?.ending.signal }
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

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { conform } from '../behaviour/conformity.ts'
import { decide } from '../behaviour/judge.ts'
import { type Answer, type ConformingRequest, changesAccount, type ServiceContract } from '../behaviour/operation.ts'
import type { AccountState } from '../domain/account.ts'
import { type Decision, type Refusal, refuse } from '../domain/errors.ts'
import { type Applied, applyInjection } from '../faults/application.ts'
import type { Injection, InjectionTarget } from '../faults/injection.ts'
import { phaseOf } from '../faults/kinds.ts'
import { createInjectionSources, type InjectionOptions } from '../faults/sources.ts'
import { type Awaitable, attempt, whenReady } from '../ground/awaitable.ts'
import { elapsed } from '../ground/clock.ts'
import { createBodyReader } from '../http/body.ts'
import { contentOf } from '../http/content.ts'
import { type Cors, isPreflight } from '../http/cors.ts'
import { isHostMalformed } from '../http/host-field.ts'
import type { HostCheck } from '../http/hosts.ts'
import type { Log } from '../http/log.ts'
import type { NobodyIds } from '../http/nobody-ids.ts'
import { ClientGone } from '../http/reception.ts'
import { Replier, type Reply, type ResponseValidation } from '../http/reply.ts'
import { requestIdOf } from '../http/request-id.ts'
import { createRouter, type Route } from '../http/router.ts'
import { createQueryReader, splitTarget } from '../http/target.ts'
import { redactDeeply } from '../journal/redacted-log.ts'
import { redactorFor } from '../journal/redaction.ts'
import { isReported, StoreError } from '../store/store-error.ts'
import { readClientId } from './client-request-id.ts'
import { createGate, type GateDeps, type GateResult } from './gate.ts'
import { createRecorder, type RecorderDeps } from './recorder.ts'
import { createSender } from './sender.ts'
import {
  type Admitted,
  type Conforming,
  type Outcome,
  outcomeOf,
  type Refused,
  type Routed,
  type Stage,
} from './stages.ts'

export interface PipelineDeps extends GateDeps, InjectionOptions, RecorderDeps {
  contract: ServiceContract
  /** Names requests that belong to no account. */
  nextId: NobodyIds
  log: Log
  responseValidation: ResponseValidation
  /** Absent where pages of other origins may not use the service. */
  cors: Cors | undefined
  /** Whether a request names this server as a client would, and not as a page of another site. */
  namesUs: HostCheck
  /** Aborted when the server stops; nothing waits any longer then. */
  stopping: AbortSignal
}

/** The service: takes a request through route, key, plan, quota, contract and behaviour to at most one response. */
export function createPipeline(
  deps: PipelineDeps,
): (request: IncomingMessage, response: ServerResponse) => void | Promise<void> {
  const { contract, store, log, stopping } = deps
  const { settings, catalogue } = contract
  const { secrets } = deps.worlds.journal
  const findRoute = createRouter(contract, settings)
  const readQuery = createQueryReader(settings)
  const bodies = createBodyReader(settings)
  const gate = createGate(deps)
  const sources = createInjectionSources(deps)
  const replier = new Replier(contract, deps.responseValidation)
  /** Connections that a fault has ended. */
  const ended = new WeakSet<Socket>()
  const application = { contract, replier, stopping, store, clock: deps.clock }
  const send = createSender({
    contract,
    clock: deps.clock,
    cors: deps.cors,
    stopping,
    ended,
    record: createRecorder(deps),
  })
  const clientIdOf = settings.clientRequestIds === 'echoed' ? readClientId : undefined
  const chargesAll = settings.chargedRequests === 'authenticated'
  let idSource = { seed: 0, id: '', text: '' }

  /**
   * The path of a request, from top to bottom: Routed → Admitted → Conforming → Outcome, which is then sent. Each stage
   * takes the value of the stage before it and returns its own. Where nothing has to wait, the whole path is one
   * synchronous call.
   */
  return function serve(request, response) {
    // Requests that a client sent behind one whose connection a fault has ended are lost with it.
    if (ended.has(request.socket)) return undefined
    const routed = route(request, response)
    /** How far the request has come; a failure is told with what is known by then. */
    let reached: Stage = routed

    function followStages(): Awaitable<Outcome> {
      if (routed.isPreflight) return answerPreflight(routed)
      return whenReady(admit(routed), (admitted) => {
        reached = admitted
        if (admitted.refusal !== undefined)
          return refuseWith(admitted, undefined, admitted.refusal, admitted.violatesContract)
        // The first place of faults: the request is admitted, and its body is not read yet.
        return whenReady(injectBefore(admitted), (entered) => {
          if ('reply' in entered) return entered
          reached = entered
          return whenReady(readAndConform(entered), (conforming) => {
            reached = conforming
            const { conformity } = conforming
            if (!conformity.ok) return refuseWith(entered, conforming, conformity, true)
            // A domain in the body may ask for another response by its name; then nothing is decided.
            const simulated = simulate(conforming, conformity)
            if (simulated !== undefined) return simulated
            return decideAndKeep(conforming, conformity)
          })
        })
      })
    }

    return attempt(
      () => {
        const decided = attempt(followStages, (error) => fail(reached, error))
        const outcome = chargesAll ? decided : whenReady(decided, refund)
        // The second place of faults: the change is stored, and the response is made but not sent.
        return whenReady(whenReady(outcome, injectAfter), send)
      },
      (error) => abandon(reached, error),
    )
  }

  /** Finds the operation, or why there is none. */
  function route(request: IncomingMessage, response: ServerResponse): Routed {
    const started = elapsed()
    const { path, query: text } = splitTarget(request.url ?? '')
    const query = readQuery(text)
    // RFC 9112 §3.2. Node would refuse it as well, but without the envelope.
    const isMalformed = isHostMalformed(request)
    const isMisled = !deps.namesUs(request)
    const found = isMalformed ? MALFORMED : isMisled ? MISLED : findRoute(request.method ?? '', path)
    const needsNoKey = isMalformed || isMisled || settings.routing === 'before-key'
    return {
      request,
      response,
      started,
      path,
      query,
      operation: found.ok ? found.operation : undefined,
      refusal: found.ok ? undefined : found,
      needsNoKey,
      allow: found.ok ? undefined : found.allow,
      neighbour: found.ok ? undefined : found.neighbour,
      isPreflight: !found.ok && found.allow !== undefined && deps.cors !== undefined && isPreflight(request),
    }
  }

  /** A preflight request needs no key, costs no quota, and meets no fault. */
  function answerPreflight(routed: Routed): Outcome {
    const gated = { ...enterAsNobody(routed), unspent: undefined }
    return outcomeOf(gated, undefined, { status: 204, headers: {}, body: contentOf(''), foreign: true })
  }

  /** Takes the request through the gate: key, plan, quota, and which injection acts on it. */
  function admit(routed: Routed): Awaitable<Admitted | Refused> {
    const { request, operation, refusal, needsNoKey } = routed
    const asksNobody = needsNoKey && !(gate.tellsUncharged && routed.neighbour !== undefined)
    if (refusal !== undefined && asksNobody) return enterAsNobody(routed)
    const preferred = operation && sources.ofHeaders(request.headers, operation)
    return whenReady(gate.admit(routed, preferred === undefined), (result) =>
      enter(routed, result, (needsNoKey ? refusal : undefined) ?? result.decision.refusal ?? refusal, preferred),
    )
  }

  /** What the gate's decision makes of the request. A request that the gate refuses meets no fault. */
  function enter(
    routed: Routed,
    { decision, history, before, moment }: GateResult,
    refusal: Refusal<string> | undefined,
    preferred: Injection | undefined,
  ): Admitted | Refused {
    const { principal, disabled, allowance, bucket, hits, unspent, fault, ordinal } = decision
    const ruled = fault && principal && sources.ofRule(fault, principal.account)
    const ownId =
      principal === undefined
        ? deps.nextId('unauthenticated')
        : requestIdOf(sourceOf(principal.account), ordinal, contract.requestIds)
    const requestId = clientIdOf?.(routed.request.headers, secrets) ?? ownId
    const gated = {
      routed,
      requestId,
      operation: routed.operation,
      principal,
      disabled,
      history,
      before,
      moment,
      allowance,
      bucket,
      hits,
      unspent,
      injection: refusal === undefined ? (ruled ?? preferred) : undefined,
      effect: undefined,
      refusal,
      violatesContract: refusal !== undefined && refusal !== decision.refusal && refusal !== MISLED,
    }
    // Without a refusal, there are an operation and a principal.
    return gated as Admitted | Refused
  }

  /** Takes back the charge of a request that the service itself refuses. */
  function refund(outcome: Outcome): Awaitable<Outcome> {
    const { gated, reply } = outcome
    if (gated.refusal !== undefined || reply?.code === undefined || reply.injected) return outcome
    return whenReady(gate.refund(gated), (left) => ({ ...outcome, allowance: left ?? outcome.allowance }))
  }

  function enterAsNobody(routed: Routed): Admitted | Refused {
    const result = gate.admitNobody(routed)
    return enter(routed, result, routed.refusal ?? result.decision.refusal, undefined)
  }

  /** The source of an account's request ids; remembered for the account that was asked last. */
  function sourceOf({ seed, id }: AccountState): string {
    if (idSource.seed !== seed || idSource.id !== id) idSource = { seed, id, text: `${seed} ${id}` }
    return idSource.text
  }

  /** Reads the body and holds the request to the contract. */
  function readAndConform(admitted: Admitted): Awaitable<Conforming> {
    const { routed, operation, principal } = admitted
    const { request, query } = routed
    return whenReady(bodies.read(request, operation), (body) => {
      const conformity = conform({ operation, query, body }, settings, catalogue)
      const id = query['id']
      return {
        admitted,
        conformity,
        content: body?.content,
        value: conformity.ok ? body && conformity.body : conformity.value,
        group: typeof id === 'string' && conformity.ok ? principal.account.groups.get(id) : undefined,
      }
    })
  }

  /** An outcome in place of the service's own, where an injection brings one about; else the request, to go on. */
  function injectBefore(admitted: Admitted): Awaitable<Admitted | Outcome> {
    const { injection } = admitted
    if (injection === undefined || phaseOf(injection.rule) === 'after') return admitted
    return whenReady(applyInjection(injection, targetOf(admitted), undefined, application), (applied) => {
      const { effect, reply, cut, clientLeft } = applied
      if (reply === undefined && cut === undefined && !clientLeft) return { ...admitted, effect }
      return injected(outcomeOf(admitted, undefined, undefined), injection, applied)
    })
  }

  /** The outcome that a domain in the body asks for by its name, if any does. */
  function simulate(conforming: Conforming, { operation, body }: ConformingRequest): Awaitable<Outcome> | undefined {
    const { admitted } = conforming
    const injection = sources.ofBody(body, operation)
    if (injection === undefined) return undefined
    return whenReady(applyInjection(injection, targetOf(admitted), undefined, application), (applied) =>
      injected(outcomeOf(admitted, conforming, undefined), injection, applied),
    )
  }

  /** What an injection makes of the service's own response. */
  function injectAfter(outcome: Outcome): Awaitable<Outcome> {
    const { gated, injection, reply } = outcome
    if (injection === undefined || reply === undefined || gated.refusal !== undefined) return outcome
    if (phaseOf(injection.rule) === 'before') return outcome
    const decided = { status: reply.status, code: reply.code }
    return whenReady(applyInjection(injection, targetOf(gated), reply, application), (applied) => ({
      ...injected(outcome, injection, applied),
      decided,
    }))
  }

  /** What the service answers, once the change is stored. If another change came first, the store decides again. */
  function decideAndKeep(conforming: Conforming, request: ConformingRequest): Awaitable<Outcome> {
    const { account, now } = conforming.admitted.principal
    if (!changesAccount(request.operation)) {
      return answer(conforming, decide(request, account, contract, now), account)
    }
    let present = account
    let presentVersion: string | undefined
    const judge = (state: AccountState, version?: string) => {
      present = state
      presentVersion = version
      return decide(request, state, contract, now)
    }
    // While the request waited for its body, another account may have got the id.
    const decided = store.update(account.id, judge, conforming.admitted.history?.incarnation)
    return whenReady(decided, (decision) => answer(conforming, decision, present, presentVersion))
  }

  /** `present` is the state on which was decided, and `version` its version where the store tells it. */
  function answer(
    conforming: Conforming,
    decision: Decision<AccountState, Answer>,
    present: AccountState,
    version?: string,
  ): Outcome {
    const { admitted } = conforming
    const outcome = decision.ok
      ? outcomeOf(admitted, conforming, replyTo(admitted, decision.value))
      : refuseWith(admitted, conforming, decision, false)
    // Nobody else has this outcome yet.
    if (decision.ok && decision.state !== present) outcome.after = decision.state
    if (outcome.before !== undefined && outcome.before.account !== present) {
      outcome.before = { ...outcome.before, account: present }
    }
    if (outcome.moment !== undefined && version !== undefined && version !== outcome.moment.version) {
      outcome.moment = { ...outcome.moment, version }
    }
    return outcome
  }

  function replyTo({ operation }: Admitted, value: Answer): Reply {
    return value.source === undefined ? replier.succeed(operation, value.data) : replier.read(operation, value)
  }

  function refuseWith(
    gated: Admitted | Refused,
    conforming: Conforming | undefined,
    { problems }: Refusal<string>,
    violatesContract: boolean,
  ): Outcome {
    return outcomeOf(gated, conforming, replier.refuse(gated.operation, problems), problems, violatesContract)
  }

  function fail(reached: Stage, error: unknown): Outcome {
    const conforming = 'admitted' in reached ? reached : undefined
    const gated = gatedOf(reached) ?? enterAsNobody(reached as Routed)
    if (error instanceof ClientGone) return outcomeOf(gated, conforming, undefined)
    if (error instanceof StoreError && error.problem === 'unknown-account') {
      // The account was deleted under the request, so the key belongs to nobody any more.
      const orphan = {
        ...gated,
        allowance: undefined,
        unspent: gate.admitNobody(gated.routed).decision.unspent,
        injection: undefined,
      }
      return refuseWith(orphan, conforming, refuse({ code: 'unauthorized' }), false)
    }
    if (!isReported(error)) {
      log.error({ request_id: gated.requestId, err: withoutSecrets(error, gated) }, 'The request failed.')
    }
    const reply = replier.refuse(undefined, [{ code: 'internal_error' }])
    return { ...outcomeOf(gated, conforming, reply), failure: error }
  }

  function abandon(reached: Stage, error: unknown): void {
    const gated = gatedOf(reached)
    const err = gated === undefined ? error : withoutSecrets(error, gated)
    log.error({ request_id: gated?.requestId, err }, 'The response could not be sent.')
    const { response } = gated?.routed ?? (reached as Routed)
    response.destroy()
  }

  /** An error without the secrets of the request and its account. */
  function withoutSecrets(error: unknown, { routed, principal }: Admitted | Refused): unknown {
    const { rawHeaders: headers, url: target = '' } = routed.request
    const request = { account: principal?.account.id, key: principal?.key.id, headers, target }
    return redactDeeply(error, redactorFor(request, secrets))
  }
}

const MALFORMED: Route = refuse({ code: 'invalid_request_body', reason: 'malformed' })
/** It may come from a page that has no key of its own, so neither its key nor its path counts. See `createHostCheck`. */
const MISLED: Route = refuse({ code: 'unauthorized', reason: 'host' })

/** What is known of a request at the gate and from there on. */
function gatedOf(reached: Stage): Admitted | Refused | undefined {
  if ('admitted' in reached) return reached.admitted
  return 'routed' in reached ? reached : undefined
}

function targetOf({ routed: { request, query }, operation, principal, allowance }: Admitted): InjectionTarget {
  return { request, operation, query, principal, allowance }
}

function injected(outcome: Outcome, injection: Injection, applied: Applied): Outcome {
  const { effect, reply, allowance, cut, send } = applied
  return { ...outcome, injection, effect, reply, allowance, cut, send }
}

import type { ServiceContract } from '../behaviour/operation.ts'
import { refuse } from '../domain/errors.ts'
import { createInjectionSources, type InjectionOptions } from '../faults/sources.ts'
import { type Awaitable, attempt, whenReady } from '../ground/awaitable.ts'
import type { Arrival } from '../http/arrival.ts'
import { contentOf } from '../http/content.ts'
import type { Cors } from '../http/cors.ts'
import type { Delivery } from '../http/delivery.ts'
import type { HostCheck } from '../http/hosts.ts'
import type { Log } from '../http/log.ts'
import { ClientGone } from '../http/reception.ts'
import { Replier, type ResponseValidation } from '../http/reply.ts'
import { redactDeeply } from '../journal/redaction/redacted-log.ts'
import { isReported, StoreError } from '../store/store-error.ts'
import { createConclusion } from './conclusion.ts'
import { type Conduct, createConduct } from './conduct.ts'
import { createEntrance, type Entrance, type EntranceDeps } from './entrance.ts'
import { createInterference } from './interference.ts'
import { createRecorder, type RecorderDeps } from './recorder.ts'
import { createRouting } from './routing.ts'
import {
  type Admitted,
  type Checked,
  type Outcome,
  outcomeOf,
  type Refused,
  type Routed,
  type Stage,
} from './stages.ts'

export interface PipelineDeps extends Omit<EntranceDeps, 'sources'>, InjectionOptions, RecorderDeps {
  contract: ServiceContract
  log: Log
  responseValidation: ResponseValidation
  /** Absent if pages of other origins may not use the service. */
  cors: Cors | undefined
  namesUs: HostCheck
  /** See `Arrival.wait`. */
  stopping: AbortSignal
}

/** The service. It neither throws nor rejects. A client that has left gets no delivery. */
export type Service = (arrival: Arrival) => Awaitable<Delivery | undefined>

/** A request on its way. */
interface Passage {
  routed: Routed
  /** The stage that it has reached. A failure is reported with the data known by then. */
  reached: Stage
}

/**
 * Takes a request through route, key, plan, quota, contract and behaviour to the delivery. The service knows no socket,
 * so that any door can call it.
 */
export function createPipeline(deps: PipelineDeps): Service {
  const { contract, cors, store, clock, stopping } = deps
  const sources = createInjectionSources(deps)
  const replier = new Replier(contract, deps.responseValidation)
  const route = createRouting({ ...deps, answersPreflights: cors !== undefined })
  const entrance = createEntrance({ ...deps, sources })
  const interference = createInterference(sources, { contract, replier, stopping, store, clock })
  const conduct = createConduct(contract, store, replier)
  const conclude = createConclusion({ contract, clock, cors, record: createRecorder(deps) })
  const failures = createFailures(deps, entrance, conduct, replier)
  const chargesAll = contract.settings.chargedRequests === 'authenticated'

  // The path of a request, from top to bottom: Routed → Admitted → Checked → Outcome, which is then delivered. Each stage
  // takes the value of the stage before it and returns its own. If nothing has to wait, the whole path is one synchronous
  // call.
  return function answer(arrival) {
    const routed = route(arrival)
    return attempt(passThrough, abandon, { routed, reached: routed })
  }

  function passThrough(passage: Passage): Awaitable<Delivery | undefined> {
    return whenReady(attempt(answerFor, fail, passage), conclude)
  }

  /** What comes after the decision asks the store too, which may fail or have lost the account. */
  function answerFor(passage: Passage): Awaitable<Outcome> {
    const decided = attempt(enter, fail, passage)
    const outcome = chargesAll ? decided : whenReady(decided, entrance.refund)
    return whenReady(outcome, interference.injectAfter)
  }

  function enter(passage: Passage): Awaitable<Outcome> {
    const { routed } = passage
    if (routed.isPreflight) return answerPreflight(routed)
    return whenReady(entrance.admit(routed), meetFaults, passage)
  }

  function meetFaults(admitted: Admitted | Refused, passage: Passage): Awaitable<Outcome> {
    passage.reached = admitted
    if (admitted.refusal !== undefined) {
      return conduct.refuseWith(admitted, undefined, admitted.refusal, admitted.violatesContract)
    }
    return whenReady(interference.injectBefore(admitted), readAndCheck, passage)
  }

  function readAndCheck(entered: Admitted | Outcome, passage: Passage): Awaitable<Outcome> {
    // Only an outcome has a reply: the fault has answered, or the client has left.
    if ('reply' in entered) return entered
    passage.reached = entered
    return whenReady(conduct.readAndCheck(entered), decide, passage)
  }

  function decide(checked: Checked, passage: Passage): Awaitable<Outcome> {
    passage.reached = checked
    const { admitted, conformity } = checked
    if (!conformity.ok) return conduct.refuseWith(admitted, checked, conformity, true)
    return interference.simulate(checked, conformity) ?? conduct.decideAndKeep(checked, conformity)
  }

  function fail(error: unknown, { reached }: Passage): Outcome {
    return failures.fail(reached, error)
  }

  function abandon(error: unknown, { reached }: Passage): Delivery {
    return failures.abandon(reached, error)
  }

  /** A preflight request needs no key, costs no quota, and meets no fault. */
  function answerPreflight(routed: Routed): Awaitable<Outcome> {
    return whenReady(entrance.enterUnadmitted(routed), (gated) => {
      const reply = { status: 204, headers: {}, body: contentOf(''), foreign: true }
      return outcomeOf({ ...gated, unspent: undefined }, undefined, reply)
    })
  }
}

/** Handles requests in which a step fails. */
function createFailures({ worlds, log }: PipelineDeps, entrance: Entrance, conduct: Conduct, replier: Replier) {
  const { redactions } = worlds.journal

  function fail(reached: Stage, error: unknown): Outcome {
    const checked = 'admitted' in reached ? reached : undefined
    const gated = gatedOf(reached) ?? entrance.enterAnonymously(reached as Routed)
    if (error instanceof ClientGone) return outcomeOf(gated, checked, undefined)
    if (error instanceof StoreError && error.problem === 'unknown-account') {
      // The account was deleted during the request, so the key belongs to no account any more.
      const unspent = entrance.tellAnonymous(gated.routed)
      const orphan = { ...gated, allowance: undefined, unspent, injection: undefined }
      return conduct.refuseWith(orphan, checked, refuse({ code: 'unauthorized' }), false)
    }
    if (!isReported(error)) {
      log.error({ request_id: gated.requestId, err: withoutSecrets(error, gated) }, 'The request failed.')
    }
    const reply = replier.refuse(undefined, [{ code: 'internal_error' }])
    return { ...outcomeOf(gated, checked, reply), failure: error }
  }

  function abandon(reached: Stage, error: unknown): Delivery {
    const gated = gatedOf(reached)
    const err = gated === undefined ? error : withoutSecrets(error, gated)
    log.error({ request_id: gated?.requestId, err }, 'The response could not be sent.')
    return { lost: 'failure' }
  }

  /** An error without the secrets of the request and its account. */
  function withoutSecrets(error: unknown, { routed, principal }: Admitted | Refused): unknown {
    const { rawHeaders: headers, url: target = '' } = routed.request
    return redactDeeply(error, redactions.of({ headers, target, key: principal?.key.id }).redact)
  }

  return { fail, abandon }
}

/** The request at the gate, if it has reached the gate. */
function gatedOf(reached: Stage): Admitted | Refused | undefined {
  if ('admitted' in reached) return reached.admitted
  return 'routed' in reached ? reached : undefined
}

import type { AccountHistory } from '../accounts/exchange-log.ts'
import type { GateDecision, Principal } from '../behaviour/gate.ts'
import type { Conformity } from '../behaviour/judge.ts'
import type { ServiceContract } from '../behaviour/operation.ts'
import type { Operation } from '../contract/api.ts'
import type { Reply } from '../contract/reply.ts'
import { createRouter, type Route } from '../contract/router.ts'
import type { AccountState, DomainGroup } from '../domain/account.ts'
import { type Problem, type Refusal, refuse } from '../domain/errors.ts'
import type { Allowance } from '../domain/quotas.ts'
import type { Injection } from '../faults/injection.ts'
import { type HostCheck, isHostMalformed } from '../ground/hosts.ts'
import { memoize } from '../ground/memo.ts'
import type { Arrival, Content, Loss, Transmission } from '../ground/message.ts'
import { type Query, readQuery, splitTarget } from '../ground/target.ts'
import { elapsed } from '../ground/timers.ts'
import type { Past, UnsentResponse } from '../journal/entry.ts'
import type { Moment } from '../store/store.ts'
import { isPreflight } from './cors.ts'

type Unrouted = Extract<Route, { ok: false }>

const NO_PROBLEMS: readonly Problem<string>[] = []

/**
 * A request on its path, and what is known about it so far. Each step of `answer.ts` adds its part when it is done, so
 * that after a failure the journal tells what was known before. All have all fields, because the engine is fast with
 * objects of one shape.
 */
export class Exchange {
  /** When it arrived, by `elapsed`. */
  readonly started: number = elapsed()
  readonly operation: Operation | undefined
  /** Why it has no operation. */
  readonly unrouted: Unrouted | undefined

  // The gate.
  /** Empty before the gate. */
  requestId = ''
  /** Why the route or the gate refuses it. */
  refusal: Refusal<string> | undefined = undefined
  principal: Principal | undefined = undefined
  /** The principal whose disabled key the request carries. */
  disabled: Principal | undefined = undefined
  /** The principal whose key the request presents, if it was refused before the key counted. */
  owner: Principal | undefined = undefined
  /** Where the request is recorded, if its key belongs to an account. */
  history: AccountHistory | undefined = undefined
  /** The state that the request found, and its name in the store. */
  before: Past | undefined = undefined
  moment: Moment | undefined = undefined
  allowance: Allowance | undefined = undefined
  /** The window that was charged. */
  charged: GateDecision['charged'] = undefined
  /** The rest of an uncharged quota, if the response shows it. */
  unspent: Allowance | undefined = undefined

  // The faults.
  injection: Injection | undefined = undefined
  /** What the injection has done, in sentences. */
  effect: string | undefined = undefined
  /** The service's own response, if a fault has acted on it, or if the client has left. */
  decided: UnsentResponse | undefined = undefined
  lost: Loss['lost'] | undefined = undefined
  /** How the body is sent, if not as usual. */
  transmission: Transmission | undefined = undefined

  // The check against the contract.
  conformity: Conformity | undefined = undefined
  /** The body as received; absent if no body was read. */
  content: Content | undefined = undefined
  /** The body if it is JSON. */
  value: unknown = undefined
  /** The group in the query, as it was before. */
  group: DomainGroup | undefined = undefined

  // The outcome.
  /** Whether no further step can change what is answered, except for the faults that act on the answer. */
  isDecided = false
  /** Absent if nothing is sent: a fault ends the connection, or the client has left. */
  reply: Reply | undefined = undefined
  /** The problems of the request. The first one is answered. */
  problems = NO_PROBLEMS
  /** See `Entry`. */
  violatesContract = false
  /** The account after the request, if it changed. */
  after: AccountState | undefined = undefined
  /** The internal failure, if there was one. */
  failure: unknown = undefined

  readonly request: Arrival
  readonly path: string
  readonly query: Query
  /** Whether it is refused for its route, whatever its key is. */
  readonly needsNoKey: boolean
  /** Whether it is a preflight request that gets an answer. */
  readonly isPreflight: boolean

  constructor(
    request: Arrival,
    { path, query }: { path: string; query: Query },
    route: Route,
    { needsNoKey, isPreflight }: { needsNoKey: boolean; isPreflight: boolean },
  ) {
    this.request = request
    this.path = path
    this.query = query
    this.needsNoKey = needsNoKey
    this.isPreflight = isPreflight
    this.operation = route.ok ? route.operation : undefined
    this.unrouted = route.ok ? undefined : route
  }
}

/** An exchange that has passed the gate. */
export interface Admitted extends Exchange {
  operation: Operation
  principal: Principal
}

/** An admitted exchange whose request conforms to the contract. */
export interface Conforming extends Admitted {
  conformity: Extract<Conformity, { ok: true }>
}

export interface RoutingDeps {
  contract: ServiceContract
  namesUs: HostCheck
}

const MALFORMED: Unrouted = refuse({ code: 'invalid_request_body', reason: 'malformed' })
/** For a request with the Host of another site, see `createHostCheck`. Neither its key nor its path counts. */
export const MISLED: Unrouted = refuse({ code: 'unauthorized', reason: 'host' })

/**
 * Creates the function that finds the operation of a request, or the refusal if there is none, and recognises preflight
 * requests. The refusal waits for the gate, because the settings may let the key decide first.
 */
export function createRouting(
  { contract, namesUs }: RoutingDeps,
  answersPreflights: boolean,
): (request: Arrival) => Exchange {
  const { settings } = contract
  const findRoute = createRouter(contract, settings)
  // Clients repeat their targets. A long one is not worth caching.
  const interpretTarget = memoize(
    (target) => {
      const { path, query } = splitTarget(target)
      return { path, query: readQuery(query) }
    },
    { limit: 1_000, longest: 500 },
  )

  /** The refusal of a request that is not for us as it is. Node would refuse some of them too, but without the envelope. */
  function findObstacle(request: Arrival): Unrouted | undefined {
    if (request.problem !== undefined) return refuse(request.problem)
    if (isHostMalformed(request)) return MALFORMED
    return namesUs(request) ? undefined : MISLED
  }

  return (request) => {
    const target = interpretTarget(request.url ?? '')
    const obstacle = findObstacle(request)
    const route = obstacle ?? findRoute(request.method ?? '', target.path)
    const needsNoKey = obstacle !== undefined || settings.routing === 'before-key'
    const asksBefore = !route.ok && route.allow !== undefined && answersPreflights && isPreflight(request)
    return new Exchange(request, target, route, { needsNoKey, isPreflight: asksBefore })
  }
}

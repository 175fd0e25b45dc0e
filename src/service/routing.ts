import type { ServiceContract } from '../behaviour/operation.ts'
import { createRouter, type Route } from '../contract/router.ts'
import { refuse } from '../domain/errors.ts'
import type { Arrival } from '../ground/arrival.ts'
import { elapsed } from '../ground/clock.ts'
import { isHostMalformed } from '../ground/host-field.ts'
import type { HostCheck } from '../ground/hosts.ts'
import { memoize } from '../ground/memo.ts'
import { readQuery, splitTarget } from '../ground/target.ts'
import { isPreflight } from './cors.ts'
import { Exchange } from './exchange.ts'

export interface RoutingDeps {
  contract: ServiceContract
  namesUs: HostCheck
  /** Whether pages of other origins may use the service. */
  answersPreflights: boolean
}

const MALFORMED: Route = refuse({ code: 'invalid_request_body', reason: 'malformed' })
/** For a request with the Host of another site, see `createHostCheck`. Neither its key nor its path counts. */
export const MISLED: Route & { ok: false } = refuse({ code: 'unauthorized', reason: 'host' })

/**
 * Creates the function that finds the operation of a request, or the refusal if there is none, and recognises preflight
 * requests. The refusal waits for the gate, because the settings may let the key decide first.
 */
export function createRouting({ contract, namesUs, answersPreflights }: RoutingDeps): (request: Arrival) => Exchange {
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

  return (request) => {
    const started = elapsed()
    const { path, query } = interpretTarget(request.url ?? '')
    // RFC 9112 §3.2. Node would refuse the request too, but without the envelope.
    const isMalformed = isHostMalformed(request)
    const isMisled = !namesUs(request)
    const route = isMalformed ? MALFORMED : isMisled ? MISLED : findRoute(request.method ?? '', path)
    const needsNoKey = isMalformed || isMisled || settings.routing === 'before-key'
    const asksBefore = !route.ok && route.allow !== undefined && answersPreflights && isPreflight(request)
    return new Exchange({ request, started, path, query, route, needsNoKey, isPreflight: asksBefore })
  }
}

import { type ApplicationDeps, type Applied, applyInjection } from '../faults/application.ts'
import type { Injection, InjectionTarget } from '../faults/injection.ts'
import { phaseOf } from '../faults/kinds.ts'
import type { InjectionSources } from '../faults/sources.ts'
import { type Awaitable, whenReady } from '../ground/awaitable.ts'
import type { Admitted, Conforming, Exchange } from './exchange.ts'

/** The steps in which an injection can replace the work of the service. */
export function createInterference(sources: InjectionSources, deps: ApplicationDeps) {
  return {
    /** The request is admitted, its body is unread. */
    injectBefore(exchange: Admitted): Awaitable<void> {
      const { injection } = exchange
      if (injection === undefined || phaseOf(injection.rule) === 'after') return undefined
      return whenReady(applyInjection(injection, targetOf(exchange), undefined, deps), (applied) => {
        const { effect, reply, lost, clientLeft } = applied
        if (reply === undefined && lost === undefined && !clientLeft) exchange.effect = effect
        else replace(exchange, injection, applied)
      })
    },

    /** A domain name in the body may ask for an outcome. */
    simulate(exchange: Conforming): Awaitable<void> {
      const injection = sources.ofBody(exchange.conformity.body, exchange.operation)
      if (injection === undefined) return undefined
      return whenReady(applyInjection(injection, targetOf(exchange), undefined, deps), (applied) =>
        replace(exchange, injection, applied),
      )
    },

    /** The change is stored, and the response is made but not sent. */
    injectAfter(exchange: Admitted): Awaitable<void> {
      const { injection, reply, refusal } = exchange
      if (injection === undefined || reply === undefined || refusal !== undefined) return undefined
      if (phaseOf(injection.rule) === 'before') return undefined
      return whenReady(applyInjection(injection, targetOf(exchange), reply, deps), (applied) => {
        exchange.decided = { status: reply.status, code: reply.code }
        replace(exchange, injection, applied)
      })
    },
  }
}

function targetOf({ request, operation, query, principal, history, allowance }: Admitted): InjectionTarget {
  const account = { incarnation: history?.incarnation, reset: history?.reset.signal }
  return { request, operation, query, principal, ...account, allowance }
}

/** Puts what an injection has done in the place of what the service does. */
function replace(exchange: Exchange, injection: Injection, applied: Applied): void {
  exchange.injection = injection
  exchange.effect = applied.effect
  exchange.reply = applied.reply
  exchange.allowance = applied.allowance
  exchange.lost = applied.lost
  exchange.transmission = applied.transmission
  exchange.isDecided = true
}

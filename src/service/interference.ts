import type { ServiceContract } from '../behaviour/operation.ts'
import { accept } from '../domain/errors.ts'
import { type ApplicationDeps, type Applied, applyInjection } from '../faults/application.ts'
import { type ForeignChange, foreignClientBefore, NOTHING_FOREIGN } from '../faults/foreign-change.ts'
import type { Injection, InjectionTarget } from '../faults/injection.ts'
import { kindOf, phaseOf } from '../faults/kinds.ts'
import type { InjectionSources } from '../faults/sources.ts'
import { type Awaitable, whenReady } from '../ground/awaitable.ts'
import type { Admitted, Conforming, Exchange } from './exchange.ts'

/** The steps in which an injection can replace the work of the service. */
export function createInterference(sources: InjectionSources, deps: ApplicationDeps & { contract: ServiceContract }) {
  const { contract, store } = deps

  /** Another client changes the account, so that the request finds it changed. */
  function changeFirst(change: ForeignChange, exchange: Conforming): Awaitable<void> {
    const { principal, history, conformity } = exchange
    const decided = store.update(
      principal.account.id,
      (state) => {
        const client = foreignClientBefore(change, conformity, state, contract, principal.now)
        return accept(client?.change(state) ?? state, client?.words)
      },
      history?.incarnation,
    )
    return whenReady(decided, (decision) => {
      if (!decision.ok) return
      exchange.principal = { ...principal, account: decision.state }
      const { value: words } = decision
      exchange.effect = words === undefined ? NOTHING_FOREIGN : `Another client ${words} just before.`
    })
  }

  return {
    /** The request is admitted, its body is unread. */
    injectBefore(exchange: Admitted): Awaitable<void> {
      const { injection } = exchange
      if (injection === undefined || phaseOf(injection.rule) === 'after') return undefined
      if (kindOf(injection.rule).action.type === 'foreign') return undefined
      return whenReady(applyInjection(injection, targetOf(exchange), undefined, deps), (applied) => {
        const { effect, reply, lost, clientLeft } = applied
        if (reply === undefined && lost === undefined && !clientLeft) exchange.effect = effect
        else replace(exchange, injection, applied)
      })
    },

    /** The request conforms: a domain name in its body may ask for an outcome, or another client comes first. */
    simulate(exchange: Conforming): Awaitable<void> {
      const injection = sources.ofBody(exchange.conformity.body, exchange.operation)
      if (injection === undefined) {
        const action = exchange.injection && kindOf(exchange.injection.rule).action
        return action?.type === 'foreign' ? changeFirst(action.change, exchange) : undefined
      }
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

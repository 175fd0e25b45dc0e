import type { ConformingRequest } from '../behaviour/operation.ts'
import { type ApplicationDeps, type Applied, applyInjection } from '../faults/application.ts'
import type { Injection, InjectionTarget } from '../faults/injection.ts'
import { phaseOf } from '../faults/kinds.ts'
import type { InjectionSources } from '../faults/sources.ts'
import { type Awaitable, whenReady } from '../ground/awaitable.ts'
import { type Admitted, type Checked, type Outcome, outcomeOf } from './stages.ts'

/** The places where an injection can replace the work of the service. */
export function createInterference(sources: InjectionSources, deps: ApplicationDeps) {
  return {
    /** First place: the request is admitted, its body is unread. Returns an outcome, or the request to continue. */
    injectBefore(admitted: Admitted): Awaitable<Admitted | Outcome> {
      const { injection } = admitted
      if (injection === undefined || phaseOf(injection.rule) === 'after') return admitted
      return whenReady(applyInjection(injection, targetOf(admitted), undefined, deps), (applied) => {
        const { effect, reply, lost, clientLeft } = applied
        if (reply === undefined && lost === undefined && !clientLeft) return { ...admitted, effect }
        return injected(outcomeOf(admitted, undefined, undefined), injection, applied)
      })
    },

    /** Second place: the outcome that a domain name in the body asks for, if any does. */
    simulate(checked: Checked, { operation, body }: ConformingRequest): Awaitable<Outcome> | undefined {
      const { admitted } = checked
      const injection = sources.ofBody(body, operation)
      if (injection === undefined) return undefined
      return whenReady(applyInjection(injection, targetOf(admitted), undefined, deps), (applied) =>
        injected(outcomeOf(admitted, checked, undefined), injection, applied),
      )
    },

    /** Third place: the change is stored, and the response is made but not sent. */
    injectAfter(outcome: Outcome): Awaitable<Outcome> {
      const { gated, injection, reply } = outcome
      if (injection === undefined || reply === undefined || gated.refusal !== undefined) return outcome
      if (phaseOf(injection.rule) === 'before') return outcome
      const decided = { status: reply.status, code: reply.code }
      return whenReady(applyInjection(injection, targetOf(gated), reply, deps), (applied) => ({
        ...injected(outcome, injection, applied),
        decided,
      }))
    },
  }
}

function targetOf({ routed, operation, principal, history, allowance }: Admitted): InjectionTarget {
  const { request, query } = routed
  return {
    request,
    operation,
    query,
    principal,
    incarnation: history?.incarnation,
    reset: history?.reset.signal,
    allowance,
  }
}

function injected(outcome: Outcome, injection: Injection, applied: Applied): Outcome {
  const { effect, reply, allowance, lost, transmission } = applied
  return { ...outcome, injection, effect, reply, allowance, lost, transmission }
}

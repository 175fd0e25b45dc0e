import type { ServiceContract } from '../behaviour/operation.ts'
import { accept } from '../domain/errors.ts'
import { type ApplicationDeps, applyInjection } from '../faults/application.ts'
import { type ForeignChange, foreignClientBefore, NOTHING_FOREIGN } from '../faults/foreign-change.ts'
import { kindOf, phaseOf } from '../faults/kinds.ts'
import type { Conforming } from './exchange.ts'

export type Interference = ReturnType<typeof createInterference>

/** The steps in which the injection of an exchange can replace the work of the service. */
export function createInterference(deps: ApplicationDeps & { contract: ServiceContract }) {
  const { contract, store } = deps

  async function apply(exchange: Conforming): Promise<void> {
    const { injection, request, operation, query, principal, history, allowance, reply } = exchange
    if (injection === undefined) return
    const account = { incarnation: history?.incarnation, ending: history?.ending.signal }
    const target = { request, operation, query, principal, ...account, allowance }
    const applied = await applyInjection(injection, target, reply, deps)
    if (reply !== undefined) exchange.decided = { status: reply.status, code: reply.code }
    Object.assign(exchange, applied)
  }

  /** Another client changes the account, so that the request finds it changed. */
  async function changeFirst(change: ForeignChange, exchange: Conforming): Promise<void> {
    const { principal, history, conformity } = exchange
    const decision = await store.update(
      principal.account.id,
      (state) => {
        const client = foreignClientBefore(change, conformity, state, contract, principal.now)
        return accept(client?.change(state) ?? state, client?.words)
      },
      history?.incarnation,
    )
    if (!decision.ok) return
    exchange.principal = { ...principal, account: decision.state }
    const { value: words } = decision
    exchange.effect = words === undefined ? NOTHING_FOREIGN : `Another client ${words} just before.`
  }

  return {
    /** The request is admitted, its body is unread. */
    async before(exchange: Conforming): Promise<void> {
      const { injection } = exchange
      if (injection === undefined || phaseOf(injection.rule) === 'after') return
      if (kindOf(injection.rule).action.type !== 'foreign') await apply(exchange)
    },

    /** The request conforms: a domain name in its body may ask for an outcome, or another client comes first. */
    async simulate(exchange: Conforming): Promise<void> {
      const { injection } = exchange
      const action = injection && kindOf(injection.rule).action
      if (injection?.source === 'simulator') await apply(exchange)
      else if (action?.type === 'foreign') await changeFirst(action.change, exchange)
    },

    /** The change is stored, and the response is made but not sent. */
    async after(exchange: Conforming): Promise<void> {
      const { injection, reply, refusal } = exchange
      if (injection === undefined || reply === undefined || refusal !== undefined) return
      if (phaseOf(injection.rule) === 'after') await apply(exchange)
    },
  }
}

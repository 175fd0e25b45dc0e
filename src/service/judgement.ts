import { conform } from '../behaviour/conformity.ts'
import { decide } from '../behaviour/judge.ts'
import { type Answer, changesAccount, type ServiceContract } from '../behaviour/operation.ts'
import { createBodyReader, type ReadBody } from '../contract/body.ts'
import type { Replier } from '../contract/reply.ts'
import type { AccountState } from '../domain/account.ts'
import type { Decision, Refusal } from '../domain/errors.ts'
import { type Awaitable, whenReady } from '../ground/awaitable.ts'
import type { Admitted, Conforming, Exchange } from './exchange.ts'
import type { ServiceStore } from './gate.ts'

/** The steps in which the service itself decides about an admitted request. */
export function createJudgement(contract: ServiceContract, store: ServiceStore, replier: Replier) {
  const { settings, catalogue } = contract
  const bodies = createBodyReader(settings)

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
    const { conformity, operation, principal } = exchange
    const { account, now } = principal
    if (!changesAccount(operation)) {
      return settle(exchange, decide(conformity, account, contract, now), account, undefined)
    }
    return change(exchange)
  }

  function change(exchange: Conforming): Awaitable<void> {
    const { conformity, principal, history } = exchange
    const { account, now } = principal
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

  return { readBody, judge, refuse }
}

import { conform } from '../behaviour/conformity.ts'
import { decide } from '../behaviour/judge.ts'
import { type Answer, type ConformingRequest, changesAccount, type ServiceContract } from '../behaviour/operation.ts'
import type { AccountState } from '../domain/account.ts'
import type { Decision, Refusal } from '../domain/errors.ts'
import { type Awaitable, whenReady } from '../ground/awaitable.ts'
import { createBodyReader, type ReadBody } from '../http/body.ts'
import type { Replier, Reply } from '../http/reply.ts'
import type { ServiceStore } from './gate.ts'
import { type Admitted, type Checked, type Outcome, outcomeOf, type Refused } from './stages.ts'

export type Conduct = ReturnType<typeof createConduct>

/** How the service itself handles an admitted request. */
export function createConduct(contract: ServiceContract, store: ServiceStore, replier: Replier) {
  const { settings, catalogue } = contract
  const bodies = createBodyReader(settings)

  /** Reads the body and checks the request against the contract. */
  function readAndCheck(admitted: Admitted): Awaitable<Checked> {
    return whenReady(bodies.read(admitted.routed.request, admitted.operation), check, admitted)
  }

  function check(body: ReadBody | undefined, admitted: Admitted): Checked {
    const { routed, operation, principal } = admitted
    const { query } = routed
    const conformity = conform({ operation, query, body }, settings, catalogue)
    // The journal tells what the group was, so it is looked up before a change.
    const id = query['id']
    return {
      admitted,
      conformity,
      content: body?.content,
      // If no body is read, `conformity.body` is an empty object, but the request has no value.
      value: conformity.ok ? body && conformity.body : conformity.value,
      group: typeof id === 'string' && conformity.ok ? principal.account.groups.get(id) : undefined,
    }
  }

  /** The service's answer, after the change is stored. If another change came first, the decision is repeated. */
  function decideAndKeep(checked: Checked, request: ConformingRequest): Awaitable<Outcome> {
    const { account, now } = checked.admitted.principal
    if (!changesAccount(request.operation)) {
      return outcomeOfDecision(checked, decide(request, account, contract, now), account)
    }
    let present = account
    let presentVersion: number | undefined
    const decideIn = (state: AccountState, version: number) => {
      present = state
      presentVersion = version
      return decide(request, state, contract, now)
    }
    // While the request waited for its body, another account may have got the id.
    const decided = store.update(account.id, decideIn, checked.admitted.history?.incarnation)
    return whenReady(decided, (decision) => outcomeOfDecision(checked, decision, present, presentVersion))
  }

  /** `present` is the state of the decision, and `version` its version if it is that of the store. */
  function outcomeOfDecision(
    checked: Checked,
    decision: Decision<AccountState, Answer>,
    present: AccountState,
    version?: number,
  ): Outcome {
    const { admitted } = checked
    const outcome = decision.ok
      ? outcomeOf(admitted, checked, replyTo(admitted, decision.value))
      : refuseWith(admitted, checked, decision, false)
    // No other code has this outcome yet, so it may be changed.
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
    return value.source === undefined ? replier.succeed(operation, value.data) : replier.succeedCached(operation, value)
  }

  function refuseWith(
    gated: Admitted | Refused,
    checked: Checked | undefined,
    { problems }: Refusal<string>,
    violatesContract: boolean,
  ): Outcome {
    return outcomeOf(gated, checked, replier.refuse(gated.operation, problems), problems, violatesContract)
  }

  return { readAndCheck, decideAndKeep, refuseWith }
}

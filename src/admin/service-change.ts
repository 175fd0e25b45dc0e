import { judge, type ReceivedRequest } from '../behaviour/judge.ts'
import type { Answer } from '../behaviour/operation.ts'
import type { OperationId } from '../behaviour/operations/operations.ts'
import { tooLarge } from '../contract/body.ts'
import type { DataOf } from '../contract/control-plane.ts'
import { refuse } from '../domain/errors.ts'
import type { Settings } from '../domain/settings.ts'
import type { Query } from '../ground/target.ts'
import { type AccountContext, type ControlOutcome, done, type RequestOf } from './handler.ts'
import { notFound, refusedByService } from './refusals.ts'

/** The operations of the control plane that change an account like an operation of the service. */
type Change = 'addMonitoredDomains' | 'removeMonitoredDomains' | 'createGroup' | 'updateGroup' | 'deleteGroup'

/**
 * A handler that changes the account as the service would on a request of an authorised caller. The judge decides, so the
 * control plane permits nothing that the service refuses. The request is neither counted nor recorded. The data of the
 * answer are these fields of the service's answer.
 */
export function changeAsService<Id extends Change>(
  operationId: OperationId,
  ...fields: readonly (keyof DataOf<Id> & string)[]
): (call: AccountContext & RequestOf<Id>) => Promise<ControlOutcome<DataOf<Id>>> {
  return async (call) => {
    const { contract, store, account, now, parameters } = call
    const operation = contract.operations.find(({ id }) => id === operationId)
    // An overlay can take an operation out of the contract.
    if (operation === undefined) return notFound('operation', operationId)
    const query: Query = 'group' in parameters ? { id: String(parameters.group) } : {}
    const body = operation.readsBody ? bodyOf(call.body, contract.settings) : undefined
    const request: ReceivedRequest = { operation, query, body }
    const decision = await store.update<Answer, string>(account.id, (state) => judge(request, state, contract, now))
    if (!decision.ok) return refusedByService(decision, contract.catalogue)
    const { value } = decision
    const data = value.source === undefined ? value.data : {}
    return done(Object.fromEntries(fields.map((field) => [field, data[field]])) as DataOf<Id>)
  }
}

/** The body as the service would read it. A body with too many bytes becomes a refusal. */
function bodyOf(body: unknown, { bodyLimit }: Pick<Settings, 'bodyLimit'>): ReceivedRequest['body'] {
  const isTooLarge = Buffer.byteLength(JSON.stringify(body)) > bodyLimit
  return isTooLarge ? refuse(tooLarge(bodyLimit)) : { ok: true, value: body }
}

import type { ReceivedRequest } from '../behaviour/conformity.ts'
import { judge } from '../behaviour/judge.ts'
import type { Answer } from '../behaviour/operation.ts'
import type { OperationId } from '../behaviour/operations/operations.ts'
import type { AccountState } from '../domain/account.ts'
import { type Acceptance, refuse } from '../domain/errors.ts'
import type { Json } from '../ground/json.ts'
import { tooLarge } from '../http/body.ts'
import type { AdminRefusal } from './codes.ts'
import type { AccountCall } from './handler.ts'
import { notFound, refusedByService } from './refusals.ts'

/** A change of the account, and the `data` of the service's answer. */
export type ServiceChange = Acceptance<AccountState, Json>

/**
 * Changes the account as the service would on a request of an authorised caller. The judge decides, so the control
 * plane permits nothing that the service refuses. The request is neither counted nor recorded.
 */
export async function changeAsService(
  call: AccountCall,
  operationId: OperationId,
  query: Readonly<Record<string, string>> = {},
): Promise<ServiceChange | AdminRefusal> {
  const { contract, store, account, now } = call
  const operation = contract.operations.find(({ id }) => id === operationId)
  // An overlay can take an operation out of the contract.
  if (operation === undefined) return notFound('operation', operationId)
  const request: ReceivedRequest = { operation, query, body: operation.readsBody ? bodyOf(call) : undefined }
  const decision = await store.update<Answer, string>(account.id, (state) => judge(request, state, contract, now))
  if (!decision.ok) return refusedByService(decision, contract.catalogue)
  const { state, value } = decision
  return { ok: true, state, value: value.source === undefined ? value.data : {} }
}

/** The body as the service would read it. A body with too many bytes becomes a refusal. */
function bodyOf({ body, contract }: AccountCall): ReceivedRequest['body'] {
  const { bodyLimit } = contract.settings
  const isTooLarge = Buffer.byteLength(JSON.stringify(body)) > bodyLimit
  return isTooLarge ? refuse(tooLarge(bodyLimit)) : { ok: true, value: body }
}

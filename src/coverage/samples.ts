import { judge } from '../behaviour/judge.ts'
import type { ServiceContract } from '../behaviour/operation.ts'
import type { PlannedRequest } from '../behaviour/planned-request.ts'
import { Rehearsal } from '../behaviour/rehearsal.ts'
import type { AccountState } from '../domain/account.ts'
import { writeQuery } from '../ground/target.ts'
import { nameOfResponse } from './coverage.ts'

/**
 * The requests to send for some responses, by `nameOfResponse`: the samples of each operation, each after the requests
 * that prepare the account for it. The account is not changed.
 */
export function sampleRequests(
  contract: ServiceContract,
  account: AccountState,
  now: number,
): ReadonlyMap<string, readonly PlannedRequest[]> {
  const found = new Map<string, readonly PlannedRequest[]>()
  for (const operation of contract.operations) {
    const { id, method, path, success, readsBody } = operation
    for (const sample of contract.behaviourOf(operation).samples) {
      const rehearsal = new Rehearsal(contract, account, now)
      const { query = {}, body } = sample(rehearsal)
      const request = { operation, query, body: readsBody ? { ok: true as const, value: body } : undefined }
      const judgement = judge(request, rehearsal.state, contract, now)
      const answer = judgement.ok
        ? { status: success.status, code: undefined }
        : contract.catalogue.answer(judgement.problems[0])
      const name = nameOfResponse(id, answer.status, answer.code)
      if (found.has(name)) continue
      const target = path + writeQuery(Object.entries(query))
      rehearsal.plan({ plane: 'service', method, path: target, ...(body !== undefined && { body }) })
      rehearsal.restore()
      found.set(name, rehearsal.steps)
    }
  }
  return found
}

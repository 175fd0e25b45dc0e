import { judge } from '../behaviour/judge.ts'
import type { RequestSample, SampleRequest, ServiceContract } from '../behaviour/operation.ts'
import type { PlannedRequest } from '../behaviour/planned-request.ts'
import { Rehearsal, SampleRefused } from '../behaviour/rehearsal.ts'
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
      const made = tryToMake(sample, rehearsal)
      if (made === undefined) continue
      const { query = {}, body } = made
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

/** The sample; `undefined` if an overlay has the requests refused that prepare the account for it. */
function tryToMake(sample: RequestSample, rehearsal: Rehearsal): SampleRequest | undefined {
  try {
    return sample(rehearsal)
  } catch (error) {
    if (error instanceof SampleRefused) return undefined
    throw error
  }
}

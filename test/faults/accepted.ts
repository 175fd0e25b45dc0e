import type { Operation } from '../../src/contract/api.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { ACCEPTED } from '../corpus/corpus.ts'
import type { SentHeaders } from '../support/request.ts'
import type { TestResponse, TestService } from '../support/service.ts'

export const contract = await loadContract()

export function operationOf(id: string): Operation {
  const operation = contract.operations.find((each) => each.id === id)
  if (operation === undefined) throw new Error(`There is no operation ${id}.`)
  return operation
}

/** The method, the path and the body of a request that an operation accepts from the account `ACCOUNT`. */
export function acceptedBy(id: string): [string, string, unknown] {
  const { send = '', body } = ACCEPTED[id] ?? {}
  const [method = '', path = ''] = send.split(' ')
  return [method, path, body]
}

/** Sends the accepted request of an operation. */
export async function sendAccepted(service: TestService, id: string, headers?: SentHeaders): Promise<TestResponse> {
  return service.send(...acceptedBy(id), headers)
}

/** Each code in each status that any operation may answer with, once. */
export function errors(): [operation: string, code: string, status: number][] {
  const all = contract.operations.flatMap(({ id, responses }) =>
    [...responses.values()].flatMap(({ status, codes }) =>
      [...codes].map((code): [string, string, number] => [id, code, status]),
    ),
  )
  return [...new Map(all.map((each) => [each.slice(1).join(), each])).values()]
}

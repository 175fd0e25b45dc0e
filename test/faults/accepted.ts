import type { Operation } from '../../src/contract/api.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { idOf } from '../support/account.ts'
import type { SentHeaders } from '../support/request.ts'
import type { TestResponse, TestService } from '../support/service.ts'

export const contract = await loadContract()

interface Sent {
  /** The name of a group, whose id is sent. */
  group?: string
  body?: unknown
}

/** A request that each operation accepts from the account `ACCOUNT`. */
const ACCEPTED: Readonly<Record<string, Sent>> = {
  addDomains: { body: { domains: ['new.example'] } },
  deleteDomains: { body: { domains: ['two.example'] } },
  createDomainGroup: { body: { name: 'Support', domains: ['two.example'] } },
  updateDomainGroup: { group: 'Sales', body: { name: 'Support', add_domains: ['two.example'] } },
  deleteDomainGroup: { group: 'Sales' },
}

export function operationOf(id: string): Operation {
  const operation = contract.operations.find((each) => each.id === id)
  if (operation === undefined) throw new Error(`There is no operation ${id}.`)
  return operation
}

/** The method, the path and the body of the accepted request of an operation. */
export async function acceptedBy(service: TestService, id: string): Promise<[string, string, unknown]> {
  const { method, path } = operationOf(id)
  const { group, body } = ACCEPTED[id] ?? {}
  return [method, group === undefined ? path : `${path}?id=${await idOf(service, group)}`, body]
}

/** Sends the accepted request of an operation. */
export async function sendAccepted(service: TestService, id: string, headers?: SentHeaders): Promise<TestResponse> {
  return service.send(...(await acceptedBy(service, id)), headers)
}

/** Every error that an operation may answer with, in every status; with `once`, each code in each status once. */
export function errorsOf({ once = false } = {}): [operation: string, code: string, status: number][] {
  const all = contract.operations.flatMap(({ id, responses }) =>
    [...responses.values()].flatMap(({ status, codes }) =>
      [...codes].map((code): [string, string, number] => [id, code, status]),
    ),
  )
  return once ? [...new Map(all.map((each) => [each.slice(1).join(), each])).values()] : all
}

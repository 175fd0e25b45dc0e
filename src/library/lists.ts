import type { ControlRequest } from '../admin/control.ts'
import type { OperationId } from '../behaviour/operations/operations.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { RequestReport } from '../journal/description.ts'
import { readFields, readParameters } from './arguments.ts'
import type { CallId, ControlClient } from './control-client.ts'

/** The requests in a list. */
export interface RequestFilter {
  operation?: OperationId
  method?: string
  /** Relative to the version segment, such as /domaingroups. */
  path?: string
  status?: number
  code?: ErrorCode
  /** Whether the request or its response violates the contract. */
  violation?: boolean
  /** Whether the status of the response is 400 or more. */
  refused?: boolean
  /** Whether a fault or a simulation made the response. */
  injected?: boolean
  /** Id of the fault rule that acted on it. */
  fault?: string
  /**
   * Words with spaces between them, of which each must occur, in any case: in method, path, query, status (also `4xx`),
   * code, operation, id, in the words `injected`, `fault` and `violation`, or in the bodies.
   */
  search?: string
  /** An ordinal. The list has only requests before it. */
  before?: number
  /** The number of newest requests in the list; by default all. */
  limit?: number
}

/** The requests in a list of all accounts. */
export interface AllRequestsFilter extends RequestFilter {
  /** `none` for requests without an account: they present no key of an account. */
  account?: 'none'
}

/** All items of a list, in order, from all of its pages. `name` is the field that contains the list. @throws ControlError */
export async function readList<Item>(
  client: ControlClient,
  { operation, name }: { operation: CallId; name: string },
  { parameters = {} }: ControlRequest = {},
): Promise<Item[]> {
  const limit = String((await client.limits()).pageLimit)
  const items: Item[] = []
  for (let query: Record<string, string> = { limit }; ; ) {
    const page = (await client.call(operation, { parameters, query })) as Record<string, unknown>
    items.push(...((page[name] ?? []) as Item[]))
    if (page['next'] === null) return items
    query = { limit, after: String(page['next']) }
  }
}

/**
 * The newest requests that match a filter, from the oldest to the newest. Of the requests of an account, only those that
 * `shows` permits. @throws ControlError
 */
export async function readRequests(
  client: ControlClient,
  operation: 'listRequests' | 'listAllRequests',
  filter: RequestFilter | null,
  parameters: Readonly<Record<string, string>> = {},
  shows: (accountId: string) => boolean = () => true,
): Promise<RequestReport[]> {
  const { limit = Number.POSITIVE_INFINITY, ...others }: RequestFilter = readFields(filter ?? undefined)
  const { pageLimit } = await client.limits()
  const pages: RequestReport[][] = []
  let { limit: _, ...query } = readParameters({ ...others, limit })
  for (let left = limit; ; ) {
    // An invalid limit is passed unchanged, and the control plane refuses it.
    const size = left > pageLimit ? pageLimit : left === 0 ? 1 : left
    const page = await client.call(operation, { parameters, query: { ...query, limit: String(size) } })
    const shown = page.requests.filter(({ account }) => account === null || shows(account))
    pages.push(limit === 0 ? [] : shown)
    left -= shown.length
    if (page.next === null || left <= 0) return pages.reverse().flat()
    query = { ...query, before: String(page.next) }
  }
}

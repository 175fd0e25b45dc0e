import type { ControlRequest } from '../admin/control.ts'
import type { OperationId } from '../behaviour/operations/operations.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { RequestReport } from '../journal/description.ts'
import { readFields, readParameters } from './arguments.ts'
import type { ControlClient } from './control-client.ts'
import { ControlError } from './control-error.ts'

/** Which requests a list has. */
export interface RequestFilter {
  operation?: OperationId
  method?: string
  /** Below the version segment, such as /domaingroups. */
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
  /** An ordinal; the list has only requests before it. */
  before?: number
  /** How many of the newest requests the list has; all of them without it. */
  limit?: number
}

/** Which requests a list of all accounts has. */
export interface AllRequestsFilter extends RequestFilter {
  /** `none` for those of no account, which have no valid key. */
  account?: 'none'
}

/** The list of an operation: the field that has it, and what names an item in `after`. */
interface ListOf<Item> {
  operation: string
  name: string
  idOf(item: Item): string
}

/** All items of a list, in their order, from as many pages as it has. @throws ControlError */
export async function readList<Item>(
  client: ControlClient,
  { operation, name, idOf }: ListOf<Item>,
  { parameters = {} }: ControlRequest = {},
): Promise<Item[]> {
  const { pageLimit } = await client.limits()
  const items: Item[] = []
  /** How many of the items come before the next page. */
  let before = 0
  for (;;) {
    const last = items[before - 1]
    const query = { limit: String(pageLimit), ...(last !== undefined && { after: idOf(last) }) }
    try {
      const page = await client.call<Record<string, Item[]>>(operation, { parameters, query })
      items.push(...(page[name] ?? []))
      before = items.length
      if (page['next'] === null) return items
    } catch (error) {
      // The last item was deleted meanwhile, so that the page begins after the one before it.
      if (last === undefined || !isAboutAfter(error)) throw error
      before--
    }
  }
}

/** The newest requests that a filter lets through, from the oldest to the newest. @throws ControlError */
export async function readRequests(
  client: ControlClient,
  operation: 'listRequests' | 'listAllRequests',
  filter: RequestFilter | null,
  parameters: Readonly<Record<string, string>> = {},
): Promise<RequestReport[]> {
  const { limit = Number.POSITIVE_INFINITY, ...others }: RequestFilter = readFields(filter ?? undefined)
  const { pageLimit } = await client.limits()
  const pages: RequestReport[][] = []
  let { limit: _, ...query } = readParameters({ ...others, limit })
  for (let left = limit; ; ) {
    // A limit that is no number of requests is refused as it is.
    const size = left > pageLimit ? pageLimit : left === 0 ? 1 : left
    const page = await client.call<{ requests: RequestReport[]; next: number | null }>(operation, {
      parameters,
      query: { ...query, limit: String(size) },
    })
    pages.push(limit === 0 ? [] : page.requests)
    left -= page.requests.length
    if (page.next === null || left <= 0) return pages.reverse().flat()
    query = { ...query, before: String(page.next) }
  }
}

function isAboutAfter(error: unknown): boolean {
  return error instanceof ControlError && error.problems.some(({ field }) => field === 'after')
}

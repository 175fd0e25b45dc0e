import type { About, CallId, PageView } from './responses.ts'

/** The views, in the order of their tabs. */
const VIEWS: readonly PageView[] = [
  ...(['overview', 'domains', 'groups', 'requests', 'time', 'scenes', 'faults', 'account', 'coverage'] as const),
]

// The server writes into the page what it also answers to GET /about.
const ABOUT: About = JSON.parse(document.getElementById('facts')?.textContent ?? '{}')
const OFFERED = new Map<string, readonly [method: string, path: string]>(
  ABOUT.control.map(({ id, method, path }) => [id, [method, path]]),
)

/** The values that the page offers as choices. */
export const FACTS = {
  ...ABOUT,
  basePath: ABOUT.base_path,
  views: VIEWS,
  operations: ABOUT.operations.map(({ most_domains: mostDomains, ...operation }) => ({ ...operation, mostDomains })),
  pageLimit: ABOUT.page_limit,
  /** The operations of the control plane by operationId, each with its method and path. */
  calls: Object.fromEntries(OFFERED),
}
export const BASE_URL = location.origin + FACTS.basePath

/** Whether the server offers an operation. A proxy offers few, because it knows only requests. */
export function isOffered(id: CallId): boolean {
  return OFFERED.has(id)
}

/** Whether the server simulates the service and so has accounts to change. A proxy only observes a service. */
export const PLAYS_SERVICE = isOffered('createAccount')

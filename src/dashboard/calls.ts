import type { FaultRule } from './responses.ts'

/** The operations of the control plane that the page uses: operationId → method and path, as in its document. */
export const CALLS = {
  listAccounts: ['GET', '/accounts'],
  createAccount: ['POST', '/accounts'],
  getAccount: ['GET', '/accounts/{account}'],
  updateAccount: ['PATCH', '/accounts/{account}'],
  deleteAccount: ['DELETE', '/accounts/{account}'],
  resetAccount: ['POST', '/accounts/{account}/reset'],
  rewindAccount: ['POST', '/accounts/{account}/rewind'],
  listScenes: ['GET', '/accounts/{account}/scenes'],
  listSnapshots: ['GET', '/accounts/{account}/snapshots'],
  takeSnapshot: ['POST', '/accounts/{account}/snapshots'],
  restoreSnapshot: ['POST', '/accounts/{account}/snapshots/{snapshot}/restore'],
  deleteSnapshot: ['DELETE', '/accounts/{account}/snapshots/{snapshot}'],
  listKeys: ['GET', '/accounts/{account}/keys'],
  createKey: ['POST', '/accounts/{account}/keys'],
  updateKey: ['PATCH', '/accounts/{account}/keys/{key}'],
  deleteKey: ['DELETE', '/accounts/{account}/keys/{key}'],
  listMonitoredDomains: ['GET', '/accounts/{account}/domains'],
  addMonitoredDomains: ['POST', '/accounts/{account}/domains'],
  removeMonitoredDomains: ['DELETE', '/accounts/{account}/domains'],
  listGroups: ['GET', '/accounts/{account}/groups'],
  createGroup: ['POST', '/accounts/{account}/groups'],
  updateGroup: ['PATCH', '/accounts/{account}/groups/{group}'],
  deleteGroup: ['DELETE', '/accounts/{account}/groups/{group}'],
  listDailyRecords: ['GET', '/accounts/{account}/dmarc'],
  setFeatures: ['PUT', '/accounts/{account}/domains/{domain}/features'],
  pinDmarc: ['PUT', '/accounts/{account}/domains/{domain}/dmarc'],
  unpinDmarc: ['DELETE', '/accounts/{account}/domains/{domain}/dmarc'],
  getOverview: ['GET', '/accounts/{account}/overview'],
  updateClock: ['PATCH', '/accounts/{account}/clock'],
  getQuotas: ['GET', '/accounts/{account}/quotas'],
  updateQuota: ['PATCH', '/accounts/{account}/quotas'],
  listFaultSets: ['GET', '/fault-sets'],
  addFaultSet: ['POST', '/accounts/{account}/fault-sets/{set}'],
  listFaults: ['GET', '/accounts/{account}/faults'],
  addFault: ['POST', '/accounts/{account}/faults'],
  clearFaults: ['DELETE', '/accounts/{account}/faults'],
  deleteFault: ['DELETE', '/accounts/{account}/faults/{fault}'],
  listAllRequests: ['GET', '/requests'],
  listRequests: ['GET', '/accounts/{account}/requests'],
  clearRequests: ['DELETE', '/accounts/{account}/requests'],
  streamAllEvents: ['GET', '/events'],
  streamEvents: ['GET', '/accounts/{account}/events'],
  explainRequest: ['GET', '/explain/{request-id}'],
  getCoverage: ['GET', '/accounts/{account}/coverage'],
  getVerdict: ['GET', '/verdict'],
  clearVerdict: ['DELETE', '/verdict'],
} as const satisfies Record<string, readonly [method: string, path: string]>

export type CallId = keyof typeof CALLS

/** The bodies of the requests. Operations that are not listed have none. */
interface Bodies {
  createAccount: { id?: string; fixture?: string; seed?: number; like?: string; now?: string; frozen?: boolean }
  updateAccount: { plan: string }
  resetAccount: { fixture?: string }
  rewindAccount: { request_id: string }
  takeSnapshot: { name: string; replace?: true }
  createKey: { label?: string }
  updateKey: { disabled: boolean }
  addMonitoredDomains: object
  removeMonitoredDomains: object
  createGroup: object
  updateGroup: object
  setFeatures: { features: readonly string[] }
  pinDmarc: Readonly<Record<string, string | number>>
  updateClock:
    | { advance: string }
    | { now: string }
    | { to: 'window-end' | 'refresh' | 'grace-end' }
    | { frozen: boolean }
  updateQuota: { key?: string; bucket: string; remaining: number }
  addFault: FaultRule
}

/** The page of a list; by default the first one. */
export interface PageQuery {
  limit: number
  after?: string
}

/** The filter and the page of requests. Without `before`, it is the page with the newest requests. */
export interface RequestsQuery {
  limit: number
  before?: number
  violation?: 'true'
  injected?: 'true'
  refused?: 'true'
  operation?: string
  /** Only for listAllRequests. */
  account?: 'none'
  /** Only requests on which a fault rule acted. */
  fault?: string
}

/** An inclusive range of days such as 2026-01-15, and the domains, separated by commas. */
interface PeriodQuery {
  from: string
  to: string
  domain?: string
}

interface Queries {
  listAccounts: PageQuery
  listMonitoredDomains: PageQuery
  listGroups: PageQuery
  listDailyRecords: PeriodQuery
  listSnapshots: PageQuery
  listKeys: PageQuery
  listFaults: PageQuery
  getOverview: { days: number }
  listRequests: RequestsQuery
  listAllRequests: RequestsQuery
}

type NamesIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never
type ParameterOf<Id extends CallId> = Exclude<NamesIn<(typeof CALLS)[Id][1]>, 'account'>

/** Aborts a call early. */
interface Abortable {
  signal?: AbortSignal
}

/** An account other than the chosen one. */
interface OtherAccount {
  account?: string
}

/** The input of a call: path parameters, body and query. The account is the chosen one by default. */
export type RequestOf<Id extends CallId> = ([ParameterOf<Id>] extends [never]
  ? { parameters?: OtherAccount }
  : { parameters: OtherAccount & Record<ParameterOf<Id>, string> }) &
  (Id extends keyof Bodies ? { body: Bodies[Id] } : unknown) &
  (Id extends keyof Queries ? { query: Queries[Id] } : unknown) &
  Abortable

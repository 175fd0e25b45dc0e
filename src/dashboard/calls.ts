import type { FaultRule } from './responses.ts'

/** The operations of the control plane that the page uses: operationId → method and path, as its document has them. */
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

/** The bodies of the requests; the operations that are not listed take none. */
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

/** Which page of a list is asked for; without `after`, the first one. */
export interface PageQuery {
  limit: number
  after?: string
}

/** Which requests are asked for, and which page of them; without `before`, the one with the newest. */
export interface RequestsQuery {
  limit: number
  before?: number
  violation?: 'true'
  injected?: 'true'
  refused?: 'true'
  operation?: string
  /** Only for the requests of all accounts. */
  account?: 'none'
  /** Only the requests that a fault rule acted on. */
  fault?: string
}

/** Days such as 2026-01-15, including both, and the domains whose records are wanted, with commas between them. */
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

/** What ends a call early. */
interface Abortable {
  signal?: AbortSignal
}

/** An account other than the chosen one. */
interface OtherAccount {
  account?: string
}

/** What a call needs: the parameters of its path, its body and its query. The chosen account need not be named. */
export type RequestOf<Id extends CallId> = ([ParameterOf<Id>] extends [never]
  ? { parameters?: OtherAccount }
  : { parameters: OtherAccount & Record<ParameterOf<Id>, string> }) &
  (Id extends keyof Bodies ? { body: Bodies[Id] } : unknown) &
  (Id extends keyof Queries ? { query: Queries[Id] } : unknown) &
  Abortable

/** A call that a reader of the reference makes. */
export interface Call {
  plane: 'service' | 'admin'
  method: string
  path: string
  body?: unknown
  /** The variable of the shell that keeps the request id of the response. */
  keeps?: 'REQUEST_ID'
}

/** The example of one operation of the control plane. */
export interface Step {
  operation: string
  /** What is called first, in the same block. */
  before?: readonly Call[]
  /** Values of the parameters of the path; `account` is that of the session by default. */
  path?: Readonly<Record<string, string>>
  query?: string
  body?: unknown
  /** What of an answer that is no JSON is shown: a filter of the shell, and the lines that it lets through. */
  filter?: { command: string; keeps: (line: string, index: number) => boolean }
  /** How many levels of the answer are shown. */
  depth?: number
  /** Whether the answer is a stream of events. */
  streams?: boolean
}

export const NOW = '2026-01-15T09:00:00Z'
/** The account that all examples are about, and its key. */
export const [ACCOUNT, KEY] = ['shop', 'shop-key']

const service = (method: string, path: string, body?: unknown): Call => ({ plane: 'service', method, path, body })
const admin = (method: string, path: string, body?: unknown): Call => ({ plane: 'admin', method, path, body })
/** Values for what would be generated otherwise. */
const FIGURES = { dmarc: 97.5, dkim: 95, spf: 90, count: 1200 }
const STATE = {
  domains: [{ name: 'shop.example', profile: 'enforced', record: FIGURES }, 'mail.example'],
  groups: [{ name: 'Shop', domains: ['shop.example'] }],
}
const SCENE = {
  title: 'A bad day',
  text: 'The shop has lost its protection.',
  look_at: { tab: 'domains', domain: 'shop.example' },
  calls: [{ operation: 'pinDmarc', parameters: { domain: 'shop.example' }, body: { p: 'none' } }],
}
const KEY_ID = 'key_Mkfc3nGl'
const GROUP_ID = '6YIoJfbE'

/** One example of each operation, in an order in which a reader can play them all. */
export const STEPS: readonly Step[] = [
  { operation: 'getDashboard', filter: { command: 'head -n 1', keeps: (_, index) => index === 0 } },
  { operation: 'getHealth' },
  { operation: 'getReadiness' },
  { operation: 'getDocument', depth: 1 },

  { operation: 'createAccount', body: { id: ACCOUNT, fixture: 'empty', now: NOW, frozen: true, api_key: KEY } },
  { operation: 'listAccounts' },
  { operation: 'getAccount' },
  { operation: 'getVersion' },
  { operation: 'updateAccount', body: { plan: 'above-stone' } },
  {
    operation: 'compareAccount',
    before: [admin('POST', '/accounts', { id: 'other', like: ACCOUNT })],
    query: 'with=other',
  },
  { operation: 'deleteAccount', before: [admin('POST', '/accounts', { id: 'trial' })], path: { account: 'trial' } },

  { operation: 'importState', body: STATE },
  { operation: 'exportState' },
  {
    operation: 'listScenes',
    before: [admin('PUT', '/accounts/default/state', { title: 'A shop', ...STATE, scenes: [SCENE] })],
  },
  { operation: 'listMonitoredDomains', query: 'limit=1' },
  { operation: 'addMonitoredDomains', body: { domains: ['Spring.example', 'autumn.example'] } },
  { operation: 'createGroup', body: { name: 'Seasons', domains: ['spring.example'] } },
  { operation: 'listGroups', query: 'limit=2' },
  { operation: 'getGroupOverview', path: { group: GROUP_ID }, query: 'days=1' },
  { operation: 'updateGroup', path: { group: GROUP_ID }, body: { add_domains: ['autumn.example'] } },
  { operation: 'deleteGroup', path: { group: GROUP_ID } },
  { operation: 'removeMonitoredDomains', body: { domains: ['spring.example', 'autumn.example'] } },
  { operation: 'listDailyRecords', query: 'from=2026-01-14&to=2026-01-15' },
  { operation: 'getOverview', query: 'days=2' },
  { operation: 'getSenders', path: { domain: 'mail.example' } },
  { operation: 'getPolicyChange', path: { domain: 'mail.example' }, query: 'p=reject' },
  {
    operation: 'rewindAccount',
    before: [{ ...service('DELETE', '/domains', { domains: ['mail.example'] }), keeps: 'REQUEST_ID' }],
    body: { request_id: '$REQUEST_ID' },
  },
  { operation: 'takeSnapshot', body: { name: 'clean' } },
  { operation: 'listSnapshots' },
  { operation: 'restoreSnapshot', path: { snapshot: 'clean' } },
  { operation: 'deleteSnapshot', path: { snapshot: 'clean' } },
  { operation: 'createKey', body: { label: 'CI' } },
  { operation: 'listKeys' },
  { operation: 'updateKey', path: { key: KEY_ID }, body: { disabled: true } },
  { operation: 'deleteKey', path: { key: KEY_ID } },
  {
    operation: 'pinDmarc',
    before: [service('POST', '/domains', { domains: ['new.example'] })],
    path: { domain: 'new.example' },
    body: { p: 'quarantine', sp: 'reject', np: 'reject', ...FIGURES },
  },
  { operation: 'setFeatures', path: { domain: 'new.example' }, body: { features: ['mta-sts'] } },
  { operation: 'unpinDmarc', path: { domain: 'new.example' } },
  { operation: 'getClock' },
  { operation: 'updateClock', body: { advance: 'PT1H' } },
  { operation: 'getQuotas' },
  { operation: 'updateQuota', body: { bucket: 'dmarc', remaining: 0 } },
  { operation: 'resetAccount' },

  { operation: 'listFaultSets' },
  { operation: 'addFaultSet', path: { set: 'flaky' } },
  { operation: 'addFault', body: { match: { operation: 'addDomains' }, respond: { error: 'rate_limited' }, times: 1 } },
  { operation: 'listFaults' },
  { operation: 'deleteFault', path: { fault: 'fault_1' } },
  { operation: 'clearFaults' },

  {
    operation: 'verifyRequests',
    before: [service('POST', '/domains', { domains: ['tea.example'] })],
    body: { match: { operation: 'addDomains', body: { domains: ['tea.example'] } }, count: 1 },
  },
  {
    operation: 'listRequests',
    before: [{ ...service('POST', '/domains', { domain: 'tea.example' }), keeps: 'REQUEST_ID' }],
    query: 'violation=true',
  },
  { operation: 'explainRequest', path: { 'request-id': '$REQUEST_ID' } },
  { operation: 'listAllRequests', query: 'code=unknown_field&limit=1', depth: 4 },
  { operation: 'getCoverage', depth: 5 },
  { operation: 'getOverallCoverage', depth: 3 },
  { operation: 'getVerdict' },
  { operation: 'clearVerdict' },
  { operation: 'streamEvents', streams: true },
  { operation: 'streamAllEvents', streams: true },
  { operation: 'clearRequests' },
]

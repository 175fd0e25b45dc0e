// The data that the page reads from the server. Instants are RFC 3339 strings. A test compares these types with the
// types of the server.

/** The values for the choices of the page. The server writes them into the page. */
export interface Facts {
  basePath: string
  plans: readonly string[]
  fixtures: readonly string[]
  operations: readonly {
    id: string
    method: string
    path: string
    codes: readonly string[]
    /** How many domains its body may name; null if there is no limit. */
    mostDomains: number | null
  }[]
  /** The time of day in UTC of the daily refresh, as `HH:MM`. */
  refresh: string
  profiles: readonly string[]
  policies: readonly string[]
  faults: {
    /** Each kind of fault, with its explanation in the document of the control plane. */
    kinds: readonly FaultKind[]
    /** Field of a rule → its meaning. */
    fields: Readonly<Record<string, string>>
    phases: Readonly<Record<'before' | 'after', string>>
  }
  /** How many items a page of a list can have. */
  pageLimit: number
  /** The operations of the control plane that this server offers; null if it offers all. */
  offers: readonly string[] | null
}

/** `field` is the field of a rule that selects it. `connection`, `corrupt` and `event` hold the name of the kind. */
export interface FaultKind {
  name: string
  field: 'delay_ms' | 'respond' | 'connection' | 'corrupt' | 'event'
  phase: 'before' | 'after' | 'either'
  says: string
}

export interface Account {
  id: string
  plan: string
  seed: number
  fixture: string | null
  created_at: string
  now: string
  frozen: boolean
  domains: number
  groups: number
  keys: number
  faults: number
  snapshots: number
}

interface Clock {
  now: string
  frozen: boolean
}

export interface Key {
  id: string
  label: string | null
  created_at: string
  disabled: boolean
  in_grace: boolean
}

/** The state of a quota; `key` is null if all keys of the account share the quota. */
export interface Quota {
  key: string | null
  bucket: string
  limit: number
  remaining: number
  resets_at: string
}

/** A request of a scene to the service, or to the control plane. */
export interface SceneCall {
  operation: string
  parameters?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  body?: object
  /** The error code that the scene expects. */
  expect?: string
}

export interface Scene {
  title: string
  text: string
  look_at?: { tab: string; domain?: string; group?: string; search?: string }
  calls?: readonly SceneCall[]
}

/** The guided story of an account. */
export interface Story {
  title: string | null
  description: string | null
  scenes: readonly Scene[]
}

export interface Snapshot {
  name: string
  taken_at: string
  domains: number
  groups: number
}

/** The requests that a rule matches. An absent field matches all. */
interface FaultMatch {
  operation?: string
  method?: string
  path?: string
  key?: string
}

export interface FaultRule {
  description?: string
  match?: FaultMatch
  skip?: number
  times?: number
  probability?: number
  phase?: string
  delay_ms?: number
  jitter_ms?: number
  respond?: { error?: string; status?: number; headers?: Readonly<Record<string, string>>; body?: unknown }
  connection?: string
  corrupt?: string
  event?: string
  expires_after?: string
}

export interface Fault {
  id: string
  set?: string
  phase: string
  matched: number
  hits: number
  state: string
  rule: FaultRule
}

export interface FaultSet {
  name: string
  description: string
  rules: readonly FaultRule[]
}

/** The pinned fields of a domain's record, with their values. */
export type Pin = Readonly<Record<string, string | number>>

/** A row of GET /dmarc. For a domain without a record, a contract can have an empty policy, null or no field. */
export interface DmarcRecord {
  domain: string
  p: string | null
  sp?: string | null
  np?: string | null
  pct: number
  testing: string
  dmarc: number
  dkim: number
  spf: number
  count: number
}

interface Domain {
  domain: string
  features: readonly string[]
  /** The current row of the domain in GET /dmarc, if it has one. */
  record: DmarcRecord | null
}

export type PolicyOrMissing = 'reject' | 'quarantine' | 'none' | 'missing'

/** The total figures at the newest refresh, and the domains that need attention. */
export interface Overview {
  now: string
  refreshed_at: string
  /** Null if there is no further refresh. */
  next_refresh_at: string | null
  /** The number of days that the messages of a refresh cover. */
  period_days: number
  messages: number
  passing: number
  /** In per cent; null without messages. */
  share: number | null
  domains: number
  policies: Readonly<Record<PolicyOrMissing, number>>
  testing: number
  /** The worst first. The list is not complete. */
  attention: readonly {
    domain: string
    severity: 'high' | 'medium' | 'low'
    reason: string
    since: string | null
    /** Its messages that fail DMARC. */
    messages: number
  }[]
  attention_count: number
  /** The refreshes with the oldest first. */
  days: readonly { date: string; messages: number; passing: number; share: number | null }[]
  days_omitted: number
}

/** The reason for a change of the figures of a domain. Days are calendar days such as 2026-01-15. */
export interface DomainEvent {
  kind: string
  /** Its first day; null if it has no beginning. */
  from: string | null
  /** The day after its end; null if the end is unknown. */
  until: string | null
  /** One sentence for the user. */
  description: string
}

/** A monitored domain with the settings of its figures. */
export interface MonitoredDomain extends Domain {
  added_at: string
  profile: string
  /** The tags of its current record; null if it has none. */
  policy: { p: string; sp?: string; np?: string; pct?: number; testing?: string } | null
  /** The monitored domain whose record applies, because this domain has none. */
  inherits_from: string | null
  /** Messages in a usual month. */
  volume: number
  pinned: Pin
  events: readonly DomainEvent[]
}

/** The records of GET /dmarc at the refresh of one day. */
interface DailyRecords {
  date: string
  records: readonly DmarcRecord[]
}

export interface Group {
  id: string
  name: string
  domains: readonly string[]
}

/** A request or a response. A long body is truncated. */
export interface Message {
  headers: Readonly<Record<string, string>>
  body: string | null
  body_size: number
  truncated: boolean
}

export interface RequestProblem {
  code: string
  field: string | null
  message: string
  received: unknown
}

/** One exchange with the service. */
export interface JournalEntry {
  ordinal: number
  request_id: string
  account: string | null
  key: string | null
  at: string
  method: string
  path: string
  query: string
  operation: string | null
  status: number | null
  code: string | null
  injected: boolean
  fault: { id: string | null; effect: string | null } | null
  problems: readonly RequestProblem[]
  /** Whether the verdict counts the request as a violation. */
  violates_contract: boolean
  /** The violations of the contract by the response. */
  violations: readonly object[]
  duration_ms: number
  request: Message
  response: Message
}

/** The explanation of an exchange by the control plane. */
export interface Explanation {
  request_id: string
  account: string | null
  operation: string | null
  summary: string
  documented: boolean
  assumptions: readonly { id: string; spec: string }[]
  rules: readonly { id: string; says: string }[]
  problems: readonly RequestProblem[]
  quota: { limit: number; remaining: number; resets_at: string } | null
  clock: string
  fault: object | null
  failure: string | null
  correction: { changes: readonly string[]; before: readonly string[]; curl: string } | null
  /** The changes by the request; null if the states before and after it are no longer stored. */
  changes: readonly Change[] | null
  /** The number of all changes, including those that are not listed. */
  changes_count: number | null
  changes_note: string | null
  /** Code that sends the request again and expects the same result. */
  reproduction: { curl: string; vitest: string; pytest: string } | null
  reproduction_note: string | null
  exchange: JournalEntry
}

/** A change to a domain or a group; `before` is null if it was added, `after` if it was removed. */
export interface Change {
  what: 'domain' | 'group'
  name: string
  before: object | null
  after: object | null
  /** The domains that a group gained and lost, at most ten of each, and their numbers. */
  members: {
    added: readonly string[]
    added_count: number
    removed: readonly string[]
    removed_count: number
  } | null
}

/** The commands that cover a gap, or the reason why none is known. */
export interface Gap {
  curl?: readonly string[]
  hint?: string
}

export interface Coverage {
  summary: Readonly<
    Record<'operations' | 'responses' | 'rules' | 'edges', { seen: number; total: number; percent: number }>
  >
  operations: readonly {
    operation: string
    responses: readonly (Gap & { status: number; code?: string; genuine: number })[]
  }[]
  rules: readonly (Gap & { id: string; says: string; seen: boolean })[]
  edges: readonly (Gap & { id: string; seen: boolean })[]
}

/** Whether the clients of all accounts complied with the contract. */
export interface Verdict {
  /** False if a request violates the contract, and also if no request was checked. */
  passed: boolean
  message: string
  requests: number
  judged: number
  injected: number
  violations: {
    count: number
    by_code: Readonly<Record<string, number>>
    first: readonly Violation[]
  }
  politeness: readonly { kind: string; message: string; request_ids: readonly string[] }[]
  /** Only with a proxy: the violations by the service. */
  service?: { findings: number; exchanges: number; not_judged: number; first: readonly ServiceFinding[] }
}

/** A request that violates the contract. */
interface Violation {
  request_id: string
  account: string | null
  method: string
  path: string
  status: number | null
  code: string | null
  message: string
}

/** A violation by the service that a proxy observed. */
interface ServiceFinding {
  id: string
  label: string
  request_id: string | null
  method: string
  path: string
  status: number | null
  message: string
}

/** `next` is the `after` of the next page; null on the last page. */
interface Page {
  next: string | null
}

/** `next` is the `before` of the next page, which has older requests; null on the last page. */
interface RequestsPage {
  /** How many requests there are, on all pages together. */
  count: number
  next: number | null
}

/** The data of the success response of each operation. The page reads nothing from the other operations. */
export interface ResponseData {
  listAccounts: Page & { accounts: readonly Account[]; count: number }
  createAccount: { account: Account; api_key: string }
  getAccount: { account: Account; api_key: string | null }
  listScenes: Story
  listSnapshots: Page & { snapshots: readonly Snapshot[] }
  listKeys: Page & { keys: readonly Key[] }
  createKey: { key: Key; api_key: string }
  listMonitoredDomains: Page & { domains: readonly MonitoredDomain[]; count: number }
  addMonitoredDomains: { domains: readonly string[]; count: number }
  removeMonitoredDomains: { domains: readonly string[]; count: number }
  listGroups: Page & { groups: readonly Group[] }
  listDailyRecords: { days: readonly DailyRecords[] }
  setFeatures: Domain
  pinDmarc: Domain
  unpinDmarc: Domain
  getOverview: Overview
  updateClock: Clock
  getQuotas: { enforced: boolean; quotas: readonly Quota[] }
  listFaultSets: { sets: readonly FaultSet[] }
  addFault: { fault: Fault }
  listFaults: Page & { faults: readonly Fault[] }
  listAllRequests: RequestsPage & { requests: readonly JournalEntry[] }
  listRequests: RequestsPage & { requests: readonly JournalEntry[] }
  explainRequest: Explanation
  getCoverage: Coverage
  getVerdict: Verdict
}

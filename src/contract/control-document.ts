// Written by scripts/control-types.mjs from src/admin/openapi.yaml, which explains each field; run it after a change there.

export interface Schemas {
  Verdict: {
    passed: boolean
    message: string
    requests: number
    judged: number
    injected: number
    violations: {
      count: number
      by_code: Record<string, number>
      first: (Schemas['Answered'] & {
        method: string
        path: string
        message: string
        correction: string | null
        page: Schemas['PageAddress']
      })[]
    }
    politeness: {
      kind: 'request-before-reset' | 'immediate-retry' | 'repeated-read' | 'repeated-write'
      message: string
      request_ids: string[]
    }[]
    service?: {
      findings: number
      exchanges: number
      not_judged: number
      first: {
        id: string
        label: string
        request_id: string | null
        method: string
        path: string
        status: number | null
        message: string
      }[]
    }
  }
  About: {
    base_path: string
    operations: { id: string; method: string; path: string; codes: string[]; most_domains: number | null }[]
    control: { id: string; method: string; path: string }[]
    plans: string[]
    fixtures: string[]
    profiles: string[]
    policies: Schemas['PolicyName'][]
    refresh: string
    page_limit: number
    search: { characters: number; words: number }
    faults: {
      kinds: {
        name: string
        field: 'delay_ms' | 'respond' | 'connection' | 'corrupt' | 'event'
        phase: 'before' | 'after' | 'either'
        says: string
      }[]
      fields: Record<string, string>
      phases: { before: string; after: string }
    }
  }
  Count: number
  Next: string | null
  NextRequest: number | null
  Instant: string
  Duration: string
  Name: string
  Seed: number
  Plan: string
  Secret: string
  Fixture: string | Record<string, unknown>
  FixtureDocument: Record<string, unknown>
  Account: {
    id: string
    plan: string
    seed: Schemas['Seed']
    fixture: string | null
    created_at: Schemas['Instant']
    now: Schemas['Instant']
    frozen: boolean
    domains: number
    groups: number
    keys: number
    faults: number
    snapshots: number
  }
  Snapshot: { name: string; taken_at: Schemas['Instant']; domains: number; groups: number }
  Key: { id: string; label: string | null; created_at: Schemas['Instant']; disabled: boolean; in_grace: boolean }
  Story: {
    title: string | null
    description: string | null
    scenes: {
      title: string
      text: string
      look_at?: { tab: string; domain?: string; group?: string; search?: string }
      calls?: {
        operation: string
        parameters?: Record<string, string>
        query?: Record<string, string>
        body?: Record<string, unknown>
        expect?: string
      }[]
    }[]
  }
  Day: string
  Overview: {
    now: Schemas['Instant']
    refreshed_at: string
    next_refresh_at: string | null
    period_days: number
    messages: number | null
    passing: number | null
    share: Schemas['ShareOfMail']
    domains: number
    policies: { reject: number; quarantine: number; none: number; missing: number }
    testing: number
    attention: {
      domain: string
      severity: 'high' | 'medium' | 'low'
      reason: string
      since: string | null
      messages: number | null
    }[]
    attention_count: number
    days: { date: Schemas['Day']; messages: number | null; passing: number | null; share: Schemas['ShareOfMail'] }[]
    days_omitted: number
  }
  ShareOfMail: number | null
  MonitoredDomain: {
    domain: string
    added_at: Schemas['Instant']
    features: string[]
    profile: Schemas['Profile']
    policy: Schemas['PublishedTags'] | null
    inherits_from: string | null
    volume: number
    reports: Schemas['Reports']
    pinned: Schemas['PinnedFields']
    pinned_at: string | null
    record: Schemas['DmarcRecord'] | null
    events: {
      state: 'past' | 'present' | 'planned'
      kind:
        | 'attack'
        | 'broken-dkim'
        | 'broken-spf'
        | 'new-sender'
        | 'signed-sender'
        | 'unauthenticated'
        | 'authentication'
        | 'unused'
        | 'growth'
        | 'policy'
        | 'addition'
        | 'fixed'
      from: string | null
      until: string | null
      description: string
    }[]
  }
  PublishedTags: {
    p: Schemas['PolicyName']
    sp?: Schemas['PolicyName']
    np?: Schemas['PolicyName']
    pct?: number
    testing?: 'y' | 'n'
  }
  PinnedFields: {
    p?: Schemas['PolicyName']
    sp?: Schemas['PolicyName']
    np?: Schemas['PolicyName']
    pct?: number
    testing?: 'y' | 'n'
    dmarc?: Schemas['Share']
    dkim?: Schemas['Share']
    spf?: Schemas['Share']
    count?: number
  }
  DmarcRecord: {
    domain: string
    p: Schemas['ShownPolicy']
    sp?: Schemas['ShownPolicy']
    np?: Schemas['ShownPolicy']
    pct: number
    testing: 'y' | 'n'
    dmarc: number
    dkim: number
    spf: number
    count: number
  }
  ShownPolicy: 'none' | 'quarantine' | 'reject' | ''
  Reports: 'received' | 'awaited' | 'none' | 'fixed'
  Group: { id: string; name: string; domains: string[] }
  Share: number
  Profile:
    | 'enforced'
    | 'rolling-out'
    | 'monitoring-only'
    | 'forwarding-heavy'
    | 'broken-spf'
    | 'broken-dkim'
    | 'new-esp'
    | 'spoofed'
    | 'parked'
    | 'no-record'
    | 'new'
  PolicyName: 'none' | 'quarantine' | 'reject'
  FaultRule: {
    description?: string
    match?: { operation?: string; method?: 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE'; path?: string; key?: string }
    skip?: number
    times?: number
    probability?: number
    phase?: 'before' | 'after'
    delay_ms?: number
    jitter_ms?: number
    respond?: { error?: string; status?: number; headers?: Record<string, string>; body?: unknown }
    connection?: 'reset' | 'hang' | 'empty' | 'truncate' | 'drip'
    corrupt?:
      | 'malformed-json'
      | 'missing-field'
      | 'wrong-type'
      | 'extra-field'
      | 'unknown-enum'
      | 'bad-envelope'
      | 'compatible'
    event?:
      | 'quota-used-up'
      | 'window-end'
      | 'refresh'
      | 'grace-end'
      | 'group-deleted'
      | 'domains-deleted'
      | 'member-added'
      | 'name-taken'
      | 'group-added'
    expires_after?: Schemas['Duration']
  }
  Fault: {
    id: string
    set?: string
    created_at: Schemas['Instant']
    phase: 'before' | 'after'
    matched: number
    hits: number
    state: 'active' | 'spent' | 'expired'
    rule: Schemas['FaultRule']
  }
  RequestMatch: {
    operation?: string
    method?: string
    path?: string
    key?: string
    status?: number
    code?: string
    violation?: boolean
    refused?: boolean
    injected?: boolean
    fault?: string
    query?: Record<string, string>
    headers?: Record<string, string>
    body?: unknown
  }
  Message: { headers: Record<string, string>; body: string | null; body_size: number; truncated: boolean }
  EntryId: string
  Answered: {
    id: Schemas['EntryId']
    request_id: string
    account: string | null
    operation: string | null
    status: number | null
    code: string | null
  }
  JournalEntry: Schemas['Answered'] & {
    ordinal: number
    key: string | null
    at: Schemas['Instant']
    method: string
    path: string
    query: string
    injected: boolean
    fault: Schemas['Injection']
    problems: Schemas['Problem'][]
    violates_contract: boolean
    violations: Schemas['FoundViolation'][]
    quota: Schemas['Allowance']
    duration_ms: number
    request: Schemas['Message']
    response: Schemas['Message']
  }
  FoundViolation: { message: string; by?: 'client' | 'service' }
  Injection: {
    source: 'rule' | 'prefer' | 'simulator'
    id: string | null
    effect: string | null
    rule: Schemas['FaultRule']
  } | null
  Allowance: { limit: number; remaining: number; resets_at: Schemas['Instant'] } | null
  Problem: { code: string; field: string | null; message: string; received: string | null }
  Explanation: Schemas['Answered'] & {
    summary: string
    documented: boolean
    assumptions: { id: string; spec: string }[]
    rules: { id: string; says: string }[]
    problems: Schemas['Problem'][]
    position: Schemas['JsonPosition']
    quota: Schemas['Allowance']
    clock: Schemas['Instant']
    fault: Schemas['Injection']
    failure: string | null
    correction: {
      changes: string[]
      before: string[]
      curl: string
      request: { method: string; path: string; body: string | null }
      requests: Schemas['PlannedRequest'][]
    } | null
    changes: Schemas['Change'][] | null
    changes_count: number | null
    changes_note: string | null
    reproduction: { curl: string; vitest: string } | null
    reproduction_note: string | null
    page: Schemas['PageAddress']
    exchange: Schemas['JournalEntry']
  }
  PageAddress: string | null
  JsonPosition: {
    line: number
    column: number
    offset: number
    before: string
    at: string
    after: string
    says: string
  } | null
  Change: {
    what: 'domain' | 'group'
    name: string
    before: Record<string, unknown> | null
    after: Record<string, unknown> | null
    members: { added: string[]; added_count: number; removed: string[]; removed_count: number } | null
  }
  PlannedRequest: {
    plane: 'service' | 'admin'
    method: string
    path: string
    key?: 'valid' | 'none'
    headers?: Record<string, string>
    body?: unknown
  }
  SeenShare: { seen: number; total: number; percent: number }
  Gap: { curl?: string[]; hint?: string }
  ResponseCoverage: Schemas['Gap'] & {
    status: number
    code?: string
    genuine: number
    injected: number
    documented: boolean
  }
  Coverage: {
    summary: {
      operations: Schemas['SeenShare']
      responses: Schemas['SeenShare']
      rules: Schemas['SeenShare']
      edges: Schemas['SeenShare']
    }
    operations: { operation: string; method: string; path: string; responses: Schemas['ResponseCoverage'][] }[]
    outside: Schemas['ResponseCoverage'][]
    rules: (Schemas['Gap'] & { id: string; operation?: string; says: string; seen: boolean })[]
    edges: (Schemas['Gap'] & {
      id: string
      operation?: string
      path: string
      field: string
      limit: number
      side: 'at' | 'beyond'
      seen: boolean
    })[]
    apart: {
      kind: 'response' | 'rule'
      operation?: string
      status?: number
      code?: string
      id?: string
      says?: string
      why: string
    }[]
  }
  Failure: {
    success: false
    error: { code: string; message: string; problems: { code: string; field: string | null; message: string }[] }
  }
  SetDomain: { domain: string; features: string[]; record: Schemas['DmarcRecord'] | null }
  Clock: { now: Schemas['Instant']; frozen: boolean }
  Quotas: {
    enforced: boolean
    quotas: { key: string | null; bucket: string; limit: number; remaining: number; resets_at: Schemas['Instant'] }[]
  }
  RequestPage: { requests: Schemas['JournalEntry'][]; count: Schemas['Count']; next: Schemas['NextRequest'] }
}

/** By operationId: the parameters in the path and in the query, the body of the request, and the `data` of the answer. */
export interface Operations {
  getHealth: { data: { status: 'ok'; instance: string } }
  getReadiness: {
    data: { status: 'ready'; instance: string; store: 'memory' | 'folder' | 'redis'; limitation: string | null }
  }
  getDocument: object
  getAbout: { data: Schemas['About'] }
  listAccounts: {
    query: { after?: string; limit?: string }
    data: { accounts: Schemas['Account'][]; count: Schemas['Count']; next: Schemas['Next'] }
  }
  createAccount: {
    body?: {
      id?: Schemas['Name']
      plan?: Schemas['Plan']
      fixture?: Schemas['Fixture']
      seed?: Schemas['Seed']
      now?: Schemas['Instant']
      frozen?: boolean
      api_key?: Schemas['Secret']
    }
    data: { account: Schemas['Account']; api_key: string }
  }
  getAccount: { path: { account: string }; data: { account: Schemas['Account']; api_key: string | null } }
  updateAccount: { path: { account: string }; body: { plan: Schemas['Plan'] }; data: { account: Schemas['Account'] } }
  deleteAccount: { path: { account: string }; data: Record<string, unknown> }
  resetAccount: {
    path: { account: string }
    body?: { fixture?: Schemas['Fixture']; seed?: Schemas['Seed']; now?: Schemas['Instant']; frozen?: boolean }
    data: { account: Schemas['Account'] }
  }
  exportState: { path: { account: string }; query: { before?: string }; data: Schemas['FixtureDocument'] }
  importState: { path: { account: string }; body: Schemas['FixtureDocument']; data: { account: Schemas['Account'] } }
  listScenes: { path: { account: string }; data: Schemas['Story'] }
  rewindAccount: { path: { account: string }; body: { request_id: string }; data: { account: Schemas['Account'] } }
  listSnapshots: {
    path: { account: string }
    query: { after?: string; limit?: string }
    data: { snapshots: Schemas['Snapshot'][]; count: Schemas['Count']; next: Schemas['Next'] }
  }
  takeSnapshot: {
    path: { account: string }
    body: { name: Schemas['Name']; replace?: boolean }
    data: { snapshot: Schemas['Snapshot'] }
  }
  deleteSnapshot: { path: { account: string; snapshot: string }; data: Record<string, unknown> }
  restoreSnapshot: { path: { account: string; snapshot: string }; data: { account: Schemas['Account'] } }
  listKeys: {
    path: { account: string }
    query: { after?: string; limit?: string }
    data: { keys: Schemas['Key'][]; count: Schemas['Count']; next: Schemas['Next'] }
  }
  createKey: {
    path: { account: string }
    body?: { label?: string; key?: Schemas['Secret']; created_at?: Schemas['Instant'] }
    data: { key: Schemas['Key']; api_key: string }
  }
  updateKey: { path: { account: string; key: string }; body: { disabled: boolean }; data: { key: Schemas['Key'] } }
  deleteKey: { path: { account: string; key: string }; data: Record<string, unknown> }
  listMonitoredDomains: {
    path: { account: string }
    query: { after?: string; limit?: string }
    data: { domains: Schemas['MonitoredDomain'][]; count: Schemas['Count']; next: Schemas['Next'] }
  }
  addMonitoredDomains: {
    path: { account: string }
    body: { domains?: unknown }
    data: { domains: string[]; count: Schemas['Count'] }
  }
  removeMonitoredDomains: {
    path: { account: string }
    body: { domains?: unknown }
    data: { domains: string[]; count: Schemas['Count'] }
  }
  listGroups: {
    path: { account: string }
    query: { after?: string; limit?: string }
    data: { groups: Schemas['Group'][]; count: Schemas['Count']; next: Schemas['Next'] }
  }
  createGroup: {
    path: { account: string }
    body: { name?: unknown; domains?: unknown }
    data: { group: Schemas['Group'] }
  }
  updateGroup: {
    path: { account: string; group: string }
    body: { name?: unknown; domains?: unknown; add_domains?: unknown; remove_domains?: unknown }
    data: { group: Schemas['Group'] }
  }
  deleteGroup: { path: { account: string; group: string }; data: Record<string, unknown> }
  listDailyRecords: {
    path: { account: string }
    query: { from: Schemas['Day']; to: Schemas['Day']; domain?: string }
    data: { days: { date: Schemas['Day']; records: Schemas['DmarcRecord'][] }[] }
  }
  getOverview: { path: { account: string }; query: { days?: string }; data: Schemas['Overview'] }
  setFeatures: { path: { account: string; domain: string }; body: { features: string[] }; data: Schemas['SetDomain'] }
  pinDmarc: {
    path: { account: string; domain: string }
    body: {
      profile?: Schemas['Profile']
      p?: Schemas['PolicyName']
      sp?: Schemas['PolicyName']
      np?: Schemas['PolicyName']
      pct?: number
      testing?: 'y' | 'n'
      dmarc?: Schemas['Share']
      dkim?: Schemas['Share']
      spf?: Schemas['Share']
      count?: number
    }
    data: Schemas['SetDomain']
  }
  unpinDmarc: { path: { account: string; domain: string }; data: Schemas['SetDomain'] }
  getClock: { path: { account: string }; data: Schemas['Clock'] }
  updateClock: {
    path: { account: string }
    body: {
      now?: Schemas['Instant']
      advance?: Schemas['Duration']
      to?: 'window-end' | 'refresh' | 'grace-end'
      frozen?: boolean
    }
    data: Schemas['Clock']
  }
  getQuotas: { path: { account: string }; data: Schemas['Quotas'] }
  updateQuota: {
    path: { account: string }
    body: { key?: string; bucket: string; remaining: number }
    data: Schemas['Quotas']
  }
  listFaultSets: { data: { sets: { name: string; description: string; rules: Schemas['FaultRule'][] }[] } }
  addFaultSet: { path: { account: string; set: string }; data: { faults: Schemas['Fault'][] } }
  listFaults: {
    path: { account: string }
    query: { after?: string; limit?: string }
    data: { faults: Schemas['Fault'][]; count: Schemas['Count']; next: Schemas['Next'] }
  }
  addFault: { path: { account: string }; body: Schemas['FaultRule']; data: { fault: Schemas['Fault'] } }
  clearFaults: { path: { account: string }; data: Record<string, unknown> }
  deleteFault: { path: { account: string; fault: string }; data: Record<string, unknown> }
  listAllRequests: {
    query: {
      account?: 'none'
      operation?: string
      method?: string
      path?: string
      status?: string
      code?: string
      violation?: 'true' | 'false'
      refused?: 'true' | 'false'
      injected?: 'true' | 'false'
      fault?: string
      search?: string
      before?: string
      limit?: string
    }
    data: Schemas['RequestPage']
  }
  listRequests: {
    path: { account: string }
    query: {
      operation?: string
      method?: string
      path?: string
      status?: string
      code?: string
      violation?: 'true' | 'false'
      refused?: 'true' | 'false'
      injected?: 'true' | 'false'
      fault?: string
      search?: string
      before?: string
      limit?: string
    }
    data: Schemas['RequestPage']
  }
  clearRequests: { path: { account: string }; data: Record<string, unknown> }
  verifyRequests: {
    path: { account: string }
    body: { match: Schemas['RequestMatch']; count?: number; at_least?: number; at_most?: number }
    data: {
      passed: boolean
      message: string
      matched: number
      first_match: string | null
      near_misses: {
        request_id: string
        method: string
        path: string
        differences: { field: string; expected: unknown; received: unknown }[]
      }[]
    }
  }
  getOverallCoverage: { data: Schemas['Coverage'] }
  getCoverage: { path: { account: string }; data: Schemas['Coverage'] }
  getVerdict: { data: Schemas['Verdict'] }
  clearVerdict: { data: Record<string, unknown> }
  explainRequest: { path: { 'request-id': string }; data: Schemas['Explanation'] }
  streamAllEvents: object
  streamEvents: { path: { account: string } }
}

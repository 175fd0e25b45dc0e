import type { OperationId } from '../behaviour/operations/operations.ts'
import type { Bucket, Open, Plan } from '../contract/names.ts'
import type { DmarcRecord, Policy, PolicyTags, RecordPin } from '../domain/dmarc.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { Scene } from '../domain/fixture.ts'
import type { ProfileName } from '../domain/profile.ts'
import type { KnownFaultRule } from '../faults/kinds.ts'
import type { Severity } from '../figures/attention.ts'
import type { EventKind } from '../figures/events.ts'
import type { ReportState } from '../figures/figures.ts'

/** The control plane's report about an account. Instants are RFC 3339. */
export interface AccountReport {
  id: string
  plan: Open<Plan>
  seed: number
  /** The name of its ready-made fixture; null if it has none. */
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

/** The time of an account's clock, in RFC 3339. */
export interface ClockReport {
  now: string
  frozen: boolean
}

/** An API key without its secret. */
export interface KeyReport {
  id: string
  label: string | null
  created_at: string
  disabled: boolean
  in_grace: boolean
}

/** The remaining quota in its current window. `key` is null if the keys of an account share their quotas. */
export interface QuotaReport {
  key: string | null
  bucket: Open<Bucket>
  limit: number
  remaining: number
  resets_at: string
}

/** The quotas of an account. If `enforced` is false, requests over a quota are counted and not refused. */
export interface QuotasReport {
  enforced: boolean
  quotas: QuotaReport[]
}

/** A named copy of an account. */
export interface SnapshotReport {
  name: string
  taken_at: string
  domains: number
  groups: number
}

/** A monitored domain. */
export interface DomainReport {
  domain: string
  features: string[]
  /** Its record in GET /dmarc, if it has one yet. */
  record: DmarcRecord | null
}

/** A monitored domain, and the inputs of its figures. */
export interface MonitoredDomainReport extends DomainReport {
  added_at: string
  profile: ProfileName
  /** The tags of the record that it publishes today; null without a record. */
  policy: PolicyTags | null
  /** The monitored domain whose record applies, if it has none of its own. */
  inherits_from: string | null
  /** Messages that it sends in an ordinary month, whether receivers report them or not. */
  volume: number
  /** Whether receivers report about its mail; `none` if no record applies, `fixed` if its figures are fixed. */
  reports: ReportState
  /** The fixed fields of its record. */
  pinned: RecordPin
  /** Since when they are fixed; null if they are so from the beginning, or if none is fixed. */
  pinned_at: string | null
  /** The events that change its figures from 60 days ago to 90 days ahead, besides weekdays and seasons. */
  events: DomainEvent[]
}

/** A domain group. */
export interface GroupReport {
  id: string
  name: string
  domains: string[]
}

/** The cause of a change in a domain's figures. The days are calendar days, such as 2026-01-15. */
export interface DomainEvent {
  kind: EventKind
  /** By the account's clock. What is planned has not begun. */
  state: 'past' | 'present' | 'planned'
  /** The first day; null if there is no beginning. */
  from: string | null
  /** The first day after the event; null if no end is known. */
  until: string | null
  /** One sentence for a person. */
  description: string
}

/** The guided story of an account. There are no scenes if its fixture has no story. */
export interface StoryReport {
  title: string | null
  description: string | null
  scenes: readonly Scene[]
}

/** The records of GET /dmarc at the refresh of one day. */
export interface DailyRecords {
  /** A calendar day, such as 2026-01-15. */
  date: string
  records: DmarcRecord[]
}

/** The figures of all domains of an account, and the domains that need attention. Instants are RFC 3339. */
export interface OverviewReport {
  now: string
  /** The newest refresh. */
  refreshed_at: string
  /** Null if it is after the year 9999. */
  next_refresh_at: string | null
  /** The number of days whose messages a refresh counts. */
  period_days: number
  /** Null if there are no reports about any domain. */
  messages: number | null
  /** The number of messages that pass DMARC; null like `messages`. */
  passing: number | null
  /** The same in per cent; null without messages. */
  share: number | null
  domains: number
  /** The number of domains with each policy. No record applies to a `missing` one. */
  policies: Record<Policy | 'missing', number>
  /** The number of domains that only test their policy. */
  testing: number
  /** At most 20, the worst first. */
  attention: {
    domain: string
    severity: Severity
    /** The reason, in a sentence for a person. */
    reason: string
    /** The day on which the problem began; null if it has no beginning. */
    since: string | null
    /** Its messages that fail DMARC; null if receivers report nothing about it. */
    messages: number | null
  }[]
  attention_count: number
  /** The refreshes, the oldest first. The dates have the form 2026-01-15. */
  days: { date: string; messages: number | null; passing: number | null; share: number | null }[]
  /** The number of requested days that are missing, because there are many domains. */
  days_omitted: number
}

/** A fault rule of an account, and its counts. */
export interface FaultReport {
  id: string
  set?: string
  created_at: string
  phase: 'before' | 'after'
  /** The number of requests that the rule has matched. */
  matched: number
  /** The number of these that it acted on. */
  hits: number
  state: 'active' | 'spent' | 'expired'
  rule: KnownFaultRule
}

/** Fault rules that belong together. */
export interface FaultSetReport {
  name: string
  description: string
  rules: KnownFaultRule[]
}

/** Whether the clients have kept the contract. */
export interface VerdictReport {
  /** False if a request violates the contract, or if no request was judged. */
  passed: boolean
  /** The verdict in one sentence. */
  message: string
  requests: number
  /** The number of requests that were checked against the whole contract. */
  judged: number
  /** The number of requests that a fault or a simulation answered. */
  injected: number
  violations: {
    count: number
    /** The counts by code of the refusal. */
    by_code: Record<string, number>
    /** The first ten violations. */
    first: {
      request_id: string
      account: string | null
      operation: Open<OperationId> | null
      method: string
      path: string
      status: number | null
      code: Open<ErrorCode> | null
      message: string
      /** Commands, joined by `&&`, of which the last one sends the corrected request. */
      correction: string | null
      /** The address of the request in the dashboard. */
      page: string | null
    }[]
  }
  /** Uses of the service that its documentation asks clients to avoid. */
  politeness: { kind: string; message: string; request_ids: string[] }[]
  /** Only with a proxy: the violations by the service. */
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

/** Whether the expected number of requests matched, and the requests that nearly matched. */
export interface VerificationReport {
  passed: boolean
  /** The result and its reason, in one sentence. */
  message: string
  matched: number
  /** The id of the oldest request that matched; null if none did. */
  first_match: string | null
  near_misses: {
    request_id: string
    method: string
    path: string
    differences: { field: string; expected: unknown; received: unknown }[]
  }[]
}

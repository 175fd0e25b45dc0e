import type { OperationId } from '../behaviour/operations/operations.ts'
import type { Bucket, Open, Plan } from '../contract/names.ts'
import type { DmarcRecord, Policy, PolicyTags, RecordPin } from '../domain/dmarc.ts'
import type { ErrorCode } from '../domain/errors.ts'
import type { Scene } from '../domain/fixture.ts'
import type { ProfileName } from '../domain/profile.ts'
import type { KnownFaultRule } from '../faults/kinds.ts'
import type { Severity } from '../figures/attention.ts'
import type { CauseKind } from '../figures/causes.ts'

/** What the control plane tells about an account. Instants are RFC 3339. */
export interface AccountReport {
  id: string
  plan: Open<Plan>
  seed: number
  /** The name of the ready-made fixture that it was made from, if it was. */
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

/** What an account's clock shows, in RFC 3339. */
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

/** What is left of a quota in its current window. `key` is null if the keys of an account share their quotas. */
export interface QuotaReport {
  key: string | null
  bucket: Open<Bucket>
  limit: number
  remaining: number
  resets_at: string
}

/** The quotas of an account. With `enforced` false, requests beyond a quota are counted and not refused. */
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

/** A monitored domain, and what its figures are made from. */
export interface MonitoredDomainReport extends DomainReport {
  added_at: string
  profile: ProfileName
  /** The tags of the record that it publishes today; null if it has none. */
  policy: PolicyTags | null
  /** The monitored domain whose record applies to it, because it has none. */
  inherits_from: string | null
  /** Messages in an ordinary month. */
  volume: number
  /** The fields of its record that are fixed. */
  pinned: RecordPin
  /** What changes its figures from 60 days ago to 90 days ahead, beside weekdays and seasons. */
  events: DomainEvent[]
}

/** A domain group. */
export interface GroupReport {
  id: string
  name: string
  /** Its members. */
  domains: string[]
}

/** Why the figures of a domain change. The days are days of the calendar, such as 2026-01-15. */
export interface DomainEvent {
  kind: CauseKind
  /** The first day of it; null if it was always so. */
  from: string | null
  /** The day on which it is over; null if no end is known. */
  until: string | null
  /** One sentence for a person. */
  description: string
}

/** The guided story of an account. Without a fixture that has one, there are no scenes. */
export interface StoryReport {
  title: string | null
  description: string | null
  scenes: readonly Scene[]
}

/** The records of GET /dmarc at the refresh of one day. */
export interface DailyRecords {
  /** A day of the calendar, such as 2026-01-15. */
  date: string
  records: DmarcRecord[]
}

/** The figures of all domains of an account, and which of them need attention. Instants are RFC 3339. */
export interface OverviewReport {
  now: string
  /** The newest refresh. */
  refreshed_at: string
  /** Null if it is after the year 9999. */
  next_refresh_at: string | null
  /** How many days the messages of a refresh are counted in. */
  period_days: number
  messages: number
  /** How many of the messages pass DMARC. */
  passing: number
  /** The same in per cent; null where there are no messages. */
  share: number | null
  domains: number
  /** How many domains have each policy; to a `missing` one, no record applies. */
  policies: Record<Policy | 'missing', number>
  /** How many domains only test their policy. */
  testing: number
  /** The worst first, at most 20. */
  attention: {
    domain: string
    severity: Severity
    /** Why, in a sentence for a person. */
    reason: string
    /** The day on which it began; null if it was always so. */
    since: string | null
    /** Its messages that fail DMARC. */
    messages: number
  }[]
  attention_count: number
  /** The refreshes, the oldest first; the days are such as 2026-01-15. */
  days: { date: string; messages: number; passing: number; share: number | null }[]
  /** How many of the days asked for are missing, because there are many domains. */
  days_omitted: number
}

/** A fault rule of an account, and what it has done. */
export interface FaultReport {
  id: string
  set?: string
  created_at: string
  phase: 'before' | 'after'
  /** How many requests have matched the rule. */
  matched: number
  /** On how many of these it acted. */
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
  /** False when a request violates the contract, and when none was held to it. */
  passed: boolean
  /** The verdict in a sentence. */
  message: string
  requests: number
  /** How many requests were held to the whole contract. */
  judged: number
  /** How many requests were answered by a fault or a simulation. */
  injected: number
  violations: {
    count: number
    /** How many by the code of the refusal. */
    by_code: Record<string, number>
    /** The first ten. */
    first: {
      request_id: string
      account: string | null
      operation: Open<OperationId> | null
      method: string
      path: string
      status: number | null
      code: Open<ErrorCode> | null
      message: string
      /** A command that sends the corrected request. */
      correction: string | null
    }[]
  }
  /** Ways to use the service that its text asks clients to avoid. */
  politeness: { kind: string; message: string; request_ids: string[] }[]
  /** Only with a proxy: what was found against the service. */
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

/** Whether as many requests matched as expected, and the requests that nearly did. */
export interface VerificationReport {
  passed: boolean
  /** Whether it passed and why, in a sentence. */
  message: string
  matched: number
  near_misses: {
    request_id: string
    method: string
    path: string
    differences: { field: string; expected: unknown; received: unknown }[]
  }[]
}

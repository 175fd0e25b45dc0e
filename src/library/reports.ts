import type { DmarcRecord, RecordPin } from '../domain/dmarc.ts'
import type { FaultRule as AnyFaultRule } from '../domain/faults.ts'
import type { ProfileName } from '../domain/profile.ts'
import type { ConnectionFault, Corruption } from '../faults/kinds.ts'
import type { RequestMatch } from '../journal/match.ts'

export type { Corruption, DmarcRecord, ProfileName, RecordPin, RequestMatch }

/** What goes wrong, when, and for which requests. The document of the control plane says what each field means. */
export interface FaultRule extends Omit<AnyFaultRule, 'connection' | 'corrupt'> {
  /** How the connection fails. */
  connection?: ConnectionFault
  /** How the response is changed. */
  corrupt?: Corruption
}

/** What the control plane tells of an account. Instants are RFC 3339. */
export interface AccountReport {
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

/** What an account's clock shows, in RFC 3339. */
export interface ClockReport {
  now: string
  frozen: boolean
}

/** One API key, without its secret. */
export interface KeyReport {
  id: string
  label: string | null
  created_at: string
  disabled: boolean
  in_grace: boolean
}

/** What is left of a quota in its current window; `key` is null where the keys of an account share it. */
export interface QuotaReport {
  key: string | null
  bucket: string
  limit: number
  remaining: number
  resets_at: string
}

/** A named copy of an account. */
export interface SnapshotReport {
  name: string
  taken_at: string
  domains: number
  groups: number
}

/** One monitored domain. */
export interface DomainReport {
  domain: string
  features: string[]
  /** The row of GET /dmarc, if it has one yet. */
  record: DmarcRecord | null
}

/** A fault rule of an account, and what it did. */
export interface FaultReport {
  id: string
  set?: string
  created_at: string
  phase: 'before' | 'after'
  /** How many requests it matched, and on how many of those it acted. */
  matched: number
  hits: number
  state: 'active' | 'spent' | 'expired'
  rule: FaultRule
}

/** Fault rules that belong together. */
export interface FaultSetReport {
  name: string
  description: string
  rules: FaultRule[]
}

/** One side of an exchange; long bodies are cut off. */
export interface MessageReport {
  headers: Record<string, string>
  body: string | null
  body_size: number
  truncated: boolean
}

/** One thing that was wrong with a request. */
export interface ProblemReport {
  code: string
  field: string | null
  message: string
  received: unknown
}

/** One exchange with the service. */
export interface RequestReport {
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
  fault: { source: 'rule' | 'prefer' | 'simulator'; id: string | null; effect: string | null; rule: FaultRule } | null
  problems: ProblemReport[]
  violations: object[]
  quota: { limit: number; remaining: number; resets_at: string } | null
  duration_ms: number
  request: MessageReport
  response: MessageReport
}

/** Whether as many requests matched as was said, and which came nearest. */
export interface VerificationReport {
  passed: boolean
  matched: number
  near_misses: {
    request_id: string
    method: string
    path: string
    differences: { field: string; expected: unknown; received: unknown }[]
  }[]
}

/** Everything behind one answer. */
export interface ExplanationReport {
  request_id: string
  account: string | null
  operation: string | null
  status: number | null
  code: string | null
  summary: string
  documented: boolean
  assumptions: { id: string; spec: string }[]
  rules: { id: string; says: string }[]
  problems: ProblemReport[]
  quota: RequestReport['quota']
  clock: string
  fault: RequestReport['fault']
  failure: string | null
  correction: { changes: string[]; before: string[]; curl: string; requests: object[] } | null
  exchange: RequestReport
}

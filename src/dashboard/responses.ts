// The types of what the control plane takes and answers, in the words of the page. The server defines them.
import type { Operations } from '../admin/handlers.ts'
import type { OverviewReport } from '../admin/reports.ts'

export type { KindFacts, PageFacts } from '../admin/dashboard.ts'
export type { PageView } from '../admin/paths.ts'
export type {
  AccountReport as Account,
  DomainEvent,
  FaultReport as Fault,
  FaultSetReport as FaultSet,
  GroupReport as Group,
  KeyReport as Key,
  MonitoredDomainReport as MonitoredDomain,
  OverviewReport as Overview,
  QuotaReport as Quota,
  QuotasReport as Quotas,
  SnapshotReport as Snapshot,
  StoryReport as Story,
  VerdictReport as Verdict,
} from '../admin/reports.ts'
export type { CoverageReport as Coverage, Gap } from '../coverage/report.ts'
export type { DmarcRecord } from '../domain/dmarc.ts'
export type { FaultRule } from '../domain/faults.ts'
export type { Scene, SceneCall } from '../domain/fixture.ts'
export type { ChangeReport as Change } from '../explain/changes.ts'
export type { ExplanationReport as Explanation } from '../explain/explanation.ts'
export type {
  MessageReport as Message,
  ProblemReport as RequestProblem,
  RequestReport as JournalEntry,
} from '../journal/description.ts'

/** A policy, or `missing` for a domain to which no record applies. */
export type PolicyOrMissing = keyof OverviewReport['policies']

/** The operationId of an operation of the control plane that answers with data. */
export type CallId = keyof Operations
export type DataOf<Id extends CallId> = Operations[Id]['data']
export type BodyOf<Id extends CallId> = Operations[Id]['body']

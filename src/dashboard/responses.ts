// The types of what the control plane takes and answers, in the words of the page. The server defines them.
import type { BodyOf, CallId, DataOf, OverviewReport, Schemas } from '../contract/control-plane.ts'

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
} from '../contract/control-plane.ts'
export type { CoverageReport as Coverage, Gap } from '../coverage/report.ts'
export type { ChangeReport as Change } from '../explain/changes.ts'
export type { ExplanationReport as Explanation } from '../explain/explanation.ts'
export type {
  MessageReport as Message,
  ProblemReport as RequestProblem,
  RequestReport as JournalEntry,
} from '../journal/description.ts'

/** A policy, or `missing` for a domain to which no record applies. */
export type PolicyOrMissing = keyof OverviewReport['policies']

export type { BodyOf, CallId, DataOf }

/** What the server says of itself: what there is to choose from, and how the control plane is called. */
export type About = Schemas['About']
export type KindFacts = About['faults']['kinds'][number]
export type DmarcRecord = Schemas['DmarcRecord']
export type FaultRule = Schemas['FaultRule']
export type Scene = Schemas['Story']['scenes'][number]
export type SceneCall = NonNullable<Scene['calls']>[number]

/** A view of the page with a tab. */
export type PageView =
  | 'overview'
  | 'domains'
  | 'groups'
  | 'requests'
  | 'time'
  | 'scenes'
  | 'faults'
  | 'account'
  | 'coverage'

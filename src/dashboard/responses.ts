// The data that the page reads from the server, in the words of the page. The types are the server's own.
import type {
  AccountReport,
  ClockReport,
  DailyRecords,
  FaultReport,
  FaultSetReport,
  GroupReport,
  KeyReport,
  MonitoredDomainReport,
  OverviewReport,
  QuotasReport,
  SnapshotReport,
  StoryReport,
  VerdictReport,
} from '../admin/reports.ts'
import type { CoverageReport } from '../coverage/report.ts'
import type { FaultRule as KnownRule } from '../domain/faults.ts'
import type { ExplanationReport } from '../explain/explanation.ts'
import type { RequestReport } from '../journal/description.ts'

export type { PageFacts } from '../admin/dashboard.ts'
export type { KindFacts } from '../admin/fault-facts.ts'
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
  SnapshotReport as Snapshot,
  StoryReport as Story,
  VerdictReport as Verdict,
} from '../admin/reports.ts'
export type { CoverageReport as Coverage, Gap } from '../coverage/report.ts'
export type { DmarcRecord } from '../domain/dmarc.ts'
export type { Scene, SceneCall } from '../domain/fixture.ts'
export type { ChangeReport as Change } from '../explain/changes.ts'
export type { ExplanationReport as Explanation } from '../explain/explanation.ts'
export type {
  MessageReport as Message,
  ProblemReport as RequestProblem,
  RequestReport as JournalEntry,
} from '../journal/description.ts'

/** A fault rule. The form of the page writes it, so its response may not be valid yet. */
export interface FaultRule extends Omit<KnownRule, 'respond'> {
  respond?: { error?: string; status?: number; headers?: Readonly<Record<string, string>>; body?: unknown }
}

/** A policy, or `missing` for a domain to which no record applies. */
export type PolicyOrMissing = keyof OverviewReport['policies']

/** A page of a list. `next` is the cursor of the next page; null on the last page. */
interface Page<Cursor = string> {
  /** How many items there are, on all pages together. */
  count: number
  next: Cursor | null
}

/** The data of the success response of each operation. The page reads nothing from the other operations. */
export interface ResponseData {
  listAccounts: Page & { accounts: AccountReport[] }
  createAccount: { account: AccountReport; api_key: string }
  getAccount: { account: AccountReport; api_key: string | null }
  listScenes: StoryReport
  listSnapshots: Page & { snapshots: SnapshotReport[] }
  listKeys: Page & { keys: KeyReport[] }
  createKey: { key: KeyReport; api_key: string }
  listMonitoredDomains: Page & { domains: MonitoredDomainReport[] }
  listGroups: Page & { groups: GroupReport[] }
  listDailyRecords: { days: DailyRecords[] }
  getOverview: OverviewReport
  updateClock: ClockReport
  getQuotas: QuotasReport
  listFaultSets: { sets: FaultSetReport[] }
  addFault: { fault: FaultReport }
  listFaults: Page & { faults: FaultReport[] }
  listAllRequests: Page<number> & { requests: RequestReport[] }
  listRequests: Page<number> & { requests: RequestReport[] }
  explainRequest: ExplanationReport
  getCoverage: CoverageReport
  getVerdict: VerdictReport
}

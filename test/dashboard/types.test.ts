import { describe, expectTypeOf, it } from 'vitest'
import type { PageFacts } from '../../src/admin/dashboard.ts'
import type { QuotasReport } from '../../src/admin/reports.ts'
import type { Facts, ResponseData } from '../../src/dashboard/responses.ts'
import type {
  AccountReport,
  ClockReport,
  CoverageReport,
  DailyRecords,
  DomainReport,
  ExplanationReport,
  FaultReport,
  FaultSetReport,
  GroupReport,
  KeyReport,
  MonitoredDomainReport,
  OverviewReport,
  RequestReport,
  SnapshotReport,
  StoryReport,
  VerdictReport,
} from '../../src/index.ts'

/** What a page of a list has beside its items. */
interface Page<Cursor> {
  count: number
  next: Cursor | null
}

/** The types of the library for the operations that the page calls. */
interface Reports {
  listAccounts: Page<string> & { accounts: AccountReport[] }
  createAccount: { account: AccountReport; api_key: string }
  getAccount: { account: AccountReport; api_key: string | null }
  listScenes: StoryReport
  listSnapshots: Page<string> & { snapshots: SnapshotReport[] }
  listKeys: Page<string> & { keys: KeyReport[] }
  createKey: { key: KeyReport; api_key: string }
  listMonitoredDomains: Page<string> & { domains: MonitoredDomainReport[] }
  addMonitoredDomains: { domains: string[]; count: number }
  removeMonitoredDomains: { domains: string[]; count: number }
  listGroups: Page<string> & { groups: GroupReport[] }
  listDailyRecords: { days: DailyRecords[] }
  setFeatures: DomainReport
  pinDmarc: DomainReport
  unpinDmarc: DomainReport
  getOverview: OverviewReport
  updateClock: ClockReport
  getQuotas: QuotasReport
  listFaultSets: { sets: FaultSetReport[] }
  addFault: { fault: FaultReport }
  listFaults: Page<string> & { faults: FaultReport[] }
  listAllRequests: Page<number> & { requests: RequestReport[] }
  listRequests: Page<number> & { requests: RequestReport[] }
  explainRequest: ExplanationReport
  getCoverage: CoverageReport
  getVerdict: VerdictReport
}

describe('the types of the dashboard', () => {
  it('accept everything that the server sends', () => {
    expectTypeOf<Reports>().toExtend<ResponseData>()
    expectTypeOf<PageFacts>().toExtend<Facts>()
  })
})

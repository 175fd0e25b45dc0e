import { describe, expectTypeOf, it } from 'vitest'
import type { PageFacts } from '../../src/admin/dashboard.ts'
import type { QuotasReport } from '../../src/admin/reports.ts'
import type { Facts, ResponseData } from '../../src/dashboard/responses.ts'
import type * as Library from '../../src/index.ts'

/** What a page of a list has beside its items. */
interface Page<Cursor> {
  count: number
  next: Cursor | null
}

/** The types of the library for the operations that the page calls. */
interface Reports {
  listAccounts: Page<string> & { accounts: Library.AccountReport[] }
  createAccount: { account: Library.AccountReport; api_key: string }
  getAccount: { account: Library.AccountReport; api_key: string | null }
  listScenes: Library.StoryReport
  listSnapshots: Page<string> & { snapshots: Library.SnapshotReport[] }
  listKeys: Page<string> & { keys: Library.KeyReport[] }
  createKey: { key: Library.KeyReport; api_key: string }
  listMonitoredDomains: Page<string> & { domains: Library.MonitoredDomainReport[] }
  addMonitoredDomains: { domains: string[]; count: number }
  removeMonitoredDomains: { domains: string[]; count: number }
  listGroups: Page<string> & { groups: Library.GroupReport[] }
  listDailyRecords: { days: Library.DailyRecords[] }
  setFeatures: Library.DomainReport
  pinDmarc: Library.DomainReport
  unpinDmarc: Library.DomainReport
  getOverview: Library.OverviewReport
  updateClock: Library.ClockReport
  getQuotas: QuotasReport
  listFaultSets: { sets: Library.FaultSetReport[] }
  addFault: { fault: Library.FaultReport }
  listFaults: Page<string> & { faults: Library.FaultReport[] }
  listAllRequests: Page<number> & { requests: Library.RequestReport[] }
  listRequests: Page<number> & { requests: Library.RequestReport[] }
  explainRequest: Library.ExplanationReport
  getCoverage: Library.CoverageReport
  getVerdict: Library.VerdictReport
}

describe('the types of the dashboard', () => {
  it('accept everything that the server sends', () => {
    expectTypeOf<Reports>().toExtend<ResponseData>()
    expectTypeOf<PageFacts>().toExtend<Facts>()
  })
})

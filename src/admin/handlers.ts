import * as accounts from './accounts.ts'
import * as clock from './clock.ts'
import * as coverage from './coverage.ts'
import * as records from './daily-records.ts'
import * as domains from './domains.ts'
import * as faults from './faults.ts'
import * as groups from './groups.ts'
import type { AccountHandler, Handler } from './handler.ts'
import * as keys from './keys.ts'
import * as overview from './overview.ts'
import * as quotas from './quotas.ts'
import * as requests from './requests.ts'
import * as snapshots from './snapshots.ts'
import * as state from './state.ts'
import * as verdict from './verdict.ts'

/** The handlers by operationId, except those of operations about one account. */
export const HANDLERS: Readonly<Record<string, Handler>> = {
  listAccounts: accounts.listAccounts,
  createAccount: accounts.createAccount,
  listFaultSets: faults.listFaultSets,
  listAllRequests: requests.listAllRequests,
  explainRequest: requests.explainRequest,
  getOverallCoverage: coverage.getOverallCoverage,
  getVerdict: verdict.getVerdict,
  clearVerdict: verdict.clearVerdict,
}

/** The handlers of the operations about one account, by operationId. */
export const ACCOUNT_HANDLERS: Readonly<Record<string, AccountHandler>> = {
  getAccount: accounts.getAccount,
  updateAccount: accounts.updateAccount,
  deleteAccount: accounts.deleteAccount,
  resetAccount: accounts.resetAccount,
  exportState: state.exportState,
  importState: state.importState,
  listScenes: state.listScenes,
  rewindAccount: state.rewindAccount,
  listSnapshots: snapshots.listSnapshots,
  takeSnapshot: snapshots.takeSnapshot,
  deleteSnapshot: snapshots.deleteSnapshot,
  restoreSnapshot: snapshots.restoreSnapshot,
  listKeys: keys.listKeys,
  createKey: keys.createKey,
  updateKey: keys.updateKey,
  deleteKey: keys.deleteKey,
  listMonitoredDomains: domains.listMonitoredDomains,
  addMonitoredDomains: domains.addMonitoredDomains,
  removeMonitoredDomains: domains.removeMonitoredDomains,
  listGroups: groups.listGroups,
  createGroup: groups.createGroup,
  updateGroup: groups.updateGroup,
  deleteGroup: groups.deleteGroup,
  listDailyRecords: records.listDailyRecords,
  getOverview: overview.getOverview,
  setFeatures: domains.setFeatures,
  pinDmarc: domains.pinDmarc,
  unpinDmarc: domains.unpinDmarc,
  getClock: clock.getClock,
  updateClock: clock.updateClock,
  getQuotas: quotas.getQuotas,
  updateQuota: quotas.updateQuota,
  listFaults: faults.listFaults,
  addFault: faults.addFault,
  clearFaults: faults.clearFaults,
  deleteFault: faults.deleteFault,
  addFaultSet: faults.addFaultSet,
  listRequests: requests.listRequests,
  clearRequests: requests.clearRequests,
  verifyRequests: requests.verifyRequests,
  getCoverage: coverage.getCoverage,
}

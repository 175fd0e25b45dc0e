import type { CallId } from '../contract/control-plane.ts'
import { getAbout } from './about.ts'
import { createAccount, deleteAccount, getAccount, listAccounts, resetAccount, updateAccount } from './accounts.ts'
import { getClock, updateClock } from './clock.ts'
import { getCoverage, getOverallCoverage } from './coverage.ts'
import { listDailyRecords } from './daily-records.ts'
import {
  addMonitoredDomains,
  listMonitoredDomains,
  pinDmarc,
  removeMonitoredDomains,
  setFeatures,
  unpinDmarc,
} from './domains.ts'
import { addFault, addFaultSet, clearFaults, deleteFault, listFaultSets, listFaults } from './faults.ts'
import { createGroup, deleteGroup, listGroups, updateGroup } from './groups.ts'
import type { AccountHandler, Handler } from './handler.ts'
import { getHealth, getReadiness } from './health.ts'
import { createKey, deleteKey, listKeys, updateKey } from './keys.ts'
import { getGroupOverview, getOverview } from './overview.ts'
import { getQuotas, updateQuota } from './quotas.ts'
import { clearRequests, explainRequest, listAllRequests, listRequests } from './requests.ts'
import { deleteSnapshot, listSnapshots, restoreSnapshot, takeSnapshot } from './snapshots.ts'
import { exportState, importState, listScenes, rewindAccount } from './state.ts'
import { clearVerdict, getVerdict } from './verdict.ts'
import { verifyRequests } from './verification.ts'

/** The handlers by operationId. Those of one account get it, and are called only if there is such an account. */
export const HANDLERS: { readonly [Id in CallId]: Handler<Id> | AccountHandler<Id> } = {
  getAbout,
  getHealth,
  getReadiness,
  listAccounts,
  createAccount,
  getAccount,
  updateAccount,
  deleteAccount,
  resetAccount,
  exportState,
  importState,
  listScenes,
  rewindAccount,
  listSnapshots,
  takeSnapshot,
  deleteSnapshot,
  restoreSnapshot,
  listKeys,
  createKey,
  updateKey,
  deleteKey,
  listMonitoredDomains,
  addMonitoredDomains,
  removeMonitoredDomains,
  setFeatures,
  pinDmarc,
  unpinDmarc,
  listGroups,
  createGroup,
  updateGroup,
  deleteGroup,
  listDailyRecords,
  getOverview,
  getGroupOverview,
  getClock,
  updateClock,
  getQuotas,
  updateQuota,
  listFaultSets,
  addFaultSet,
  listFaults,
  addFault,
  clearFaults,
  deleteFault,
  listAllRequests,
  listRequests,
  clearRequests,
  verifyRequests,
  getOverallCoverage,
  getCoverage,
  getVerdict,
  clearVerdict,
  explainRequest,
}

import { aboutHandlers } from './about.ts'
import { accountHandlers, accountsHandlers } from './accounts.ts'
import { clockHandlers } from './clock.ts'
import { recordHandlers } from './daily-records.ts'
import { domainHandlers } from './domains.ts'
import { coverageHandlers, overallHandlers } from './evidence.ts'
import { faultHandlers, faultSetHandlers } from './faults.ts'
import { groupHandlers } from './groups.ts'
import type { AccountHandlers, Handlers } from './handler.ts'
import { getHealth, getReadiness } from './health.ts'
import { keyHandlers } from './keys.ts'
import { overviewHandlers } from './overview.ts'
import { quotaHandlers } from './quotas.ts'
import { allRequestHandlers, requestHandlers } from './requests.ts'
import { snapshotHandlers } from './snapshots.ts'
import { stateHandlers } from './state.ts'
import { verificationHandlers } from './verification.ts'

/** The handlers by operationId. Those of one account get it, and are called only if there is such an account. */
export const HANDLERS: { readonly [Id in keyof Handlers]: Handlers[Id] | AccountHandlers[Id] } = {
  ...aboutHandlers,
  getHealth,
  getReadiness,
  ...accountsHandlers,
  ...accountHandlers,
  ...stateHandlers,
  ...snapshotHandlers,
  ...keyHandlers,
  ...domainHandlers,
  ...groupHandlers,
  ...recordHandlers,
  ...overviewHandlers,
  ...clockHandlers,
  ...quotaHandlers,
  ...faultSetHandlers,
  ...faultHandlers,
  ...allRequestHandlers,
  ...requestHandlers,
  ...verificationHandlers,
  ...coverageHandlers,
  ...overallHandlers,
}

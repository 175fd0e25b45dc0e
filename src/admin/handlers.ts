import { aboutHandlers } from './about.ts'
import { accountHandlers } from './accounts.ts'
import { clockHandlers } from './clock.ts'
import { recordHandlers } from './daily-records.ts'
import { domainHandlers } from './domains.ts'
import { evidenceHandlers } from './evidence.ts'
import { faultHandlers } from './faults.ts'
import { groupHandlers } from './groups.ts'
import type { Handlers } from './handler.ts'
import { getHealth, getReadiness } from './health.ts'
import { keyHandlers } from './keys.ts'
import { overviewHandlers } from './overview.ts'
import { quotaHandlers } from './quotas.ts'
import { requestHandlers } from './requests.ts'
import { snapshotHandlers } from './snapshots.ts'
import { stateHandlers } from './state.ts'
import { verificationHandlers } from './verification.ts'

export const HANDLERS: Required<Handlers> = {
  ...aboutHandlers,
  getHealth,
  getReadiness,
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
  ...faultHandlers,
  ...requestHandlers,
  ...verificationHandlers,
  ...evidenceHandlers,
}

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

const EXPORTS = {
  ...accounts,
  ...clock,
  ...coverage,
  ...records,
  ...domains,
  ...faults,
  ...groups,
  ...keys,
  ...overview,
  ...quotas,
  ...requests,
  ...snapshots,
  ...state,
  ...verdict,
}

/**
 * The handlers by operationId: a module exports each under this name. A test compares them with the document. A handler
 * that is about no account is a `Handler`.
 */
export const HANDLERS = EXPORTS as unknown as Readonly<Record<string, AccountHandler>>

type Exports = typeof EXPORTS

/** Operation → the data of its success response, and the body of its request. The handlers say both. */
export type Operations = {
  [Id in keyof Exports as Exports[Id] extends AccountHandler<unknown, never> ? Id : never]: Exports[Id] extends
    | Handler<infer Data, infer Body>
    | AccountHandler<infer Data, infer Body>
    ? { data: Data; body: Body }
    : never
}

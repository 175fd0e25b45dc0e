import type { Circumstances } from '../accounts/exchange-log.ts'
import { SILENT } from '../ground/log.ts'
import type { NewEntry } from '../journal/entry.ts'
import { Journal } from '../journal/journal.ts'
import { createService, type Service, type ServiceDeps } from '../service/answer.ts'
import { requestIdOf } from '../service/request-id.ts'
import { corsFor } from './allowed-origins.ts'

/** The parts of a direct service that its caller gives, and those that differ from the usual ones. */
export type DirectServiceDeps = Pick<ServiceDeps, 'contract' | 'store' | 'clock'> &
  Partial<ServiceDeps> & {
    /** Called with each exchange. */
    observe?(entry: NewEntry, circumstances: Circumstances): void
  }

/** A service that is only called directly, and that keeps nothing of its exchanges. */
export function openDirectService({ observe, ...deps }: DirectServiceDeps): Service {
  const journal = new Journal({ entries: 0 })
  // The same for all, so that answers differ only by what the caller changes.
  const anonymous = requestIdOf('direct', 1, deps.contract.requestIds)
  const history = { incarnation: 1, ended: false, reset: new AbortController(), coverage: undefined }
  function take(entry: NewEntry, circumstances: Circumstances): NewEntry {
    observe?.(entry, circumstances)
    return entry
  }
  return createService({
    ...{ log: SILENT, nextId: () => anonymous, namesUs: () => true, responseValidation: 'off' },
    ...{ prefer: false, simulator: false, enforceQuotas: false },
    worlds: { journal, historyOf: () => history },
    exchanges: { journal, take },
    cors: corsFor({ cors: [] }, deps.contract),
    stopping: new AbortController().signal,
    ...deps,
  })
}

import { stateWriterOf } from '../accounts/export.ts'
import { DEFAULT_ACCOUNT } from '../accounts/worlds.ts'
import type { ServiceContract } from '../behaviour/operation.ts'
import type { ServerUrls } from '../coverage/curl.ts'
import type { AccountState } from '../domain/account.ts'
import type { ExplanationReport } from '../explain/explanation.ts'
import type { Log } from '../ground/log.ts'
import { nextTurn } from '../ground/timers.ts'
import type { Entry } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import { redactorForAll } from '../journal/redaction/redaction.ts'
import type { Store } from '../store/store.ts'
import { isAway, StoreError } from '../store/store-error.ts'

/** Creates the function that explains a violation after its response; `undefined` if that fails because of a bug. */
export function createExplainer({
  contract,
  store,
  journal,
  publicKeyOf,
  urls,
  log,
  isForeign,
}: {
  contract: ServiceContract
  store: Store
  journal: Journal
  publicKeyOf(account: AccountState): string | undefined
  urls: ServerUrls
  log: Log
  isForeign: boolean
}) {
  return async (entry: Entry, account: AccountState | undefined): Promise<ExplanationReport | undefined> => {
    try {
      const { explainEntry } = await import('../explain/explanation.ts')
      const { NO_CHANGES } = await import('../explain/changes.ts')
      await nextTurn()
      const corrected = account ?? (await store.read(DEFAULT_ACCOUNT)).state
      const redact = redactorForAll(journal.secrets)
      return explainEntry(entry, {
        ...{ account: corrected, contract, urls, redact, isForeign, publicKey: publicKeyOf(corrected) },
        // The request was refused for every state of the account, so it has changed nothing.
        past: { state: undefined, changes: NO_CHANGES },
        ...stateWriterOf(contract, entry.at),
      })
    } catch (err) {
      // The server has stopped, or the store is away or was emptied, which is reported elsewhere.
      if (err instanceof StoreError && ['closed', 'unknown-account'].includes(err.problem)) return undefined
      if (isAway(err)) return undefined
      log.error({ request_id: entry.requestId, err }, 'The violation could not be explained.')
      return undefined
    }
  }
}

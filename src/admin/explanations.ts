import { stateWriterOf } from '../accounts/export.ts'
import { DEFAULT_ACCOUNT } from '../accounts/worlds.ts'
import type { AccountState } from '../domain/account.ts'
import { NO_CHANGES } from '../explain/changes.ts'
import { type ExplanationReport, explainEntry, type KnownPast } from '../explain/explanation.ts'
import { nextTurn } from '../ground/timers.ts'
import type { Entry } from '../journal/entry.ts'
import { redactorForAll } from '../journal/redaction/redaction.ts'
import type { Violation } from '../journal/verdict.ts'
import type { ControlDeps } from './handler.ts'

/** What explains a request. The URLs are those for whoever asks. */
type Explaining = Pick<ControlDeps, 'contract' | 'store' | 'worlds' | 'exchanges' | 'observed' | 'urls'>

/** Explains a request, with a correction that the account accepts. */
export function explain(entry: Entry, account: AccountState, past: KnownPast, known: Explaining): ExplanationReport {
  const { contract, worlds, exchanges, observed, urls } = known
  return explainEntry(entry, {
    ...{ account, contract, past, urls: urls(), publicKey: worlds.findPublicKey(account) },
    redact: redactorForAll(exchanges.journal.secrets),
    isForeign: observed !== undefined,
    ...stateWriterOf(contract, entry.at),
  })
}

/** Clients and the page ask for the verdict again and again, mostly at one address. */
const explained = new WeakMap<Violation, { adminUrl: string; explanation: ExplanationReport }>()

/** Explains a violation that the verdict keeps, also if the journal has dropped it, or the account is gone. */
export async function explainViolation(violation: Violation, known: Explaining): Promise<ExplanationReport> {
  const { adminUrl } = known.urls()
  const last = explained.get(violation)
  if (last?.adminUrl === adminUrl) return last.explanation
  // The requests of clients go on in between.
  await nextTurn()
  const { entry, account = (await known.store.read(DEFAULT_ACCOUNT)).state } = violation
  // The request was refused for every state of the account, so it has changed nothing.
  const explanation = explain(entry, account, { state: undefined, changes: NO_CHANGES }, known)
  explained.set(violation, { adminUrl, explanation })
  return explanation
}

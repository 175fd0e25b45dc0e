import { stateWriterOf } from '../accounts/export.ts'
import { DEFAULT_ACCOUNT } from '../accounts/worlds.ts'
import type { AccountState } from '../domain/account.ts'
import { knownChanges, NO_CHANGES, repeatChanges } from '../explain/changes.ts'
import { type ExplanationReport, explainEntry, type KnownPast } from '../explain/explanation.ts'
import { nextTurn } from '../ground/timers.ts'
import type { Entry } from '../journal/entry.ts'
import { redactorForAll } from '../journal/redaction/redaction.ts'
import type { Violation } from '../journal/verdict.ts'
import { type ControlContext, type ControlDeps, done, type Handlers } from './handler.ts'
import { notFound } from './refusals.ts'

export const explanationHandlers = {
  async explainRequest(call) {
    const { exchanges, store, parameters } = call
    const id = parameters['request-id']
    await exchanges.caughtUp()
    const entry = exchanges.journal.find(id)
    // If the account of the request is unknown, the correction uses the default account.
    const accountId = entry?.account ?? DEFAULT_ACCOUNT
    // The account may have been deleted while the request was processed.
    if (entry !== undefined && (await store.find('id', accountId)) !== undefined) {
      const { state: account } = await store.read(accountId)
      return done(explain(entry, account, await recallPast(entry, call), call))
    }
    const { first } = await exchanges.verdict()
    const names = [id, id.toLowerCase()]
    const kept = first.findLast((each) => each.entry.id === id || names.includes(each.entry.requestId))
    return kept === undefined ? notFound('request', id) : done(await explainViolation(kept, call))
  },
} satisfies Handlers

/** The account as a request found it and its changes by the request, as far as they are kept. */
async function recallPast(entry: Entry, { worlds, contract }: ControlContext): Promise<KnownPast> {
  // A request that the contract always forbids has changed nothing. It can be sent again to any account.
  if (entry.violatesContract) return { state: undefined, changes: NO_CHANGES }
  // The journal may drop the state before the request while another one is read.
  const known = knownChanges(entry, contract)
  const state = (await worlds.recall(entry))?.state
  return { state, changes: known ?? repeatChanges(entry, state, contract) }
}

/** What explains a request. The URLs are those for whoever asks. */
type Explaining = Pick<ControlDeps, 'contract' | 'store' | 'worlds' | 'exchanges' | 'observed' | 'urls'>

/** Explains a request, with a correction that the account accepts. */
function explain(entry: Entry, account: AccountState, past: KnownPast, known: Explaining): ExplanationReport {
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

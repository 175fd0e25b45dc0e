import { stateWriterOf } from '../accounts/export.ts'
import { DEFAULT_ACCOUNT } from '../accounts/worlds.ts'
import type { DataOf } from '../contract/control-plane.ts'
import { knownChanges, NO_CHANGES, repeatChanges } from '../explain/changes.ts'
import { explainEntry, type KnownPast } from '../explain/explanation.ts'
import { explainElsewhere } from '../explain/foreign-service.ts'
import { pageAddress } from '../explain/page-address.ts'
import type { Entry } from '../journal/entry.ts'
import { redactorForAll } from '../journal/redaction/redaction.ts'
import { readdress } from './address.ts'
import { type ControlContext, type ControlOutcome, done, type Handlers } from './handler.ts'
import { notFound } from './refusals.ts'

export const explanationHandlers = {
  async explainRequest(call) {
    const { worlds, exchanges, store, contract, parameters } = call
    const id = parameters['request-id']
    await exchanges.caughtUp()
    const entry = exchanges.journal.find(id)
    if (entry === undefined) return explainExample(call, id)
    // If the account of the request is unknown, the correction uses the default account.
    const accountId = entry.account ?? DEFAULT_ACCOUNT
    // The account may have been deleted while the request was processed.
    if ((await store.find('id', accountId)) === undefined) return explainExample(call, id)
    const { state: account } = await store.read(accountId)
    const redact = redactorForAll(exchanges.journal.secrets)
    const explained = explainEntry(entry, {
      ...{ account, contract, redact, urls: call.urls(), publicKey: worlds.findPublicKey(account) },
      past: await recallPast(entry, call),
      ...stateWriterOf(contract, entry.at),
    })
    return done(call.observed === undefined ? explained : explainElsewhere(explained))
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

/** Explains a violation that the verdict keeps although the journal has dropped it. */
async function explainExample(
  { exchanges, urls, ownUrls }: ControlContext,
  given: string,
): Promise<ControlOutcome<DataOf<'explainRequest'>>> {
  const verdict = await exchanges.verdict()
  const names = [given, given.toLowerCase()]
  const kept = (await verdict.examples()).findLast(
    (example) => example !== undefined && (example.id === given || names.includes(example.request_id)),
  )
  if (kept === undefined) return notFound('request', given)
  const { correction, reproduction, id, account } = kept
  const write = (text: string) => readdress(text, ownUrls(), urls())
  return done({
    ...kept,
    page: pageAddress(id, account, urls()) ?? null,
    correction: correction && { ...correction, before: correction.before.map(write), curl: write(correction.curl) },
    reproduction: reproduction && { ...reproduction, curl: write(reproduction.curl) },
  })
}

import type { AdminRefusal } from '../contract/control-api.ts'
import { refuse } from '../domain/errors.ts'
import { knownChanges, NO_CHANGES, repeatChanges } from '../explain/changes.ts'
import type { KnownPast } from '../explain/explanation.ts'
import type { Entry } from '../journal/entry.ts'
import type { AccountContext, ControlContext } from './handler.ts'
import { notFound } from './refusals.ts'

/** The account as a request found it and its changes by the request, as far as they are kept. */
export async function recallPast(
  entry: Entry,
  { worlds, contract }: Pick<ControlContext, 'worlds' | 'contract'>,
): Promise<KnownPast> {
  // A request that the contract always forbids has changed nothing. It can be sent again to any account.
  if (entry.violatesContract) return { state: undefined, changes: NO_CHANGES }
  // The journal may drop the state before the request while another one is read.
  const known = knownChanges(entry, contract)
  const state = (await worlds.recall(entry))?.state
  return { state, changes: known ?? repeatChanges(entry, state, contract) }
}

/** The newest request of the account with this id. If there is none, the reason why it is not available. */
export async function findEntry(
  { account, exchanges }: AccountContext,
  id: string,
): Promise<{ ok: true; entry: Entry } | AdminRefusal> {
  await exchanges.caughtUp()
  const { journal } = exchanges
  const entry = journal.find(id, account.id)
  if (entry !== undefined) return { ok: true, entry }
  const elsewhere = journal.find(id)
  if (elsewhere === undefined) return notFound('request', id)
  const { account: holder } = elsewhere
  if (holder === undefined) return refuse({ code: 'not_found', reason: 'no-account', value: id })
  return refuse({ code: 'not_found', reason: 'elsewhere', value: id, about: { account: account.id, holder } })
}

/** The refusal if the state before a request in the journal is gone. */
export function notKept(id: string): AdminRefusal {
  return refuse({ code: 'not_found', reason: 'not-kept', value: id })
}

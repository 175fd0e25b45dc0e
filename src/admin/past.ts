import { type AccountState, replicateAccount } from '../domain/account.ts'
import {
  changesOfFailure,
  compareAccounts,
  type FoundChanges,
  keptChanges,
  mayHaveChanged,
  NO_CHANGES,
  repeatChanges,
} from '../explain/changes.ts'
import type { KnownPast } from '../explain/explanation.ts'
import { runInTurns } from '../ground/work.ts'
import type { Entry } from '../journal/entry.ts'
import type { ControlCall } from './handler.ts'

/** The account as a request found it and its changes by the request, as far as they are kept. */
export async function recallPast(
  entry: Entry,
  { worlds, contract }: Pick<ControlCall, 'worlds' | 'contract'>,
): Promise<KnownPast> {
  // The journal may drop both states while one of them is copied.
  const kept = keptChanges(entry)
  const { before, after } = entry
  // A request that the contract always forbids has changed nothing. It can be sent again to any account.
  if (entry.violatesContract) return { state: undefined, changes: NO_CHANGES }
  const state = (await worlds.recall(entry))?.state
  return { state, changes: await findChanges() }

  async function findChanges(): Promise<FoundChanges> {
    const failed = changesOfFailure(entry)
    if (failed !== undefined) return failed
    if (!mayHaveChanged(entry)) return NO_CHANGES
    if (kept !== undefined) return { ok: true, changes: kept }
    if (before !== undefined && after !== undefined) {
      const [former, present] = [await copyOf(before.account), await copyOf(after)]
      return { ok: true, changes: compareAccounts(former, present) }
    }
    return repeatChanges(entry, state, contract)
  }
}

async function copyOf(state: AccountState): Promise<AccountState> {
  return runInTurns(replicateAccount(state))
}

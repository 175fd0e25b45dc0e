import { createHash } from 'node:crypto'
import type { AccountState } from '../domain/account.ts'
import { refreshDay } from '../domain/dmarc.ts'
import { memoizeWeakly } from '../ground/memo.ts'
import { type AccountHandler, done } from './handler.ts'

/** The characters of a version. */
const LENGTH = 22

let last = 0
/** States never change, so two equal numbers mean that nothing has changed. */
const numberOf = memoizeWeakly<AccountState, number>(() => ++last)

/**
 * Names what the control plane shows of an account, apart from its requests, coverage and quotas. Whoever has seen this
 * version need not ask again. A store keeps the object of a state while nothing changes, so this costs nothing. Another
 * server, or the next run of this one, gives the same state another name, and then a client asks once too often.
 */
export const getVersion: AccountHandler<{ version: string }> = async (call) => {
  const { account, now, contract, store, instance } = call
  const snapshots = await store.snapshots.list(account.id)
  const parts = [instance, numberOf(account), refreshDay(now, contract.settings.refresh), snapshots]
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
  return done({ version: digest.slice(0, LENGTH) })
}

import { LowSync, MemorySync } from 'lowdb'
import { Accounts, type AccountsOptions } from './accounts.ts'
import type { StoredAccount } from './kept-account.ts'

/** A store whose accounts end with the process. No change waits for a write. */
export function openMemoryStore(options?: AccountsOptions): Accounts {
  return new Accounts({ open: () => new LowSync<StoredAccount | null>(new MemorySync(), null) }, options)
}

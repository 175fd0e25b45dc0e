import { LowSync, MemorySync } from 'lowdb'
import { Accounts, type AccountsOptions } from './accounts.ts'
import type { AccountData } from './stored-account.ts'

/** A store whose accounts end with the process. Every method answers at once. */
export function openMemoryStore(options?: AccountsOptions): Accounts {
  return new Accounts({ open: (_, data) => new LowSync(new MemorySync<AccountData>(), data) }, options)
}

import { Low, Memory } from 'lowdb'
import { Accounts, type AccountsOptions } from './accounts.ts'
import type { StoredAccount } from './kept-account.ts'

/** A store whose accounts end with the process. */
export function openMemoryStore(options?: AccountsOptions): Accounts {
  return new Accounts({ open: () => new Low<StoredAccount | null>(new Memory(), null) }, options)
}

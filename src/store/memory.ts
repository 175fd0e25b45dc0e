import { LowSync, MemorySync } from 'lowdb'
import { Accounts } from './accounts.ts'
import type { MemoryBudget } from './memory-budget.ts'
import type { Store } from './store.ts'
import type { AccountData } from './stored-account.ts'

/** Accounts that end with the process. Every method answers at once. Without a budget, they may take any memory. */
export function openMemoryStore(budget?: MemoryBudget): Store {
  return new Accounts({ open: (_, data) => new LowSync(new MemorySync<AccountData>(), data) }, budget)
}
